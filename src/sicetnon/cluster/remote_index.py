"""An opened index on a cluster, read like an index in a folder; its stored annotations."""

from __future__ import annotations

import base64
import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import Any, Self, TypeVar, cast

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sicetnon.argument_checks import check_document_numbers, check_ranking, check_text, check_texts
from sicetnon.cluster.address import Address, Location, parse_address
from sicetnon.cluster.collection_statistics import ClusterPostings, count_documents, numbers_of
from sicetnon.cluster.index_state import finished_state, read_state, required_index
from sicetnon.cluster.mapping import annotation_field, live
from sicetnon.cluster.responses import BUSY, ClusterError, PartialResults
from sicetnon.cluster.retriever import BatchSearch, Hits, Results, Snapshot, TopDocs
from sicetnon.cluster.transport import Connection, IndexClient, TimeLimits
from sicetnon.errors import BrokenIndexError, DataError, SicetnonError, UsageError
from sicetnon.index.annotations import BLOCK_ROWS, Annotation, unpacked
from sicetnon.index.document_store import RECORD_TYPES
from sicetnon.index.manifest import AnnotationEntry, recorded_analysis
from sicetnon.index.segment import Segment
from sicetnon.records import Ranking, Record
from sicetnon.retrieval.scoring import Scoring

_HEDGE_SECONDS, _PAUSE_SECONDS = 0.7, 0.1
_MOST_IDS = 500_000
_DOCUMENTS_PER_REQUEST = 1000
_ATTEMPTS = 5
_NEWS_SECONDS = 1.0
_PARTIAL_SECONDS = 10.0
"""Seconds after a partial answer in which no complete one is waited for."""

_COSINE = (
    "def f=doc[params.field];if(f.size()==0){return 0;}def v=f.value;double s=0;double n=0;"
    "for(int i=0;i<v.length;++i){double c=v.bytes[v.offset+i];s+=c*params.question[i];n+=c*c;}"
    "return 1+s/Math.max(1,Math.sqrt(n))"
)
"""The cosine and 1, since the engine takes no score below 0."""

_ROUNDING = 1e-5
"""Of a cosine in single precision, generously."""

_MOST_CANDIDATES = 10_000

Result = TypeVar("Result")
Neighbours = tuple[NDArray[np.int64], NDArray[np.float32]]


class ClusterReader:
    """An opened index on a cluster. It follows the changes of the index.

    Every answer is of one state of the index: after each search the state is compared, and if
    another process has changed the index meanwhile, the search is repeated.

    Attributes:
        concurrency: Number of batches of topics that are searched at a time.
        deepest_together: Documents up to which a batch is one request; 0 for none (see figures).
        candidates: Number of candidates that were fetched so far.
        ways: Number of searches by their upper bound; see `Results`.
        folder: The address.
        missing: The shards that an answer so far lacked, in words; empty if all are complete.
    """

    concurrency = 8
    deepest_together = 50
    missing = ""

    def __init__(self, connection: Connection, partial: bool = False):
        self._connection = connection
        total = connection.credentials.seconds
        self._time_limits = TimeLimits(min(_HEDGE_SECONDS, total), total, is_hedged=True)
        self.folder: Address = connection.address
        self.segments: list[Segment] = []
        self._is_closed = False
        self._ids: dict[int, str] = {}
        self.candidates, self.ways = 0, Counter[str]()
        self._news_checked = time.monotonic()
        self._is_partial, self._partial_until = partial, 0.0
        try:
            self._adopt(self._read_snapshot())
        except SicetnonError:
            connection.close()
            raise

    @classmethod
    def open(cls, folder: Location, *, partial: bool = False) -> Self:
        """Open an index on a cluster.

        With `partial`, an answer may lack shards if no complete one comes in half of the time;
        `missing` then says so.
        """
        return cls(Connection(parse_address(folder)), partial)

    @property
    def known_version(self) -> tuple[str, int]:
        """The engine's index and the number of its last change; a thread looks for a new one."""
        if time.monotonic() - self._news_checked > _NEWS_SECONDS and not self._is_closed:
            self._news_checked = time.monotonic()
            threading.Thread(target=self._look_for_news, daemon=True).start()
        return self._snapshot.version

    def postings(self, fields: Mapping[str, float], other_forms: float) -> ClusterPostings:
        """The statistics of terms over weighted fields."""
        return self._current.postings(fields, other_forms)

    def search_worker(self, scores: Sequence[Scoring]) -> ClusterWorker:
        """A worker, which threads may share."""
        return ClusterWorker(self, tuple(scores))

    def prepare_search(
        self, scores: Sequence[Scoring], queries: Sequence[Mapping[str, float]]
    ) -> None:
        """Fetch at once what several queries need."""
        self.check_open()
        self._answer(lambda index: index.fetch_statistics(scores, queries))

    def searching(self, topics: int) -> AbstractContextManager[None]:
        """A block in which so many topics are searched at a time, and wait for one another."""
        return self._connection.sharing(topics)

    def search_each(
        self, scores: Sequence[Scoring], queries: Sequence[Mapping[str, float]], k: int
    ) -> list[TopDocs]:
        """The k best documents for the weighted terms of each query, all of one state."""
        self.check_open()
        search: BatchSearch | None = None

        def work(index: Snapshot) -> list[Results]:
            nonlocal search
            index.fetch_statistics(scores, queries)
            # after an error the search goes on with the queries that remain
            if search is None or search.index is not index:
                is_together = k <= self.deepest_together
                search = BatchSearch(index, scores, queries, k, is_together)
            return search.finish()

        results = self._answer(work, len(queries))
        for each in results:
            self.candidates += each.candidates
            self.ways[each.way] += 1
            self._cache_ids(each.ids)
        return [each.best for each in results]

    def identifiers(self, numbers: NDArray[np.int64] | Sequence[int]) -> list[str]:
        """The ids of documents, by their numbers."""
        self.check_open()
        checked = check_document_numbers(numbers, self.size).tolist()
        ids = {number: self._ids[number] for number in checked if number in self._ids}
        missing = sorted(set(checked) - ids.keys())
        for hit in self.hits("number", missing, ["id", "number"]):
            ids[hit["fields"]["number"][0]] = hit["fields"]["id"][0]
        self._refuse_deleted(checked, ids)
        self._cache_ids(ids)
        return [ids[number] for number in checked]

    def number(self, identifier: str) -> int | None:
        """The number of the document with an id, or None."""
        self.check_open()
        check_text(identifier, "an id")
        return self._numbers_by_id([identifier]).get(identifier)

    def numbers(self, ids: Sequence[str]) -> NDArray[np.int64]:
        """The numbers of documents, by their ids, shape as `ids`."""
        self.check_open()
        check_texts(ids, "ids")
        numbers = self._numbers_by_id(ids)
        self._refuse_unknown(ids, numbers)
        return np.array([numbers[identifier] for identifier in ids], dtype=np.int64)

    def records(self, ids: Sequence[str]) -> list[Record]:
        """The records of documents, by their ids."""
        self.check_open()
        check_texts(ids, "ids")
        records = self._records("id", list(dict.fromkeys(ids)))
        self._refuse_unknown(ids, records)
        return [records[identifier] for identifier in ids]

    def records_of(self, ranking: Ranking) -> list[Record]:
        """The records of the documents in a ranking."""
        check_ranking(ranking, "the caller")
        return self.records(ranking.ids)

    def records_at(self, numbers: NDArray[np.int64] | Sequence[int]) -> list[Record]:
        """The records of documents, by their numbers."""
        self.check_open()
        checked = check_document_numbers(numbers, self.size).tolist()
        records = self._records("number", list(dict.fromkeys(checked)))
        self._refuse_deleted(checked, records)
        return [records[number] for number in checked]

    def annotation(self, name: str) -> Annotation | None:
        """The annotation of a name, or None."""
        check_text(name, "the annotation")
        self.check_open()
        state = self._snapshot.state
        if name not in state.annotations:
            return None
        return ClusterAnnotation(self, name, state.annotations[name], state.widths[name])

    def best_hits(self, query: dict[str, Any], size: int, columns: list[str]) -> Hits:
        """The live documents with the highest scores of a query, with the values of some fields."""
        self.check_open()
        return self._hits({"must": [query]}, size, columns)

    def hits(
        self, name: str, keys: Sequence[Any], columns: list[str], has_records: bool = False
    ) -> Hits:
        """The live documents with some values of a field, with the values of some fields."""
        self.check_open()
        more = {"sort": ["_doc"], "_source": ["record"] if has_records else False}
        hits: Hits = []
        for first in range(0, len(keys), _DOCUMENTS_PER_REQUEST):
            some = list(keys[first : first + _DOCUMENTS_PER_REQUEST])
            hits += self._hits({"filter": [{"terms": {name: some}}]}, len(some), columns, more)
        return hits

    def records_between(self, first: int, last: int) -> list[Record]:
        """The records of the live documents of some numbers, in the order of these."""
        self.check_open()
        numbers = {"filter": [{"range": {"number": {"gte": first, "lt": last}}}]}
        more: dict[str, Any] = {"_source": ["record"], "sort": [{"number": "asc"}]}
        return list(map(self._decoded, self._hits(numbers, last - first, ["number"], more)))

    def verify(self) -> None:
        """Compare documents, lengths and ids with the counts and checksums of the state."""
        self.check_open()
        connection = self._connection
        index = required_index(connection)
        state = finished_state(connection, index).state
        query = live(state.change, state.pending)
        counts = count_documents(IndexClient(connection, index), len(state.fields), query)
        for name, present, written in (
            ("documents", counts.documents, state.documents),
            ("terms by field", counts.field_totals, state.field_totals),
            ("checksums of the ids", counts.hashes, state.hashes),
        ):
            if present != written:
                raise BrokenIndexError(
                    f"{self.folder}: found {name}: {present}, expected {written}; build it again"
                )

    def waiting_once(self) -> AbstractContextManager[None]:
        """Let all requests of this thread together wait as long as one search may."""
        return self._connection.waiting(self._time_limits.total)

    def check_open(self) -> None:
        """Refuse to use a closed index."""
        if self._is_closed:
            raise UsageError(f"{self.folder}: the index is closed; open it again")

    def check_sizes(self) -> None:
        """Do nothing: an index on a cluster has no files here that could be cut short."""

    def close(self) -> None:
        """Close the connections."""
        self._is_closed = True
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read_snapshot(self) -> Snapshot:
        connection, time_limits = self._connection, self._time_limits
        index = required_index(connection, time_limits, is_local=True)
        stored = finished_state(connection, index, time_limits)
        analysis = recorded_analysis(cast(Any, connection.address), stored.state.manifest())
        return Snapshot(IndexClient(connection, index, time_limits), stored, analysis)

    def _adopt(self, index: Snapshot) -> None:
        self._snapshot = index
        self.manifest = index.state.manifest()
        self.fields, self.analysis = index.fields, index.analysis
        self.document_count, self.field_totals = index.document_count, index.field_totals
        self.size = index.state.next_number
        self._decoder: msgspec.json.Decoder[Record] = msgspec.json.Decoder(
            RECORD_TYPES[index.state.records]
        )

    def _refresh(self) -> bool:
        """Read the present state of the index; returns whether it has changed."""
        before, change = self._snapshot.version
        stored = read_state(self._connection, before, self._time_limits)
        if stored is not None and stored.state.change == change:
            return False
        self._adopt(self._read_snapshot())
        if self._snapshot.version[0] != before:
            self._ids = {}
        return True

    def _look_for_news(self) -> None:
        with contextlib.suppress(SicetnonError):
            self._refresh()

    def _answer(self, work: Callable[[Snapshot], Result], count: int = 1) -> Result:
        """A complete answer of so many searches, or a partial one if that is allowed."""
        # where a partial answer may do, parallel searches do not make it wait
        parallel = 1 if self._is_partial else self._connection.parallel
        # a partial answer has as many seconds again
        seconds = self._time_limits.total / (2 if self._is_partial else 1) * max(count, parallel)
        if time.monotonic() > self._partial_until:
            try:
                return self._of_one_state(work, seconds)
            except ClusterError as error:
                if not (self._is_partial and error.may_pass):
                    raise
        partial = PartialResults(is_allowed=True)
        index = self._current.with_partial(partial)
        with self._connection.within(seconds):
            result = work(index)
        if partial.lacking:
            if time.monotonic() > self._partial_until:
                self._partial_until = time.monotonic() + _PARTIAL_SECONDS
            self.missing, self._partial_snapshot = str(partial), index
        return result

    @property
    def _current(self) -> Snapshot:
        """The index; soon after a partial answer, with statistics that lack the same shards."""
        is_partial = time.monotonic() < self._partial_until
        return self._partial_snapshot if is_partial else self._snapshot

    def _of_one_state(self, work: Callable[[Snapshot], Result], seconds: float) -> Result:
        end, changes = time.monotonic() + seconds, 0
        with self._connection.within(seconds):
            while changes < _ATTEMPTS:
                try:
                    result = work(self._snapshot)
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

    def _cache_ids(self, ids: Mapping[int, str]) -> None:
        if len(self._ids) > _MOST_IDS:
            self._ids = {}
        self._ids.update(ids)

    def _numbers_by_id(self, ids: Sequence[str]) -> dict[str, int]:
        def work(index: Snapshot) -> dict[str, int]:
            return numbers_of(index.client, ids, index.state.change, index.state.pending)

        return self._answer(work)

    def _records(self, name: str, keys: Sequence[Any]) -> dict[Any, Record]:
        hits = self.hits(name, keys, [name], has_records=True)
        return {hit["fields"][name][0]: self._decoded(hit) for hit in hits}

    def _decoded(self, hit: dict[str, Any]) -> Record:
        try:
            return self._decoder.decode(hit["_source"]["record"])
        except (KeyError, ValueError, TypeError, RecursionError) as error:
            raise BrokenIndexError(
                f"{self.folder}: the record of a document is damaged: {error}; build it again"
            ) from None

    def _hits(
        self,
        query: dict[str, Any],
        size: int,
        columns: list[str],
        more: Mapping[str, Any] = MappingProxyType({}),
    ) -> Hits:
        """Live documents that match a boolean query."""

        def work(index: Snapshot) -> Hits:
            filters = [*query.get("filter", []), index.live]
            body = {
                "size": size, "query": {"bool": {**query, "filter": filters}}, "_source": False,
                "docvalue_fields": columns, "track_total_hits": False, **more,
            }  # fmt: skip
            hits: Hits = index.client.search(body)["hits"]["hits"]
            return hits

        return self._answer(work)

    def _refuse_deleted(self, numbers: Sequence[int], present: Mapping[int, Any]) -> None:
        for number in numbers:
            if number not in present:
                message = f"the document with the number {number} was deleted"
                raise DataError(message, str(self.folder))

    def _refuse_unknown(self, ids: Sequence[str], present: Mapping[str, Any]) -> None:
        for identifier in ids:
            if identifier not in present:
                message = f"has no document {identifier!r}; expected ids that this index gave"
                raise DataError(message, str(self.folder))


class ClusterWorker:
    """Searches an index with some scores; threads may share it."""

    def __init__(self, index: ClusterReader, scores: tuple[Scoring, ...]):
        self._index, self._scores = index, scores

    @property
    def statistics(self) -> ClusterPostings:
        """Statistics of terms over all fields."""
        return self._index.postings({}, 1.0)

    def search(self, query: Mapping[str, float], k: int) -> TopDocs:
        """The k best documents for weighted terms: numbers and scores, best first."""
        return self.search_each([query], k)[0]

    def search_each(self, queries: Sequence[Mapping[str, float]], k: int) -> list[TopDocs]:
        """The k best documents for each query, with shared requests."""
        return self._index.search_each(self._scores, queries, k)


class ClusterAnnotation(Annotation):
    """Stored numbers of the documents of an index on a cluster, or vectors of some width.

    A vector is stored with its document as bytes, in the form in which a folder has it, so that
    both give the same scores.
    """

    def __init__(self, index: ClusterReader, name: str, entry: AnnotationEntry, width: int):
        self.name, self.model, self.reads = name, entry.model, entry.reads
        self._index, self._field = index, annotation_field(name)
        shape: tuple[int, ...] = (width,) if width else ()
        self._nothing: NDArray[Any] = np.zeros(shape, np.int8 if width else np.float32)
        self.shape = (index.size, *self._nothing.shape)

    def __getitem__(self, numbers: ArrayLike) -> NDArray[np.float32]:
        """The stored numbers of documents, by their numbers; 0 for deleted ones."""
        wanted = np.asarray(numbers, dtype=np.int64).reshape(-1)
        if len(wanted) and not (wanted.min() >= 0 and wanted.max() < len(self)):
            raise IndexError(f"documents from {wanted.min()} to {wanted.max()} of {len(self)}")
        stored = np.zeros((len(wanted), *self._nothing.shape), dtype=self._nothing.dtype)
        rows = self._rows(sorted(set(wanted.tolist())))
        for row, number in enumerate(wanted.tolist()):
            stored[row] = rows.get(number, self._nothing)
        return unpacked(stored)

    def blocks(self, rows: int = BLOCK_ROWS) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """The numbers of all documents, some rows at a time, with the number of the first row."""
        for first in range(0, len(self), rows):
            yield first, self[np.arange(first, min(first + rows, len(self)))]

    def nearest(self, question: NDArray[np.float64], k: int) -> Neighbours:
        """The k documents whose vectors are nearest to one, best first.

        A script finds candidates among all documents; their vectors are compared as in a folder.
        """
        k, size = min(k, self._index.document_count), k + max(20, k // 8)
        params = {"field": self._field, "question": question.tolist()}
        script = {"source": _COSINE, "params": params}
        query = {"script_score": {"query": {"match_all": {}}, "script": script}}
        while size <= _MOST_CANDIDATES:
            hits = self._index.best_hits(query, size, ["number", self._field])
            numbers, scores = self._compared(self._decoded(hits), question, k)
            if len(hits) < size:
                return numbers, scores
            if len(scores) >= k and scores[-1] > hits[-1]["_score"] - 1 + _ROUNDING:
                return numbers, scores
            size *= 4
        # so many are nearly as near that all are compared
        return self._compared(self._rows(range(len(self))), question, k)

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

    def _rows(self, numbers: Sequence[int]) -> dict[int, NDArray[Any]]:
        """The stored numbers of documents that are not deleted."""
        return self._decoded(self._index.hits("number", numbers, ["number", self._field]))

    def _decoded(self, hits: Hits) -> dict[int, NDArray[Any]]:
        rows = {}
        for hit in hits:
            try:
                text = hit["fields"][self._field][0]
                data = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
                row = np.frombuffer(data, dtype=self._nothing.dtype).reshape(self._nothing.shape)
            except (LookupError, TypeError, ValueError) as error:
                raise BrokenIndexError(
                    f"{self._index.folder}: the {self.name} of a document is damaged: {error}; "
                    "annotate the index again"
                ) from None
            rows[hit["fields"]["number"][0]] = row
        return rows
