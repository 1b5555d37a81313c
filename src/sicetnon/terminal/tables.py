"""The published tables of a task in a terminal."""

from __future__ import annotations

import math

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sicetnon.evaluation.leaderboard import Leaderboard, Row
from sicetnon.text.printable import print_paragraph, printable

_BOX = SIMPLE_HEAD


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


def _number(value: float | None) -> str:
    return "–" if value is None or math.isnan(value) else f"{value:.3f}"
