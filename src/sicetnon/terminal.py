"""What people see in a terminal: answers, progress, tables. Plain text when the output is piped."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)
from rich.rule import Rule
from rich.text import Text

from sicetnon.formats.corpora import Corpus
from sicetnon.index.writing import Progress as BuildProgress
from sicetnon.search import Answer

PLAIN_WIDTH = 80
# texts of strangers must not steer the terminal
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_INDENT = " " * 4
SIDES = {
    "PRO": ("for", "green", "Reasons given for a claim"),
    "CON": ("against", "red", "Reasons given against a claim"),
    None: ("", "default", "Results"),
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


def show_answers(question: str, answers: Sequence[Answer], screen: Console) -> None:
    """Print answers, those for a claim apart from those against one, best first."""
    screen.print(Text(printable(question), style="bold"))
    if not answers:
        screen.print("Nothing was found: no document holds a word of the question that counts.")
        return
    if any(answer.stance for answer in answers):
        screen.print(Text("Each reason is for or against the claim printed above it.", style="dim"))
    for side in ("PRO", "CON", None):
        chosen = [answer for answer in answers if answer.stance == side]
        if not chosen:
            continue
        _, colour, title = SIDES[side]
        screen.print()
        screen.print(Rule(Text(title, style=f"bold {colour}"), align="left", style=colour))
        for answer in chosen:
            _show(answer, screen)


def _show(answer: Answer, screen: Console) -> None:
    word, colour, _ = SIDES[answer.stance]
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


@contextmanager
def building(screen: Console) -> Iterator[Callable[[Corpus, BuildProgress], None]]:
    """A progress bar for building an index: documents, documents a second, time left."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[documents]:>11,} documents {task.fields[speed]:>9,.0f}/s"),
        TimeRemainingColumn(compact=True),
        TextColumn("left"),
        console=screen,
        transient=True,
        disable=not screen.is_terminal,
    )
    with bar:
        task = bar.add_task("Indexing", total=None, documents=0, speed=0.0)

        def show(corpus: Corpus, progress: BuildProgress) -> None:
            bar.update(
                task,
                total=corpus.size() or None,
                completed=progress.bytes_read,
                documents=progress.documents,
                description="Merging" if progress.is_read else "Indexing",
                speed=progress.documents / max(progress.seconds, 1e-3),
            )

        yield show


def show_facts(facts: Sequence[tuple[str, str]], screen: Console) -> None:
    """Print names and values in two columns."""
    width = max(len(name) for name, _ in facts)
    for name, fact in facts:
        value = printable(fact)
        line = Text(f"{name:<{width}}  ", style="dim")
        screen.print(line.append(value, style="default not dim"), soft_wrap=True)
