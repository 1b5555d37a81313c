"""Search by one weighting model over fields of equal weight, by the kernels of `tables`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sicetnon.index.segment import Segment
from sicetnon.retrieval import formulas, tables
from sicetnon.retrieval.clauses import Clause, Part
from sicetnon.retrieval.exhaustive import Best
from sicetnon.retrieval.formulas import FORMULAS, UNSEEN
from sicetnon.retrieval.lengths import DocumentValues
from sicetnon.retrieval.postings import ALL_LIVE

Reals: TypeAlias = NDArray[np.float64]

WINDOW = 1 << 15
"""Documents per window: their scores and lengths fit into a core's cache."""
_FREQUENCIES, _LENGTHS = 5, 512
"""The size of a table; of higher frequencies and lengths, values are computed one by one."""
_LOGARITHMS = 32
"""The logarithms of `DirichletLM` for lower frequencies are computed once."""
_SATURATION = FORMULAS.index(formulas.saturation)
_LOG_RATIO_MATCHED = FORMULAS.index(formulas.log_ratio_matched)
_LONG = 2 * _FREQUENCIES * _LENGTHS
_SAMPLED_FROM, _SAMPLED_FOR = 1 << 17, 200


def can_tabulate(parts: Sequence[Part]) -> bool:
    """Whether `search_tabulated` can search for these parts of a score."""
    if len(parts) != 1 or parts[0].weight != 1.0 or not parts[0].terms:
        return False
    for term in parts[0].terms:
        if not isinstance(term, Clause) or term.formula not in FORMULAS or not term.postings.places:
            return False
        norms = term.norms
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
) -> None:
    """Score all documents, and keep the best.

    Args:
        part: The only part of the score: see `can_tabulate`.
        segments: The segments of the index.
        best: The best documents; changed.
        window: Documents per window.
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

    def __init__(self, part: Part, place: int, segment: Segment, window: int):
        self._segment, self._window = segment, window
        held = [c for c in part.clauses if len(c.postings.segments[place][0])]
        first = next(part.clauses)
        norms = first.norms
        assert isinstance(norms, DocumentValues)
        assert norms.lengths.column is not None
        assert norms.by_length is not None
        is_whole, column = norms.lengths.column
        frequencies = segment.sums if is_whole else segment.frequencies
        columns = column, frequencies.shape[1]
        self._postings = segment.documents, frequencies.reshape(-1), columns
        self._documents = (
            *norms.lengths.counts(place), norms.by_length, *_document_scores(part),
            ALL_LIVE if segment.live is None else segment.live, segment.base,
        )  # fmt: skip
        ranges = [(p.start, p.stop) for p in (c.postings.places[place] for c in held)]
        self._ranges = np.array(ranges, np.int64).reshape(-1, 2)
        number = FORMULAS.index(first.formula)
        has_table, shape = _tables(number, self._ranges)
        rows = [(c.weight, *c.constants, norms.lengths.weight) for c in held]
        self._terms = (
            number,
            np.array(rows, np.float64).reshape(-1, 4),
            has_table,
            np.empty((len(held), *shape)),
        )

    def run(self, best: Best, is_sampled: bool) -> None:
        """Search, and keep the best."""
        if not len(self._ranges):
            return
        if self._terms[2].any():
            tables.fill_tables(self._terms, self._documents[2])
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
            raise self._segment.wrong_document()
        return filled, threshold


def _tables(number: int, ranges: NDArray[np.int64]) -> tuple[NDArray[np.bool_], tuple[int, int]]:
    """The terms that have a table, and the shape of the tables, for a formula."""
    if number == _SATURATION:
        return np.zeros(len(ranges), dtype=bool), (1, 1)
    if number == _LOG_RATIO_MATCHED:
        return np.ones(len(ranges), dtype=bool), (1, _LOGARITHMS)
    is_long = ranges[:, 1] - ranges[:, 0] > _LONG
    return is_long, (_FREQUENCIES, _LENGTHS) if is_long.any() else (1, 1)


def _document_scores(part: Part) -> tuple[Reals, float]:
    """A document's own score for each length, and the weight of it."""
    given = part.document_score
    if given is None or given.scores.by_length is None:
        return np.empty(0), 0.0
    return given.scores.by_length, given.weight
