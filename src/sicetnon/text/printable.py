"""Texts of strangers, made safe to print: they must not steer the terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """A text without the characters that steer a terminal; as long as the text."""
    return _CONTROL.sub(" ", text)


def one_line(text: str) -> str:
    """A text on one line, with U+FFFD for every character that cannot be printed."""
    words = " ".join(text.split())
    return "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in words
    )


def shortened(text: str, letters: int) -> str:
    """A text of at most so many letters; an ellipsis marks a cut."""
    return text if len(text) <= letters else text[: letters - 1].rstrip() + "…"


def print_paragraph(text: Text, screen: Console, indent: int = 2) -> None:
    """Print a text wrapped at the width of the screen, all lines but the first indented."""
    for place, line in enumerate(text.wrap(screen, max(screen.width - indent, 1))):
        line.rstrip()
        if place:
            line.pad_left(indent)
        screen.print(line, soft_wrap=True)
