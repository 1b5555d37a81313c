"""Replies in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from sicetnon.text.printable import print_paragraph, printable, shortened

if TYPE_CHECKING:
    from sicetnon.library.reply import Reply

_SHOWN_CLAIM = 200
_INDENT = " " * 4


def show_replies(claim: str, replies: Sequence[Reply], screen: Console) -> None:
    """Print the claim, and what is said against it."""
    screen.print(Text(f"Against: {shortened(printable(claim), _SHOWN_CLAIM)}", style="bold"))
    if not replies:
        screen.print("There is no argument against this in this index.")
    for place, each in enumerate(replies, start=1):
        screen.print()
        print_paragraph(Text(f"{place:>2}  {printable(each.text)}"), screen, len(_INDENT))
        reason = each.reason
        source = reason.link or reason.title or reason.answer.heading
        foot = Text(_INDENT + printable(f"{reason.answer.id}  {source}"), style="dim")
        foot.truncate(screen.width, overflow="ellipsis")
        screen.print(foot, soft_wrap=True)
