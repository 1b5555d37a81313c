"""The geometry of the pictures, in pixels; templates draw them as SVG."""

from __future__ import annotations

import math
import unicodedata
from dataclasses import dataclass

from sicetnon.evaluation.scores import Score
from sicetnon.evaluation.significance import ROUNDING
from sicetnon.report.contents import Section

_PAGE = 910
"""Width that a heat map may have before a wide screen must scroll it."""

_LONGEST_HEADING = 30
_LETTER = 6.4
"""Width of a letter of a heading: an estimate, since the fonts of readers are not known."""


@dataclass(frozen=True)
class Axis:
    """The axis of the intervals in a leaderboard."""

    low: float
    high: float

    def place(self, value: float) -> float:
        """The place of a value, in per cent of the width."""
        return 100 * (value - self.low) / (self.high - self.low)


def interval_axis(section: Section) -> Axis:
    """An axis in full tenths that holds all intervals."""
    bounds = [bound for score in section.scores for bound in (score.low, score.high)]
    known = [bound for bound in bounds if not math.isnan(bound)]
    if not known:
        return Axis(0.0, 1.0)
    low, high = math.floor(min(known) * 10) / 10, math.ceil(max(known) * 10) / 10
    return Axis(low, max(high, low + 0.1))


@dataclass(frozen=True)
class Cell:
    """One run on one topic.

    Attributes:
        value: The score, or None if the topic does not count.
        judged: The share of judged documents, or None if unknown.
        opacity: How strong the colour is.
        dot: Radius of the dot for unjudged documents; 0 for none.
    """

    topic: str
    value: float | None
    judged: float | None
    x: int
    opacity: float
    dot: float


@dataclass(frozen=True)
class HeatMap:
    """Runs by topics: best run first, easiest topic first.

    Attributes:
        topics: The topics, in the order of the columns.
        rotated: Whether the headings are rotated, since they are too wide for their columns.
        rows: For each run its cells.
    """

    topics: list[str]
    headings: list[str]
    rotated: bool
    column: int
    top: float
    rows: list[tuple[Score, list[Cell]]]

    row = 20
    """Height of a row."""

    margin = 56
    """Width of each of the two columns of numbers on the right."""

    @property
    def right(self) -> int:
        """Right edge of the last cell."""
        return self.column * len(self.topics)


def heat_map(section: Section) -> HeatMap:
    """Lay out a heat map of a section in which at least one topic counts."""
    topics = sorted(section.topics, key=lambda topic: -section.medians[topic])
    room = (_PAGE - 2 * HeatMap.margin) // len(topics)
    column = min(max(room, 14), 34)
    headings = [
        topic if len(topic) <= _LONGEST_HEADING else f"{topic[: _LONGEST_HEADING - 1]}…"
        for topic in topics
    ]
    widest = max(map(_width, headings))
    rotated = widest >= column
    values = [value for score in section.scores for value in score.values.values()]
    low, high = min(0.0, *values), max(1.0, *values)

    def cell(score: Score, place: int, topic: str) -> Cell:
        value = score.values.get(topic)
        judged = section.judged.get(score.run, {}).get(topic)
        opacity = 0.0 if value is None else 0.05 + 0.95 * (value - low) / (high - low)
        dot = 0.0
        if value is not None and section.depth and judged is not None and judged < 1:
            dot = 1.5 + 2.5 * math.sqrt(1 - judged)
        return Cell(topic, value, judged, place * column, opacity, dot)

    rows = [
        (score, [cell(score, place, topic) for place, topic in enumerate(topics)])
        for score in section.scores
    ]
    return HeatMap(topics, headings, rotated, column, widest + 12 if rotated else 22, rows)


def _width(text: str) -> float:
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return (len(text) + wide) * _LETTER


@dataclass(frozen=True)
class DifferenceBar:
    """The difference on one topic."""

    topic: str
    value: float
    x: float
    y: float
    height: float


@dataclass(frozen=True)
class Differences:
    """A run against the reference: one bar per topic, greatest difference first."""

    score: Score
    limit: float
    bar_width: float
    bars: list[DifferenceBar]

    left, top, right, bottom = 34, 8, 268, 96
    """Edges of the area of the bars."""

    @property
    def middle(self) -> float:
        """The place of 0, in per cent of the width."""
        return (self.top + self.bottom) / 2

    @property
    def better(self) -> list[DifferenceBar]:
        """The topics on which the run is better, greatest difference first."""
        return [bar for bar in self.bars if bar.value > ROUNDING]

    @property
    def worse(self) -> list[DifferenceBar]:
        """The topics on which the run is worse, greatest difference first."""
        return [bar for bar in reversed(self.bars) if bar.value < -ROUNDING]


def all_differences(section: Section) -> list[Differences]:
    """Lay out the differences of all runs but the baseline, on one scale."""
    values = {score.run: section.differences(score) for score in section.compared}
    largest = max((abs(value) for each in values.values() for value in each.values()), default=0)
    limit = max(math.ceil(largest * 10) / 10, 0.1)
    return [_differences(score, values[score.run], limit) for score in section.compared]


def _differences(score: Score, values: dict[str, float], limit: float) -> Differences:
    step = (Differences.right - Differences.left) / max(len(values), 10)
    middle = (Differences.top + Differences.bottom) / 2
    bars = []
    for place, (topic, value) in enumerate(values.items()):
        height = abs(value) / limit * (Differences.bottom - middle)
        y = middle - height if value > 0 else middle
        left = Differences.left + (place + 0.11) * step
        bars.append(DifferenceBar(topic, value, left, y, height))
    return Differences(score, limit, 0.78 * step, bars)
