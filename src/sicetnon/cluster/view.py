"""An index on a cluster as it is after a change: what searches read of it."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sicetnon.cluster.connection import Connection, TimeLimits
from sicetnon.cluster.layout import live
from sicetnon.cluster.queries import readers_of
from sicetnon.cluster.shards import WHOLE, Tolerance
from sicetnon.cluster.state import Stored
from sicetnon.cluster.terms import ClusterPostings, TermCounts, WantedTerm
from sicetnon.index.reader import IndexReader
from sicetnon.retrieval.postings import field_weights
from sicetnon.retrieval.scoring import Scoring
from sicetnon.text.analysis import Analysis


class View:
    """An index after a change.

    Attributes:
        physical: The engine's index.
        state: Its state.
        folder: The address, for messages.
        fields: Names of the indexed fields.
        analysis: Turns texts into terms.
        segments: None, since the postings stay on the cluster.
        document_count: Number of documents.
        field_totals: Terms of all documents by field, int64, shape (fields,).
        live: The query of the live documents.
        stem: Gives the stems of words; None where terms are stems.
        tolerance: Whether answers may lack shards.
    """

    tolerance = WHOLE

    def __init__(
        self,
        connection: Connection,
        physical: str,
        stored: Stored,
        analysis: Analysis,
        time_limits: TimeLimits,
    ):
        self.physical, self.state, self.analysis = physical, stored.state, analysis
        self.folder, self.fields = connection.address, stored.state.fields
        self.segments: list[Any] = []
        self.document_count = stored.state.documents
        self.field_totals: NDArray[np.int64] = np.array(stored.state.field_totals, dtype=np.int64)
        self.live = live(stored.state.change, stored.state.pending)
        self.stem = analysis.analyzer().stem if analysis.forms else None
        self._counts = TermCounts(connection, physical, self.live, self.stem, time_limits)

    @property
    def version(self) -> tuple[str, int]:
        """The engine's index and the number of the last change."""
        return self.physical, self.state.change

    def tolerating(self, tolerance: Tolerance) -> View:
        """The index where answers may lack shards; what they tell is not kept for later ones."""
        made = copy.copy(self)
        made.tolerance = tolerance
        made._counts = self._counts.tolerating(tolerance)
        return made

    def postings(self, fields: Mapping[str, float], other_forms: float) -> ClusterPostings:
        """See `HasPostings.postings`."""
        weights = field_weights(self.as_index(), fields)
        return ClusterPostings(
            self._counts, self.fields, weights, other_forms, self.document_count, self.field_totals
        )

    def fetch_statistics(
        self, scores: Sequence[Scoring], queries: Sequence[Mapping[str, float]]
    ) -> None:
        """Fetch the statistics of all terms of queries at once."""
        terms = list(dict.fromkeys(term for query in queries for term in query))
        wanted: list[WantedTerm] = []
        for scoring in scores:
            for reader in readers_of(self, scoring):
                wanted += reader.wanted(terms).values()
        if wanted:
            self._counts.fetch(wanted)

    def as_index(self) -> IndexReader:
        """The view where an index is expected, for statistics alone."""
        return cast(IndexReader, self)
