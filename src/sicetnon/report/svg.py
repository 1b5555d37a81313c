"""Matplotlib's SVG made fit for a page: short, coloured by CSS, safe, and readable aloud.

Matplotlib never sees a word that a user gave: it would read `$` as mathematics, warn of letters
that its own font lacks, and draw with that font. It is given places, and the words are put there
afterwards. Colours are classes (`f-gain`, `s-rule`), so that the page decides them, in light, in
dark and on paper.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element, fromstring

from sicetnon.errors import MissingExtraError
from sicetnon.report.markup import Html, element

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

COLOURS = {name: f"#0101{place:02x}" for place, name in enumerate(
    ("ink", "soft", "rule", "page", "accent", "gain", "loss"), start=16
)}  # fmt: skip
"""Colours by what they are for. The codes only serve to find them again."""

_CLASSES = {code: name for name, code in COLOURS.items()}
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
_SETTINGS = {
    "svg.fonttype": "none",
    "svg.hashsalt": "sicetnon",
    "path.simplify": False,
    "font.family": ["DejaVu Sans"],
}
_NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}


@contextmanager
def drawing() -> Iterator[None]:
    """Draw with our settings, whatever the user's are.

    Raises:
        MissingExtraError: There is no matplotlib.
    """
    try:
        import matplotlib
    except ImportError:
        raise MissingExtraError("a report with pictures", "report") from None
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        settings: Any = matplotlib.rcParams  # the type of its keys differs between versions
        settings.update(_SETTINGS)
        yield


class Picture:
    """A picture under way.

    Attributes:
        axes: Axes without frame, in which lengths are pixels unless limits are set.
        width: In pixels.
        height: In pixels.
    """

    def __init__(self, width: float, height: float):
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure

        self.width, self.height = width, height
        # at 72 dots an inch, a dot is a pixel of the page
        self._figure: Figure = Figure(figsize=(width / 72, height / 72), dpi=72)
        FigureCanvasSVG(self._figure)
        self._words: list[str] = []
        self.axes = self.part(0, 0, width, height)
        self.axes.set_xlim(0, width)
        self.axes.set_ylim(height, 0)

    def part(self, left: float, top: float, width: float, height: float) -> Axes:
        """Axes without frame in a part of the picture, given in pixels from the upper left."""
        bottom = self.height - top - height
        box = (
            left / self.width,
            bottom / self.height,
            width / self.width,
            height / self.height,
        )
        axes: Axes = self._figure.add_axes(box)
        axes.set_axis_off()
        axes.patch.set_visible(False)
        return axes

    def tip(self, artist: Artist, text: str) -> None:
        """Say something of a shape when it is pointed at."""
        artist.set_gid(f"tip-{len(self._words)}")
        self._words.append(text)

    def write(
        self,
        x: float,
        y: float,
        text: str,
        *,
        at: str = "left",
        size: float = 11,
        colour: str = "ink",
        rotation: float = 0,
    ) -> None:
        """Write a text; `at` says which end of it stands at the point, in pixels."""
        artist: Text = self.axes.text(
            x, y, "x", ha=at, va="baseline", size=size, color=COLOURS[colour], rotation=rotation,
            rotation_mode="anchor",
        )  # fmt: skip
        # versions of matplotlib write sizes in different ways
        artist.set_gid(f"word-{size:g}-{len(self._words)}")
        self._words.append(text)

    def svg(self, title: str, description: str, identity: str) -> Html:
        """The picture as an element of a page.

        Args:
            title: What it is, in short.
            description: What it shows, for those who do not see it.
            identity: A name that no other picture of the page has.
        """
        file = io.StringIO()
        self._figure.savefig(file, format="svg", metadata=_NO_METADATA, transparent=True)
        drawn = fromstring(file.getvalue())
        return element(
            "svg",
            element("title", title, id=f"{identity}-t"),
            element("desc", description, id=f"{identity}-d"),
            list(self._shapes(drawn, "")),
            role="img",
            aria_labelledby=f"{identity}-t",
            aria_describedby=f"{identity}-d",
            viewBox=f"0 0 {self.width:g} {self.height:g}",
            width=f"{self.width:g}",
            height=f"{self.height:g}",
        )

    def _shapes(self, node: Element, identity: str) -> Iterator[Html]:
        """The shapes in a group, without the groups."""
        for child in node:
            name = child.tag.rpartition("}")[2]
            if name == "g":
                yield from self._shapes(child, child.get("id", ""))
            elif name == "path":
                yield from self._path(child, identity)
            elif name == "text":
                yield self._text(child, identity)

    def _path(self, node: Element, identity: str) -> Iterator[Html]:
        style = _style(node)
        if style.get("fill") == "none" and "stroke" not in style:
            return
        # the tip and its shape; the path itself needs no more than a tenth of a pixel
        tip = element("title", self._said(identity)) if identity.startswith("tip-") else ""
        line = style.get("stroke") in _CLASSES
        yield element(
            "path",
            tip,
            class_=_classes(style),
            d=_short(node.get("d", "")),
            fill="none" if style.get("fill") == "none" else None,
            opacity=style.get("opacity"),
            stroke_width=style.get("stroke-width") if line else None,
            stroke_dasharray=style.get("stroke-dasharray"),
        )

    def _text(self, node: Element, identity: str) -> Html:
        style = _style(node)
        return element(
            "text",
            self._said(identity),
            class_=_classes(style),
            x=_short(node.get("x", "0")),
            y=_short(node.get("y", "0")),
            text_anchor=style.get("text-anchor"),
            font_size=identity.split("-")[1],
            transform=node.get("transform"),
        )

    def _said(self, identity: str) -> str:
        return self._words[int(identity.rpartition("-")[2])]


def _style(node: Element) -> dict[str, str]:
    pairs = (part.partition(":") for part in node.get("style", "").split(";") if part.strip())
    return {name.strip(): value.strip() for name, _, value in pairs}


def _classes(style: dict[str, str]) -> str:
    """The classes that stand for the colours of a shape."""
    used = (("f", style.get("fill", "")), ("s", style.get("stroke", "")))
    return " ".join(f"{kind}-{_CLASSES[code]}" for kind, code in used if code in _CLASSES)


def _short(path: str) -> str:
    """Coordinates to a tenth of a pixel, without the spaces that nobody needs."""
    rounded = _NUMBER.sub(lambda match: f"{round(float(match.group()), 1):g}", path)
    return re.sub(r"\s*([MLCQz])\s*", r"\1", rounded).strip()
