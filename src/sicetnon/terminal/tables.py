"""The published tables of a task in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sicetnon.errors import counted
from sicetnon.evaluation.leaderboard import Leaderboard, Place, Row
from sicetnon.text.unicode import BreakableName, decimals, print_paragraph, printable


def show_leaderboard(board: Leaderboard, screen: Console) -> None:
    """Print the tables of a task; the user's own runs stand out."""
    for table in board.tables:
        corpus = f" ({table.corpus})" if table.corpus else ""
        screen.print()
        screen.print(Text(f"{board.task}, {table.dimension}{corpus}", style="bold"))
        screen.print(_layout(table.places))
        for place in table.places:
            if place.run is not None:
                topics = counted(place.row.topics or 0, "topic")
                share = f"{topics}, judged {decimals(place.row.judged)}"
                name = printable(place.row.tag or place.run)
                print_paragraph(Text(f"→ {name}: {share}", style="bold green"), screen)
    for note in board.notes:
        print_paragraph(Text(printable(note)), screen)


def _layout(places: Sequence[Place]) -> Table:
    """The table of some places; columns of which nothing is known are left out."""
    measure = places[0].row.measure if places else ""
    figures = {measure: [decimals(place.row.mean) for place in places]}
    if any(place.row.low is not None for place in places):
        figures["95% interval"] = [_interval(place.row) for place in places]
    if any(place.row.lines is not None for place in places):
        figures["N"] = [f"{place.row.lines:,}" if place.row.lines else "" for place in places]
    shown = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
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
