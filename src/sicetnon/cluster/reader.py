"""A worker that searches an index on a cluster."""

from __future__ import annotations

import base64
import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Self, TypeVar, cast

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sicetnon.checks import check_places
from sicetnon.cluster.address import Place, parse_address
from sicetnon.cluster.index_state import finished_state, read_state, required_index
from sicetnon.cluster.mapping import annotation_field, live
from sicetnon.cluster.responses import BUSY, ClusterError, Tolerance
from sicetnon.cluster.retriever import Fetched, Found, Hits, TopicsSearch, View
from sicetnon.cluster.statistics import ClusterPostings, count_documents, numbers_of
from sicetnon.cluster.transport import Connection, TimeLimits
from sicetnon.errors import BrokenIndexError, DataError, SicetnonError
from sicetnon.index.annotations import BLOCK_ROWS, Annotation, unpacked
from sicetnon.index.documents import RECORD_TYPES
from sicetnon.index.manifest import AnnotationEntry, recorded_analysis
from sicetnon.index.reader import IndexReader
from sicetnon.records import Record
from sicetnon.retrieval.scoring import Scoring
from sicetnon.values import check_text, check_texts

_SCRIPT = (
    "def f=doc[params.field];if(f.size()==0){return 0;}def v=f.value;double s=0;double n=0;"
    "for(int i=0;i<v.length;++i){double c=v.bytes[v.offset+i];s+=c*params.question[i];n+=c*c;}"
    "return 1+s/Math.max(1,Math.sqrt(n))"
)
"""The cosine and 1, since the engine takes no score below 0."""

_ROUNDING = 1e-5
"""Of a cosine in single precision, generously."""

_MOST_CANDIDATES = 10_000
_DOCUMENTS_PER_REQUEST = 1000
Neighbours = tuple[NDArray[np.int64], NDArray[np.float32]]


class ClusterAnnotation(Annotation):
    """An annotation of the documents of an index on a cluster; see `Annotation`.

    Args:
        index: The index.
        name: Its name.
        entry: Its origin.
        width: Numbers of a vector; 0 for single numbers.
    """

    def __init__(self, index: ClusterReader, name: str, entry: AnnotationEntry, width: int):
        self.name, self.model, self.reads = name, entry.model, entry.reads
        self._index, self._field = index, annotation_field(name)
        shape: tuple[int, ...] = (width,) if width else ()
        self._nothing: NDArray[Any] = np.zeros(shape, np.int8 if width else np.float32)
        self.shape = (index.size, *self._nothing.shape)

    def __getitem__(self, numbers: ArrayLike) -> NDArray[np.float32]:
        """See `Annotation.__getitem__`."""
        wanted = np.asarray(numbers, dtype=np.int64).reshape(-1)
        if len(wanted) and not (wanted.min() >= 0 and wanted.max() < len(self)):
            raise IndexError(f"documents from {wanted.min()} to {wanted.max()} of {len(self)}")
        stored = np.zeros((len(wanted), *self._nothing.shape), dtype=self._nothing.dtype)
        distinct = sorted(set(wanted.tolist()))
        rows: dict[int, NDArray[Any]] = {}
        for first in range(0, len(distinct), _DOCUMENTS_PER_REQUEST):
            part = distinct[first : first + _DOCUMENTS_PER_REQUEST]
            rows |= self._rows(self._index.hits("number", part, ["number", self._field]))
        for place, number in enumerate(wanted.tolist()):
            # a deleted document has none
            stored[place] = rows.get(number, self._nothing)
        return unpacked(stored)

    def blocks(self, rows: int = BLOCK_ROWS) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """See `Annotation.blocks`."""
        for first in range(0, len(self), rows):
            yield first, self[np.arange(first, min(first + rows, len(self)))]

    def nearest(self, question: NDArray[np.float64], k: int) -> Neighbours:
        """The k documents whose vectors are nearest to one, best first.

        A script finds candidates among all documents; their vectors are compared as in a folder.
        """
        k, size = min(k, self._index.document_count), k + max(20, k // 8)
        while size <= _MOST_CANDIDATES:
            hits = self._candidates(question, size)
            numbers, scores = self._compared(self._rows(hits), question, k)
            if len(hits) < size or (
                len(scores) >= k and scores[-1] > hits[-1]["_score"] - 1 + _ROUNDING
            ):
                return numbers, scores
            size *= 4
        # so many are nearly as near that all are compared
        found: dict[int, NDArray[Any]] = {}
        for first in range(0, len(self), _DOCUMENTS_PER_REQUEST):
            part = list(range(first, min(first + _DOCUMENTS_PER_REQUEST, len(self))))
            found |= self._rows(self._index.hits("number", part, ["number", self._field]))
        return self._compared(found, question, k)

    def _candidates(self, question: NDArray[np.float64], size: int) -> list[dict[str, Any]]:
        params = {"field": self._field, "question": question.tolist()}
        script = {"source": _SCRIPT, "params": params}
        query = {"script_score": {"query": {"match_all": {}}, "script": script}}
        return self._index.best_hits(query, size, ["number", self._field])

    def _compared(
        self, rows: Mapping[int, NDArray[Any]], question: NDArray[np.float64], k: int
    ) -> Neighbours:
        if not rows:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        numbers = np.array(sorted(rows), dtype=np.int64)
        vectors = unpacked(np.stack([rows[number] for number in numbers.tolist()]))
        scores = (vectors.astype(np.float64) @ question).astype(np.float32)
        order = np.lexsort((numbers, -scores))[:k]
        return numbers[order], scores[order]

    def _rows(self, hits: Sequence[Mapping[str, Any]]) -> dict[int, NDArray[Any]]:
        """The stored numbers in hits, by the number of the document."""
        found = {}
        for hit in hits:
            found[hit["fields"]["number"][0]] = self._decoded(hit)
        return found

    def _decoded(self, hit: Mapping[str, Any]) -> NDArray[Any]:
        try:
            text = hit["fields"][self._field][0]
            data = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
            row = np.frombuffer(data, dtype=self._nothing.dtype).reshape(self._nothing.shape)
        except (LookupError, TypeError, ValueError) as error:
            raise BrokenIndexError(
                f"{self._index.folder}: the {self.name} of a document is damaged: {error}; "
                "annotate the index again"
            ) from None
        return row


_HEDGE_SECONDS, _PAUSE_SECONDS = 0.7, 0.1
_MOST_IDS = 500_000
_DOCUMENTS_PER_REQUEST = 1000
_ATTEMPTS = 5
_NEWS_SECONDS = 1.0
_PARTIAL_SECONDS = 10.0
"""Seconds after a partial answer in which no whole one is waited for."""

Result = TypeVar("Result")


class ClusterReader(IndexReader):
    """An opened index on a cluster. It follows the changes of the index.

    Every answer is of one state of the index: after each search the state is compared, and where
    another process has changed the index meanwhile, the search is made again.

    Attributes:
        concurrency: Number of batches of topics that are searched at a time.
        deepest_together: Documents up to which a batch is one request; 0 for none (see figures).
        candidates: Number of candidates that were fetched so far.
        ways: Number of searches by the way in which candidates were found; see `Fetched`.
    """

    concurrency = 8
    deepest_together = 50

    def __init__(self, connection: Connection, partial: bool = False):
        self._connection = connection
        total = connection.credentials.seconds
        self._time_limits = TimeLimits(min(_HEDGE_SECONDS, total), total, is_hedged=True)
        self.folder = cast(Any, connection.address)
        self.segments = []
        self._is_closed = False
        self._ids: dict[int, str] = {}
        self.candidates, self.ways = 0, Counter[str]()
        self._asked = time.monotonic()
        self._is_partial, self._partial_until = partial, 0.0
        try:
            self._adopt(self._read_view())
        except SicetnonError:
            connection.close()
            raise

    @classmethod
    def open(  # type: ignore[override]  # no postings of a cluster are kept here
        cls, folder: Place, *, partial: bool = False
    ) -> Self:
        """Open an index on a cluster.

        Args:
            folder: Its address.
            partial: Whether an answer may lack shards where no whole one is given in half of the
                time; `missing` then says so.

        Raises:
            BrokenIndexError: There is none, or it was not loaded whole, or was made with an
                analysis that would give other terms now.
            ClusterError: The cluster gives no answer.
        """
        return cls(Connection(parse_address(folder)), partial)

    @property
    def known_version(self) -> tuple[str, int]:
        """The engine's index and the number of its last change, as known; asks for news behind."""
        if time.monotonic() - self._asked > _NEWS_SECONDS and not self._is_closed:
            self._asked = time.monotonic()
            threading.Thread(target=self._ask_for_news, daemon=True).start()
        return self._view.version

    def postings(self, fields: Mapping[str, float], other_forms: float) -> ClusterPostings:
        """See `HasPostings.postings`."""
        return self._view_now.postings(fields, other_forms)

    def search_worker(self, scores: Sequence[Scoring]) -> ClusterWorker:
        """See `SearchesItself.search_worker`."""
        return ClusterWorker(self, tuple(scores))

    def prepare_search(
        self, scores: Sequence[Scoring], queries: Sequence[Mapping[str, float]]
    ) -> None:
        """See `SearchesItself.prepare_search`."""
        self.check_open()
        self._answered(lambda view: view.fetch_statistics(scores, queries))

    def searching(self, topics: int) -> AbstractContextManager[None]:
        """See `SearchesItself.searching`."""
        return self._connection.sharing(topics)

    def searched(
        self, scores: Sequence[Scoring], queries: Sequence[Mapping[str, float]], k: int
    ) -> list[Found]:
        """The k best documents for the weighted terms of each query, all of one state."""
        self.check_open()
        search: TopicsSearch | None = None

        def work(view: View) -> list[tuple[Found, Fetched]]:
            nonlocal search
            view.fetch_statistics(scores, queries)
            # after an error the search goes on with what is left
            if search is None or search.view is not view:
                search = TopicsSearch(
                    self._connection, view, self._time_limits, scores, queries, k,
                    is_together=k <= self.deepest_together,
                )  # fmt: skip
            return search.finish()

        found = self._answered(work, len(queries))
        for _, fetched in found:
            self._note(fetched)
        return [best for best, _ in found]

    def _note(self, fetched: Fetched) -> None:
        self.candidates += fetched.candidates
        self.ways[fetched.way] += 1
        self._keep_ids(fetched.ids)

    def identifiers(self, numbers: NDArray[np.int64] | Sequence[int]) -> list[str]:
        """The ids of documents, by their numbers."""
        self.check_open()
        wanted = check_places(numbers, self.size).tolist()
        found = {n: self._ids[n] for n in wanted if n in self._ids}
        missing = sorted(set(wanted) - found.keys())
        for first in range(0, len(missing), _DOCUMENTS_PER_REQUEST):
            hits = self._hits(
                "number", missing[first : first + _DOCUMENTS_PER_REQUEST], ["id", "number"]
            )
            found |= {hit["fields"]["number"][0]: hit["fields"]["id"][0] for hit in hits}
        if gone := [number for number in wanted if number not in found]:
            raise self._gone(gone[0])
        self._keep_ids(found)
        return [found[number] for number in wanted]

    def number(self, identifier: str) -> int | None:
        """The number of the document with an id, or None."""
        self.check_open()
        check_text(identifier, "an id")
        return self._numbers_by_id([identifier]).get(identifier)

    def numbers(self, ids: Sequence[str]) -> NDArray[np.int64]:
        """The numbers of documents, by their ids, shape as `ids`."""
        self._check_ids(ids)
        found = self._numbers_by_id(ids)
        self._refuse_unknown(ids, found)
        return np.array([found[identifier] for identifier in ids], dtype=np.int64)

    def records(self, ids: Sequence[str]) -> list[Record]:
        """The records of documents, by their ids."""
        self._check_ids(ids)
        found = self._records("id", list(dict.fromkeys(ids)))
        self._refuse_unknown(ids, found)
        return [found[identifier] for identifier in ids]

    def records_at(self, numbers: NDArray[np.int64] | Sequence[int]) -> list[Record]:
        """The records of documents, by their numbers."""
        self.check_open()
        wanted = check_places(numbers, self.size).tolist()
        found = self._records("number", list(dict.fromkeys(wanted)))
        if gone := [number for number in wanted if number not in found]:
            raise self._gone(gone[0])
        return [found[number] for number in wanted]

    def annotation(self, name: str) -> Annotation | None:
        """The annotation of a name, or None."""
        check_text(name, "the annotation")
        self.check_open()
        state = self._view.state
        if name not in state.annotations:
            return None
        return ClusterAnnotation(self, name, state.annotations[name], state.widths[name])

    def best_hits(self, query: dict[str, Any], size: int, columns: list[str]) -> Hits:
        """The live documents with the highest scores of a query.

        Args:
            query: The query.
            size: The most documents.
            columns: Names of fields whose values are wanted.
        """
        self.check_open()
        return self._searched({"must": [query]}, size, columns, {})

    def hits(self, name: str, keys: Sequence[Any], columns: list[str]) -> Hits:
        """The live documents with some values of a field."""
        self.check_open()
        return self._hits(name, keys, columns)

    def records_between(self, first: int, last: int) -> list[Record]:
        """The records of the live documents of some numbers, in the order of these."""
        self.check_open()
        numbers = {"filter": [{"range": {"number": {"gte": first, "lt": last}}}]}
        more: dict[str, Any] = {"_source": ["record"], "sort": [{"number": "asc"}]}
        return list(map(self._decoded, self._searched(numbers, last - first, ["number"], more)))

    def verify(self) -> None:
        """Compare documents, lengths and ids with the counts and checksums of the state.

        Raises:
            BrokenIndexError: They differ.
        """
        self.check_open()
        connection = self._connection
        index = required_index(connection)
        state = finished_state(connection, index).state
        query = live(state.change, state.pending)
        counted = count_documents(connection, index, len(state.fields), query)
        for name, there, written in (
            ("documents", counted.documents, state.documents),
            ("terms by field", counted.field_totals, state.field_totals),
            ("checksums of the ids", counted.hashes, state.hashes),
        ):
            if there != written:
                raise BrokenIndexError(
                    f"{connection.address}: found {name}: {there}, expected {written}; "
                    "build it again"
                )

    def waiting_once(self) -> AbstractContextManager[None]:
        """Let all requests of this thread together wait as long as one search may."""
        return self._connection.waiting(self._time_limits.total)

    def close(self) -> None:
        """Close the connections."""
        self._is_closed = True
        self._connection.close()

    def _read_view(self) -> View:
        connection = self._connection
        physical = required_index(connection, self._time_limits, is_local=True)
        stored = finished_state(connection, physical, self._time_limits)
        analysis = recorded_analysis(cast(Any, connection.address), stored.state.manifest())
        return View(connection, physical, stored, analysis, self._time_limits)

    def _adopt(self, view: View) -> None:
        self._view = view
        self.manifest = view.state.manifest()
        self.fields, self.analysis = view.fields, view.analysis
        self.document_count, self.field_totals = view.document_count, view.field_totals
        self.size = view.state.next_number
        self._decoder: msgspec.json.Decoder[Record] = msgspec.json.Decoder(
            RECORD_TYPES[view.state.records]
        )

    def _refresh(self) -> bool:
        """Read the present state of the index; returns whether it has changed."""
        stored = read_state(self._connection, self._view.physical, self._time_limits)
        if stored is not None and stored.state.change == self._view.state.change:
            return False
        before = self._view.physical
        self._adopt(self._read_view())
        if self._view.physical != before:
            self._ids = {}
        return True

    def _ask_for_news(self) -> None:
        with contextlib.suppress(SicetnonError):
            self._refresh()

    def _answered(self, work: Callable[[View], Result], count: int = 1) -> Result:
        """A whole answer, or a partial one where that is allowed; of so many searches."""
        # where a part may do, the searches beside this one do not make it wait
        beside = 1 if self._is_partial else self._connection.beside
        seconds = self._seconds * max(count, beside)
        if time.monotonic() > self._partial_until:
            try:
                return self._of_one_state(work, seconds)
            except ClusterError as error:
                if not (self._is_partial and error.may_pass):
                    raise
        tolerance = Tolerance(is_partial=True)
        view = self._view_now.tolerating(tolerance)
        with self._connection.within(seconds):
            result = work(view)
        if tolerance.lacking:
            if time.monotonic() > self._partial_until:
                self._partial_until = time.monotonic() + _PARTIAL_SECONDS
            self.missing, self._partial_view = str(tolerance), view
        return result

    @property
    def _view_now(self) -> View:
        """The index; soon after a partial answer, with statistics that lack what it lacked."""
        return self._partial_view if time.monotonic() < self._partial_until else self._view

    @property
    def _seconds(self) -> float:
        """Seconds for a whole answer; a partial one has as many again."""
        return self._time_limits.total / 2 if self._is_partial else self._time_limits.total

    def _of_one_state(self, work: Callable[[View], Result], seconds: float) -> Result:
        end, changes = time.monotonic() + seconds, 0
        with self._connection.within(seconds):
            while changes < _ATTEMPTS:
                try:
                    result = work(self._view)
                    if not self._refresh():
                        return result
                    changes += 1
                except ClusterError as error:
                    # the index was built anew, and the old one is gone
                    if error.status == 404 and self._refresh():
                        changes += 1
                    elif error.status not in BUSY or time.monotonic() + _PAUSE_SECONDS > end:
                        raise
                    else:
                        # shards move to other nodes, where one is gone
                        time.sleep(_PAUSE_SECONDS)
        raise ClusterError(f"{self.folder}: the index changes faster than it can be searched")

    def _keep_ids(self, ids: Mapping[int, str]) -> None:
        if len(self._ids) > _MOST_IDS:
            self._ids = {}
        self._ids.update(ids)

    def _numbers_by_id(self, ids: Sequence[str]) -> dict[str, int]:
        def work(view: View) -> dict[str, int]:
            return numbers_of(
                self._connection, view.physical, ids, view.state.change, view.state.pending,
                self._time_limits, view.tolerance,
            )  # fmt: skip

        return self._answered(work)

    def _records(self, name: str, keys: Sequence[Any]) -> dict[Any, Record]:
        found: dict[Any, Record] = {}
        for first in range(0, len(keys), _DOCUMENTS_PER_REQUEST):
            for hit in self._hits(name, keys[first : first + _DOCUMENTS_PER_REQUEST], [name], True):
                found[hit["fields"][name][0]] = self._decoded(hit)
        return found

    def _decoded(self, hit: dict[str, Any]) -> Record:
        try:
            return self._decoder.decode(hit["_source"]["record"])
        except (KeyError, ValueError, TypeError, RecursionError) as error:
            raise BrokenIndexError(
                f"{self.folder}: the record of a document is damaged: {error}; build it again"
            ) from None

    def _hits(
        self, name: str, keys: Sequence[Any], columns: list[str], is_whole: bool = False
    ) -> Hits:
        """The live documents with some values of a field."""
        more = {"sort": ["_doc"], "_source": ["record"] if is_whole else False}
        return self._searched({"filter": [{"terms": {name: list(keys)}}]}, len(keys), columns, more)

    def _searched(
        self, wanted: dict[str, Any], size: int, columns: list[str], more: dict[str, Any]
    ) -> Hits:
        """The live documents of a query, some at most."""

        def work(view: View) -> Hits:
            filters = [*wanted.get("filter", []), view.live]
            body = {
                "size": size, "query": {"bool": {**wanted, "filter": filters}}, "_source": False,
                "docvalue_fields": columns, "track_total_hits": False, **more,
            }  # fmt: skip
            answer = self._connection.ask(
                "POST",
                f"/{view.physical}/_search",
                body,
                params=view.tolerance.params,
                time_limits=self._time_limits,
            )
            hits: Hits = view.tolerance.checked(answer, self.folder)["hits"]["hits"]
            return hits

        return self._answered(work)

    def _check_ids(self, ids: Sequence[str]) -> None:
        self.check_open()
        check_texts(ids, "ids")

    def _gone(self, number: int) -> DataError:
        return DataError(f"the document with the number {number} was deleted", str(self.folder))

    def _refuse_unknown(self, ids: Sequence[str], found: Mapping[str, Any]) -> None:
        unknown = next((identifier for identifier in ids if identifier not in found), None)
        if unknown is not None:
            raise DataError(
                f"has no document {unknown!r}; expected ids that this index gave", str(self.folder)
            )


class ClusterWorker:
    """Searches with some scores; threads may share it.

    Args:
        index: The index.
        scores: The parts of the score.
    """

    def __init__(self, index: ClusterReader, scores: tuple[Scoring, ...]):
        self._index, self._scores = index, scores

    @property
    def statistics(self) -> ClusterPostings:
        """Statistics of terms over all fields."""
        return self._index.postings({}, 1.0)

    def search(self, query: Mapping[str, float], k: int) -> Found:
        """See `LocalRetriever.search`."""
        return self.search_each([query], k)[0]

    def search_each(self, queries: Sequence[Mapping[str, float]], k: int) -> list[Found]:
        """See `BatchWorker.search_each`."""
        return self._index.searched(self._scores, queries, k)
