"""Systems: a retriever, and the stages that its rankings pass through; also for PyTerrier.

Two verbs: a retriever turns topics into rankings, a stage turns a ranking into another. Retrievers
are transformers of PyTerrier and the other way round. No JVM is needed: only PyTerrier's Python
part is used (extra `pyterrier`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sicetnon.argument_checks import (
    check_number,
    check_order,
    check_retrieved,
    check_text,
    check_topics,
)
from sicetnon.arguments.comparative.question_parser import understood
from sicetnon.cancellation import check_cancelled
from sicetnon.errors import DataError, UsageError, needing
from sicetnon.records import UNSTANCED, Ranking, Retriever, Topic

if TYPE_CHECKING:
    import pyterrier


_FIRST_DEPTH, _DEEPER = 1000, 10
"""Results that a retriever is asked for first, to score given documents; and times as many."""


class Stage(Protocol):
    """Anything that reorders, shortens or labels a ranking."""

    def apply(self, topic: Topic, ranking: Ranking) -> Ranking:
        """The new ranking for the topic."""


class Labelling(Stage, Protocol):
    """A stage that labels results with stances, and changes nothing else."""

    @property
    def method(self) -> str:
        """A few words on how it finds stances."""


def _ignore(done: int, total: int) -> None:
    """Tell nobody; unlike a lambda, it can be pickled."""


@dataclass(frozen=True)
class System:
    """Finds documents for topics, then applies each stage to what was found.

    A system is a retriever, so it can be the retriever of another one.

    Attributes:
        retriever: Finds documents.
        stages: Reorder them, in this order.
        depth: Smallest number of documents that the stages get.
        labelling: Labels the returned results with stances.
        name: The name in tables; made of the retriever and the stages when left out.
        progress: Called with the number of labelled results, and of results in all.
    """

    retriever: Retriever
    stages: Sequence[Stage] = ()
    depth: int = 0
    labelling: Labelling | None = None
    name: str = ""
    progress: Callable[[int, int], None] = _ignore

    def __post_init__(self) -> None:
        """Check the parts, and name the system.

        Raises:
            UsageError: The retriever cannot retrieve, a stage cannot be applied, or the depth is no
                whole number.
        """
        if isinstance(self.retriever, type) or not hasattr(self.retriever, "retrieve"):
            raise UsageError(
                f"found {_name_of(self.retriever)} as the retriever of a system; expected "
                "something with `retrieve`, such as index.retriever(BM25())"
            )
        if not isinstance(self.stages, Sequence):
            raise UsageError("found stages that are no list; expected a list, such as [MyStage()]")
        for stage in self.stages:
            if isinstance(stage, type) or not hasattr(stage, "apply"):
                name = _name_of(stage)
                raise UsageError(
                    f"found {name} as a stage; expected an object with `apply`, such as MyStage()"
                )
        check_number(self.depth, "depth", 0)
        check_text(self.name, "the name of a system")
        if self.labelling is not None and not hasattr(self.labelling, "apply"):
            raise UsageError(
                f"found {_name_of(self.labelling)} as the labelling; expected something with "
                "`apply`"
            )
        if not self.name:
            parts = [self.retriever, *self.stages]
            object.__setattr__(self, "name", ">>".join(map(_name_of, parts)))

    def retrieve(self, topics: Sequence[Topic], k: int) -> list[Ranking]:
        """A ranking of at most k results for each topic.

        Each title is parsed once; the rankings' topics carry the question.

        Raises:
            UsageError: The topics are no list of topics, k is below 1, or the retriever or a stage
                gives something else than sound rankings.
        """
        check_topics(topics)
        check_number(k, "k", 1)
        topics = [understood(topic) for topic in topics]
        found = self.retriever.retrieve(topics, max(k, self.depth))
        return self._staged(check_retrieved(found, topics, _name_of(self.retriever)), k)

    def rerank(
        self, topics: Sequence[Topic], documents: Mapping[str, Sequence[str]]
    ) -> list[Ranking]:
        """Given documents of each topic in the order of this system.

        The retriever scores them, then each stage is applied to them. Documents that the retriever
        does not find, as they hold no word of the question, stand below the others in their order.

        Args:
            topics: The topics.
            documents: The ids of the documents of each topic, by the topic's number.

        Raises:
            UsageError: As for `retrieve`.
        """
        check_topics(topics)
        topics = [understood(topic) for topic in topics]
        found = reranked(self.retriever, topics, documents)
        return self._staged(check_retrieved(found, topics, _name_of(self.retriever)))

    def _staged(self, rankings: Sequence[Ranking], k: int | None = None) -> list[Ranking]:
        """Rankings after all stages, labelled."""
        for stage in self.stages:
            check_cancelled()
            rankings = [
                check_order(stage.apply(ranking.topic, ranking), ranking.topic, _name_of(stage))
                for ranking in rankings
            ]
        best = [ranking if k is None else ranking.best(k) for ranking in rankings]
        return best if self.labelling is None else self._labelled(best, self.labelling)

    def _labelled(self, rankings: Sequence[Ranking], labelling: Labelling) -> list[Ranking]:
        total, done = sum(map(len, rankings)), 0
        labelled = []
        for ranking in rankings:
            check_cancelled()
            labelled.append(labelling.apply(ranking.topic, ranking))
            done += len(ranking)
            self.progress(done, total)
        return labelled

    def as_pyterrier(self, k: int = 1000) -> pyterrier.Transformer:
        """The system as a transformer of PyTerrier, for its pipelines and experiments.

        Args:
            k: Number of results per topic.

        Raises:
            MissingExtraError: PyTerrier is not installed (extra `pyterrier`).
        """
        return as_pyterrier(self, k)


def reranked(
    retriever: Retriever, topics: Sequence[Topic], documents: Mapping[str, Sequence[str]]
) -> list[Ranking]:
    """Given documents of each topic in the order of a retriever, as in `System.rerank`.

    A retriever is asked for more and more results, until it has given all or has no more.
    """
    if isinstance(retriever, System):
        return retriever.rerank(topics, documents)
    k, waiting, found = _FIRST_DEPTH, list(topics), dict[str, Ranking]()
    while waiting:
        rankings = check_retrieved(retriever.retrieve(waiting, k), waiting, _name_of(retriever))
        found |= {ranking.topic.number: ranking for ranking in rankings}
        waiting = [
            ranking.topic
            for ranking in rankings
            if len(ranking) >= k
            and not set(documents.get(ranking.topic.number, ())) <= set(ranking.ids)
        ]
        k *= _DEEPER
    return [_only(found[t.number], documents.get(t.number, ())) for t in topics]


def _only(ranking: Ranking, documents: Sequence[str]) -> Ranking:
    """Some documents of a ranking; those that it lacks below, in their order."""
    wanted = set(documents)
    places = [place for place, each in enumerate(ranking.ids) if each in wanted]
    held = ranking.taken(places, ranking.scores[places])
    missing = [each for each in dict.fromkeys(documents) if each not in set(held.ids)]
    below = held.scores.min(initial=0.0) - np.arange(1, len(missing) + 1)
    stances, reasons = held.stances, held.reasons
    return Ranking(
        ranking.topic,
        (*held.ids, *missing),
        np.concatenate((held.scores, below)),
        None if stances is None else (*stances, *[UNSTANCED] * len(missing)),
        None if reasons is None else (*reasons, *[{}] * len(missing)),
    )


def _name_of(part: object) -> str:
    """The name of a retriever or a stage, or that of its class."""
    name = part.__name__ if isinstance(part, type) else getattr(part, "name", "")
    return str(name or type(part).__name__)


_QUERY_COLUMNS = ("qid", "query")
_RESULT_COLUMNS = ("docno", "score", "rank")


def as_pyterrier(retriever: Retriever, k: int = 1000) -> pyterrier.Transformer:
    """A retriever as a transformer of PyTerrier.

    It takes a frame of `qid, query` and gives one of `qid, query, docno, score, rank`. Given a
    frame with `docno` too, it re-ranks the documents of each query, all of them, and finds no
    others: see `System.rerank`. Other columns are kept.

    Args:
        retriever: Any retriever; a system is one.
        k: Number of results per topic, if no documents are given.

    Raises:
        MissingExtraError: PyTerrier is not installed (extra `pyterrier`).
    """
    pandas, pyterrier = _libraries()

    class Retrieval(pyterrier.Transformer):  # type: ignore[misc,name-defined]
        def transform(self, frame: Any) -> Any:
            keys = _QUERY_COLUMNS if "docno" not in frame.columns else (*_QUERY_COLUMNS, "docno")
            _require_columns(frame, keys)
            if frame[list(keys)].isna().any(axis=None):
                raise DataError(f"found a row without {', '.join(keys)}; expected each of them")
            rows = frame.assign(**{key: frame[key].astype(str) for key in keys})
            if (rows.groupby("qid")["query"].nunique() > 1).any():
                raise DataError("found two queries of one qid; expected one of each qid")
            rows = rows.drop_duplicates([key for key in keys if key != "query"])
            firsts = rows.drop_duplicates("qid")
            topics = list(map(Topic, firsts["qid"], firsts["query"]))
            if "docno" in keys:
                documents = rows.groupby("qid")["docno"].agg(list).to_dict()
                rankings = reranked(retriever, topics, documents)
            else:
                rankings = retriever.retrieve(topics, k) if topics else []
            return self._joined(rows, rankings, [key for key in keys if key != "query"])

        def _joined(self, rows: Any, rankings: Sequence[Ranking], shared: list[str]) -> Any:
            lines = [
                (ranking.topic.number, document, score, rank)
                for ranking in rankings
                for rank, (document, score) in enumerate(ranking)
            ]
            types = {key: rows[key].dtype for key in shared} | {"score": "float64", "rank": "int64"}
            results = pandas.DataFrame(lines, columns=["qid", *_RESULT_COLUMNS]).astype(types)
            kept = [name for name in rows.columns if name not in _RESULT_COLUMNS]
            # in the order of the topics, and of each ranking
            joined = results.merge(rows[list(dict.fromkeys((*kept, *shared)))], on=shared)
            if len(joined) < len(results):
                raise DataError(
                    f"{self!r} gives documents that it was not given; it cannot re-rank"
                )
            return joined[[*kept, *_RESULT_COLUMNS]]

        # PyTerrier asks these two instead of trying frames
        def transform_inputs(self) -> list[list[str]]:
            return [list(_QUERY_COLUMNS), [*_QUERY_COLUMNS, "docno"]]

        def transform_outputs(self, columns: list[str]) -> list[str]:
            pyterrier.validate.columns(columns, includes=list(_QUERY_COLUMNS), context=self)
            kept = [name for name in columns if name not in _RESULT_COLUMNS]
            return [*kept, *_RESULT_COLUMNS]

        def __repr__(self) -> str:
            return f"sicetnon({getattr(retriever, 'name', '') or type(retriever).__name__})"

    return Retrieval()


def from_pyterrier(transformer: pyterrier.Transformer) -> Retriever:
    """A transformer of PyTerrier, or a pipeline of several, as a retriever.

    Args:
        transformer: Turns a frame of `qid, query` into one with `qid, docno, score`.

    Raises:
        MissingExtraError: PyTerrier is not installed (extra `pyterrier`).
    """
    return _PyTerrierRetriever(transformer)


class _PyTerrierRetriever:
    def __init__(self, transformer: Any):
        self._pandas, _ = _libraries()
        self._transformer = transformer

    def retrieve(self, topics: Sequence[Topic], k: int) -> list[Ranking]:
        """The k best documents of each topic; of equal scores the first in the frame is first."""
        queries = self._pandas.DataFrame(
            [(topic.number, topic.title) for topic in topics], columns=["qid", "query"]
        )
        found = self._transformer(queries)
        if not hasattr(found, "columns"):
            raise DataError(f"{self._transformer!r} gives no frame; expected a retriever")
        _require_columns(found, ("qid", "docno", "score"))
        if found[["qid", "docno", "score"]].isna().any(axis=None):
            raise DataError(f"{self._transformer!r} gives a row without qid, docno or score")
        found = found.assign(qid=found["qid"].astype(str)).sort_values(
            "score", ascending=False, kind="stable"
        )
        found = found.drop_duplicates(["qid", "docno"])
        groups = dict(iter(found.groupby("qid", sort=False)))
        return [_ranking(topic, groups.get(topic.number), k) for topic in topics]


def _require_columns(frame: Any, names: Sequence[str]) -> None:
    if not set(names) <= set(frame.columns):
        raise DataError(
            f"found a frame with the columns {', '.join(map(str, frame.columns))}; expected "
            f"{', '.join(names)}"
        )


def _ranking(topic: Topic, rows: Any, k: int) -> Ranking:
    if rows is None:
        return Ranking(topic, (), np.empty(0))
    top = rows.head(k)
    return Ranking(topic, tuple(map(str, top["docno"])), top["score"].to_numpy(np.float64))


def _libraries() -> tuple[Any, Any]:
    """The modules pandas and pyterrier."""
    with needing("PyTerrier", "pyterrier"):
        import pandas
        import pyterrier
    return pandas, pyterrier
