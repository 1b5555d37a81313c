"""Which lines of the package the tests reach: a plugin of pytest that writes coverage's data.

    PYTEST_PLUGINS=tests.support.reached_lines python -m pytest
    coverage report

Python before 3.12 traces each line of every module, which takes as long as the tests themselves.
Here each statement of the package is preceded by one that notes that it is reached, which costs
a tenth. Functions that numba compiles stay as they are: their lines count as not reached.

What is noted is never more than what tracing finds. It is less in two places: the line of an
`except` or of a `case` counts when its block is entered, and not when it is tried in vain.
"""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pytest
from coverage import CoverageData

PACKAGE = "sicetnon"
ROOT = Path(__file__).parents[2]
_COMPILED = {"compiled", "inlined", "njit"}
_NOTES = "__reached__"
"""A name that classes do not change, as they do those that only begin with underscores."""

_reached: dict[str, tuple[list[bool], list[range]]] = {}
"""For each file: what was reached, and the lines of each place."""


class _Noting:
    """Puts a note before each statement of a module.

    Attributes:
        places: The lines of each note.
    """

    def __init__(self) -> None:
        self.places: list[range] = []

    def block(self, statements: list[ast.stmt], entry: int | None = None) -> list[ast.stmt]:
        """The statements with their notes; `entry` is the line that leads to the block."""
        found: list[ast.stmt] = []
        if entry is not None:
            found.append(self._note(statements[0], range(entry, statements[0].lineno)))
        first = [each for place, each in enumerate(statements) if _comes_first(place, each)]
        # nothing may stand before the documentation, and before `from __future__` only that
        found += first
        found += [self._note(each, _own_lines(each)) for each in first]
        for each in statements[len(first) :]:
            self._inside(each)
            found += [self._note(each, _own_lines(each)), each]
        return found

    def _inside(self, statement: ast.stmt) -> None:
        """Put notes into the blocks of a statement."""
        if _is_compiled(statement):
            return
        for name in ("body", "orelse", "finalbody"):
            if block := getattr(statement, name, None):
                setattr(statement, name, self.block(block))
        for handler in getattr(statement, "handlers", ()):
            handler.body = self.block(handler.body, handler.lineno)
        for case in getattr(statement, "cases", ()):
            case.body = self.block(case.body, case.pattern.lineno)

    def _note(self, place: ast.stmt, lines: range) -> ast.stmt:
        notes = ast.Name(_NOTES, ast.Load())
        target = ast.Subscript(notes, ast.Constant(len(self.places)), ast.Store())
        self.places.append(lines)
        made = ast.copy_location(ast.Assign([target], ast.Constant(True)), place)
        return ast.fix_missing_locations(made)


def _comes_first(place: int, statement: ast.stmt) -> bool:
    """Whether a statement of a block is its documentation, or `from __future__`."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return place == 0
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _is_compiled(statement: ast.stmt) -> bool:
    named = {
        getattr(each, "id", None) or getattr(each, "attr", None)
        for decorator in getattr(statement, "decorator_list", ())
        for each in [decorator.func if isinstance(decorator, ast.Call) else decorator]
    }
    return bool(named & _COMPILED)


def _own_lines(statement: ast.stmt) -> range:
    """The lines of a statement without those of its blocks."""
    decorators = getattr(statement, "decorator_list", ())
    first = min([statement.lineno, *(each.lineno for each in decorators)])
    if cases := getattr(statement, "cases", ()):
        return range(first, cases[0].pattern.lineno)
    body = getattr(statement, "body", None)
    if not body:
        return range(first, (statement.end_lineno or statement.lineno) + 1)
    begin = min([body[0].lineno, *(each.lineno for each in getattr(body[0], "decorator_list", ()))])
    return range(first, max(begin, statement.lineno + 1))


class NotingLoader(importlib.machinery.SourceFileLoader):
    """Loads a module with notes in it."""

    def get_code(self, fullname: str) -> CodeType:
        """The module's code with notes, never that of a file of bytecode."""
        tree, noting = ast.parse(self.get_data(self.path)), _Noting()
        tree.body = noting.block(tree.body)
        # a module that is loaded again goes on with its notes
        _reached.setdefault(self.path, ([False] * len(noting.places), noting.places))
        return compile(tree, self.path, "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module, which can note what is reached."""
        code = self.get_code(module.__name__)
        vars(module)[_NOTES] = _reached[self.path][0]
        exec(code, vars(module))


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """What other finders find of the package, with a loader that puts notes into it."""
        if fullname.partition(".")[0] != PACKAGE:
            return None
        others = [each for each in sys.meta_path if each is not self]
        found = next(
            filter(None, (each.find_spec(fullname, path, target) for each in others)), None
        )
        if found and type(found.loader) is importlib.machinery.SourceFileLoader:
            found.loader = NotingLoader(fullname, found.loader.path)
        return found


def reached() -> dict[str, list[int]]:
    """The lines that this process has reached, of each file."""
    return {path: sorted(set(_lines(*noted))) for path, noted in _reached.items()}


def _lines(is_reached: list[bool], places: list[range]) -> Iterator[int]:
    for done, lines in zip(is_reached, places, strict=True):
        if done:
            yield from lines


class _Collecting:
    """Brings the lines of all processes of a test session together."""

    def __init__(self) -> None:
        self.lines: dict[str, set[int]] = {}

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take what a worker has reached."""
        self._take(getattr(node, "workeroutput", {}).get(PACKAGE, {}))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Give the lines to the process that started this one, or write them into a file."""
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput[PACKAGE] = reached()
            return
        self._take(reached())
        data = CoverageData(str(ROOT / ".coverage"))
        data.erase()
        data.add_lines(self.lines)
        # also the files that nobody imports
        data.touch_files([str(path) for path in (ROOT / "src" / PACKAGE).rglob("*.py")])
        data.write()

    def _take(self, lines: dict[str, list[int]]) -> None:
        for path, each in lines.items():
            self.lines.setdefault(path, set()).update(each)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    """Put notes into the package before the first module of it is imported."""
    sys.meta_path.insert(0, _Finder())


def pytest_configure(config: pytest.Config) -> None:
    """Collect the lines of this session."""
    config.pluginmanager.register(_Collecting())
