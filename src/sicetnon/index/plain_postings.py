"""The kernels of `postings` in plain numpy: what they have to do, and the way of small indexes.

Arguments and results are those of the functions of the same names there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MAX_FREQUENCY = 65_535
"""Term frequencies are kept in 16 bits: a more frequent word of a field counts this often."""


def count_terms(
    words: NDArray[np.int32],
    term_of_word: NDArray[np.int32],
    ends: NDArray[np.int64],
    fields: int,
    first_document: int,
    last_seen: NDArray[np.int64],
    row_terms: NDArray[np.int32],
    row_documents: NDArray[np.int32],
    frequencies: NDArray[np.uint16],
    lengths: NDArray[np.int32],
) -> int:
    """Count the terms of a batch of documents into rows; `last_seen` is not used."""
    terms = term_of_word[words]
    texts = np.repeat(np.arange(ends.size), np.diff(ends, prepend=0))
    terms, texts = terms[terms >= 0], texts[terms >= 0]
    lengths[:] = np.bincount(texts, minlength=ends.size).reshape(-1, fields)
    # a row for each term of a document, in the order in which they were first met
    pairs = (texts // fields) * (int(terms.max(initial=0)) + 1) + terms
    _, firsts, pair_of_word = np.unique(pairs, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    row_of_pair = np.empty_like(order)
    row_of_pair[order] = np.arange(order.size)
    rows = order.size
    row_terms[:rows] = terms[firsts[order]]
    row_documents[:rows] = first_document + texts[firsts[order]] // fields
    cells = row_of_pair[pair_of_word] * fields + texts % fields
    counts = np.bincount(cells, minlength=order.size * fields).reshape(-1, fields)
    frequencies[:rows] = np.minimum(counts, MAX_FREQUENCY)
    return rows


def invert_rows(
    row_terms: NDArray[np.int32],
    row_documents: NDArray[np.int32],
    row_frequencies: NDArray[np.uint16],
    counts: NDArray[np.int32],
    first_place: int,
    terms: NDArray[np.int32],
    begins: NDArray[np.int64],
    documents: NDArray[np.int32],
    frequencies: NDArray[np.uint16],
) -> int:
    """Sort rows by term, keeping their order of documents within a term; `counts` is not used."""
    order = np.argsort(row_terms, kind="stable")
    documents[:], frequencies[:] = row_documents[order], row_frequencies[order]
    found, firsts = np.unique(row_terms[order], return_index=True)
    terms[: found.size], begins[: found.size] = found, first_place + firsts
    return found.size


def copy_inverted(
    cursors: NDArray[np.int64],
    ends: NDArray[np.int64],
    terms: NDArray[np.int32],
    begins: NDArray[np.int64],
    documents: NDArray[np.int32],
    frequencies: NDArray[np.uint16],
    first: int,
    end: int,
    places: NDArray[np.int64],
    merged_documents: NDArray[np.int32],
    merged_frequencies: NDArray[np.uint16],
    totals: NDArray[np.int64],
) -> None:
    """Copy the postings of a range of terms from inverted batches to their places."""
    for batch in range(cursors.size):
        start = int(cursors[batch])
        stop = start + int(np.searchsorted(terms[start : ends[batch]], end))
        merged = terms[start:stop] - first
        counts = np.diff(begins[start : stop + 1])
        found = slice(begins[start], begins[stop])
        into = np.repeat(places[merged], counts) + _ranks(counts)
        merged_documents[into], merged_frequencies[into] = documents[found], frequencies[found]
        np.add.at(totals, np.repeat(merged, counts), frequencies[found])
        places[merged] += counts
        cursors[batch] = stop


def count_live(
    source_terms: NDArray[np.int32],
    offsets: NDArray[np.int64],
    documents: NDArray[np.int32],
    renumbered: NDArray[np.int32],
    counts: NDArray[np.int64],
) -> bool:
    """Add to `counts`, by merged term, the postings whose documents are kept."""
    places, merged = _places(source_terms, offsets)
    if not _are_known(documents[places], renumbered):
        return False
    kept = merged[renumbered[documents[places]] >= 0]
    counts += np.bincount(kept, minlength=counts.size)
    return True


def copy_postings(
    source_terms: NDArray[np.int32],
    offsets: NDArray[np.int64],
    documents: NDArray[np.int32],
    frequencies: NDArray[np.uint16],
    renumbered: NDArray[np.int32],
    places: NDArray[np.int64],
    merged_documents: NDArray[np.int32],
    merged_frequencies: NDArray[np.uint16],
    totals: NDArray[np.int64],
) -> bool:
    """Copy one source's postings of a block of merged terms to their places."""
    found, merged = _places(source_terms, offsets)
    numbers = documents[found]
    if renumbered.size:
        if not _are_known(numbers, renumbered):
            return False
        numbers = renumbered[numbers]
        found, merged, numbers = found[numbers >= 0], merged[numbers >= 0], numbers[numbers >= 0]
    counts = np.bincount(merged, minlength=places.size)
    into = places[merged] + _ranks(counts)
    if into.size and into.max() >= merged_documents.size:
        return False
    places += counts
    merged_documents[into], merged_frequencies[into] = numbers, frequencies[found]
    np.add.at(totals, merged, frequencies[found])
    return True


def _places(
    source_terms: NDArray[np.int32], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The places of the source's postings of all merged terms, and the merged term of each."""
    known = np.flatnonzero(source_terms >= 0)
    begins = offsets[source_terms[known]]
    counts = offsets[source_terms[known] + 1] - begins
    return np.repeat(begins, counts) + _ranks(counts), np.repeat(known, counts)


def _ranks(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """0, 1, … for as many as each count says."""
    ends = np.cumsum(counts)
    return np.arange(ends[-1] if ends.size else 0) - np.repeat(ends - counts, counts)


def _are_known(documents: NDArray[np.int32], renumbered: NDArray[np.int32]) -> bool:
    return bool(documents.min(initial=0) >= 0 and documents.max(initial=-1) < renumbered.size)
