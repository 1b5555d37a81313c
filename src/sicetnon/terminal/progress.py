"""The progress bar of a command, on standard error."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING

from rich.console import Console

from sicetnon.text.unicode import printable

if TYPE_CHECKING:
    # heavy, and not every command needs them
    from rich.progress import Progress

    from sicetnon.formats.corpora import Corpus
    from sicetnon.index.annotation_writer import AnnotationProgress
    from sicetnon.index.writing import Progress as BuildProgress


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
