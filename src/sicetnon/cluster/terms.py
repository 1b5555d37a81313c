"""Statistics of terms on a cluster: exact over live documents, kept for each change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sicetnon.cluster.connection import ClusterError, Connection, TimeLimits
from sicetnon.cluster.counting import stored_values
from sicetnon.cluster.layout import terms_field
from sicetnon.cluster.multi_search import search_several
from sicetnon.cluster.shards import WHOLE, Tolerance
from sicetnon.retrieval.statistics import (
    CollectionStatistics,
    TermStatistics,
    weighted_occurrences,
)
from sicetnon.retrieval.term_postings import CountedPostings, TermPostings
from sicetnon.text.analysis import StemWords

MOST_CLAUSES = 900
"""Clauses of a query; the engine's usual limit is 1,024."""

_MOST_KNOWN = 200_000
_AT_ONCE = 50
_MOST_FORMS = 10_000


@dataclass(frozen=True)
class WantedTerm:
    """A term whose statistics are wanted.

    Attributes:
        term: The term.
        others: Other forms of its stem, in alphabetical order.
        fields: Places of the fields in which it counts.
    """

    term: str
    others: tuple[str, ...]
    fields: tuple[int, ...]

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The forms whose occurrences are summed together."""
        return ((self.term,), self.others)


@dataclass
class TermCounts:
    """Counts of terms in the live documents of an index after a change.

    Attributes:
        connection: The cluster.
        index: The index.
        live: The query of the live documents.
        stem: Gives the stems of words; None where terms are stems.
        time_limits: Time limits of a request and of its retries.
        tolerance: Whether shards may be lacking.
    """

    connection: Connection
    index: str
    live: dict[str, Any]
    stem: StemWords | None
    time_limits: TimeLimits
    tolerance: Tolerance = WHOLE
    _forms: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _documents: dict[WantedTerm, int] = field(default_factory=dict)
    _occurrences: dict[tuple[int, tuple[str, ...]], int] = field(default_factory=dict)

    def tolerating(self, tolerance: Tolerance) -> TermCounts:
        """Counts that may lack shards. They start from these, and leave these as they are."""
        known = (dict(self._forms), dict(self._documents), dict(self._occurrences))
        return TermCounts(
            self.connection, self.index, self.live, self.stem, self.time_limits, tolerance, *known
        )

    def other_forms(self, terms: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """The other forms of the stems of terms, in alphabetical order."""
        if self.stem is None:
            return dict.fromkeys(terms, ())
        stems = dict(zip(terms, self.stem(list(terms)), strict=True))
        found = {stem: self._forms[stem] for stem in set(stems.values()) if stem in self._forms}
        missing = sorted(set(stems.values()) - found.keys())
        if missing:
            found |= self._read_forms(missing)
            if len(self._forms) > _MOST_KNOWN:
                self._forms.clear()
            self._forms |= found
        return {
            term: tuple(form for form in found[stem] if form != term)
            for term, stem in stems.items()
        }

    def documents(self, wanted: WantedTerm) -> int:
        """The number of documents that have a form of a term in one of the fields."""
        while (found := self._documents.get(wanted)) is None:
            self.fetch([wanted])
        return found

    def occurrences(self, wanted: WantedTerm, place: int) -> tuple[int, int]:
        """The occurrences in a field of a term, and of its other forms."""
        while True:
            own, others = (self._occurrences.get((place, forms)) for forms in wanted.groups)
            if own is not None and others is not None:
                return own, others
            self.fetch([wanted])

    def fetch(self, wanted: Iterable[WantedTerm]) -> None:
        """Fetch statistics, many in one request.

        Raises:
            ClusterError: Some could not be fetched; those that could are kept.
        """
        self._make_room()
        asked: list[tuple[Any, dict[str, Any]]] = []
        sums: dict[tuple[int, tuple[str, ...]], list[int]] = {}
        for each in dict.fromkeys(wanted):
            if each.fields and each not in self._documents:
                asked.append((each, self._counting(each)))
            for key in ((place, forms) for place in each.fields for forms in each.groups):
                if key not in self._occurrences and key not in sums:
                    sums[key] = []
                    asked += [(key, body) for body in self._summing(*key)]
        bodies = Counter(key for key, _ in asked)
        self._occurrences |= {key: 0 for key in sums if not bodies[key]}
        for first in range(0, len(asked), _AT_ONCE):
            part = asked[first : first + _AT_ONCE]
            errors: list[ClusterError] = []
            answers = search_several(
                self.connection, self.index, [body for _, body in part], self.time_limits,
                self.tolerance,
            )  # fmt: skip
            for (key, _), answer in zip(part, answers, strict=True):
                if isinstance(answer, ClusterError):
                    errors.append(answer)
                else:
                    self._keep(key, answer, sums, bodies)
            if errors:
                # an error that does not pass says more than one that may
                raise min(errors, key=lambda error: error.may_pass)

    def _keep(
        self,
        key: Any,
        found: dict[str, Any],
        sums: dict[tuple[int, tuple[str, ...]], list[int]],
        bodies: Mapping[Any, int],
    ) -> None:
        """Keep a statistic, once all of its parts are there."""
        if isinstance(key, WantedTerm):
            self._documents[key] = found["hits"]["total"]["value"]
            return
        sums[key].append(int(found["aggregations"]["sum"]["value"]))
        if len(sums[key]) == bodies[key]:
            self._occurrences[key] = sum(sums[key])

    def _make_room(self) -> None:
        if len(self._documents) + len(self._occurrences) > _MOST_KNOWN:
            self._documents.clear()
            self._occurrences.clear()

    def _counting(self, wanted: WantedTerm) -> dict[str, Any]:
        """A search that counts documents."""
        forms = [wanted.term, *wanted.others]
        found = [{"terms": {terms_field(place): forms}} for place in wanted.fields]
        query = {"bool": {"filter": [self.live, {"bool": {"should": found}}]}}
        return {"size": 0, "track_total_hits": True, "query": query}

    def _summing(self, place: int, forms: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Searches that sum frequencies over documents."""
        for first in range(0, len(forms), MOST_CLAUSES):
            part = forms[first : first + MOST_CLAUSES]
            found = [{"term": {terms_field(place): form}} for form in part]
            query = {"bool": {"must": [{"bool": {"should": found}}], "filter": [self.live]}}
            aggregation = {"sum": {"sum": {"script": {"source": "_score"}}}}
            yield {"size": 0, "track_total_hits": False, "query": query, "aggs": aggregation}

    def _read_forms(self, stems: list[str]) -> dict[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {stem: [] for stem in stems}
        for first in range(0, len(stems), _AT_ONCE):
            part = stems[first : first + _AT_ONCE]
            rows = stored_values(
                self.connection, self.index, [{"terms": {"stem": part}}], ["stem", "form"],
                _MOST_FORMS, self.time_limits, self.tolerance,
            )  # fmt: skip
            for stem, form in rows:
                found[stem].append(form)
        return {stem: tuple(sorted(forms)) for stem, forms in found.items()}


class ClusterPostings:
    """The statistics of terms over weighted fields; the postings themselves stay on the cluster.

    Args:
        counts: The counts.
        names: The name of each field.
        weights: The weight of each field.
        other_forms: The weight of other forms of a term's stem.
        documents: Number of documents of the index.
        field_totals: Terms of all documents by field.
    """

    def __init__(
        self,
        counts: TermCounts,
        names: tuple[str, ...],
        weights: NDArray[np.float64],
        other_forms: float,
        documents: int,
        field_totals: NDArray[np.int64],
    ):
        self.counts, self.names = counts, names
        self.weights, self.form_weight = weights, other_forms
        self.columns: tuple[float, ...] = tuple(weights.tolist())
        self._fields = tuple(place for place, weight in enumerate(self.columns) if weight)
        occurrences = float(weights @ field_totals)
        average = occurrences / documents if documents else 0.0
        self.collection = CollectionStatistics(documents, occurrences, average)

    def read(self, term: str) -> TermPostings:
        """The statistics of a term, without postings."""
        return CountedPostings(*self.statistics(term))

    def statistics(self, term: str) -> TermStatistics:
        """The statistics of a term."""
        if not self._fields:
            return TermStatistics(0, 0.0)
        wanted = self.wanted([term])[term]
        documents = self.counts.documents(wanted)
        pairs = [self.counts.occurrences(wanted, place) for place in self._fields]
        weights = [self.columns[place] for place in self._fields]
        own, others = [first for first, _ in pairs], [second for _, second in pairs]
        weighted = weighted_occurrences(weights, own, others, self.form_weight)
        return TermStatistics(documents, weighted)

    def wanted(self, terms: Sequence[str]) -> Mapping[str, WantedTerm]:
        """The statistics to fetch for terms."""
        others = self.counts.other_forms(terms) if self.form_weight else dict.fromkeys(terms, ())
        return {term: WantedTerm(term, others[term], self._fields) for term in terms}

    def forms(self, term: str) -> list[tuple[str, float]]:
        """The forms of a term with their weights: itself, then the others."""
        wanted = self.wanted([term])[term]
        return [(term, 1.0), *((form, self.form_weight) for form in wanted.others)]
