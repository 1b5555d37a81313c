"""Scores as tables: for the terminal, as plain text and as HTML, all from the same cells."""

from __future__ import annotations

import html
import io
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from sicetnon.evaluation.measures import parse_measure
from sicetnon.evaluation.notation import read_notation
from sicetnon.evaluation.scores import Score
from sicetnon.text.unicode import PLAIN_WIDTH, BreakableName, decimals, print_paragraph, printable

if TYPE_CHECKING:
    from rich.console import Console

_STYLE = """<style>
.sicetnon-scores { overflow-x: auto; }
.sicetnon-scores p { margin: 1.4em 0 0.3em; text-align: left; white-space: pre-wrap; }
.sicetnon-scores table { border-collapse: collapse; margin: 0 0 0.6em; }
.sicetnon-scores thead { border-bottom: 1px solid; }
.sicetnon-scores th, .sicetnon-scores td {
  padding: 0.2em 0.5em; text-align: right; white-space: nowrap;
  font-variant-numeric: tabular-nums;
}
.sicetnon-scores :is(th, td):first-child {
  padding-left: 0; min-width: 6em; text-align: left; white-space: normal; overflow-wrap: anywhere;
}
</style>"""
"""Colours are those of the notebook, be it light or dark."""
P_VALUES = (
    "p: randomisation test; p (t): paired t test; two-sided, corrected for the number of runs "
    "compared (Holm)"
)


@dataclass(frozen=True)
class ScoreTable:
    """A table of scores, its cells as they are shown.

    Attributes:
        title: The measure and what was judged; empty where the table goes with the one before.
        subtitle: The rule and the judgments.
        columns: The heads of the columns. The first column names runs, the others are numbers.
        rows: One per run, best first.
        note: An explanation of the columns.
    """

    title: str
    subtitle: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def score_tables(scores: Sequence[Score]) -> Iterator[ScoreTable]:
    """A table for each measure and file of judgments; a second one where there is a baseline."""
    names = short_names(score.run for score in scores)
    for (qrels, rule, measure), group in groupby(
        scores, key=lambda score: (score.qrels, score.rule, score.measure)
    ):
        rows = list(group)
        title = f"{measure}, {rows[0].dimension}"
        yield _means(rows, names, title, f"rule: {rule}  judgments: {Path(qrels).name}")
        if any(score.comparison for score in rows):
            yield _differences(rows, names)


def _means(scores: Sequence[Score], names: dict[str, str], title: str, subtitle: str) -> ScoreTable:
    stances = any(score.lines is not None for score in scores)
    judged = _judged_name(scores[0])
    total = parse_measure(scores[0].measure).is_count if not stances else False
    columns = (
        "run",
        "total" if total else "mean",
        "95% interval",
        "topics",
        *[judged] * bool(judged),
        *["N"] * stances,
    )
    rows = [
        (
            names[score.run],
            decimals(score.mean),
            "–" if math.isnan(score.low) else f"{decimals(score.low)} – {decimals(score.high)}",
            str(score.topics),
            *[decimals(score.judged)] * bool(judged),
            *[f"{score.lines or 0:,}"] * stances,
        )
        for score in scores
    ]
    return ScoreTable(title, subtitle, columns, tuple(rows))


def _judged_name(score: Score) -> str:
    """The head of the share of judged documents: `judged@5`.

    Empty where the share says nothing of the score: without a depth, most documents of a run are
    unjudged, and `Judged` is that share itself.
    """
    if score.dimension == "stance":
        return "judged"
    notation = read_notation(score.measure)
    has_depth = isinstance(notation.at, int) and notation.name != "Judged"
    return f"judged@{notation.at}" if has_depth else ""


def _differences(scores: Sequence[Score], names: dict[str, str]) -> ScoreTable:
    compared = [(score.run, score.comparison) for score in scores if score.comparison]
    baseline = compared[0][1].baseline
    columns = (
        f"against {names.get(baseline, baseline)}",
        *("difference", "p", "p (t)", "win/tie/loss"),
    )
    rows = [
        (
            names[run],
            f"{found.difference:+.3f}",
            _p_value(found.p_randomisation_corrected),
            _p_value(found.p_t_corrected),
            f"{found.wins}/{found.ties}/{found.losses}",
        )
        for run, found in compared
    ]
    return ScoreTable("", "", columns, tuple(rows), P_VALUES)


def print_scores(scores: Sequence[Score], screen: Console) -> None:
    """Print the tables of scores in a terminal."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    tables = list(score_tables(scores))
    for table in tables:
        if table.title:
            screen.print()
            subtitle = (f"  {printable(table.subtitle)}", "dim")
            print_paragraph(Text.assemble((printable(table.title), "bold"), subtitle), screen)
        shown = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
        shown.add_column(BreakableName(table.columns[0]), min_width=12)
        for column in table.columns[1:]:
            shown.add_column(column, justify="right", no_wrap=True)
        for name, *numbers in table.rows:
            shown.add_row(BreakableName(name), *numbers)
        screen.print(shown)
    for note in _notes(tables):
        print_paragraph(Text(note, style="dim"), screen)


def plain_text(scores: Sequence[Score]) -> str:
    """The table of `sicetnon evaluate` for a pipe: 80 columns, no colour."""
    from rich.console import Console

    text = io.StringIO()
    screen = Console(
        file=text,
        width=PLAIN_WIDTH,
        highlight=False,
        emoji=False,
        markup=False,
        # a notebook would get the table in its cell, and pretends to be a terminal
        force_jupyter=False,
        force_terminal=False,
    )
    print_scores(scores, screen)
    return text.getvalue()


def as_html(scores: Sequence[Score]) -> str:
    """The same tables as HTML, for notebooks."""
    tables = list(score_tables(scores))
    parts = ['<div class="sicetnon-scores">', _STYLE]
    for table in tables:
        if table.title:
            title, subtitle = _escaped(table.title), _escaped(table.subtitle)
            parts.append(f"<p><b>{title}</b> <small>{subtitle}</small></p>")
        heads = "".join(f"<th>{_escaped(column)}</th>" for column in table.columns)
        rows = ("".join(f"<td>{_escaped(cell)}</td>" for cell in row) for row in table.rows)
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        parts.append(f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>")
    parts += [f"<p><small>{_escaped(note)}</small></p>" for note in _notes(tables)]
    return "\n".join([*parts, "</div>"])


def _notes(tables: Iterable[ScoreTable]) -> Iterable[str]:
    """The notes of the tables, each once."""
    return dict.fromkeys(table.note for table in tables if table.note)


def _escaped(text: str) -> str:
    return html.escape(printable(text))


def _p_value(value: float) -> str:
    return "<0.001" if value < 0.001 else decimals(value)


def short_names(runs: Iterable[str]) -> dict[str, str]:
    """Names of runs without the folders that all have in common."""
    paths = {run: Path(run).parts for run in dict.fromkeys(runs)}
    shared = 0
    if len(paths) > 1:
        for parts in zip(*paths.values(), strict=False):
            if len(set(parts)) > 1:
                break
            shared += 1
    longest = min((len(parts) for parts in paths.values()), default=1) - 1
    return {run: str(Path(*parts[min(shared, longest) :])) for run, parts in paths.items()}
