"""What people see in a terminal: answers, progress, tables. Plain text when the output is piped."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.rule import Rule
from rich.text import Text

from sicetnon.records import Argument, PremiseStance

if TYPE_CHECKING:
    # heavy, and not every command needs them
    from sicetnon.arguments.comparative.comparer import ComparativeStance
    from sicetnon.formats.corpora import Corpus
    from sicetnon.index.annotation_writer import AnnotationProgress
    from sicetnon.index.writing import Progress as BuildProgress
    from sicetnon.library.answers import Answer

PLAIN_WIDTH = 80
# texts of strangers must not steer the terminal
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_INDENT = " " * 4
SIDES: dict[PremiseStance | None, tuple[str, str, str]] = {
    "PRO": ("for", "green", "Reasons given for a claim"),
    "CON": ("against", "red", "Reasons given against a claim"),
    None: ("", "default", "Results"),
}
# a service that knows the question takes sides on it; the words still say what a premise does to
# its conclusion
QUESTION_SIDES: dict[PremiseStance | None, tuple[str, str, str]] = {
    "PRO": ("for", "green", "For"),
    "CON": ("against", "red", "Against"),
    None: ("", "default", "Results"),
}
# in the order in which they are shown; objects are equals, so neither is green or red
_OBJECT_SIDES: dict[PremiseStance | ComparativeStance | None, tuple[str, str]] = {
    "FIRST": ("cyan", "In favour of {}"),
    "SECOND": ("magenta", "In favour of {}"),
    "NEUTRAL": ("default", "Weighing both"),
    "NO": ("default", "Taking no side"),
}


def console(stderr: bool = False) -> Console:
    """A console for this terminal; 80 columns and no colour where there is none."""
    stream = sys.stderr if stderr else sys.stdout
    if stream.isatty():
        return Console(stderr=stderr, highlight=False, emoji=False)
    return Console(stderr=stderr, highlight=False, emoji=False, width=PLAIN_WIDTH, no_color=True)


def printable(text: str) -> str:
    """A text without the characters that steer a terminal; as long as the text."""
    return _CONTROL.sub(" ", text)


def show_answers(
    question: str,
    answers: Sequence[Answer],
    screen: Console,
    sides: Mapping[PremiseStance | None, tuple[str, str, str]] = SIDES,
) -> None:
    """Print answers, those of one side apart from those of the other, best first."""
    screen.print(Text(printable(question), style="bold"))
    if not answers:
        screen.print("Nothing was found: no document holds a word of the question that counts.")
        return
    # all NO is also what a system says that judges no sides
    if any(answer.objects and answer.stance != "NO" for answer in answers):
        _show_compared(answers, screen)
        return
    if sides is SIDES and any(answer.stance in ("PRO", "CON") for answer in answers):
        screen.print(Text("Each reason is for or against the claim printed above it.", style="dim"))
    for side in ("PRO", "CON", None):
        _, colour, title = sides[side]
        _show_group(title, colour, [a for a in answers if _premise_side(a) == side], screen)


def _show_compared(answers: Sequence[Answer], screen: Console) -> None:
    """Print passages by the object that they favour."""
    screen.print(Text("Which object a passage favours is a program's guess.", style="dim"))
    for side, (colour, title) in _OBJECT_SIDES.items():
        chosen = [answer for answer in answers if answer.stance == side]
        name = chosen[0].favours if chosen else None
        _show_group(printable(title.format(name or "")), colour, chosen, screen)


def _show_group(title: str, colour: str, answers: Sequence[Answer], screen: Console) -> None:
    if not answers:
        return
    screen.print()
    screen.print(Rule(Text(title, style=f"bold {colour}"), align="left", style=colour))
    for answer in answers:
        _show(answer, screen)


def _premise_side(answer: Answer) -> PremiseStance | None:
    """The side of a reason; None also for a passage, whose side is about objects."""
    return answer.stance if answer.stance == "PRO" or answer.stance == "CON" else None


def _show(answer: Answer, screen: Console) -> None:
    record = answer.record
    side = record.stance if isinstance(record, Argument) else _premise_side(answer)
    word, colour, _ = SIDES[side]
    head = Text()
    head.append(f"{answer.rank:>2}  ", style="bold")
    if answer.heading:
        head.append(f"{word}: " if word else "", style=colour)
        head.append(printable(answer.heading), style="bold")
    else:
        head.append(printable(answer.id), style="bold")
    screen.print()
    screen.print(head)
    # without a blank before it, the last ellipsis cannot wrap to a line of its own
    body = Text(re.sub(r"\s…$", "…", printable(answer.snippet.text)))
    for start, end in answer.snippet.marks:
        body.stylize("bold yellow" if not screen.no_color else "bold", start, end)
    for line in body.wrap(screen, screen.width - len(_INDENT)):
        line.rstrip()
        screen.print(Text(_INDENT).append_text(line))
    identifier = answer.id if answer.heading else ""
    foot = "  ".join(filter(None, (f"{answer.score:.2f}", identifier, answer.source)))
    shown = Text(_INDENT + printable(foot), style="dim")
    shown.truncate(screen.width, overflow="ellipsis")
    screen.print(shown, soft_wrap=True)


def _bar_of_documents(screen: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[documents]:>11,} documents {task.fields[speed]:>9,.0f}/s"),
        TimeRemainingColumn(compact=True),
        TextColumn("left"),
        console=screen,
        transient=True,
        disable=not screen.is_terminal,
    )


@contextmanager
def indexing(
    screen: Console,
) -> Iterator[tuple[Callable[[Corpus, BuildProgress], None], Callable[[AnnotationProgress], None]]]:
    """A progress bar for building an index: documents, documents a second, time left.

    It goes on when documents are annotated. It shows itself when there is something to show: a
    terminal has room for one bar at a time.
    """
    bar = _bar_of_documents(screen)
    task = bar.add_task("Indexing", total=None, documents=0, speed=0.0)
    started: list[tuple[float, int]] = []

    def show(corpus: Corpus, progress: BuildProgress) -> None:
        bar.start()
        bar.update(
            task,
            total=corpus.size() or None,
            completed=progress.bytes_read,
            documents=progress.documents,
            description="Merging" if progress.is_read else "Indexing",
            speed=progress.documents / max(progress.seconds, 1e-3),
        )

    def show_annotated(done: AnnotationProgress) -> None:
        if not started:
            # what an interrupted time before has done says nothing of the speed
            started.append((time.monotonic(), done.documents))
            bar.reset(task, documents=0, speed=0.0)
            bar.start()
        start, first = started[0]
        bar.update(
            task,
            total=done.total,
            completed=done.documents,
            documents=done.documents,
            description=f"Annotating: {', '.join(done.names)}",
            speed=(done.documents - first) / max(time.monotonic() - start, 1e-3),
        )

    try:
        yield show, show_annotated
    finally:
        bar.stop()


@contextmanager
def annotating(
    screen: Console, size: int | None, is_shown: bool
) -> Iterator[Callable[[int, int], None]]:
    """A progress bar for records that are annotated: records, records a second, time left.

    Args:
        screen: Where it is shown, if that is a terminal.
        size: Bytes to read, where that is known.
        is_shown: Whether it may be shown.
    """
    bar = Progress(
        TextColumn("Annotating"),
        BarColumn(),
        TextColumn("{task.fields[records]:>11,} records {task.fields[speed]:>9,.0f}/s"),
        TimeRemainingColumn(compact=True),
        TextColumn("left"),
        console=screen,
        transient=True,
        disable=not (is_shown and screen.is_terminal),
    )
    with bar:
        task = bar.add_task("Annotating", total=size, records=0, speed=0.0)
        start = time.monotonic()
        before: list[int] = []

        def show(records: int, bytes_read: int) -> None:
            before[:] = before or [records]
            seconds = max(time.monotonic() - start, 1e-3)
            speed = (records - before[0]) / seconds
            bar.update(task, completed=bytes_read, records=records, speed=speed)

        yield show


@contextmanager
def fetching(screen: Console) -> Iterator[Callable[[str, int, int], None]]:
    """A progress line for what is fetched from a service; it shows itself when that begins."""
    bar = Progress(
        TextColumn("Fetching {task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed} of {task.total}"),
        TimeElapsedColumn(),
        console=screen,
        transient=True,
        disable=not screen.is_terminal,
    )
    shown: dict[str, TaskID] = {}

    def show(what: str, done: int, total: int) -> None:
        if what not in shown:
            # one line is enough: what was fetched before is done
            for earlier in shown.values():
                bar.remove_task(earlier)
            shown.clear()
            shown[what] = bar.add_task(printable(what), total=total)
            bar.start()
        bar.update(shown[what], completed=done, total=total)

    try:
        yield show
    finally:
        bar.stop()


def show_facts(facts: Sequence[tuple[str, str]], screen: Console) -> None:
    """Print names and values in two columns."""
    width = max(len(name) for name, _ in facts)
    for name, fact in facts:
        value = printable(fact)
        line = Text(f"{name:<{width}}  ", style="dim")
        screen.print(line.append(value, style="default not dim"), soft_wrap=True)
