"""Views of results for people: answers, replies, leaderboards, agreement of assessors."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from sicetnon.app.labels import denies, guess, why
from sicetnon.arguments.comparative.question_parser import choice_in
from sicetnon.errors import counted
from sicetnon.records import ComparativeStance, QuestionSide, Topic
from sicetnon.terminal.console import print_origin, show_facts
from sicetnon.text.unicode import (
    BreakableName,
    decimals,
    one_line,
    print_paragraph,
    printable,
    shortened,
)

if TYPE_CHECKING:
    # heavy, and not every command needs them
    from rich.table import Table

    from sicetnon.app.answers import Answer
    from sicetnon.app.reply import Reply
    from sicetnon.evaluation.leaderboard import Leaderboard, RankedRow, Row
    from sicetnon.judging.schema import Plan
    from sicetnon.judging.votes import DimensionAgreement, Disagreement, PoolProgress

_SHOWN_QUESTION = 200
"""Letters of a question that are repeated above its answers."""
_INDENT = " " * 4
# in the order in which they are shown
_SIDES: dict[QuestionSide | None, tuple[str, str, str]] = {
    "FOR": ("for", "green", "For"),
    "AGAINST": ("against", "red", "Against"),
    "BOTH": ("weighs both", "default", "Weighing both"),
    "NONE": ("takes no side", "default", "Taking no side"),
    None: ("", "default", "Results"),
}
# in the order in which they are shown; objects are equals, so neither is green or red
_OBJECT_SIDES: dict[ComparativeStance | None, tuple[str, str]] = {
    "FIRST": ("cyan", "In favour of {}"),
    "SECOND": ("magenta", "In favour of {}"),
    "NEUTRAL": ("default", "Weighing both"),
    "NO": ("default", "Taking no side"),
}
# the object of "X or Y" that an argument of a side favours
_FAVOURING: dict[QuestionSide | None, ComparativeStance] = {"FOR": "FIRST", "AGAINST": "SECOND"}
_WIDOW = 0.25
"""Share of a line below which the last line of a part that was cut is not worth a line."""
_SHOWN_CLAIM = 200
_NOTHING = (
    "The index holds no sentence against this that is about it and can be quoted. "
    "sicetnon search shows whole arguments."
)


def show_answers(
    question: str,
    answers: Sequence[Answer],
    screen: Console,
    nearest: Sequence[str] = (),
    explain: bool = False,
    corrected: str = "",
) -> None:
    """Print answers, those of one side apart from those of the other, best first.

    Args:
        question: The question.
        answers: The answers.
        screen: The console.
        nearest: The nearest topics, printed if there is no answer.
        explain: Whether to print the reasons of each answer.
        corrected: The question in the spelling of the index, printed if there is no answer; empty
            if the spelling is the same.
    """
    screen.print(Text(shortened(printable(question), _SHOWN_QUESTION), style="bold"))
    if not answers:
        _show_nearest(nearest, corrected, screen)
        return
    if said := guess(answers):
        screen.print(Text(said, style="dim"))
    # all NO is also what a system says that judges no sides
    if any(answer.objects and answer.stance != "NO" for answer in answers):
        _show_compared(answers, screen, explain)
        return
    objects = choice_in(question)
    for side, (_, colour, title) in _SIDES.items():
        chosen = [answer for answer in answers if answer.side == side]
        if objects and side in _FAVOURING:
            colour, title = _OBJECT_SIDES[_FAVOURING[side]]
            title = title.format(printable(objects[side == "AGAINST"]))
        _show_group(title, colour, chosen, screen, explain, objects is not None)


def show_left_out(system: str, screen: Console) -> None:
    """Print that `search` leaves answers out, and which system shows them."""
    said = f"Only what is surely about the question is shown. For more: --system {system}"
    screen.print()
    print_paragraph(Text(said, style="dim"), screen, 0)


def _show_nearest(nearest: Sequence[str], corrected: str, screen: Console) -> None:
    """Print that there is no answer, and what to ask instead."""
    if corrected:
        print_paragraph(Text("As it is spelt, nothing in this index is about it."), screen, 0)
        meant = shortened(printable(corrected), _SHOWN_QUESTION)
        print_paragraph(Text(f"Did you mean: {meant}", style="bold"), screen, 0)
        if nearest:
            screen.print("The nearest topics, which may be about something else:")
    elif nearest:
        screen.print("There is no argument about this in this index. The nearest topics:")
    else:
        said = "Nothing was found: no document holds a word of the question, common words apart."
        print_paragraph(Text(said), screen, 0)
    for heading in nearest:
        print_paragraph(Text(f"- {printable(heading)}"), screen, 2)


def _show_compared(answers: Sequence[Answer], screen: Console, explain: bool) -> None:
    """Print passages by the object that they favour."""
    for side, (colour, title) in _OBJECT_SIDES.items():
        chosen = [answer for answer in answers if answer.stance == side]
        name = chosen[0].favours if chosen else None
        _show_group(printable(title.format(name or "")), colour, chosen, screen, explain)


def _show_group(
    title: str,
    colour: str,
    answers: Sequence[Answer],
    screen: Console,
    explain: bool,
    is_choice: bool = False,
) -> None:
    """Print the answers of one side; of a choice, a side is an object that they favour."""
    if not answers:
        return
    screen.print()
    head = Text(f"{title} ({len(answers)})", style=f"bold {colour}")
    screen.print(Rule(head, align="left", style=colour))
    for answer in answers:
        _show(answer, colour, screen, explain, is_choice)


def _label(answer: Answer, is_choice: bool) -> str:
    """The side of an answer, how sure it is, and whether the answer is against its heading."""
    word = _SIDES[answer.side][0]
    if is_choice and answer.side in _FAVOURING:
        word = "favours it"
    if answer.side_probability is not None:
        word += f" ({answer.side_probability:.0%})"
    return ", ".join(filter(None, (word, "against the claim" if denies(answer) else "")))


def _why(reasons: Mapping[str, float]) -> str:
    """The reasons for an answer's place, in a line."""
    return ", ".join(
        words if value is None else f"{words} {value:.1f}" for words, value in why(reasons)
    )


def _show(answer: Answer, colour: str, screen: Console, explain: bool, is_choice: bool) -> None:
    label = _label(answer, is_choice)
    heading = printable(answer.heading or ("" if label else answer.id))
    head = Text()
    head.append(f"{answer.rank:>2}  ", style="bold")
    head.append(f"{label}: " if label and heading else label, style=colour)
    head.append(heading, style="bold")
    screen.print()
    print_paragraph(head, screen, len(_INDENT))
    for line in _part(answer, screen):
        screen.print(Text(_INDENT).append_text(line))
    if explain and answer.reasons:
        print_paragraph(Text(_INDENT + _why(answer.reasons), style="dim"), screen, len(_INDENT))
    identifier = answer.id if answer.heading or label else ""
    more = f"{len(answer.similar)} more like this" if answer.similar else ""
    facts = "  ".join(filter(None, (f"score {answer.score:.2f}", identifier, more)))
    print_origin(facts, answer.source, screen, _INDENT)


def _part(answer: Answer, screen: Console) -> list[Text]:
    """The lines of the part of an answer that is shown, or none if it has no text."""
    width = screen.width - len(_INDENT)
    # without a blank before it, the last ellipsis cannot wrap to a line of its own
    body = Text(re.sub(r"\s…$", "…", printable(answer.snippet.text)))
    if not body:
        return []
    for start, end in answer.snippet.marks:
        # no colour, since none is easy to read on light and on dark
        body.stylize("bold underline", start, end)
    lines = list(body.wrap(screen, width))
    for line in lines:
        line.rstrip()
    is_cut = body.plain.endswith("…")
    if is_cut and len(lines) > 1 and lines[-1].cell_len < _WIDOW * width:
        lines.pop()
        if lines[-1].cell_len == width:
            lines[-1].right_crop(len(lines[-1].plain) - max(lines[-1].plain.rfind(" "), 0))
        lines[-1].append("…")
    return lines


def show_replies(claim: str, replies: Sequence[Reply], screen: Console) -> None:
    """Print the claim, and what is said against it."""
    screen.print(Text(f"Against: {shortened(printable(claim), _SHOWN_CLAIM)}", style="bold"))
    if not replies:
        print_paragraph(Text(_NOTHING), screen, 0)
    for place, each in enumerate(replies, start=1):
        screen.print()
        print_paragraph(Text(f"{place:>2}  {printable(each.text)}"), screen, len(_INDENT))
        reason = each.reason
        source = reason.link or reason.title or reason.answer.heading
        print_origin(reason.answer.id, source, screen, _INDENT)


def show_leaderboard(board: Leaderboard, screen: Console) -> None:
    """Print the tables of a task; the user's own runs stand out."""
    for table in board.tables:
        corpus = f" ({table.corpus})" if table.corpus else ""
        screen.print()
        screen.print(Text(f"{board.task}, {table.dimension}{corpus}", style="bold"))
        screen.print(_leaderboard_table(table.places))
        for place in table.places:
            if place.run is not None:
                topics = counted(place.row.topics or 0, "topic")
                share = f"{topics}, judged {decimals(place.row.judged)}"
                name = printable(place.row.tag or place.run)
                print_paragraph(Text(f"→ {name}: {share}", style="bold green"), screen)
    for note in board.notes:
        print_paragraph(Text(printable(note)), screen)


def _leaderboard_table(places: Sequence[RankedRow]) -> Table:
    """The table of some places; columns of which nothing is known are left out."""
    measure = places[0].row.measure if places else ""
    figures = {measure: [decimals(place.row.mean) for place in places]}
    if any(place.row.low is not None for place in places):
        figures["95% interval"] = [_interval(place.row) for place in places]
    if any(place.row.lines is not None for place in places):
        figures["N"] = [f"{place.row.lines:,}" if place.row.lines else "" for place in places]
    shown = _table()
    shown.add_column("", justify="right", no_wrap=True)
    shown.add_column("team")
    shown.add_column("run")
    for title in figures:
        shown.add_column(title, justify="right", no_wrap=True)
    for place, *cells in zip(places, *figures.values(), strict=True):
        team = "→ yours" if place.run is not None else printable(place.row.team)
        run = BreakableName(place.row.tag or place.run or "")
        style = "" if place.run is None else "bold green"
        shown.add_row(str(place.place), Text(team), run, *cells, style=style)
    return shown


def _interval(row: Row) -> str:
    known = row.low is not None and row.high is not None
    return f"{decimals(row.low)} – {decimals(row.high)}" if known else ""


def show_progress(plan: Plan, progress: PoolProgress, screen: Console) -> None:
    """Print how far a pool and its assessors are."""
    documents = counted(progress.documents, "document")
    facts = [
        ("pool", f"{documents}, {counted(progress.topics, 'topic')}, depth {plan.depth}"),
        ("judged on", ", ".join(plan.dimensions)),
        ("complete", f"{progress.judged:,} of {documents}"),
        ("votes", f"{progress.votes:,} of {progress.votes_wanted:,}"),
    ]
    if plan.task:
        facts.insert(0, ("task", plan.task))
    show_facts(facts, screen)
    if progress.assessors:
        shown = _counts_table("assessor", "judged", "quota", "skipped", "notes")
        for each in progress.assessors:
            quota = "" if each.quota is None else f"{each.quota:,}"
            counts = (f"{each.judged:,}", quota, f"{each.skipped:,}", f"{each.notes:,}")
            shown.add_row(BreakableName(each.name), *counts)
        screen.print(shown)


def show_agreement(found: Sequence[DimensionAgreement], screen: Console) -> None:
    """Print how far assessors agree on each dimension."""
    for each in found:
        documents = counted(each.documents, "document")
        text = f"{each.dimension}: Krippendorff's α {decimals(each.alpha)}, {documents} with votes"
        print_paragraph(Text(f"{text} of two or more", style="bold"), screen)
        if each.pairs:
            shown = _counts_table("assessors", "documents", "equal", "Cohen's κ")
            for pair in each.pairs:
                name = BreakableName(f"{pair.first}, {pair.second}")
                counts = (f"{pair.documents:,}", decimals(pair.equal), decimals(pair.kappa))
                shown.add_row(name, *counts)
            screen.print(shown)


def show_disagreements(
    found: Sequence[Disagreement],
    documents: int,
    topics: Mapping[str, Topic],
    screen: Console,
) -> None:
    """Print the documents on which assessors differ.

    Args:
        found: The documents.
        documents: How many documents have votes of two assessors.
        topics: The topics, by number.
        screen: Where they are printed.
    """
    if not found:
        reason = "" if documents else ": no document has votes of two assessors"
        print_paragraph(Text(f"No two assessors differ on a document{reason}."), screen)
    for each in found:
        title = topics[each.topic].title if each.topic in topics else ""
        head = f"{each.dimension} · topic {each.topic} · {each.document}"
        print_paragraph(Text(one_line(head), style="bold"), screen)
        labels = ", ".join(f"{name} {label}" for name, label in sorted(each.votes.items()))
        print_paragraph(Text(one_line(f"{title} — {labels}")), screen)
        for name, note in sorted(each.notes.items()):
            print_paragraph(Text(one_line(f"{name}: {note}"), style="dim"), screen)


def _counts_table(first: str, *others: str) -> Table:
    shown = _table()
    shown.add_column(first)
    for title in others:
        shown.add_column(title, justify="right", no_wrap=True)
    return shown


def _table() -> Table:
    # a search prints none
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    return Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
