"""The compiled loops of the searcher, except those of the formulas."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sicetnon.compiled import compiled
from sicetnon.retrieval.formulas import UNSEEN


@compiled
def gather(
    documents: NDArray[np.int32],
    frequencies: NDArray[np.uint16],
    field_weights: tuple[float, ...],
    form_weight: float,
    sums: NDArray[np.float64],
    seen: NDArray[np.int32],
    count: int,
) -> int:
    """Add the weighted frequencies of one form of a term to those of its other forms.

    Args:
        documents: The documents that hold the form, shape (postings,).
        frequencies: Its frequencies, shape (postings, fields).
        field_weights: The weight of each field.
        form_weight: The weight of an occurrence of this form.
        sums: The sum of each document, 0 for one that was not seen; changed.
        seen: The documents with a sum; changed: new ones are put behind the others.
        count: Number of documents in `seen`.

    Returns:
        The new number of documents in `seen`, or -1 after a document that there is not.
    """
    for posting in range(documents.size):
        tf = 0.0
        for field in range(len(field_weights)):
            tf += field_weights[field] * frequencies[posting, field]
        document = documents[posting]
        if not 0 <= document < sums.size:
            return -1
        if tf > 0.0:
            if sums[document] == 0.0:
                seen[count] = document
                count += 1
            sums[document] += form_weight * tf
    return count


@compiled
def take(
    seen: NDArray[np.int32], sums: NDArray[np.float64], live: NDArray[np.uint8]
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The live documents in `seen`, shape (n,), and their sums, shape (n, 1); `sums` becomes 0."""
    documents, frequencies = np.empty_like(seen), np.empty((seen.size, 1))
    count = 0
    for document in seen:
        if not live.size or live[document]:
            documents[count], frequencies[count, 0] = document, sums[document]
            count += 1
        sums[document] = 0.0
    return documents[:count], frequencies[:count]


@compiled
def add_document_weights(
    scores: NDArray[np.float64], lengths: NDArray[np.float64], query_length: float, mu: float
) -> None:
    """Add |q| · ln(µ / (µ + length)) to every document with a score."""
    for document in range(scores.size):
        if scores[document] != UNSEEN:
            scores[document] += query_length * math.log(mu / (mu + lengths[document]))


@compiled
def add_scores(scores: NDArray[np.float64], part: NDArray[np.float64], weight: float) -> None:
    """Add weighted scores to others; a document without a score in one of them has 0 there."""
    for document in range(scores.size):
        if part[document] != UNSEEN:
            known = scores[document]
            score = weight * part[document]
            scores[document] = score if known == UNSEEN else known + score


@compiled
def add_saturated(
    scores: NDArray[np.float64], sums: NDArray[np.float64], weight: float, k1: float
) -> None:
    """Add weight · sum / (k1 + sum) to every document with a sum."""
    for document in range(scores.size):
        if sums[document] != UNSEEN:
            score = weight * sums[document] / (k1 + sums[document])
            known = scores[document]
            scores[document] = score if known == UNSEEN else known + score


@compiled
def best(
    scores: NDArray[np.float64],
    live: NDArray[np.uint8],
    k: int,
    threshold: float,
    found: NDArray[np.int64],
    found_scores: NDArray[np.float64],
) -> int:
    """The k best documents above a threshold, unordered; of equal ones those with lower numbers.

    Args:
        scores: Shape (documents,), `UNSEEN` for those without a score.
        live: 0 for deleted documents; of size 0 when none is.
        k: Number of documents.
        threshold: Documents with this score or a lower one are left out.
        found: Output: document numbers; longer than k.
        found_scores: Output: their scores; as long as `found`.

    Returns:
        Number of documents found.
    """
    filled = 0
    for document in range(scores.size):
        score = scores[document]
        if score > threshold and not (live.size and not live[document]):
            if filled == found.size:
                threshold, filled = _keep(k, found, found_scores, filled)
                if score <= threshold:
                    continue
            found[filled], found_scores[filled] = document, score
            filled += 1
    if filled > k:
        _, filled = _keep(k, found, found_scores, filled)
    return filled


@compiled
def _keep(
    k: int, found: NDArray[np.int64], found_scores: NDArray[np.float64], filled: int
) -> tuple[float, int]:
    """Keep the k best of the documents found so far, in their order."""
    threshold = np.partition(found_scores[:filled], filled - k)[filled - k]
    equal = k
    for place in range(filled):
        if found_scores[place] > threshold:
            equal -= 1
    kept = 0
    for place in range(filled):
        if found_scores[place] > threshold or (found_scores[place] == threshold and equal > 0):
            if found_scores[place] == threshold:
                equal -= 1
            found[kept], found_scores[kept] = found[place], found_scores[place]
            kept += 1
    return threshold, kept
