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
) -> int:
    """Count the terms of a batch of documents into rows of (term, document, frequency by field).

    Args:
        words: A number for every word; overwritten.
        term_of_word: The term of each word, a negative number for a stop word.
        ends: The end of the words of each text, by document and field.
        fields: Number of fields per document.
        first_document: Number of the first document.
        last_seen: For each term the last document with it, times 2^32, and its row; -1 for none.
        row_terms: Rows, written; as many as there are words, or more.
        row_documents: Likewise.
        frequencies: Likewise, shape (rows, fields).
        lengths: Words without stop words, shape (documents, fields); written.

    Returns:
        The number of rows that are written.
    """
    position, filled = 0, np.int64(0)
    frequencies[: words.size] = 0
    for text in range(ends.size):
        document, field = first_document + text // fields, text % fields
        # without branches that depend on the term: those not foreseen would wait for memory
        begin = end = position
        while position < ends[text]:
            words[end] = term_of_word[words[position]]
            end += words[end] >= 0
            position += 1
        for place in range(begin, end):
            term = words[place]
            seen = last_seen[term]
            is_new = np.int64(seen >> _ROW_BITS != document)
            row = seen & _ROW
            row += is_new * (filled - row)
            filled += is_new
            last_seen[term] = document << _ROW_BITS | row
            row_terms[row], row_documents[row] = term, document
            if frequencies[row, field] < MAX_FREQUENCY:
                frequencies[row, field] += np.uint16(1)
        lengths[text // fields, field] = end - begin
    return int(filled)


@compiled(
    plain=plain_postings.invert_rows,
    seconds=lambda terms, *_: _POSTING * terms.size,
    allocates=False,
)
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
    """Sort rows by term, keeping their order of documents within a term (a counting sort).

    Args:
        row_terms: Shape (rows,).
        row_documents: Shape (rows,).
        row_frequencies: Shape (rows, fields).
        counts: A zero for every term; the same afterwards.
        first_place: The place of the first posting among others.
        terms: Written: the terms that occur, in order.
        begins: Written: the place of the first posting of each.
        documents: Written, shape (rows,).
        frequencies: Written, shape (rows, fields).

    Returns:
        The number of terms that occur.
    """
    for row in range(row_terms.size):
        counts[row_terms[row]] += 1
    found = place = 0
    for term in range(counts.size):
        if counts[term]:
            terms[found], begins[found] = term, first_place + place
            found += 1
            # from here on the place of the next posting
            counts[term], place = place, place + counts[term]
    for row in range(row_terms.size):
        place = counts[row_terms[row]]
        counts[row_terms[row]] += 1
        documents[place] = row_documents[row]
        for field in range(row_frequencies.shape[1]):
            frequencies[place, field] = row_frequencies[row, field]
    for entry in range(found):
        counts[terms[entry]] = 0
    return found


@compiled(
    plain=plain_postings.copy_inverted,
    seconds=lambda *given: _POSTING * given[9].size,
    allocates=False,
)
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
    """Copy the postings of a range of terms from inverted batches to their places.

    Args:
        cursors: For each batch the first entry of the range; updated to the one behind it.
        ends: The end of the entries of each batch.
        terms: For each entry its term, rising within a batch.
        begins: For each entry the place of its first posting, and the last end.
        documents: The postings of all entries.
        frequencies: Likewise, shape (postings, fields).
        first: The first term of the range.
        end: The end of the range.
        places: The place of the next posting of each term of the range; updated.
        merged_documents: Written.
        merged_frequencies: Written.
        totals: Collection frequencies, shape (terms of the range, fields); added to.
    """
    for batch in range(cursors.size):
        entry = cursors[batch]
        while entry < ends[batch] and terms[entry] < end:
            merged = terms[entry] - first
            place = places[merged]
            for posting in range(begins[entry], begins[entry + 1]):
                merged_documents[place] = documents[posting]
                for field in range(frequencies.shape[1]):
                    merged_frequencies[place, field] = frequencies[posting, field]
                    totals[merged, field] += np.int64(frequencies[posting, field])
                place += 1
            places[merged] = place
            entry += 1
        cursors[batch] = entry


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
        renumbered: The new number of each of the source's documents, negative for a deleted one;
            of size 0 if documents keep their numbers.
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
            document = documents[posting]
            if renumbered.size:
                if not 0 <= document < renumbered.size:
                    return False
                document = renumbered[document]
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
