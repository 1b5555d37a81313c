"""PyTerrier: our retrievers as its transformers, and its transformers as our retrievers.

No JVM is needed: only PyTerrier's Python part is used (extra `pyterrier`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sicetnon.errors import DataError, needing
from sicetnon.ranking.system import reranked
from sicetnon.records import Ranking, Retriever, Topic

if TYPE_CHECKING:
    import pyterrier

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
