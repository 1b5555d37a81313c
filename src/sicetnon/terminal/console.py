"""Consoles for results and for notices: lines, facts, warnings, progress, the log."""

from __future__ import annotations

import contextlib
import logging
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from sicetnon.errors import counted
from sicetnon.formats.entries import is_link
from sicetnon.text.unicode import PLAIN_WIDTH, one_line, printable

if TYPE_CHECKING:
    from rich.progress import Progress

    from sicetnon.formats.corpora import Corpus
    from sicetnon.index.annotations import AnnotationProgress
    from sicetnon.index.writing import Progress as BuildProgress

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


class _Lines(logging.Handler):
    """Prints to the present standard error, which a progress bar may have replaced."""

    def emit(self, record: logging.LogRecord) -> None:
        print(one_line(self.format(record)), file=sys.stderr)  # noqa: T201


@contextlib.contextmanager
def shown_log(name: str, verbosity: int) -> Iterator[None]:
    """Show what a logger and those below it log: INFO at 1, DEBUG from 2."""
    logger = logging.getLogger(name)
    handler, level = _Lines(), logger.level
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO if verbosity == 1 else logging.DEBUG)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


class ProgressBar:
    """One bar for whatever a command does at the time. Use as a context manager.

    It appears with the first report and only in a terminal. A new stage begins it anew: a terminal
    has room for one bar at a time.
    """

    def __init__(self, screen: Console):
        self._bar = _bar(screen) if screen.is_terminal and not screen.quiet else None
        self._stage = ""
        self._begun, self._first = 0.0, 0

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def indexing(self, corpus: Corpus, progress: BuildProgress) -> None:
        """Show how far an index is built: documents, documents per second, time left."""
        stage = "Merging" if progress.is_read else "Indexing"
        size = corpus.size() or None
        self._show(stage, progress.documents, "documents", progress.bytes_read, size)

    def annotating(self, done: AnnotationProgress) -> None:
        """Show how many documents of an index are annotated."""
        stage = f"Annotating: {', '.join(done.names)}"
        self._show(stage, done.documents, "documents", done.documents, done.total)

    def labelling(self, done: int, total: int) -> None:
        """Show how many results of a run have their stance."""
        self._show("Annotating: stance", done, "results", done, total)

    def records(self, done: int, bytes_read: int, size: int | None) -> None:
        """Show how many records of a file are annotated; its size in bytes where it is known."""
        self._show("Annotating", done, "records", bytes_read, size)

    def fetching(self, what: str, done: int, total: int) -> None:
        """Show what is fetched from a service."""
        self._show(f"Fetching {printable(what)}", done, f"of {total}", done, total)

    def _show(self, stage: str, count: int, unit: str, completed: int, total: int | None) -> None:
        if self._bar is None:
            return
        now, (task,) = time.monotonic(), self._bar.task_ids
        if stage != self._stage:
            # what an earlier start has done says nothing of the speed
            self._stage, self._begun, self._first = stage, now, count
            self._bar.reset(task)
            self._bar.start()
        speed = (count - self._first) / max(now - self._begun, 1e-3)
        figures = f"{count:>9,} {unit}" + (f" {speed:>7,.0f}/s" if speed else "")
        self._bar.update(task, description=stage, total=total, completed=completed, figures=figures)


def _bar(screen: Console) -> Progress:
    """A bar with its one task."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[figures]}", markup=False),
        TimeRemainingColumn(compact=True),
        TextColumn("left"),
        console=screen,
        transient=True,
    )
    bar.add_task("", total=None, figures="")
    return bar
