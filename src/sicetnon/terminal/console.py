"""Consoles for results and for notices, and what is printed on them: lines, paragraphs, facts."""

from __future__ import annotations

import contextlib
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence

from rich.console import Console
from rich.text import Text

from sicetnon.errors import counted
from sicetnon.formats.entries import is_link
from sicetnon.text.unicode import PLAIN_WIDTH, one_line, printable

_SHOWN_WARNINGS = 10
_NARROW = 40
"""Columns below which a whole address would fill more lines than the text that it is from."""


def console(stderr: bool = False, quiet: bool = False) -> Console:
    """A console for results, or on standard error for notices and progress.

    Where there is no terminal, it has no colour and as many columns as the variable COLUMNS says,
    or 80.
    """
    stream = sys.stderr if stderr else sys.stdout
    is_terminal = stream.isatty()
    width = None if is_terminal else shutil.get_terminal_size((PLAIN_WIDTH, 0)).columns
    return Console(
        stderr=stderr,
        quiet=quiet,
        highlight=False,
        emoji=False,
        markup=False,
        width=width,
        no_color=None if is_terminal else True,
        # commands print lines in a notebook, too, which pretends to be a terminal
        force_jupyter=False,
        force_terminal=None if is_terminal else False,
    )


def line_printer(screen: Console) -> Callable[[str], None]:
    """A function that prints a line: no markup, no line breaks, nothing that steers."""

    def say(line: str) -> None:
        screen.print(Text(one_line(line)), soft_wrap=True)

    return say


def print_origin(facts: str, source: str, screen: Console, indent: str) -> None:
    """Print, dim, facts of a document and where it comes from, on one line where both fit.

    An address is printed whole, on a line of its own where it does not fit, so that it can be
    copied. Other sources, and all of them on a narrow screen, are cut at the width of the screen.
    """
    one = Text(indent + printable("  ".join(filter(None, (facts, source)))), style="dim")
    is_apart = one.cell_len > screen.width >= _NARROW and is_link(source)
    first = Text(indent + printable(facts), style="dim") if is_apart else one
    first.truncate(screen.width, overflow="ellipsis")
    screen.print(first, soft_wrap=True)
    if is_apart:
        screen.print(Text(indent + printable(source), style="dim"), soft_wrap=True)


def show_facts(facts: Sequence[tuple[str, str]], screen: Console) -> None:
    """Print names and values in two columns."""
    width = max(len(name) for name, _ in facts)
    for name, fact in facts:
        line = Text(f"{name:<{width}}  ", style="dim")
        line.append(printable(fact).replace("\n", " "), style="default not dim")
        screen.print(line, soft_wrap=True)


@contextlib.contextmanager
def warnings_as_lines(category: type[Warning], say: Callable[[str], None]) -> Iterator[None]:
    """Print warnings of a category as lines for people: repeated ones once, ten at most."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", category)
        yield
    lines = list(dict.fromkeys(one_line(str(warning.message)) for warning in caught))
    for line in lines[:_SHOWN_WARNINGS]:
        say(f"sicetnon: warning: {line}")
    if len(lines) > _SHOWN_WARNINGS:
        say(f"sicetnon: {counted(len(lines) - _SHOWN_WARNINGS, 'more warning')}")
