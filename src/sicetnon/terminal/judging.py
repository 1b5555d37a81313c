"""Progress, agreement and disagreements of assessors in a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sicetnon.errors import counted
from sicetnon.judging.schema import Plan
from sicetnon.judging.votes import DimensionAgreement, Disagreement, PoolProgress
from sicetnon.records import Topic
from sicetnon.terminal.console import show_facts
from sicetnon.text.unicode import BreakableName, decimals, one_line, print_paragraph


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
        shown = _table("assessor", "judged", "quota", "skipped", "notes")
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
            shown = _table("assessors", "documents", "equal", "Cohen's κ")
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
        why = "" if documents else ": no document has votes of two assessors"
        print_paragraph(Text(f"No two assessors differ on a document{why}."), screen)
    for each in found:
        title = topics[each.topic].title if each.topic in topics else ""
        head = f"{each.dimension} · topic {each.topic} · {each.document}"
        print_paragraph(Text(one_line(head), style="bold"), screen)
        labels = ", ".join(f"{name} {label}" for name, label in sorted(each.votes.items()))
        print_paragraph(Text(one_line(f"{title} — {labels}")), screen)
        for name, note in sorted(each.notes.items()):
            print_paragraph(Text(one_line(f"{name}: {note}"), style="dim"), screen)


def _table(first: str, *others: str) -> Table:
    shown = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    shown.add_column(first)
    for title in others:
        shown.add_column(title, justify="right", no_wrap=True)
    return shown
