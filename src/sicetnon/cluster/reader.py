"""An opened index on a cluster, read like an index in a folder."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Self, TypeVar, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from sicetnon.checks import check_places
from sicetnon.cluster.address import Place, parse_address
from sicetnon.cluster.connection import BUSY, ClusterError, Connection, TimeLimits
from sicetnon.cluster.counting import numbers_of
from sicetnon.cluster.searching import Fetched, Found, Hits
from sicetnon.cluster.shards import Tolerance
from sicetnon.cluster.state import finished_state, read_state, required_index
from sicetnon.cluster.terms import ClusterPostings
from sicetnon.cluster.together import TopicsSearch
from sicetnon.cluster.verifying import verify_cluster
from sicetnon.cluster.view import View
from sicetnon.cluster.worker import ClusterWorker
from sicetnon.errors import BrokenIndexError, DataError, SicetnonError
from sicetnon.index.annotations import Annotation
from sicetnon.index.document_store import RECORD_TYPES
from sicetnon.index.manifest import recorded_analysis
from sicetnon.index.reader import IndexReader
from sicetnon.records import Record
from sicetnon.retrieval.scoring import Scoring
from sicetnon.values import check_text, check_texts

_HEDGE_SECONDS, _PAUSE_SECONDS = 0.7, 0.1
_MOST_IDS = 500_000
_AT_ONCE = 1000
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
        for first in range(0, len(missing), _AT_ONCE):
            hits = self._hits("number", missing[first : first + _AT_ONCE], ["id", "number"])
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
        from sicetnon.cluster.stored import ClusterAnnotation

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
        """See `verify_cluster`."""
        self.check_open()
        verify_cluster(self._connection)

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
        for first in range(0, len(keys), _AT_ONCE):
            for hit in self._hits(name, keys[first : first + _AT_ONCE], [name], True):
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
