"""Statistics of an index on a cluster: exact over live documents, cached for each change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sicetnon.cluster.mapping import length_field, live, terms_field
from sicetnon.cluster.responses import ClusterError, PartialResults
from sicetnon.cluster.transport import IndexClient, TimeLimits
from sicetnon.retrieval.postings import CountedPostings, TermPostings
from sicetnon.retrieval.statistics import (
    CollectionStatistics,
    TermStatistics,
    weighted_occurrences,
)
from sicetnon.text.analysis import StemWords

COUNTING = TimeLimits(120.0, 240.0)
"""Time limits of requests that read a large share of an index."""

MOST_CLAUSES = 900
"""Clauses of a query; the engine's usual limit is 1,024."""

_IDS_PER_REQUEST, _NUMBERS_PER_REQUEST, _SEARCHES_PER_REQUEST = 5_000, 10_000, 50
_MOST_CACHED = 200_000
_MOST_FORMS = 10_000


@dataclass(frozen=True)
class DocumentCounts:
    """Number of documents, terms of all documents by field, and sums of the hashes of all ids."""

    documents: int
    field_totals: tuple[int, ...]
    hashes: tuple[int, int]


def count_documents(client: IndexClient, fields: int, query: dict[str, Any]) -> DocumentCounts:
    """Count the documents that a query matches, in a refreshed index with some text fields."""
    names = [*map(length_field, range(fields)), "hash_a", "hash_b"]
    body = {
        "size": 0,
        "track_total_hits": True,
        "query": {"bool": {"filter": [query]}},
        "aggs": {name: {"sum": {"field": name}} for name in names},
    }
    # a shard that is busy makes the response an error, after which the request is repeated
    response = client.within(COUNTING).search(body)
    sums = [int(response["aggregations"][name]["value"]) for name in names]
    total = response["hits"]["total"]["value"]
    return DocumentCounts(total, tuple(sums[:fields]), (sums[fields], sums[fields + 1]))


def numbers_between(client: IndexClient, numbers: range, change: int) -> set[int]:
    """The numbers of a range for which a refreshed index has a document of a change."""
    present: set[int] = set()
    for first in range(numbers.start, numbers.stop, _NUMBERS_PER_REQUEST):
        limits = {"gte": first, "lt": min(first + _NUMBERS_PER_REQUEST, numbers.stop)}
        query: list[dict[str, Any]] = [{"range": {"number": limits}}, {"term": {"added": change}}]
        rows = client.within(COUNTING).values(query, ["number"], _NUMBERS_PER_REQUEST)
        present.update(number for (number,) in rows)
    return present


def numbers_of(
    client: IndexClient, ids: Sequence[str], change: int, pending: Sequence[int] = ()
) -> dict[str, int]:
    """The numbers of documents by id, without ids that a refreshed index lacks after a change."""
    numbers: dict[str, int] = {}
    for first in range(0, len(ids), _IDS_PER_REQUEST):
        some = list(ids[first : first + _IDS_PER_REQUEST])
        query = [{"terms": {"id": some}}, live(change, pending)]
        numbers.update(client.values(query, ["id", "number"], len(some)))
    return numbers


@dataclass(frozen=True)
class TermQuery:
    """A term whose statistics are needed in some fields, with its stem's other forms, sorted."""

    term: str
    others: tuple[str, ...]
    fields: tuple[int, ...]

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The forms whose occurrences are summed together."""
        return ((self.term,), self.others)


_Sum = tuple[int, tuple[str, ...]]


@dataclass
class TermCounts:
    """Counts of terms in the live documents of an index after a change.

    `stem` gives the stems of words; it is None if terms are stems.
    """

    client: IndexClient
    live: dict[str, Any]
    stem: StemWords | None
    _forms: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _documents: dict[TermQuery, int] = field(default_factory=dict)
    _occurrences: dict[_Sum, int] = field(default_factory=dict)

    def with_partial(self, partial: PartialResults) -> TermCounts:
        """Counts that may lack shards. They start from these, and do not change them."""
        cached = (dict(self._forms), dict(self._documents), dict(self._occurrences))
        return TermCounts(replace(self.client, partial=partial), self.live, self.stem, *cached)

    def other_forms(self, terms: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """The other forms of the stems of terms, in alphabetical order."""
        if self.stem is None:
            return dict.fromkeys(terms, ())
        stems = dict(zip(terms, self.stem(list(terms)), strict=True))
        forms = {stem: self._forms[stem] for stem in set(stems.values()) if stem in self._forms}
        missing = sorted(set(stems.values()) - forms.keys())
        if missing:
            forms |= self._read_forms(missing)
            if len(self._forms) > _MOST_CACHED:
                self._forms.clear()
            self._forms |= forms
        return {
            term: tuple(form for form in forms[stem] if form != term)
            for term, stem in stems.items()
        }

    def documents(self, query: TermQuery) -> int:
        """The number of documents that have a form of a term in one of the fields."""
        while (count := self._documents.get(query)) is None:
            self.fetch([query])
        return count

    def occurrences(self, query: TermQuery, number: int) -> tuple[int, int]:
        """The occurrences in a field of a term, and of its other forms."""
        while True:
            own, others = (self._occurrences.get((number, forms)) for forms in query.groups)
            if own is not None and others is not None:
                return own, others
            self.fetch([query])

    def fetch(self, queries: Iterable[TermQuery]) -> None:
        """Fetch statistics, many in one request; after an error those that came are cached."""
        if len(self._documents) + len(self._occurrences) > _MOST_CACHED:
            self._documents.clear()
            self._occurrences.clear()
        searches, sums = self._searches(queries)
        bodies = Counter(key for key, _ in searches)
        self._occurrences |= {key: 0 for key in sums if not bodies[key]}
        for first in range(0, len(searches), _SEARCHES_PER_REQUEST):
            some = searches[first : first + _SEARCHES_PER_REQUEST]
            errors: list[ClusterError] = []
            responses = self.client.search_several([body for _, body in some])
            for (key, _), response in zip(some, responses, strict=True):
                if isinstance(response, ClusterError):
                    errors.append(response)
                elif isinstance(key, TermQuery):
                    self._documents[key] = response["hits"]["total"]["value"]
                else:
                    sums[key].append(int(response["aggregations"]["sum"]["value"]))
                    # a sum of several searches counts once all of them are there
                    if len(sums[key]) == bodies[key]:
                        self._occurrences[key] = sum(sums[key])
            if errors:
                # an error that does not pass says more than one that may
                raise min(errors, key=lambda error: error.may_pass)

    def _searches(
        self, queries: Iterable[TermQuery]
    ) -> tuple[list[tuple[Any, dict[str, Any]]], dict[_Sum, list[int]]]:
        """The searches for statistics that are not cached, by what they count."""
        searches: list[tuple[Any, dict[str, Any]]] = []
        sums: dict[_Sum, list[int]] = {}
        for query in dict.fromkeys(queries):
            if query.fields and query not in self._documents:
                searches.append((query, self._counting(query)))
            for key in ((number, forms) for number in query.fields for forms in query.groups):
                if key not in self._occurrences and key not in sums:
                    sums[key] = []
                    searches += [(key, body) for body in self._summing(*key)]
        return searches, sums

    def _counting(self, query: TermQuery) -> dict[str, Any]:
        """A search that counts documents."""
        forms = [query.term, *query.others]
        matching = [{"terms": {terms_field(number): forms}} for number in query.fields]
        filtered = {"bool": {"filter": [self.live, {"bool": {"should": matching}}]}}
        return {"size": 0, "track_total_hits": True, "query": filtered}

    def _summing(self, number: int, forms: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Searches that sum frequencies over documents."""
        for first in range(0, len(forms), MOST_CLAUSES):
            some = forms[first : first + MOST_CLAUSES]
            matching = [{"term": {terms_field(number): form}} for form in some]
            query = {"bool": {"must": [{"bool": {"should": matching}}], "filter": [self.live]}}
            aggregation = {"sum": {"sum": {"script": {"source": "_score"}}}}
            yield {"size": 0, "track_total_hits": False, "query": query, "aggs": aggregation}

    def _read_forms(self, stems: list[str]) -> dict[str, tuple[str, ...]]:
        forms: dict[str, list[str]] = {stem: [] for stem in stems}
        for first in range(0, len(stems), _SEARCHES_PER_REQUEST):
            query = {"terms": {"stem": stems[first : first + _SEARCHES_PER_REQUEST]}}
            for stem, form in self.client.values([query], ["stem", "form"], _MOST_FORMS):
                forms[stem].append(form)
        return {stem: tuple(sorted(some)) for stem, some in forms.items()}


class ClusterPostings:
    """The statistics of terms over weighted fields; the postings themselves stay on the cluster.

    Attributes:
        counts: Counts of terms.
        names: The name of each field.
        weights: The weight of each field, shape (fields,); also as `columns`.
        form_weight: The weight of other forms of a term's stem.
        collection: Statistics of the collection.
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
        self._fields = tuple(number for number, weight in enumerate(self.columns) if weight)
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
        query = self.queries([term])[term]
        documents = self.counts.documents(query)
        pairs = [self.counts.occurrences(query, number) for number in self._fields]
        weights = [self.columns[number] for number in self._fields]
        own, others = [first for first, _ in pairs], [second for _, second in pairs]
        weighted = weighted_occurrences(weights, own, others, self.form_weight)
        return TermStatistics(documents, weighted)

    def queries(self, terms: Sequence[str]) -> Mapping[str, TermQuery]:
        """The statistics to fetch for terms."""
        others = self.counts.other_forms(terms) if self.form_weight else dict.fromkeys(terms, ())
        return {term: TermQuery(term, others[term], self._fields) for term in terms}

    def forms(self, term: str) -> list[tuple[str, float]]:
        """The forms of a term with their weights: itself, then the others."""
        query = self.queries([term])[term]
        return [(term, 1.0), *((form, self.form_weight) for form in query.others)]
