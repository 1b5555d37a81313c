"""The kernels that make postings: compiled and plain ones give the same, damaged input included."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from sicetnon.index import inversion, merge, term_table
from sicetnon.index.posting_codec import MAX_FREQUENCY
from sicetnon.jit import Kernel
from sicetnon.text.words import hash_word

modestly = settings(max_examples=100, derandomize=True, deadline=None)
TERMS, FIELDS = 5, 2
numbers = st.integers(-1, TERMS - 1)


def both(kernel: Any, *given: Any) -> Any:
    """The result of a kernel, after both of its ways gave it and changed their arguments alike."""
    assert isinstance(kernel, Kernel)
    assert kernel.numpy is not None
    changed = []
    for way in (kernel.numpy, kernel.dispatcher):
        copied = [each.copy() if isinstance(each, np.ndarray) else each for each in given]
        changed.append([np.asarray(each).tolist() for each in (way(*copied), *copied)])
    assert changed[0] == changed[1]
    return changed[0]


def int32(*values: int) -> NDArray[np.int32]:
    return np.array(values, dtype=np.int32)


def test_the_ways_are_compared() -> None:
    letters = np.frombuffer(b"abc", np.uint8)
    (found, *_) = both(
        term_table._join, np.array([1, 0]), np.array([0]), np.array([0, 1, 3], np.uint8), letters
    )
    assert bytes(found) == b"bc\na\n"


@modestly
@given(
    words=st.lists(st.integers(0, 9), max_size=40),
    ends=st.lists(st.integers(0, 40), min_size=FIELDS, max_size=8).map(sorted),
    terms=st.lists(numbers, min_size=10, max_size=10),
)
def test_terms_are_counted_and_inverted_alike(
    words: list[int], ends: list[int], terms: list[int]
) -> None:
    texts = len(ends) // FIELDS * FIELDS
    ends = [min(end, len(words)) for end in ends[:texts]]
    words = words[: ends[-1]]
    rows = len(words)
    known: list[Any] = [
        int32(*words), int32(*terms), np.array(ends), FIELDS, 7,
        np.full(TERMS, -1), np.zeros(rows, np.int32), np.zeros(rows, np.int32),
        np.zeros((rows, FIELDS), np.uint16), np.zeros((texts // FIELDS, FIELDS), np.int32),
    ]  # fmt: skip
    plain, compiled = [known_copy(known) for _ in range(2)]
    kernel: Any = inversion.count_terms
    end = kernel.numpy(*plain)
    assert kernel.dispatcher(*compiled) == end
    for ours, theirs in zip(plain[6:10], compiled[6:10], strict=True):
        assert ours.tolist() == theirs.tolist()
    found, *_, occurring, begins, documents, _ = both(
        inversion.invert_rows, *(each[:end] for each in plain[6:9]), np.zeros(TERMS, np.int32), 3,
        np.zeros(TERMS, np.int32), np.zeros(TERMS, np.int64),
        np.zeros(end, np.int32), np.zeros((end, FIELDS), np.uint16),
    )  # fmt: skip
    pairs = sorted(zip(plain[6].tolist(), plain[7].tolist(), strict=True))[-end:] if end else []
    assert occurring[:found] == sorted({term for term, _ in pairs})
    assert documents == [document for _, document in pairs]
    assert begins[:1] == ([3] if end else [0])


def known_copy(values: list[Any]) -> list[Any]:
    return [each.copy() if isinstance(each, np.ndarray) else each for each in values]


def test_frequencies_end_where_they_do_not_fit() -> None:
    many = MAX_FREQUENCY + 5
    found = []
    kernel: Any = inversion.count_terms
    for way in (kernel.numpy, kernel.dispatcher):
        frequencies = np.zeros((1, 1), np.uint16)
        way(
            np.zeros(many, np.int32), int32(0), np.array([many]), 1, 0, np.full(1, -1),
            np.zeros(1, np.int32), np.zeros(1, np.int32), frequencies,
            np.zeros((1, 1), np.int32),
        )  # fmt: skip
        found.append(frequencies.tolist())
    assert found == [[[MAX_FREQUENCY]]] * 2


@st.composite
def sources(draw: Callable[..., Any]) -> list[Any]:
    """A source's terms, offsets, documents, frequencies, and new numbers of its documents."""
    counts = draw(st.lists(st.integers(0, 4), min_size=TERMS, max_size=TERMS))
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    total = int(offsets[-1])
    documents = draw(arrays.arrays(np.int32, total, elements=st.integers(-1, 6)))
    frequencies = draw(arrays.arrays(np.uint16, (total, FIELDS)))
    # of size 0, documents keep their numbers
    size = draw(st.sampled_from([0, 6, 6, 6]))
    renumbered = draw(arrays.arrays(np.int32, size, elements=st.integers(-1, 9)))
    terms = draw(st.lists(numbers, max_size=4))
    return [int32(*terms), offsets, documents, frequencies, renumbered]


@modestly
@given(source=sources(), room=st.integers(0, 12))
def test_postings_are_copied_alike(source: list[Any], room: int) -> None:
    terms, offsets, documents, _, renumbered = source
    counts = np.zeros(terms.size, dtype=np.int64)
    kernel: Any = merge.count_live
    plain, compiled = counts.copy(), counts.copy()
    is_sound = kernel.numpy(terms, offsets, documents, renumbered, plain)
    assert kernel.dispatcher(terms, offsets, documents, renumbered, compiled) == is_sound
    if is_sound:
        assert plain.tolist() == compiled.tolist()
    places = np.concatenate([[0], np.cumsum(plain)[:-1]]).astype(np.int64)[: terms.size]
    written = [
        (
            places.copy(), np.zeros(room, np.int32), np.zeros((room, FIELDS), np.uint16),
            np.zeros((terms.size, FIELDS), np.int64),
        )
        for _ in range(2)
    ]  # fmt: skip
    copy: Any = merge.copy_postings
    is_copied = copy.numpy(*source, *written[0])
    assert copy.dispatcher(*source, *written[1]) == is_copied
    if is_copied:
        assert is_sound or not renumbered.size
        assert [each.tolist() for each in written[0]] == [each.tolist() for each in written[1]]


@modestly
@given(
    batches=st.lists(st.lists(st.integers(0, TERMS - 1), max_size=6), max_size=4),
    split=st.integers(0, TERMS),
)
def test_inverted_batches_are_merged_alike(batches: list[list[int]], split: int) -> None:
    entries = [sorted(set(batch)) for batch in batches]
    ends = np.cumsum([len(each) for each in entries], dtype=np.int64)
    counts = [
        batch.count(term) for batch, each in zip(batches, entries, strict=True) for term in each
    ]
    begins = np.append(0, np.cumsum(counts)).astype(np.int64)
    total, terms = int(begins[-1]), [term for each in entries for term in each]
    documents = np.arange(total, dtype=np.int32)
    frequencies = np.arange(1, 1 + total * FIELDS, dtype=np.uint16).reshape(total, FIELDS)
    cursors = np.append(0, ends).astype(np.int64)[: ends.size]
    for first, end in ((0, split), (split, TERMS)):
        sizes = [sum(batch.count(term) for batch in batches) for term in range(first, end)]
        places = np.cumsum([0, *sizes], dtype=np.int64)
        _, cursors_list, *_, merged, _, _ = both(
            inversion.copy_inverted, cursors, ends, int32(*terms), begins, documents, frequencies,
            first, end, places[:-1], np.zeros(places[-1], np.int32),
            np.zeros((places[-1], FIELDS), np.uint16), np.zeros((end - first, FIELDS), np.int64),
        )  # fmt: skip
        cursors = np.array(cursors_list, dtype=np.int64)
        expected = [
            documents[begins[entry] : begins[entry + 1]].tolist()
            for term in range(first, end)
            for entry in range(len(terms))
            if terms[entry] == term
        ]
        assert merged == [document for each in expected for document in each]
    assert cursors.tolist() == ends.tolist()


@modestly
@given(
    chosen=st.lists(st.integers(-2, 5), max_size=5),
    offsets=st.lists(st.integers(0, 9), min_size=4, max_size=5),
    base=st.sampled_from([0, 0, 0, 1, -1, 2**40, 2**62]),
    kind=st.sampled_from(["uint8", "uint16", "uint32", "int64"]),
)
def test_words_are_joined_alike(
    chosen: list[int], offsets: list[int], base: int, kind: str
) -> None:
    letters = np.frombuffer(b"abcdefgh", dtype=np.uint8)
    numbers, bases = np.array(chosen, dtype=np.int64), np.array([base])
    both(term_table._join, numbers, bases, np.array(offsets, dtype=kind), letters)


@modestly
@given(st.lists(st.text(max_size=9), max_size=9))
def test_words_are_hashed_alike(given_: list[str]) -> None:
    encoded = [each.encode() for each in given_]
    offsets = np.append(0, np.cumsum([len(each) for each in encoded])).astype(np.int64)
    letters = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    hashes, *_ = both(term_table.hash_all, offsets, letters)
    assert hashes == [hash_word(each) for each in encoded]


@modestly
@given(
    known=st.lists(st.integers(0, 20), unique=True, max_size=6),
    new=st.lists(st.integers(0, 20), max_size=8),
    begin=st.integers(0, 3),
    slot=st.integers(-1, 15),
)
def test_hashes_are_placed_alike(known: list[int], new: list[int], begin: int, slot: int) -> None:
    slots, hashes = np.full(16, -1, np.int32), np.zeros(16, np.uint64)
    first = np.array(known, np.uint64)
    term_table._insert_hashes(slots, hashes, first, 0, 0, -1)
    both(
        term_table._insert_hashes,
        slots,
        hashes,
        np.array(new, np.uint64),
        begin,
        len(known),
        slot,
    )
