"""The compiled loops of searching, besides those of the formulas."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sicetnon.compiled import compiled
from sicetnon.retrieval.formulas import UNSEEN


@compiled
def count_postings(
    documents: NDArray[np.int32],
    frequencies: NDArray[np.uint16],
    field_weights: tuple[float, ...],
    live: NDArray[np.uint8],
) -> tuple[int, float]:
    """Documents with a term in the weighted fields, and its weighted occurrences there.

    Args:
        documents: The term's postings, shape (postings,).
        frequencies: Likewise, shape (postings, fields).
        field_weights: Shape (fields,).
        live: 0 for deleted documents; of size 0 when none is.
    """
    having, occurrences = 0, 0.0
    for posting in range(documents.size):
        if live.size and not live[documents[posting]]:
            continue
        tf = 0.0
        for field in range(len(field_weights)):
            tf += field_weights[field] * frequencies[posting, field]
        if tf > 0.0:
            having += 1
            occurrences += tf
    return having, occurrences


@compiled
def accumulate_fields(
    documents: NDArray[np.int32],
    frequencies: NDArray[np.uint16],
    field_weights: tuple[float, ...],
    lengths: NDArray[np.int32],
    slopes: NDArray[np.float64],
    intercepts: NDArray[np.float64],
    scores: NDArray[np.float64],
    query_weight: float,
    idf: float,
    k1: float,
) -> None:
    """Add a term's BM25F scores: idf · t / (k1 + t), t = Σ weight · tf / (intercept + slope · length)."""
    for posting in range(documents.size):
        document = documents[posting]
        tf = 0.0
        for field in range(len(field_weights)):
            if frequencies[posting, field]:
                norm = intercepts[field] + slopes[field] * lengths[document, field]
                tf += field_weights[field] * frequencies[posting, field] / norm
        if tf > 0.0:
            score = query_weight * idf * tf / (k1 + tf)
            known = scores[document]
            scores[document] = score if known == UNSEEN else known + score


@compiled
def add_document_weights(
    scores: NDArray[np.float64], lengths: NDArray[np.float64], query_length: float, mu: float
) -> None:
    """Add |q| · ln(µ / (µ + length)) to every document that was seen."""
    for document in range(scores.size):
        if scores[document] != UNSEEN:
            scores[document] += query_length * math.log(mu / (mu + lengths[document]))


@compiled
def add_scores(scores: NDArray[np.float64], part: NDArray[np.float64], weight: float) -> None:
    """Add weighted scores to others; a document unseen in one of them counts 0 there."""
    for document in range(scores.size):
        if part[document] != UNSEEN:
            known = scores[document]
            score = weight * part[document]
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
        scores: Shape (documents,), `UNSEEN` for those that are out.
        live: 0 for deleted documents; of size 0 when none is.
        k: How many are wanted.
        threshold: Documents that score this or less are out.
        found: Room for document numbers, more than k.
        found_scores: Room for their scores, as many.

    Returns:
        How many were found.
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
