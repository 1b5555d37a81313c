"""HTML from pieces: whatever is not markup already is escaped on its way in."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

# what HTML forbids even as a character reference; halves of characters have no UTF-8
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_JOINT = re.compile(r"(?<=[_+./,-])(?=\w)")
_VOID = frozenset({"br", "col", "meta", "wbr"})


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def visible(text: str) -> str:
    """A text with every control character made visible."""
    return _UNFIT.sub(_picture, text)


def _picture(match: re.Match[str]) -> str:
    point = ord(match.group())
    if point < 0x20:
        return chr(0x2400 + point)
    return "\u2421" if point == 0x7F else "\ufffd"


def escape(text: str) -> Html:
    """A text as markup; fit for attributes too."""
    return Html(html.escape(visible(text)))


def element(
    name: str, /, *children: str | Iterable[str], **attributes: str | int | float | None
) -> Html:
    """An element.

    Args:
        name: Its name.
        children: What stands in it. Text that is not `Html` is escaped.
        attributes: `class_` is class, `aria_label` is aria-label; None leaves one out, and the
            empty string gives an attribute without a value.
    """
    opening = name + "".join(
        _attribute(key, value) for key, value in attributes.items() if value is not None
    )
    if name in _VOID:
        return Html(f"<{opening}>")
    return Html(f"<{opening}>{join(*children)}</{name}>")


def join(*children: str | Iterable[str]) -> Html:
    """Pieces, one after the other."""
    parts = []
    for child in children:
        if isinstance(child, Html):
            parts.append(child)
        elif isinstance(child, str):
            parts.append(escape(child))
        else:
            parts.append(join(*child))
    return Html("".join(parts))


def word(text: str) -> Html:
    """A text of somebody else's: its direction of writing stays its own affair."""
    return element("bdi", text)


def breakable(text: str) -> Html:
    """A name of somebody else's, which may be broken where a person would break it."""
    first, *others = _JOINT.split(text)
    return element("bdi", first, [join(Html("<wbr>"), part) for part in others])


def _attribute(key: str, value: str | float) -> str:
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value == "" else f' {name}="{escape(str(value))}"'


def number(value: float, decimals: int = 3) -> str:
    """A number as people print it; a dash for none."""
    if value != value:
        return "–"
    return f"{value:.{decimals}f}".replace("-", "−")


def signed(value: float, decimals: int = 3) -> str:
    """A difference, with its sign."""
    if value != value:
        return "–"
    shown = f"{value:+.{decimals}f}"
    return shown[1:] if float(shown) == 0 else shown.replace("-", "−")


def count(items: int, one: str, many: str | None = None) -> str:
    """`1 run`, `2 runs`."""
    return f"{items:,} {one if items == 1 else many or one + 's'}"
