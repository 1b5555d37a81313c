"""Search by one weighting model over fields of equal weight, by the kernels of `tables`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sicetnon.index.segment import Segment
from sicetnon.retrieval import tables
from sicetnon.retrieval.clauses import Clause, OwnLoop, Part
from sicetnon.retrieval.exhaustive import Best
from sicetnon.retrieval.formulas import FORMULAS, UNSEEN
from sicetnon.retrieval.lengths import DocumentValues
from sicetnon.retrieval.postings import ALL_LIVE

Reals: TypeAlias = NDArray[np.float64]

WINDOW, WIDE_WINDOW = 1 << 12, 1 << 15
"""Documents per window: their scores fit into a core's first cache. Those of a wide window, for
many terms, fit into the second: of many lists, each should be read for a while."""
_MANY_TERMS = 16
_SAMPLED_FROM, _SAMPLED_FOR = 1 << 17, 200


def can_tabulate(parts: Sequence[Part]) -> bool:
    """Whether `search_tabulated` can search for these parts of a score."""
    if len(parts) != 1 or parts[0].weight != 1.0 or not parts[0].terms:
        return False
    first = parts[0].terms[0]
    if not isinstance(first, Clause) or first.formula not in FORMULAS:
        return False
    norms = first.norms
    if not isinstance(norms, DocumentValues) or norms.lengths.column is None:
        return False
    for term in parts[0].terms:
        if not isinstance(term, Clause) or term.norms is not norms or not term.postings.ranges:
            return False
    given = parts[0].document_score
    # a document's own score, 0 at most, must not raise it above what its terms add up to
    return given is None or given.weight >= 0


def search_tabulated(
    part: Part,
    segments: Sequence[Segment],
    best: Best,
    window: int | None = None,
    sampled_from: int = _SAMPLED_FROM,
) -> None:
    """Score all documents, and keep the best.

    Args:
        part: The only part of the score: see `can_tabulate`.
        segments: The segments of the index.
        best: The best documents; changed.
        window: Documents per window; by the number of terms when left out.
        sampled_from: Documents of a segment from which a sample of them is scored first, for a
            threshold; at least 16,384.

    Raises:
        BrokenIndexError: The postings are damaged.
    """
    for place, segment in enumerate(segments):
        search = _SegmentSearch(part, place, segment, window)
        search.run(best, best.k >= _SAMPLED_FOR and len(segment) >= sampled_from)


class _SegmentSearch:
    """A search of one segment."""

    def __init__(self, part: Part, place: int, segment: Segment, window: int | None):
        clauses = list(part.clauses)
        norms = clauses[0].norms
        assert isinstance(norms, DocumentValues)
        assert norms.lengths.column is not None
        assert norms.by_length is not None
        is_whole, column = norms.lengths.column
        # the codes of terms without pairs are frequencies over all fields
        frequencies = segment.codes[:, None] if is_whole else segment.frequencies
        columns = column, frequencies.shape[1]
        self._segment = segment
        self._postings = segment.documents, segment.codes, frequencies.reshape(-1), columns
        self._documents = (
            norms.lengths.counts(place)[0], norms.by_length, *_document_scores(part),
            ALL_LIVE if segment.live is None else segment.live, segment.base,
        )  # fmt: skip
        ranges = np.concatenate([c.postings.ranges[place] for c in clauses]).reshape(-1, 4)
        numbers = np.concatenate([c.numbers for c in clauses]).reshape(len(clauses), -1)
        is_held = ranges[:, 1] > ranges[:, 0]
        if not is_held.all():
            ranges, numbers = ranges[is_held], numbers[is_held]
        if not is_whole:
            ranges[:, 2:] = 0
        self._ranges, pairs = ranges[:, :2], ranges[:, 2:]
        self._pairs = segment.pair_frequencies, segment.pair_lengths, pairs
        starts = np.zeros(len(ranges) + 1, np.int64)
        np.cumsum(pairs[:, 1] - pairs[:, 0], out=starts[1:])
        formula = clauses[0].formula
        assert not isinstance(formula, OwnLoop)
        occurrence = norms.lengths.weight or 1.0
        table = np.empty(starts[-1])
        self._terms = FORMULAS.index(formula), occurrence, numbers, starts, table
        self._window = window or (WINDOW if len(ranges) < _MANY_TERMS else WIDE_WINDOW)

    def run(self, best: Best, is_sampled: bool) -> None:
        """Search, and keep the best."""
        if not len(self._ranges):
            return
        if not tables.fill_table(self._pairs, self._terms, self._documents[1]):
            raise self._segment.wrong_pair()
        guess = self._estimate(best.k) if is_sampled else UNSEEN
        if guess > best.threshold:
            before = best.filled
            kept = best.numbers[:before].copy(), best.scores[:before].copy()
            filled, threshold = self._search(best, guess)
            if np.count_nonzero(best.scores[:filled] > guess) >= best.k:
                best.filled, best.threshold = filled, threshold
                return
            # the sample was no fair one
            best.numbers[:before], best.scores[:before] = kept
        best.filled, best.threshold = self._search(best, best.threshold)

    def _estimate(self, k: int) -> float:
        return tables.estimate(self._postings, self._documents, self._terms, self._ranges, k)

    def _search(self, best: Best, threshold: float) -> tuple[int, float]:
        filled, threshold = tables.search_windows(
            self._postings, self._documents, self._terms, self._ranges,
            (best.k, best.numbers, best.scores), best.filled, threshold, self._window,
        )  # fmt: skip
        if filled < 0:
            raise self._segment.wrong_posting()
        return filled, threshold


def _document_scores(part: Part) -> tuple[Reals, float]:
    """A document's own score for each length, and the weight of it."""
    given = part.document_score
    if given is None or given.scores.by_length is None:
        return np.empty(0), 0.0
    return given.scores.by_length, given.weight
