"""Replies in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from sicetnon.terminal.console import print_origin
from sicetnon.text.unicode import print_paragraph, printable, shortened

if TYPE_CHECKING:
    from sicetnon.library.reply import Reply

_SHOWN_CLAIM = 200
_INDENT = " " * 4
_NOTHING = (
    "The index holds no sentence against this that is about it and can be quoted. "
    "sicetnon search shows whole arguments."
)


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
