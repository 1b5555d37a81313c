"""What notebooks show: tables as HTML, and how far a build is."""

from __future__ import annotations

import html
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

_STYLE = """<style>
.sicetnon { overflow-x: auto; }
.sicetnon table { border-collapse: collapse; }
.sicetnon thead { border-bottom: 1px solid; }
.sicetnon :is(th, td) { padding: 0.3em 0.6em; text-align: left; vertical-align: top; }
.sicetnon :is(th, td).number { text-align: right; font-variant-numeric: tabular-nums; }
.sicetnon mark { background: none; color: inherit; font-weight: bold; text-decoration: underline; }
</style>"""
"""Colours are those of the notebook, be it light or dark."""
_SECONDS = 0.2


def escaped(text: str) -> str:
    """A text as HTML; nothing of it steers or hides."""
    if not text.isprintable():
        text = "".join(each if each.isprintable() or each == "\n" else " " for each in text)
    return html.escape(text)


def html_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[str] = ()
) -> str:
    """A table as HTML.

    Args:
        title: A text.
        columns: The heads of the columns, texts.
        rows: The cells, which are HTML.
        numbers: The columns that hold numbers.
    """
    kinds = [' class="number"' if column in numbers else "" for column in columns]

    def row(cells: Sequence[str], tag: str) -> str:
        named = zip(kinds, cells, strict=True)
        return "<tr>" + "".join(f"<{tag}{kind}>{cell}</{tag}>" for kind, cell in named) + "</tr>"

    head = row(list(map(escaped, columns)), "th")
    body = "\n".join(row(cells, "td") for cells in rows)
    return (
        f'<div class="sicetnon">{_STYLE}<p><b>{escaped(title)}</b></p>\n'
        f"<table><thead>{head}</thead><tbody>{body}</tbody></table></div>"
    )


def in_notebook() -> bool:
    """Whether a kernel of Jupyter runs this program."""
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell is not None else None
    return running is not None and getattr(running, "kernel", None) is not None


def shown_progress(size: Callable[[], int | None]) -> Callable[[Any], None]:
    """A function that shows how far a build is, below the cell that does it.

    Outside of a notebook it shows nothing.

    Args:
        size: Gives the bytes of the corpus, or None if they are not known.
    """
    if not in_notebook():
        return lambda _: None
    import IPython.display

    views: Any = IPython.display  # its functions have no types
    handle = views.display(views.HTML(""), display_id=True)
    total, last = size(), 0.0

    def show(progress: Any) -> None:
        nonlocal last
        if not progress.is_read and time.monotonic() - last < _SECONDS:
            return
        last = time.monotonic()
        share = f' value="{min(progress.bytes_read, total)}" max="{total}"' if total else ""
        bar = "" if progress.is_read else f"<progress{share}></progress> "
        handle.update(views.HTML(f"<small>{bar}{progress.documents:,} documents</small>"))

    return show
