"""A run in memory, topic by topic, in the order of its ranks."""

from __future__ import annotations

import functools
import operator
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import DataError, UsageError
from sicetnon.evaluation import sources
from sicetnon.evaluation.sources import MISSING, Loaded, Source
from sicetnon.formats.identifiers import one_order
from sicetnon.formats.runs import UNSTANCED, read_run

_FIELDS = operator.attrgetter("topic", "document", "rank", "score", "stance", "tag")


@dataclass(frozen=True)
class Lines:
    """The lines of a run for one topic, by rank; equal ranks as in the file.

    Attributes:
        documents: Ids, none twice.
        stances: The second column, one a document.
        scores: float64, shape (n,).
    """

    documents: list[str]
    stances: list[str]
    scores: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.documents)

    @functools.cached_property
    def by_score(self) -> list[str]:
        """The documents in the order of trec_eval: by score, then by id, both falling.

        trec_eval holds scores in single precision, so scores that differ by less are ties.
        """
        with np.errstate(over="ignore"):
            scores = self.scores.astype(np.float32).tolist()
        pairs = sorted(zip(scores, self.documents, strict=True), reverse=True)
        return [document for _, document in pairs]


@dataclass(frozen=True)
class Run(Loaded):
    """A run.

    Attributes:
        name: The path, or the name that the caller gave.
        tag: The last column of the first line, as it stands there.
        topics: The lines of each topic.
        repeated: How many lines were passed over because their document stands on another line
            of the topic with a better rank.
    """

    name: str
    tag: str
    topics: dict[str, Lines]
    repeated: int = 0

    @functools.cached_property
    def unordered(self) -> Run:
        """The same run with every pair `a,b` written in one order, for judgments of pairs."""
        columns = {
            topic: _distinct(list(map(one_order, lines.documents)), lines.stances, lines.scores)
            for topic, lines in self.topics.items()
        }
        lost = sum(map(len, self.topics.values())) - sum(map(len, columns.values()))
        return Run(self.name, self.tag, columns, self.repeated + lost)


@dataclass
class _Columns:
    documents: list[str] = field(default_factory=list)
    stances: list[str] = field(default_factory=list)
    ranks: array[int] = field(default_factory=lambda: array("q"))
    scores: array[float] = field(default_factory=lambda: array("d"))


def load_run(source: Source, name: str | None = None) -> Run:
    """Read a run whole.

    Args:
        source: A path (gzip is fine, `-` is standard input), records with the fields of
            `RunLine` or of ir_measures' `ScoredDoc`, or a data frame with such columns. Without
            ranks, the order is trec_eval's; without scores, it is that of the ranks. A `Run`
            stays as it is.
        name: What results call the run; the path when left out, else the tag.

    Raises:
        DataError: A line cannot be used, or there is none.
        UsageError: A column is missing.
    """
    if isinstance(source, Run):
        return replace(source, name=name) if name else source
    if isinstance(source, str | Path):
        name = name or str(source)
        rows: Iterable[tuple[Any, ...]] = map(_FIELDS, read_run(source))
    else:
        rows = _checked(cast("Iterable[Any]", source), name)
    topics: dict[str, _Columns] = {}
    words: dict[str, str] = {}  # one object a stance, not one a line
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
    lines = {topic: _sorted(topics.pop(topic), ranked) for topic in list(topics)}
    repeated = sum(lost for _, lost in lines.values())
    kept = {topic: kept for topic, (kept, _) in lines.items()}
    return Run(name or tag or "run", tag, kept, repeated)


def _checked(source: Iterable[Any], name: str | None) -> Iterator[tuple[Any, ...]]:
    """The rows of records or a data frame, with the types that a file's rows have."""
    columns = (sources.TOPIC, sources.DOCUMENT, sources.RANK, sources.SCORE)
    optional = (sources.STANCE, sources.TAG)
    rows = sources.rows(source, (*columns, *optional), required=2)
    for number, (topic, document, rank, score, stance, tag) in enumerate(rows, start=1):
        if rank is MISSING and score is MISSING:
            raise UsageError("found neither a column 'rank' nor a column 'score' in the run")
        try:
            place = MISSING if rank is MISSING else int(rank)
            value = -float(rank) if score is MISSING else float(score)
            if value != value:
                raise ValueError(score)
        except (TypeError, ValueError):
            raise DataError(
                f"found rank {rank!r} and score {score!r}; expected a whole number and a number",
                name or "run",
                number,
            ) from None
        word = UNSTANCED if stance is MISSING else str(stance)
        yield str(topic), str(document), place, value, word, "" if tag is MISSING else str(tag)


def _sorted(columns: _Columns, ranked: bool) -> tuple[Lines, int]:
    """The lines in their order, and how many were passed over as repeated."""
    scores = np.array(columns.scores, dtype=np.float64)
    if ranked:
        ranks = np.array(columns.ranks, dtype=np.int64)
        if bool((ranks[1:] < ranks[:-1]).any()):
            order = np.argsort(ranks, kind="stable")
            columns.documents = [columns.documents[place] for place in order.tolist()]
            columns.stances = [columns.stances[place] for place in order.tolist()]
            scores = scores[order]
    lines = _distinct(columns.documents, columns.stances, scores)
    if not ranked:
        places = {document: place for place, document in enumerate(lines.documents)}
        order = np.array([places[document] for document in lines.by_score], dtype=np.int64)
        stances = [lines.stances[place] for place in order.tolist()]
        lines = Lines(lines.by_score, stances, lines.scores[order])
    return lines, len(columns.documents) - len(lines)


def _distinct(documents: list[str], stances: list[str], scores: NDArray[np.float64]) -> Lines:
    """The lines without those whose document has stood before."""
    if len(set(documents)) == len(documents):
        return Lines(documents, stances, scores)
    firsts: dict[str, int] = {}
    for place, document in enumerate(documents):
        firsts.setdefault(document, place)
    places = list(firsts.values())
    return Lines(list(firsts), [stances[place] for place in places], scores[places])
