"""Strings that make a regular expression slow, made from the expression itself."""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import pkgutil
import re
import time
from collections.abc import Callable, Iterator
from re import _constants as codes  # type: ignore[attr-defined]  # the parse tree has no other door
from re import _parser as parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any, NamedTuple

import sicetnon

_MANY = 64
"""A repeat of so many may take long."""
_CANDIDATES = "a 1.,'\"-:(\n\tA!?/_&[<%’“”"
_ENDS = ("", "\x00", "?")
# the module of `parse_question`, which reads 400 characters
_OF_QUESTIONS = ("comparative.question_parser",)
_LONGEST_QUESTION = 400


class Expression(NamedTuple):
    """A regular expression of the package.

    Attributes:
        place: The module, and its name or line there.
        pattern: The compiled pattern.
        methods: How it is applied: `search`, `match` or `fullmatch`.
    """

    place: str
    pattern: re.Pattern[Any]
    methods: frozenset[str]


def modules() -> Iterator[ModuleType]:
    """All modules of the package whose imports are installed."""
    for found in pkgutil.walk_packages(sicetnon.__path__, "sicetnon."):
        if not found.name.endswith("__main__"):
            try:
                yield importlib.import_module(found.name)
            except ImportError:
                continue


def expressions() -> list[Expression]:
    """All regular expressions that are constants of modules, or literals in their calls."""
    each = [(module, ast.parse(inspect.getsource(module))) for module in modules()]
    used: dict[str, set[str]] = {}
    for _, tree in each:
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                owner = node.value
                name = getattr(owner, "id", getattr(owner, "attr", ""))
                used.setdefault(name, set()).add(node.attr)
    found = []
    for module, tree in each:
        for name, value in vars(module).items():
            place, methods = f"{module.__name__}.{name}", _methods(used, name)
            found += [Expression(place, each, methods) for each in _patterns(value)]
        found += _literals(module, tree)
    unique = {(each.pattern, each.methods): each for each in reversed(found)}
    return sorted(unique.values(), key=lambda each: each.place)


def _patterns(value: object) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _patterns(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _patterns(each)


def _methods(used: dict[str, set[str]], name: str) -> frozenset[str]:
    known = used.get(name, set()) & {"match", "fullmatch"}
    others = used.get(name, set()) & {"search", "sub", "subn", "split", "findall", "finditer"}
    return frozenset(known | ({"search"} if others or not known else set()))


def _literals(module: ModuleType, tree: ast.Module) -> Iterator[Expression]:
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        if getattr(node.func.value, "id", "") != "re" or node.func.attr in ("escape", "compile"):
            continue
        try:
            text = eval(compile(ast.Expression(node.args[0]), "-", "eval"), vars(module))
            flags = "re.IGNORECASE" in ast.unparse(node)
            pattern = re.compile(text, re.IGNORECASE if flags else 0)
        except (NameError, re.error):
            continue  # it has a variable in it
        known = node.func.attr if node.func.attr in ("match", "fullmatch") else "search"
        yield Expression(f"{module.__name__}:{node.lineno}", pattern, frozenset({known}))


def inputs(expression: Expression, texts: Iterator[str]) -> Iterator[str | bytes]:
    """The texts as an expression gets them: questions are folded, and their beginning is read."""
    for text in texts:
        if isinstance(expression.pattern.pattern, bytes):
            yield text.encode()
        elif any(f".{name}" in expression.place for name in _OF_QUESTIONS):
            yield " ".join(text.split())[:_LONGEST_QUESTION]
        else:
            yield text


def pumped(pattern: re.Pattern[Any], length: int) -> Iterator[str]:
    """Strings of about a length that repeat what the expression repeats."""
    source = pattern.pattern
    tree = parser.parse(source, pattern.flags & ~re.UNICODE if isinstance(source, str) else 0)
    seen: set[tuple[str, str]] = set()
    parts = [("", each) for each in (" ", "a", "a ", "1", "\n", "'", ", ", ". ", "A")]
    for before, body in itertools.chain(parts, _repeats(tree, "")):
        for start, unit in ((before, body), ("", before + body), ("", before), ("", f"{before} ")):
            if unit and (start, unit) not in seen:
                seen.add((start, unit))
                many = start + unit * (length // len(unit) + 1)
                for end in _ENDS:
                    yield many + end


def _repeats(tree: Any, before: str) -> Iterator[tuple[str, str]]:
    """What stands before each long repeat of a parse tree, and what is repeated."""
    for code, value in tree:
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            _, most, body = value
            if most >= _MANY:
                for text in _samples(body):
                    yield before, text
            yield from _repeats(body, before)
        elif code is codes.BRANCH:
            for branch in value[1]:
                yield from _repeats(branch, before)
        elif code is codes.SUBPATTERN:
            yield from _repeats(value[-1], before)
        elif code is codes.ATOMIC_GROUP:
            yield from _repeats(value, before)
        elif code in (codes.ASSERT, codes.ASSERT_NOT):
            yield from _repeats(value[1], before)
        before += next(_samples([(code, value)]), "")


def _samples(tree: Any) -> Iterator[str]:
    """A few texts that a parse tree matches, by and large."""
    options = [list(itertools.islice(_of_one(code, value), 8)) or [""] for code, value in tree]
    width = max(map(len, options), default=0)
    for place in range(width):
        yield "".join(each[place % len(each)] for each in options)


def _of_one(code: Any, value: Any) -> Iterator[str]:
    if code is codes.LITERAL:
        yield chr(value)
    elif code in (codes.IN, codes.ANY, codes.NOT_LITERAL, codes.CATEGORY):
        item = [(code, value)]
        own = re.compile(_source(item), re.DOTALL)
        yield from (letter for letter in _CANDIDATES if own.fullmatch(letter))
        if code is codes.IN:
            yield from (chr(each[1]) for each in value if each[0] is codes.LITERAL)
    elif code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        least, most, body = value
        for text in _samples(body):
            yield text * max(least, min(1, most))
    elif code is codes.BRANCH:
        for branch in value[1]:
            yield from itertools.islice(_samples(branch), 1)
    elif code is codes.SUBPATTERN:
        yield from _samples(value[-1])
    elif code is codes.ATOMIC_GROUP:
        yield from _samples(value)


def _source(item: Any) -> str:
    """A parse tree's one letter as an expression again."""
    code, value = item[0]
    if code is codes.ANY:
        return "."
    if code is codes.NOT_LITERAL:
        return f"[^{re.escape(chr(value))}]"
    if code is codes.CATEGORY:
        return _CATEGORIES[value]
    inside = ""
    for kind, what in value:
        if kind is codes.NEGATE:
            inside += "^"
        elif kind is codes.LITERAL:
            inside += re.escape(chr(what))
        elif kind is codes.RANGE:
            inside += f"{re.escape(chr(what[0]))}-{re.escape(chr(what[1]))}"
        else:
            inside += _CATEGORIES[what]
    return f"[{inside}]"


_CATEGORIES = {
    codes.CATEGORY_DIGIT: r"\d",
    codes.CATEGORY_NOT_DIGIT: r"\D",
    codes.CATEGORY_SPACE: r"\s",
    codes.CATEGORY_NOT_SPACE: r"\S",
    codes.CATEGORY_WORD: r"\w",
    codes.CATEGORY_NOT_WORD: r"\W",
}


def seconds_of(work: Callable[[], object]) -> float:
    """Seconds of processor time that a call takes."""
    begin = time.process_time()
    work()
    return time.process_time() - begin
