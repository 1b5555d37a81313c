"""Texts of strangers, made safe to print: they must not steer the terminal, nor hide anything."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sicetnon.errors import cut

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.measure import Measurement
    from rich.text import Text

PLAIN_WIDTH = 80
"""Columns of output that goes to no terminal."""
# blanks, separators of lines and paragraphs, format characters
_BLANK = frozenset({"Zs", "Zl", "Zp", "Cf"})
_BEYOND_ASCII = re.compile(r"[^\x00-\x7e]")


def printable(text: str) -> str:
    """A text without characters that steer a terminal or are invisible; as long as the text.

    Line feeds and tabs stay. A blank stands for other white space and for format characters
    (zero-width, bidirectional, tags), U+FFFD for the rest.
    """
    return text if text.isprintable() else "".join(map(_printable_letter, text))


def _printable_letter(letter: str) -> str:
    if letter.isprintable() or letter in "\n\t":
        return letter
    is_blank = letter in "\r\v\f" or unicodedata.category(letter) in _BLANK
    return " " if is_blank else "\N{REPLACEMENT CHARACTER}"


def one_line(text: str) -> str:
    """A printable text on one line; the middle of a very long one is left out."""
    return cut(" ".join(printable(text).split()))


def json_text(value: Any, indent: int | None = None) -> str:
    """A value as JSON that steers no terminal."""
    return escaped_json(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent))


def escaped_json(text: str) -> str:
    """JSON with escapes for characters that do not print.

    Its value stays the same, but for U+FFFD in place of half characters, such as bytes of the name
    of a file that are no UTF-8.
    """
    return _BEYOND_ASCII.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    letter = match.group()
    if unicodedata.category(letter) == "Cs":
        return "\N{REPLACEMENT CHARACTER}"
    return letter if letter.isprintable() else json.dumps(letter)[1:-1]


def decimals(value: float | None, places: int = 3) -> str:
    """A number with its decimals; a dash for None and NaN."""
    return "–" if value is None or value != value else f"{value:.{places}f}"


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


@dataclass(frozen=True)
class BreakableName:
    """A name in a cell of a table, broken after punctuation where it is too long for a line."""

    name: str

    def __rich_console__(self, screen: Console, options: ConsoleOptions) -> Iterator[Text]:
        from rich.text import Text

        # Text, since rich takes what stands in brackets in a plain string for markup
        yield Text("\n".join(_broken(printable(self.name), options.max_width)))

    def __rich_measure__(self, screen: Console, options: ConsoleOptions) -> Measurement:
        from rich.measure import Measurement

        return Measurement(1, min(len(self.name), options.max_width))


def _broken(name: str, width: int) -> list[str]:
    """The lines of a name that has at most so many letters a line."""
    lines = [""]
    for part in re.split(r"(?<=[-_+.,/ ])(?=\w)", name):
        if len(lines[-1] + part) > width and lines[-1]:
            lines.append("")
        lines[-1] += part
    return [line[at : at + width] for line in lines for at in range(0, len(line), width)]
