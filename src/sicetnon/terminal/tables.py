"""Tables of scores in a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sicetnon.evaluation import Score
from sicetnon.evaluation.leaderboard import Leaderboard, Row
from sicetnon.terminal.console import print_paragraph
from sicetnon.terminal.printable import printable

_BOX = SIMPLE_HEAD
_P_VALUES = (
    "p: randomisation test; p (t): paired t test; two-sided, corrected for the number of runs "
    "compared (Holm)"
)


def show_scores(scores: Sequence[Score], screen: Console) -> None:
    """Print a table for each measure and file of judgments, best run first."""
    names = _short_names([score.run for score in scores])
    for (qrels, rule, measure), group in groupby(
        scores, key=lambda s: (s.qrels, s.rule, s.measure)
    ):
        rows = list(group)
        screen.print()
        heading = Text.assemble(
            (f"{measure}, {rows[0].dimension}", "bold"),
            (f"  rule: {rule}  judgments: {printable(Path(qrels).name)}", "dim"),
        )
        print_paragraph(heading, screen)
        screen.print(_score_table(rows, names))
        if any(score.comparison for score in rows):
            screen.print(_comparison_table(rows, names))
            print_paragraph(Text(_P_VALUES, style="dim"), screen)


def _score_table(rows: Sequence[Score], names: dict[str, str]) -> Table:
    stances = any(score.lines is not None for score in rows)
    table = _table("run", ("mean", "95% interval", "topics", "judged", *["N"] * stances))
    for score in rows:
        cells = [
            names[score.run],
            _number(score.mean),
            "–" if math.isnan(score.low) else f"{_number(score.low)} – {_number(score.high)}",
            str(score.topics),
            _number(score.judged),
        ]
        if stances:
            cells.append(f"{score.lines or 0:,}")
        table.add_row(*map(_cell, cells))
    return table


def _comparison_table(rows: Sequence[Score], names: dict[str, str]) -> Table:
    baseline = next(score.comparison.baseline for score in rows if score.comparison)
    table = _table(
        f"against {names.get(baseline, baseline)}", ("difference", "p", "p (t)", "win/tie/loss")
    )
    for score in rows:
        if (other := score.comparison) is not None:
            cells = (
                names[score.run],
                f"{other.difference:+.3f}",
                _p(other.p_randomisation_corrected),
                _p(other.p_t_corrected),
                f"{other.wins}/{other.ties}/{other.losses}",
            )
            table.add_row(*map(_cell, cells))
    return table


def _table(first: str, others: Sequence[str]) -> Table:
    table = Table(box=_BOX, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(Text(first), overflow="fold", min_width=12)
    for title in others:
        table.add_column(title, justify="right", no_wrap=True)
    return table


def show_leaderboard(board: Leaderboard, screen: Console) -> None:
    """Print the tables of a task; the user's own runs stand out."""
    for ranked in board.tables:
        corpus = f" ({ranked.corpus})" if ranked.corpus else ""
        screen.print()
        screen.print(Text(f"{board.task}, {ranked.dimension}{corpus}", style="bold"))
        table = Table(box=_BOX, pad_edge=False, padding=(0, 1, 0, 0))
        for title in ("", "team", "run"):
            table.add_column(title, overflow="fold", justify="right" if not title else "left")
        for title in (ranked.places[0].row.measure if ranked.places else "", "95% interval"):
            table.add_column(title, justify="right", no_wrap=True)
        for place in ranked.places:
            own = place.run is not None
            cells = _row(place.row, place.run)
            table.add_row(str(place.place), *cells, style="bold green" if own else "")
        screen.print(table)
        for place in ranked.places:
            if place.run is not None:
                share = f"{place.row.topics} topics, judged {_number(place.row.judged)}"
                name = printable(place.row.tag or place.run)
                print_paragraph(Text(f"→ {name}: {share}", style="bold green"), screen)
    for note in board.notes:
        print_paragraph(Text(printable(note)), screen)


def _row(row: Row, run: str | None) -> list[Text]:
    known = row.low is not None and row.high is not None
    interval = f"{_number(row.low)} – {_number(row.high)}" if known else ""
    team = "→ yours" if run is not None else row.team
    return [_cell(cell) for cell in (team, row.tag or run or "", _number(row.mean), interval)]


def _cell(text: str) -> Text:
    return Text(printable(text))


def _p(value: float) -> str:
    return "<0.001" if value < 0.001 else _number(value)


def _number(value: float | None) -> str:
    return "–" if value is None or math.isnan(value) else f"{value:.3f}"


def _short_names(runs: Iterable[str]) -> dict[str, str]:
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
