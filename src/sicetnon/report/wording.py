"""Formats of texts and numbers on the page."""

from __future__ import annotations

import re
from typing import Any

from markupsafe import Markup, escape

from sicetnon.text.unicode import decimals, printable

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_BREAK = re.compile(r"(?<=[_+./,-])(?=\w)")
_SMALLEST_P = 0.001


def visible(value: Any) -> Any:
    """Make a text printable, with pictures of control characters; leave other values unchanged."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return printable(_CONTROL.sub(_picture, value))
    return value


def _picture(match: re.Match[str]) -> str:
    point = ord(match.group())
    return "\u2421" if point == 0x7F else chr(0x2400 + point)


def breakable(name: str) -> Markup:
    """A name as isolated text that a browser may break after punctuation."""
    parts = Markup("<wbr>").join(escape(part) for part in _BREAK.split(visible(name)))
    return Markup("<bdi>{}</bdi>").format(parts)


def number(value: float | None, places: int = 3) -> str:
    """A number with a minus sign of its own; a dash for None and NaN."""
    return decimals(value, places).replace("-", "−")


def signed(value: float, decimals: int = 3) -> str:
    """A difference with its sign."""
    if value != value:
        return "–"
    shown = f"{value:+.{decimals}f}"
    return shown[1:] if float(shown) == 0 else shown.replace("-", "−")


def probability(value: float) -> str:
    """A p-value."""
    return f"< {_SMALLEST_P}" if value < _SMALLEST_P else number(value)


def exact(value: float | None) -> str:
    """A number that a script can sort by; the empty string for None and NaN."""
    return "" if value is None or value != value else f"{value:.6g}"


FILTERS = (breakable, number, signed, probability, exact)
"""The functions that templates use as filters."""
