"""The pictures of a report: runs by topics, and differences topic by topic."""

from __future__ import annotations

import math
import unicodedata

from sicetnon.evaluation.scores import Score
from sicetnon.evaluation.significance import ROUNDING
from sicetnon.report.contents import Table
from sicetnon.report.markup import Html, count, element, number, signed, word
from sicetnon.report.svg import COLOURS, Picture

_PAGE = 910
"""How wide a picture may be without having to be scrolled on a wide screen, in pixels."""

_LONGEST = 30
_ROW = 20
_CELLS = (14, 34)
_MARGIN = 10
_COLUMNS = 56
_LETTER = 6.4


def heat_map(table: Table, labels: dict[str, str], identity: str) -> Html:
    """Runs by topics: best run first, easiest topic first, the fuller the better.

    The names of the runs stand beside the picture, so that they stay in sight when it is scrolled.

    Args:
        table: The scores.
        labels: What the runs are called.
        identity: A name that no other picture of the page has.
    """
    topics = sorted(table.topics, key=lambda topic: -table.medians[topic])
    widest = max(map(_width, topics))
    room = (_PAGE - 2 * _COLUMNS) / len(topics)
    cell = min(max(math.floor(room), _CELLS[0]), _CELLS[1])
    right = cell * len(topics)
    # names that do not fit above their columns stand on end
    top = 22 if widest < cell else widest + 12
    picture = Picture(right + 2 * _COLUMNS + 2, top + _ROW * len(table.scores))
    for place, topic in enumerate(topics):
        x = (place + 0.5) * cell
        if widest < cell:
            picture.write(x, top - 6, topic, at="center", size=10, colour="soft")
        else:
            picture.write(x + 3.5, top - 6, cut(topic), size=10, colour="soft", rotation=90)
    heads = ((right + _COLUMNS, _mean_name(table)), (right + 2 * _COLUMNS, judged_name(table)))
    for x, head in heads:
        picture.write(x, top - 6, head, at="right", size=10, colour="soft")
    span = _range(table)
    for place, score in enumerate(table.scores):
        y = top + place * _ROW
        for column, topic in enumerate(topics):
            _cell(picture, (column * cell, y, cell, _ROW), table, score, topic, labels, span)
        shown = (number(score.mean), "ink"), (number(score.judged, 2), "soft")
        for (x, _), (value, colour) in zip(heads, shown, strict=True):
            picture.write(x, y + 14, value, at="right", colour=colour)
    names = element(
        "ul",
        [
            element("li", word(labels[score.run]), style=f"height:{_ROW}px;line-height:{_ROW}px")
            for score in table.scores
        ],
        style=f"padding-top:{top:g}px",
        aria_hidden="true",
    )
    drawn = picture.svg(*_heat_words(table, labels, topics), identity)
    return element("div", names, drawn, class_="heat")


def _cell(
    picture: Picture,
    box: tuple[float, float, float, float],
    table: Table,
    score: Score,
    topic: str,
    labels: dict[str, str],
    span: tuple[float, float],
) -> None:
    """One run on one topic."""
    from matplotlib.patches import Circle, Rectangle

    x, y, width, height = box
    value = score.values.get(topic)
    share = table.judged.get(score.run, {}).get(topic)
    said = f"{labels[score.run]}, topic {topic}: "
    said += "does not count" if value is None else number(value)
    if share is not None:
        said += f"; {judged_name(table)} {number(share, 2)}"
    if value is None:
        middle = (x + width / 2, y + height / 2)
        cross = picture.axes.plot(
            [middle[0] - 3, middle[0] + 3, math.nan, middle[0] - 3, middle[0] + 3],
            [middle[1] - 3, middle[1] + 3, math.nan, middle[1] + 3, middle[1] - 3],
            color=COLOURS["soft"], linewidth=1, clip_on=False,
        )  # fmt: skip
        picture.tip(cross[0], said)
        return
    low, high = span
    strength = (value - low) / (high - low)
    fill = Rectangle(
        (x + 0.5, y + 0.5), width - 1, height - 1, linewidth=0, clip_on=False,
        facecolor=COLOURS["accent"], alpha=round(0.05 + 0.95 * strength, 2),
    )  # fmt: skip
    picture.tip(fill, said)
    picture.axes.add_patch(fill)
    if table.depth is not None and share is not None and share < 1:
        dot = Circle(
            (x + width / 2, y + height / 2), 1.5 + 2.5 * math.sqrt(1 - share), linewidth=1,
            facecolor=COLOURS["page"], edgecolor=COLOURS["ink"], clip_on=False,
        )  # fmt: skip
        picture.tip(dot, said)
        picture.axes.add_patch(dot)


def differences(table: Table, score: Score, labels: dict[str, str], identity: str) -> Html:
    """A run's differences to the reference, one bar a topic, greatest first.

    Args:
        table: The scores of all runs.
        score: Those of the run.
        labels: What the runs are called.
        identity: A name that no other picture of the page has.
    """
    values = table.differences(score)
    width, height, left, top = 272, 104, 34, 8
    bottom = height - top
    picture = Picture(width, height)
    limit = _limit(table)
    middle = (top + bottom) / 2
    axes = picture.part(left, top, width - left - 4, bottom - top)
    axes.set_xlim(-0.5, max(len(values), 10) - 0.5)
    axes.set_ylim(-limit, limit)
    for y, text in ((top, limit), (middle, 0.0), (bottom, -limit)):
        line = "soft" if y == middle else "rule"
        picture.axes.plot([left, width - 4], [y, y], color=COLOURS[line], linewidth=1)
        label = "0" if y == middle else f"{text:+.1f}".replace("-", "−")
        picture.write(left - 5, y + 3.5, label, at="right", size=10, colour="soft")
    bars = axes.bar(
        range(len(values)), list(values.values()), width=0.78, linewidth=0, clip_on=False,
        color=[COLOURS["gain" if value > 0 else "loss"] for value in values.values()],
    )  # fmt: skip
    for bar, (topic, value) in zip(bars, values.items(), strict=True):
        picture.tip(bar, f"topic {topic}: {signed(value)}")
    return picture.svg(*_difference_words(table, score, labels, values), identity)


def balance(values: dict[str, float]) -> tuple[int, int, int]:
    """On how many topics a run is better, the same, and worse."""
    better, worse = (sum(sign * value > ROUNDING for value in values.values()) for sign in (1, -1))
    return better, len(values) - better - worse, worse


def reference_name(table: Table, labels: dict[str, str]) -> str:
    """What runs are set against, in words."""
    return "the median of the runs" if table.baseline is None else labels[table.baseline.run]


def judged_name(table: Table) -> str:
    """`judged@5`, or `judged` where there is no depth."""
    return "judged" if table.depth is None else f"judged@{table.depth}"


def cut(text: str) -> str:
    """A name, cut where it is too long for a picture."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _mean_name(table: Table) -> str:
    return "macro-F1" if table.is_stance else "mean"


def _width(text: str) -> float:
    """About how wide a small text is, in pixels: its letters are the page's, so nobody knows."""
    shown = cut(text)
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in shown)
    return (len(shown) + wide) * _LETTER


def _range(table: Table) -> tuple[float, float]:
    """What is shown empty, and what full: 0 and 1 unless values lie beyond."""
    values = [value for score in table.scores for value in score.values.values()]
    return min([0.0, *values]), max([1.0, *values])


def _limit(table: Table) -> float:
    """Where the scale of differences ends: the same for all runs of a table."""
    largest = [
        abs(value) for score in table.compared for value in table.differences(score).values()
    ]
    return max(math.ceil(max(largest, default=0) * 10) / 10, 0.1)


def _heat_words(table: Table, labels: dict[str, str], topics: list[str]) -> tuple[str, str]:
    """Title and description of a heat map."""
    what = "Share of lines with the judged stance" if table.is_stance else table.first.measure
    title = f"{what}, {count(len(table.scores), 'run')} by topic"
    if not topics:
        return title, "No topic counts."
    best, worst = table.scores[0], table.scores[-1]
    easy, hard = ", ".join(topics[:3]), ", ".join(topics[-3:])
    return title, (
        f"One row a run, from {labels[best.run]} ({number(best.mean)}) to {labels[worst.run]} "
        f"({number(worst.mean)}); one column a topic, {len(topics)} in all. By the median of the "
        f"runs the highest values are on {easy}, the lowest on {hard}. The scores by topic stand "
        "in a table below."
    )


def _difference_words(
    table: Table, score: Score, labels: dict[str, str], values: dict[str, float]
) -> tuple[str, str]:
    """Title and description of a plot of differences."""
    title = f"{labels[score.run]} against {reference_name(table, labels)}"
    if not values:
        return title, "No topic counts for both."
    better, same, worse = balance(values)
    first, last = next(iter(values)), next(reversed(values))
    return title, (
        f"Better on {better}, worse on {worse}, the same on {same} "
        f"of {count(len(values), 'topic')}; from {signed(values[first])} on topic {first} to "
        f"{signed(values[last])} on topic {last}."
    )
