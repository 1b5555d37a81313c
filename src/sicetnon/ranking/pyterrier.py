"""PyTerrier: our retrievers as its transformers, and its transformers as our retrievers.

No JVM is needed: only PyTerrier's Python part is used (extra `pyterrier`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sicetnon.errors import DataError, MissingExtraError
from sicetnon.records import Ranking, Retriever, Topic

if TYPE_CHECKING:
    import pyterrier

_COLUMNS = ("qid", "query", "docno", "score", "rank")


def as_pyterrier(retriever: Retriever, k: int = 1000) -> pyterrier.Transformer:
    """A retriever as a transformer of PyTerrier.

    It takes a frame of `qid, query` and gives one of `qid, query, docno, score, rank`.

    Args:
        retriever: Any retriever; a system is one.
        k: Number of results per topic.

    Raises:
        MissingExtraError: PyTerrier is not installed (extra `pyterrier`).
    """
    pandas, pyterrier = _libraries()

    class Retrieval(pyterrier.Transformer):  # type: ignore[misc,name-defined]
        def transform(self, queries: Any) -> Any:
            rows = queries[["qid", "query"]].drop_duplicates("qid").itertuples(index=False)
            topics = [Topic(str(row.qid), str(row.query)) for row in rows]
            found = retriever.retrieve(topics, k) if topics else []
            lines = [
                (ranking.topic.number, ranking.topic.title, document, score, rank)
                for ranking in found
                for rank, (document, score) in enumerate(ranking)
            ]
            return pandas.DataFrame(lines, columns=list(_COLUMNS)).astype(
                {"score": "float64", "rank": "int64"}
            )

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
        missing = [name for name in ("qid", "docno", "score") if name not in found.columns]
        if missing:
            raise DataError(
                f"{self._transformer!r} gives the columns {', '.join(found.columns)}; expected "
                "qid, docno and score, as a retriever of PyTerrier gives them"
            )
        if found[["qid", "docno", "score"]].isna().any(axis=None):
            raise DataError(f"{self._transformer!r} gives a row without qid, docno or score")
        found = found.assign(qid=found["qid"].astype(str)).sort_values(
            "score", ascending=False, kind="stable"
        )
        found = found.drop_duplicates(["qid", "docno"])
        groups = dict(iter(found.groupby("qid", sort=False)))
        return [_ranking(topic, groups.get(topic.number), k) for topic in topics]


def _ranking(topic: Topic, rows: Any, k: int) -> Ranking:
    if rows is None:
        return Ranking(topic, (), np.empty(0))
    top = rows.head(k)
    return Ranking(topic, tuple(map(str, top["docno"])), top["score"].to_numpy(np.float64))


def _libraries() -> tuple[Any, Any]:
    """The modules pandas and pyterrier."""
    try:
        import pandas
        import pyterrier
    except ImportError:
        raise MissingExtraError("PyTerrier", "pyterrier") from None
    return pandas, pyterrier
