"""Exhaustive scoring: every document that holds a term of the query gets its score.

The documents are taken in windows of so many numbers, so that memory does not grow with the index
and stays in the processor's cache. This is the specification of every faster way to search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sicetnon.arrays import Reals
from sicetnon.index.segment import Segment
from sicetnon.retrieval import kernels
from sicetnon.retrieval.formulas import UNSEEN
from sicetnon.retrieval.kernels import Loops
from sicetnon.retrieval.postings import ALL_LIVE
from sicetnon.retrieval.query_plan import Clause, OwnLoop, Part

WINDOW = 1 << 15
"""Documents per window: two arrays of scores of this size fit into a core's cache."""

_FEW = 256


@dataclass
class Best:
    """The best documents so far.

    Attributes:
        k: Number of documents wanted, at least 1.
        numbers: Document numbers, int64, rising; only `filled` of them count.
        scores: Their scores.
        filled: Number of documents; it may be above k.
        threshold: A document with this score or a lower one cannot be among the best.
    """

    k: int
    numbers: NDArray[np.int64]
    scores: Reals
    filled: int = 0
    threshold: float = UNSEEN

    @classmethod
    def of(cls, k: int) -> Best:
        """None yet, with room for more than k."""
        room = 2 * k + 64
        return cls(k, np.empty(room, dtype=np.int64), np.empty(room))

    def ordered(self) -> tuple[NDArray[np.int64], Reals]:
        """Numbers and scores, best first, of equal ones the lower number first."""
        numbers, scores = self.numbers[: self.filled], self.scores[: self.filled]
        # the numbers rise, so that documents with equal scores stay in their order
        if len(scores) < _FEW:
            order = np.argsort(-scores, kind="stable")[: self.k]
            return numbers.take(order), scores.take(order)
        order = kernels.order_by_score(scores)[: self.k]
        return numbers.take(order), scores.take(order)


def search_exhaustively(
    parts: Sequence[Part],
    segments: Sequence[Segment],
    best: Best,
    loops: Loops,
    window: int = WINDOW,
) -> None:
    """Score all documents, and keep the best.

    Args:
        parts: The parts of the score.
        segments: The segments of the index.
        best: The best documents; changed.
        loops: `COMPILED`, or `NUMPY`.
        window: Documents per window.
    """
    if any(isinstance(clause.formula, OwnLoop) for part in parts for clause in part.clauses):
        window = max(map(len, segments))
    for place, segment in enumerate(segments):
        scorer = _SegmentScorer(parts, place, segment, loops, window)
        for first in range(0, len(segment), window):
            scores = scorer.scores(first)
            live = ALL_LIVE if segment.live is None else segment.live[first : first + window]
            best.filled, best.threshold = loops.best(
                scores, live, segment.base + first, best.k,
                best.numbers, best.scores, best.filled, best.threshold,
            )  # fmt: skip


class _SegmentScorer:
    """Scores the documents of one segment, window by window."""

    def __init__(
        self,
        parts: Sequence[Part],
        place: int,
        segment: Segment,
        loops: Loops,
        window: int,
    ):
        self._parts, self._place, self._segment, self._loops = parts, place, segment, loops
        self._window = min(window, len(segment))
        self._total, self._part, self._sums = (np.empty(self._window) for _ in range(3))
        # of the documents' type: numpy would copy all of these into another one
        bounds = np.arange(0, len(segment) + self._window, self._window, dtype=np.int32)
        clauses = {id(clause): clause for part in parts for clause in part.clauses}
        self._postings = {key: each.postings.segment(place) for key, each in clauses.items()}
        self._ends = {
            key: np.searchsorted(documents, bounds).tolist()
            for key, (documents, _, _) in self._postings.items()
        }

    def scores(self, first: int) -> Reals:
        """The scores of the documents of a window, until the next call."""
        size = min(self._window, len(self._segment) - first)
        total, part_scores = self._total[:size], self._part[:size]
        total.fill(UNSEEN)
        if len(self._parts) == 1 and self._parts[0].weight == 1.0:
            self._score(self._parts[0], first, total)
            return total
        for part in self._parts:
            part_scores.fill(UNSEEN)
            self._score(part, first, part_scores)
            self._loops.add_scores(total, part_scores, part.weight)
        return total

    def _score(self, part: Part, first: int, scores: Reals) -> None:
        for term in part.terms:
            if isinstance(term, Clause):
                self._add(term, first, scores)
                continue
            sums = self._sums[: len(scores)]
            sums.fill(UNSEEN)
            for clause in term.clauses:
                self._add(clause, first, sums)
            self._loops.add_saturated(scores, sums, term.weight, term.k1)
        given = part.document_score
        if given is not None:
            document_scores = given.scores[self._place][first : first + len(scores)]
            self._loops.add_document_scores(scores, document_scores, given.weight)

    def _add(self, clause: Clause, first: int, scores: Reals) -> None:
        number = first // self._window
        begin, end = self._ends[id(clause)][number : number + 2]
        if begin == end:
            return
        documents, frequencies, columns = self._postings[id(clause)]
        postings = documents[begin:end], frequencies[begin:end], columns
        norms = clause.norms[self._place][first : first + len(scores)]
        if not self._loop(clause)(postings, first, norms, scores, clause.weight, *clause.constants):
            raise self._segment.wrong_posting()

    def _loop(self, clause: Clause) -> Callable[..., bool]:
        if isinstance(clause.formula, OwnLoop):
            return clause.formula.accumulate
        return self._loops.accumulator(clause.formula)
