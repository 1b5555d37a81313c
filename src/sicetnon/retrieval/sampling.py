"""A threshold from a sample of the documents, for searches that want many of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sicetnon.compiled import compiled
from sicetnon.retrieval.formulas import UNSEEN
from sicetnon.retrieval.kernels import keep
from sicetnon.retrieval.tables import (
    Documents,
    Found,
    Postings,
    Terms,
    add_window,
    fetch,
    find,
    no_scores,
    offer,
    search_windows,
)

_SAMPLES, _SAMPLE_SIZE = 2, 3072


@compiled
def search_sampled(
    postings: Postings,
    documents_of: Documents,
    terms: Terms,
    ranges: NDArray[np.int64],
    found: Found,
    filled: int,
    threshold: float,
    window: int,
) -> tuple[int, float]:
    """Score all documents of a segment, and keep the best, from a threshold that is estimated.

    The arguments and what is returned are those of `search_windows`, which is called again without
    the estimate if that was too high.
    """
    k, numbers, scores = found
    guess = estimate(postings, documents_of, terms, ranges, k)
    if guess > threshold:
        before = numbers[:filled].copy(), scores[:filled].copy()
        now, reached = search_windows(
            postings, documents_of, terms, ranges, found, filled, guess, window
        )
        if np.count_nonzero(scores[:now] > guess) >= k:
            return now, reached
        numbers[:filled], scores[:filled] = before
    return search_windows(postings, documents_of, terms, ranges, found, filled, threshold, window)


@compiled
def estimate(
    postings: Postings,
    documents_of: Documents,
    terms: Terms,
    ranges: NDArray[np.int64],
    k: int,
) -> float:
    """A score that k documents of a segment exceed, most probably, by a sample of them.

    The sample is taken at equal distances, since neighbours may be alike.
    """
    documents = documents_of[0].size
    expected = k * _SAMPLES * _SAMPLE_SIZE / documents
    rank = int(expected + 3.0 * np.sqrt(expected)) + 2
    found = rank, np.empty(2 * rank, dtype=np.int64), np.empty(2 * rank)
    scores = no_scores(_SAMPLE_SIZE)
    places, ends = ranges[:, 0].copy(), ranges[:, 1].copy()
    filled, threshold = 0, UNSEEN
    for number in range(_SAMPLES):
        first = number * (documents // _SAMPLES)
        for term in range(places.size):
            if first:
                places[term] = find(postings[0], places[term], ends[term], first)
            count = ends[term] - ranges[term, 0]
            fetch(postings[0], postings[1], places[term], count * _SAMPLE_SIZE // documents)
        add_window(postings, documents_of, terms, places, ends, first, _SAMPLE_SIZE, scores)
        filled, threshold = offer(documents_of, first, scores, found, filled, threshold)
    return keep(rank, found[1], found[2], filled)[0] if filled >= rank else UNSEEN
