"""Compiled kernels that turn words in document order into postings in term order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sicetnon.compiled import compiled
from sicetnon.index import plain_postings
from sicetnon.index.plain_postings import MAX_FREQUENCY

# what the plain way takes, in seconds per word and per posting
_WORD, _POSTING = 2e-7, 2e-7
_ROW_BITS, _ROW = 32, (1 << 32) - 1


@compiled(
    plain=plain_postings.count_terms,
    seconds=lambda words, *_: _WORD * words.size,
    allocates=False,
)
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
    filled: int,
) -> int:
    """Count the terms of a batch of documents into rows of (term, document, frequency by field).

    Args:
        words: A number for every word.
        term_of_word: The term of each word, a negative number for a stop word.
        ends: The end of the words of each text, by document and field.
        fields: Number of fields per document.
        first_document: Number of the first document.
        last_seen: For each term the last document with it, times 2^32, and its row; -1 for none.
        row_terms: Rows, written from `filled` on.
        row_documents: Likewise.
        frequencies: Likewise, shape (rows, fields).
        lengths: Words without stop words, shape (documents, fields).
        filled: Number of rows before.

    Returns:
        Number of rows after.
    """
    position = 0
    for text in range(ends.size):
        document, field, length = first_document + text // fields, text % fields, 0
        while position < ends[text]:
            term = term_of_word[words[position]]
            position += 1
            if term < 0:
                continue
            length += 1
            row = last_seen[term] & _ROW
            # to look at the row itself would wait for memory, word after word
            if last_seen[term] >> _ROW_BITS != document:
                row, filled = filled, filled + 1
                last_seen[term] = document << _ROW_BITS | row
                row_terms[row], row_documents[row] = term, document
                frequencies[row, :] = 0
            if frequencies[row, field] < MAX_FREQUENCY:
                frequencies[row, field] += np.uint16(1)
        lengths[text // fields, field] = length
    return filled


@compiled(
    plain=plain_postings.sort_rows,
    seconds=lambda terms, *_: _POSTING * terms.size,
    allocates=False,
)
def sort_rows(
    row_terms: NDArray[np.int32],
    row_documents: NDArray[np.int32],
    row_frequencies: NDArray[np.uint16],
    offsets: NDArray[np.int64],
    documents: NDArray[np.int32],
    frequencies: NDArray[np.uint16],
) -> None:
    """Sort rows by term, keeping their order of documents within a term (a counting sort).

    Args:
        row_terms: Shape (rows,).
        row_documents: Shape (rows,).
        row_frequencies: Shape (rows, fields).
        offsets: Zeros, shape (terms + 1,); becomes where each term's postings begin.
        documents: Written, shape (rows,).
        frequencies: Written, shape (rows, fields).
    """
    for row in range(row_terms.size):
        offsets[row_terms[row] + 1] += 1
    for term in range(offsets.size - 1):
        offsets[term + 1] += offsets[term]
    for row in range(row_terms.size):
        place = offsets[row_terms[row]]
        offsets[row_terms[row]] += 1
        documents[place] = row_documents[row]
        for field in range(row_frequencies.shape[1]):
            frequencies[place, field] = row_frequencies[row, field]
    for term in range(offsets.size - 1, 0, -1):
        offsets[term] = offsets[term - 1]
    offsets[0] = 0


@compiled(
    plain=plain_postings.count_live,
    seconds=lambda _, __, documents, *___: _POSTING * documents.size,
    allocates=False,
)
def count_live(
    source_terms: NDArray[np.int32],
    offsets: NDArray[np.int64],
    documents: NDArray[np.int32],
    renumbered: NDArray[np.int32],
    counts: NDArray[np.int64],
) -> bool:
    """Add to `counts`, by merged term, the postings whose documents are kept.

    The offsets must be in order. Returns whether every posting is one of a known document.
    """
    for merged in range(source_terms.size):
        term = source_terms[merged]
        if term >= 0:
            for place in range(offsets[term], offsets[term + 1]):
                if not 0 <= documents[place] < renumbered.size:
                    return False
                if renumbered[documents[place]] >= 0:
                    counts[merged] += 1
    return True


@compiled(
    plain=plain_postings.copy_postings,
    seconds=lambda _, __, documents, *___: _POSTING * documents.size,
    allocates=False,
)
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
    """Copy one source's postings of a block of merged terms to their places.

    Args:
        source_terms: The source's term for each merged term of the block, or a negative number.
        offsets: The beginning of the postings of the source's terms, in order.
        documents: The source's postings.
        frequencies: Likewise, shape (postings, fields).
        renumbered: The new number of each of the source's documents, negative for a deleted one.
        places: The place of the next posting of each merged term; updated.
        merged_documents: Written.
        merged_frequencies: Written.
        totals: Collection frequencies, shape (terms of the block, fields); added to.

    Returns:
        Whether every posting is one of a known document, and has a place.
    """
    for merged in range(source_terms.size):
        term = source_terms[merged]
        if term < 0:
            continue
        for posting in range(offsets[term], offsets[term + 1]):
            if not 0 <= documents[posting] < renumbered.size:
                return False
            document = renumbered[documents[posting]]
            if document < 0:
                continue
            place = places[merged]
            if place >= merged_documents.size:
                return False
            places[merged] = place + 1
            merged_documents[place] = document
            for field in range(frequencies.shape[1]):
                frequency = np.int64(frequencies[posting, field])
                merged_frequencies[place, field] = frequency
                totals[merged, field] += frequency
    return True
