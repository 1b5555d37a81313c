"""Search by one weighting model over fields of equal weight, by the kernels of `tables`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sicetnon.index.segment import Segment
from sicetnon.retrieval import ranges, sampling, tables
from sicetnon.retrieval.clauses import Clause, OwnLoop, Part
from sicetnon.retrieval.exhaustive import Best
from sicetnon.retrieval.formulas import FORMULAS
from sicetnon.retrieval.lengths import DocumentValues
from sicetnon.retrieval.postings import ALL_LIVE
from sicetnon.retrieval.range_bounds import Bounds

Reals: TypeAlias = NDArray[np.float64]

WINDOW = 1 << 15
"""Documents per window: their scores fit into a core's second cache. In windows that fit into the
first, too little of each list is read at a time to be fetched from memory ahead."""
_SAMPLED_FROM, _SAMPLED_FOR = 1 << 17, 200
_SLICE = 1 << 22
"""Documents whose bounds are added up at a time: the sums fit into a core's second cache, and take
no more memory for more documents."""
_BOUNDED_FROM, _BOUNDED_TERMS = 1 << 19, 16
"""Documents from which, and terms up to which, bounds of scores are used, for fewer results than
a sample is. They leave nothing out where a document holds many of the terms."""


def can_tabulate(parts: Sequence[Part]) -> bool:
    """Whether `search_tabulated` can search for these parts of a score."""
    if len(parts) != 1 or parts[0].weight != 1.0 or not parts[0].terms:
        return False
    first = parts[0].terms[0]
    if parts[0].columns is None or not isinstance(first, Clause) or first.formula not in FORMULAS:
        return False
    norms = first.norms
    if not isinstance(norms, DocumentValues) or norms.lengths.column is None:
        return False
    given = parts[0].document_score
    # a document's own score, 0 at most, must not raise it above what its terms add up to
    return given is None or given.weight >= 0


def search_tabulated(
    part: Part,
    segments: Sequence[Segment],
    best: Best,
    window: int = WINDOW,
    sampled_from: int = _SAMPLED_FROM,
    bounded_from: int = _BOUNDED_FROM,
    sliced: int = _SLICE,
) -> None:
    """Score all documents, and keep the best.

    Args:
        part: The only part of the score: see `can_tabulate`.
        segments: The segments of the index.
        best: The best documents; changed.
        window: Documents per window.
        sampled_from: Documents of a segment from which a sample of them is scored first, for a
            threshold; at least 8,192.
        bounded_from: Documents of a segment from which bounds of scores are used.
        sliced: Documents whose bounds are added up at a time; a multiple of 2,048.

    Raises:
        BrokenIndexError: The postings are damaged.
    """
    for place, segment in enumerate(segments):
        search = _SegmentSearch(part, place, segment, window, sliced)
        if best.k >= _SAMPLED_FOR:
            search.run(best, len(segment) >= sampled_from, False)
        else:
            search.run(best, False, len(segment) >= bounded_from)


class _SegmentSearch:
    """A search of one segment."""

    def __init__(self, part: Part, place: int, segment: Segment, window: int, sliced: int):
        first, columns = next(part.clauses), part.columns
        norms, formula = first.norms, first.formula
        assert columns is not None
        assert not isinstance(formula, OwnLoop)
        assert isinstance(norms, DocumentValues)
        assert norms.lengths.column is not None
        assert norms.by_length is not None
        is_whole, column = norms.lengths.column
        self._segment = segment
        self._documents = (
            norms.lengths.counts(place)[0], norms.by_length, *_document_scores(part),
            ALL_LIVE if segment.live is None else segment.live, segment.base,
        )  # fmt: skip
        numbers, terms = columns.factors, columns.terms[place]
        self._held: list[int] = terms.tolist()
        if -1 in self._held:
            is_held = terms >= 0
            self._held, numbers = terms[is_held].tolist(), numbers[is_held]
        pool, lists = segment.together(self._held, None if is_whole else column)
        # the codes of terms without pairs are frequencies
        self._postings = pool.documents, pool.codes, pool.codes, (0, 1)
        self._pairs, self._lists = (pool.pair_frequencies, pool.pair_lengths), lists
        self._formula = FORMULAS.index(formula), norms.lengths.weight or 1.0, numbers
        self._window, self._sliced = window, sliced
        self._place, self._known = place, part.bounds

    def run(self, best: Best, is_sampled: bool, is_bounded: bool) -> None:
        """Search, and keep the best."""
        if not self._held:
            return
        places, starts, table = tables.score_pairs(
            self._pairs, self._lists, self._formula, self._documents[1]
        )
        if not len(starts):
            raise self._segment.wrong_posting()
        terms = *self._formula, starts, table
        arguments = (
            self._postings, self._documents, terms, places,
            (best.k, best.numbers, best.scores), best.filled, best.threshold, self._window,
        )  # fmt: skip
        bounds = self._find_bounds(terms, places) if is_bounded else None
        if bounds is not None:
            best.filled, best.threshold = ranges.search_ranges(*arguments, bounds, self._sliced)
        elif is_sampled:
            best.filled, best.threshold = sampling.search_sampled(*arguments)
        else:
            best.filled, best.threshold = tables.search_windows(*arguments)

    def _find_bounds(self, terms: tables.Terms, places: NDArray[np.int64]) -> Bounds | None:
        size = int((places[:, 1] - places[:, 0]).sum())
        # a term's bounds hold for any weight above 0
        if (
            self._known is None
            or len(places) > _BOUNDED_TERMS
            or 4 * size > len(self._segment)
            or not (terms[2][:, 0] > 0.0).all()
        ):
            return None
        return self._known.of(self._place, self._segment, self._held, self._postings, terms, places)


def _document_scores(part: Part) -> tuple[Reals, float]:
    """A document's own score for each length, and the weight of it."""
    given = part.document_score
    if given is None or given.scores.by_length is None:
        return np.empty(0), 0.0
    return given.scores.by_length, given.weight
