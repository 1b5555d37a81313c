"""A run in memory: from a file, from rankings, or from any other tool's records or frame."""

from __future__ import annotations

import operator
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sicetnon.checks import check_ranking, shown
from sicetnon.errors import DataError, UsageError
from sicetnon.evaluation import sources
from sicetnon.evaluation.sources import MISSING, Source, identifier
from sicetnon.formats.runs import distinct, read_run, whole_rank
from sicetnon.records import UNSTANCED, Ranking, Run, Topic

_FIELDS = operator.attrgetter("topic", "document", "rank", "score", "stance", "tag")
_Row = tuple[Any, ...]


@dataclass
class _Columns:
    documents: list[str] = field(default_factory=list)
    stances: list[str] = field(default_factory=list)
    ranks: array[int] = field(default_factory=lambda: array("q"))
    scores: array[float] = field(default_factory=lambda: array("d"))


def load_run(source: Source, name: str | None = None) -> Run:
    """Read a run whole.

    Args:
        source: A path (gzip is fine, `-` is standard input), rankings, `{topic: {document:
            score}}`, records with the fields of `RunLine` or of ir_measures' `ScoredDoc`, a data
            frame with such columns, or a dataset of ir_datasets or its id. Without ranks, the order
            is trec_eval's; without scores, it is that of the ranks. A `Run` stays as it is.
        name: The name in results; the path when left out, else the tag.

    Raises:
        DataError: A line cannot be used, or there is none.
        UsageError: A column is missing.
    """
    if isinstance(source, Run):
        return replace(source, name=name) if name else source
    if isinstance(source, str | Path):
        name = name or str(source)
    source = sources.of_dataset(source, "scoreddocs")
    if isinstance(source, str | Path):
        rows: Iterable[_Row] = map(_FIELDS, read_run(source))
    elif isinstance(source, Mapping):
        rows = _mapped(source)
    else:
        given = cast("Iterable[Any]", source)
        listed = given if sources.is_frame(given) else list(given)
        if isinstance(listed, list) and listed and isinstance(listed[0], Ranking):
            giver = name or "run"
            run = run_of([distinct(check_ranking(each, giver)) for each in listed], giver)
            lost = sum(map(len, listed)) - sum(map(len, run.rankings.values()))
            return replace(run, repeated=lost)
        rows = _checked(listed, name)
    return _gathered(rows, name)


def run_of(rankings: Sequence[Ranking], name: str) -> Run:
    """A run of rankings, as a retriever gives them.

    Raises:
        UsageError: Two rankings are of one topic.
    """
    found = {ranking.topic.number: ranking for ranking in rankings}
    if len(found) < len(rankings):
        raise UsageError(f"{name} holds two rankings of one topic; expected one for each")
    return Run(name, name, found)


def order_by_score(ranking: Ranking) -> NDArray[np.int64]:
    """The places of a ranking in the order of trec_eval: by score, then by id, both falling.

    trec_eval holds scores in single precision, so scores that differ by less are ties.

    Returns:
        Shape (n,).
    """
    with np.errstate(over="ignore"):
        scores = ranking.scores.astype(np.float32).tolist()
    places = range(len(ranking))
    order = sorted(places, key=lambda place: (scores[place], ranking.ids[place]), reverse=True)
    return np.array(order, dtype=np.int64)


def _gathered(rows: Iterable[_Row], name: str | None) -> Run:
    """The run of rows of topic, document, rank, score, stance and tag."""
    topics: dict[str, _Columns] = {}
    words: dict[str, str] = {}  # one object per stance, not one per line
    tag, ranked = "", True
    for topic, document, rank, score, stance, line_tag in rows:
        columns = topics.get(topic)
        if columns is None:
            if not topics:
                tag, ranked = line_tag, rank is not MISSING
            columns = topics[topic] = _Columns()
        columns.documents.append(document)
        columns.stances.append(words.setdefault(stance, stance))
        columns.scores.append(score)
        if ranked:
            columns.ranks.append(rank)
    if not topics:
        raise DataError("found no line; expected a run", name)
    lines = sum(len(columns.documents) for columns in topics.values())
    rankings = {topic: _ranking(topic, topics.pop(topic), ranked) for topic in list(topics)}
    repeated = lines - sum(map(len, rankings.values()))
    return Run(name or tag or "run", tag, rankings, repeated)


def _mapped(source: Mapping[str, Mapping[str, float]]) -> Iterator[_Row]:
    """The rows of `{topic: {document: score}}`, as pytrec_eval and ranx have runs."""
    for topic, document, score in sources.nested(source, "run"):
        real = _real(score, topic)
        yield identifier(topic), identifier(document), MISSING, real, UNSTANCED, ""


def _real(score: Any, topic: object) -> float:
    try:
        value = float(score)
        if value == value:
            return value
    except (TypeError, ValueError, OverflowError):
        pass
    raise DataError(f"found the score {shown(score)} for topic {topic!r}; expected a number")


def _checked(source: Iterable[Any], name: str | None) -> Iterator[_Row]:
    """The rows of records or a data frame, with the types that a file's rows have."""
    columns = (sources.TOPIC, sources.DOCUMENT, sources.RANK, sources.SCORE)
    optional = (sources.STANCE, sources.TAG)
    name = name or "run"
    rows = sources.rows(source, (*columns, *optional), 2, name)
    for number, (topic, document, rank, score, stance, tag) in enumerate(rows, start=1):
        if rank is MISSING and score is MISSING:
            raise UsageError("found neither a column 'rank' nor a column 'score' in the run")
        try:
            place = MISSING if rank is MISSING else whole_rank(rank)
            value = -float(rank) if score is MISSING else float(score)
            if value != value:
                raise ValueError(score)
        except (TypeError, ValueError, OverflowError):
            given = {"rank": rank, "score": score}
            found = (f"{key} {each!r:.40}" for key, each in given.items() if each is not MISSING)
            raise DataError(
                f"found {' and '.join(found)}; expected a whole number as rank, a number as score",
                name,
                number,
            ) from None
        yield (
            identifier(topic, name, number),
            identifier(document, name, number),
            place,
            value,
            # as texts, whatever a frame holds
            UNSTANCED if stance is MISSING else identifier(stance, name, number),
            str(tag) if isinstance(tag, str | int) else "",
        )


def _ranking(topic: str, columns: _Columns, ranked: bool) -> Ranking:
    """The ranking of a topic, in the order of its ranks; equal ranks as in the file."""
    stances = None if set(columns.stances) == {UNSTANCED} else tuple(columns.stances)
    scores = np.array(columns.scores, dtype=np.float64)
    ranking = Ranking(Topic(topic, ""), tuple(columns.documents), scores, stances)
    if ranked:
        ranks = np.array(columns.ranks, dtype=np.int64)
        if bool((ranks[1:] < ranks[:-1]).any()):
            order = np.argsort(ranks, kind="stable")
            ranking = ranking.taken(order, scores[order])
        return distinct(ranking)
    ranking = distinct(ranking)
    order = order_by_score(ranking)
    return ranking.taken(order, ranking.scores[order])
