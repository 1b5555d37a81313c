"""The tables of a report: leaderboard, scores by topic, stances."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from sicetnon.evaluation.scores import Score
from sicetnon.evaluation.stance import FOUND
from sicetnon.formats.qrels import STANCES
from sicetnon.report.contents import Contents, Table
from sicetnon.report.markup import (
    Html,
    breakable,
    count,
    element,
    join,
    number,
    signed,
    word,
)
from sicetnon.report.plots import judged_name, reference_name

_ALMOST_NOTHING = 0.001


def scrolling(table: Html, name: str) -> Html:
    """A wide thing in a box that can be scrolled by itself, with keys too."""
    return element("div", table, class_="scroll", role="region", tabindex=0, aria_label=name)


def leaderboard(table: Table, labels: Mapping[str, str]) -> Html:
    """All runs, best first, with intervals; with a baseline, also differences to it."""
    compared = any(score.comparison for score in table.scores)
    span = _span(table.scores)
    low, high = (number(end, 1) for end in span)
    heads = [
        _head("#", "n"),
        _head("run"),
        _head("macro-F1" if table.is_stance else "mean", "n"),
        element("th", "95% interval", _scale(low, high), scope="col", class_="bars"),
        _head("from", "n"),
        _head("to", "n"),
        _head("topics", "n"),
    ]
    if table.is_stance:
        heads.append(_head("lines", "n"))
    heads.append(_head(judged_name(table), "n"))
    if compared:
        heads += [_head(name, "n") for name in ("difference", "p", "p (t)", "win, tie, loss")]
    rows = [
        _leader(table, score, place, labels, span, compared)
        for place, score in enumerate(table.scores, start=1)
    ]
    drawn = element(
        "table",
        element("thead", element("tr", heads)),
        element("tbody", rows),
        class_="sortable leaders",
    )
    note = ""
    if compared:
        note = element(
            "p",
            "Differences are to ",
            element("b", word(reference_name(table, dict(labels)))),
            ", over the topics that count for both. p is that of Fisher’s randomisation test, "
            "p (t) that of Student’s paired t test, both corrected for the number of runs (Holm).",
            class_="note",
        )
    return join(scrolling(drawn, f"Leaderboard: {table.first.dimension}"), note)


def _leader(
    table: Table,
    score: Score,
    place: int,
    labels: Mapping[str, str],
    span: tuple[float, float],
    compared: bool,
) -> Html:
    label = labels[score.run]
    name = [breakable(label)]
    if score is table.baseline:
        name.append(element("span", "baseline", class_="chip"))
    cells = [
        _number_cell(str(place)),
        element("th", name, scope="row"),
        _number_cell(number(score.mean), score.mean),
        element("td", _bar(score, span, table.baseline), class_="bars"),
        _number_cell(number(score.low), score.low),
        _number_cell(number(score.high), score.high),
        _number_cell(str(score.topics)),
    ]
    if table.is_stance:
        cells.append(_number_cell("–" if score.lines is None else f"{score.lines}"))
    cells.append(_number_cell(number(score.judged, 2), score.judged))
    if compared:
        cells += _comparison(score)
    return element("tr", cells)


def _comparison(score: Score) -> list[Html]:
    made = score.comparison
    if made is None:
        return [_number_cell("–")] * 4
    sides = f"{made.wins}, {made.ties}, {made.losses}"
    return [
        _number_cell(signed(made.difference), made.difference),
        _number_cell(_probability(made.p_randomisation_corrected), made.p_randomisation_corrected),
        _number_cell(_probability(made.p_t_corrected), made.p_t_corrected),
        _number_cell(sides, made.wins - made.losses),
    ]


def _probability(value: float) -> str:
    return f"< {_ALMOST_NOTHING}" if value < _ALMOST_NOTHING else number(value)


def _bar(score: Score, span: tuple[float, float], baseline: Score | None) -> Html:
    """The interval as a line with a dot at the mean. The cells beside it say the same."""
    if math.isnan(score.mean):
        return Html("")
    low, mean, high = (_place(value, span) for value in (score.low, score.mean, score.high))
    mark = ""
    if baseline is not None and not math.isnan(baseline.mean):
        mark = element("s", style=f"left:{_place(baseline.mean, span):.1f}%")
    line = element("i", style=f"left:{low:.1f}%;width:{high - low:.1f}%")
    dot = element("b", style=f"left:{mean:.1f}%")
    return element("span", mark, line, dot, class_="bar", aria_hidden="true")


def _scale(low: str, high: str) -> Html:
    ends = (element("span", end) for end in (low, high))
    return element("span", list(ends), class_="scale", aria_hidden="true")


def _span(scores: Sequence[Score]) -> tuple[float, float]:
    """From where to where the intervals are drawn, in full tenths."""
    ends = [end for score in scores for end in (score.low, score.high) if not math.isnan(end)]
    if not ends:
        return 0.0, 1.0
    low, high = math.floor(min(ends) * 10) / 10, math.ceil(max(ends) * 10) / 10
    return (low, high) if high > low else (low, low + 0.1)


def _place(value: float, span: tuple[float, float]) -> float:
    return 100 * (value - span[0]) / (span[1] - span[0])


def by_topic(contents: Contents, table: Table) -> Html:
    """One row a topic, one column a run."""
    labels = contents.labels
    places = {topic.number: place for place, topic in enumerate(contents.topics, start=1)}
    titles = {topic.number: topic.title for topic in contents.topics}
    heads = [_head("topic"), _head("median", "n")]
    for score in table.scores:
        label = labels[score.run]
        # cut by the page where it is long; then it is read by pointing at it
        heads.append(
            element("th", element("span", word(label), title=label), class_="n up", scope="col")
        )
    rows = []
    for topic in table.topics:
        link = element("a", word(topic), href=f"#topic-{places[topic]}")
        title = element("span", word(titles[topic]), class_="title") if titles[topic] else ""
        values = [table.medians[topic], *(score.values.get(topic) for score in table.scores)]
        cells = [
            _number_cell(number(math.nan if value is None else value, 2), value) for value in values
        ]
        name = element("span", link, " ", title, class_="name")
        rows.append(element("tr", element("th", name, scope="row"), cells))
    drawn = element(
        "table",
        element("thead", element("tr", heads)),
        element("tbody", rows),
        class_="sortable topics",
    )
    return scrolling(drawn, f"Scores by topic: {table.first.dimension}")


def confusions(table: Table, labels: Mapping[str, str]) -> Html:
    """What each run called the judged stances; runs that name none in a sentence."""
    silent, drawn = [], []
    for score in table.scores:
        matrix = score.confusion or ()
        if not any(any(row[: len(STANCES)]) for row in matrix):
            silent.append(breakable(labels[score.run]))
            continue
        drawn.append(_confusion(score, matrix, labels[score.run]))
    parts = [element("div", drawn, class_="matrices")] if drawn else []
    if silent:
        names = join(silent[0], [join(", ", name) for name in silent[1:]])
        parts.append(element("p", "Without any stance: ", names, ".", class_="note"))
    return join(parts)


def _confusion(score: Score, matrix: Sequence[Sequence[int]], label: str) -> Html:
    heads = [_head(name, "n") for name in FOUND]
    rows = []
    for place, (stance, row) in enumerate(zip(STANCES, matrix, strict=True)):
        total = max(sum(row), 1)
        cells = [
            element(
                "td",
                f"{lines}",
                class_="n right" if column == place else "n",
                style=f"--v:{lines / total:.2f}",
            )
            for column, lines in enumerate(row)
        ]
        rows.append(element("tr", element("th", stance, scope="row"), cells))
    lines = count(score.lines or 0, "line")
    caption = element(
        "caption", breakable(label), f" \u2013 macro-F1 {number(score.mean)}, {lines}"
    )
    corner = element("th", "judged \u2193 found \u2192", scope="col")
    head = element("thead", element("tr", corner, heads))
    return element("table", caption, head, element("tbody", rows), class_="confusion")


def _head(name: str, kind: str | None = None) -> Html:
    return element("th", name, scope="col", class_=kind)


def _number_cell(shown: str, value: float | None = None) -> Html:
    exact = None if value is None or math.isnan(value) else f"{value:.6g}"
    return element("td", shown, class_="n", data_v=exact)
