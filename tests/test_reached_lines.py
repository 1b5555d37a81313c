"""What notes find that tests reach, beside what coverage finds by tracing."""

from __future__ import annotations

import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest
from coverage import Coverage

from support.reached_lines import NotingLoader, reached

PROGRAM = '''"""Statements of all kinds."""

from __future__ import annotations

import contextlib
import enum
from dataclasses import (
    dataclass,
    field,
)


class Side(enum.Enum):
    """A side."""

    PRO = "pro"
    CON = "con"

    @property
    def is_pro(
        self,
    ) -> bool:
        """Whether it is pro."""
        return self is Side.PRO


@dataclass(
    frozen=True,
)
class Claim:
    text: str
    __hidden: int = 1
    words: list[str] = field(
        default_factory=list,
    )

    def never(self):
        return self.text

    def side(self): return Side.CON if self.__hidden else Side.PRO


def plain(number):
    global found
    if number > 5:
        found = "many"
    elif number > 3:
        found = "some"
    elif number:
        found = "few"
    else:
        found = "none"
    while number:
        number -= 1
        if number == 2:
            continue
        if number == 1:
            break
    else:
        found += "!"
    for each in "ab":
        assert each, \\
            "a letter"
    return [
        letter
        for letter in found
    ]


def fails(number):
    try:
        number += 1
        1 / (number - 1)
        number += 2
    except (ValueError, ZeroDivisionError) as error:
        with contextlib.suppress(KeyError), contextlib.suppress(
            IndexError
        ):
            [][number]
            number += 5
        raise TypeError("no number") from error
    else:
        return number
    finally:
        number = 0


def chosen(value):
    match value:
        case [first, *_]:
            return first
        case _:
            return None


def each():
    yield 1
    yield 2


async def later():
    async with contextlib.AsyncExitStack():
        return 3


plain(4), plain(2)
with contextlib.suppress(TypeError):
    fails(0)
fails(3)
chosen([1])
next(each())
with contextlib.suppress(StopIteration):
    later().send(None)
Claim("a").side()
assert Side("pro").is_pro
'''


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program."""
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def load(loader: SourceFileLoader) -> None:
    """Run a module."""
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    sys.modules[loader.name] = module_from_spec(spec)
    try:
        loader.exec_module(sys.modules[loader.name])
    finally:
        del sys.modules[loader.name]


def lines_noted(path: Path) -> set[int]:
    """The lines that notes find."""
    load(NotingLoader("program", str(path)))
    return set(reached()[str(path)])


def lines_traced(path: Path) -> set[int]:
    """The lines that coverage finds."""
    measured, before = Coverage(None, config_file=False, include=[str(path)]), sys.gettrace()
    measured.start()
    try:
        load(SourceFileLoader("program", str(path)))
    finally:
        measured.stop()
        sys.settrace(before)
    return set(measured.get_data().lines(str(path)) or ())


def missing(path: Path, lines: set[int]) -> list[int]:
    """The lines that coverage's report misses."""
    measured = Coverage(None, config_file=False)
    measured.get_data().add_lines({str(path): lines})
    return measured.analysis2(str(path))[3]


def test_notes_find_what_tracing_finds(program: Path) -> None:
    noted = missing(program, lines_noted(program))
    assert noted == missing(program, lines_traced(program))
    assert len(noted) == 8


def test_what_is_tried_in_vain_counts_as_missing(tmp_path: Path) -> None:
    path = tmp_path / "vain.py"
    path.write_text("try:\n    try:\n        1 / 0\n    except KeyError:\n        pass\n"
                    "except ZeroDivisionError:\n    pass\n")  # fmt: skip
    assert missing(path, lines_traced(path)) == [5]
    assert missing(path, lines_noted(path)) == [4, 5]


def test_functions_for_the_compiler_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text("from sicetnon.compiled import compiled\n\n@compiled\ndef half(number):\n"
                    "    return number / 2\n\nassert half.function(4) == 2\n")  # fmt: skip
    assert lines_noted(path) == {1, 3, 4, 7}


def test_a_module_that_is_loaded_again_keeps_its_notes(tmp_path: Path) -> None:
    path = tmp_path / "twice.py"
    path.write_text("import sys\nif hasattr(sys, 'twice'):\n    1\nelse:\n    sys.twice = 1\n")
    try:
        assert lines_noted(path) == {1, 2, 5}
        assert lines_noted(path) == {1, 2, 3, 5}
    finally:
        del sys.twice  # type: ignore[attr-defined]
