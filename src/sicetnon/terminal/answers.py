"""Answers to a question, for people."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from sicetnon.records import Argument, Entry, PremiseStance
from sicetnon.text.printable import print_paragraph, printable, shortened

if TYPE_CHECKING:
    # heavy, and not every command needs them
    from sicetnon.arguments.comparative.comparer import ComparativeStance
    from sicetnon.library.answers import Answer

_SHOWN_QUESTION = 200
"""Letters of a question that are repeated above its answers."""
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


def show_answers(
    question: str,
    answers: Sequence[Answer],
    screen: Console,
    sides: Mapping[PremiseStance | None, tuple[str, str, str]] = SIDES,
) -> None:
    """Print answers, those of one side apart from those of the other, best first."""
    screen.print(Text(shortened(printable(question), _SHOWN_QUESTION), style="bold"))
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
        is_title = isinstance(record, Entry) and not record.claim
        of_what = "" if is_title else " the claim"
        head.append(f"{word}{of_what}: " if word else "", style=colour)
        head.append(printable(answer.heading), style="bold")
    else:
        head.append(printable(answer.id), style="bold")
    screen.print()
    print_paragraph(head, screen, len(_INDENT))
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
