"""Packed postings: what was packed is unpacked, whatever it is; both ways do the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from sicetnon.errors import BrokenIndexError
from sicetnon.index import posting_cache, posting_codec
from sicetnon.index.array_files import MappedArray, StoredFile
from sicetnon.index.posting_codec import COUNTED_FROM, HEADER
from sicetnon.index.posting_file import PackedPostings, PackedWriter
from sicetnon.index.term_table import StoredOffsets, write_offsets
from sicetnon.jit import Kernel

modestly = settings(max_examples=60, derandomize=True, deadline=None)
COUNTS = (1, 2, 9, 300, 70_000, 2**31 - 1)
"""Numbers of documents."""


def both(kernel: Any, *given: Any) -> tuple[Any, list[Any]]:
    """The result of a kernel and its changed arguments, after both of its ways gave the same."""
    assert isinstance(kernel, Kernel)
    assert kernel.numpy is not None
    found = []
    for way in (kernel.numpy, kernel.dispatcher):
        copied = [each.copy() if isinstance(each, np.ndarray) else each for each in given]
        found.append((way(*copied), copied))
    assert found[0][0] == found[1][0]
    for plain, compiled in zip(found[0][1], found[1][1], strict=True):
        assert np.asarray(plain).tolist() == np.asarray(compiled).tolist()
    return found[0]


@st.composite
def postings(draw: Callable[..., Any]) -> tuple[int, list[Any]]:
    """A number of documents, and the arguments of `PackedWriter.append`."""
    count, fields = draw(st.sampled_from(COUNTS)), draw(st.integers(1, 3))
    edges = st.sampled_from([0, count - 1, count // 2])
    numbers = st.one_of(st.integers(0, count - 1), edges)
    terms = [sorted(draw(st.sets(numbers, max_size=20))) for _ in range(draw(st.integers(0, 5)))]
    if count > COUNTED_FROM:  # frequent terms, of documents close together and far apart
        step = draw(st.integers(1, (count - 1) // COUNTED_FROM))
        size = draw(st.integers(COUNTED_FROM - 1, COUNTED_FROM + 1))
        terms.append([place * step for place in range(size) if place * step < count])
    size = sum(map(len, terms))
    most = draw(st.sampled_from([1, 3, 2**16 - 1]))
    frequencies = draw(arrays.arrays(np.uint16, (size, fields), elements=st.integers(0, most)))
    offsets = np.append(0, np.cumsum(list(map(len, terms)))).astype(np.int64)
    totals = np.zeros((len(terms), fields), np.int64)
    np.add.at(totals, np.repeat(np.arange(len(terms)), np.diff(offsets)), frequencies)
    documents = np.array([each for term in terms for each in term], np.int32)
    return count, [offsets, documents, frequencies, totals]


def packed(count: int, postings: list[Any], start: int) -> tuple[list[Any], NDArray[np.int32]]:
    """The arguments of `unpack_postings` but the last two, by both ways, and the patterns."""
    offsets, documents, frequencies, totals = postings
    room = np.zeros((len(documents) + 1, totals.shape[1]), np.uint16)
    numbers = np.zeros(len(documents), np.int32)
    known, (_, patterns, _, numbers) = both(
        posting_codec.number_patterns, frequencies, room, 0, numbers
    )
    assert patterns[numbers].tolist() == frequencies.tolist()
    ends = np.append(start, np.zeros(len(totals), np.int64))
    shifts = np.zeros((len(totals), 2), np.uint8)
    terms = offsets, documents, numbers, totals
    _, planned = both(posting_codec.plan_records, *terms, count, shifts, ends)
    shifts, ends = planned[-2:]
    words = np.zeros((int(ends[-1]) + 63) // 64 + 1, np.uint64)
    _, found = both(posting_codec.pack_records, *terms, shifts, ends, words)
    words, begins, ends = found[-1], ends[:-1], ends[1:]
    headers = np.zeros((len(totals), HEADER + totals.shape[1]), np.int64)
    is_sound, found = both(posting_codec.read_headers, words, begins, ends, count, headers)
    assert is_sound
    headers = found[-1]
    assert headers[:, 0].tolist() == np.diff(offsets).tolist()
    is_counted = headers[:, 0] >= COUNTED_FROM
    assert headers[is_counted, HEADER:].tolist() == totals[is_counted].tolist()
    return [words, headers, ends, count, known, offsets[:-1]], numbers


@modestly
@given(postings(), st.integers(0, 63))
def test_what_was_packed_is_unpacked(given: tuple[int, list[Any]], start: int) -> None:
    count, (_, documents, _, _) = given
    arguments, numbers = packed(*given, start)
    room = [np.full(len(documents), -7, np.int32) for _ in range(2)]
    is_sound, found = both(posting_codec.unpack_postings, *arguments, *room)
    assert is_sound
    assert found[-2].tolist() == documents.tolist()
    assert found[-1].tolist() == numbers.tolist()
    assert documents.max(initial=-1) < count


@modestly
@given(postings(), st.data())
def test_damage_is_refused_alike_or_gives_postings(
    given: tuple[int, list[Any]], data: st.DataObject
) -> None:
    (words, _, ends, count, known, _), _ = packed(*given, 0)
    totals = given[1][3]
    for place in data.draw(st.lists(st.integers(0, 64 * len(words) - 1), max_size=9)):
        words[place // 64] ^= np.uint64(1 << place % 64)
    begins = np.append(0, ends)[:-1]
    headers = np.zeros((len(totals), HEADER + totals.shape[1]), np.int64)
    is_sound, found = both(posting_codec.read_headers, words, begins, ends, count, headers)
    headers = found[-1]
    if not is_sound or headers[:, 0].sum() > 10_000:
        return
    offsets = np.append(0, np.cumsum(headers[:, 0]))
    room = [np.zeros(offsets[-1], np.int32) for _ in range(2)]
    arguments = [words, headers, ends, count, known, offsets[:-1]]
    plain, compiled = ([each.copy() for each in room] for _ in range(2))
    kernel: Any = posting_codec.unpack_postings
    is_sound = kernel.numpy(*arguments, *plain)
    assert kernel.dispatcher(*arguments, *compiled) == is_sound
    if is_sound:
        for ours, theirs in zip(plain, compiled, strict=True):
            assert ours.tolist() == theirs.tolist()
        assert plain[0].min(initial=0) >= 0
        assert plain[0].max(initial=-1) < count
        assert plain[1].max(initial=-1) < known


@pytest.mark.parametrize("claimed", [20, 200, 2**31 - 1])
def test_a_header_of_more_postings_than_there_are_bits(claimed: int) -> None:
    words, headers = np.zeros(3, np.uint64), np.zeros((1, HEADER + 1), np.int64)
    # of the count, of shifts 0, and of 0 occurrences
    numbers = [claimed, 1, 1, 1] if claimed >= COUNTED_FROM else [claimed, 1]
    position = 0
    for number in numbers:
        position = posting_codec.put_gamma(words, position, number)
    begins, ends = np.zeros(1, np.int64), np.array([min(position + 2 * claimed - 1, 128)])
    assert not both(posting_codec.read_headers, words, begins, ends, claimed, headers)[0]


def opened(folder: Path, files: dict[str, StoredFile]) -> dict[str, NDArray[Any]]:
    return {name: MappedArray(folder / name, stored).array for name, stored in files.items()}


@settings(max_examples=30, derandomize=True, deadline=None)
@given(given=postings(), block=st.integers(1, 3))
def test_files_hold_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, given: tuple[int, list[Any]], block: int
) -> None:
    count, (offsets, documents, frequencies, totals) = given
    folder = tmp_path_factory.mktemp("packed")
    writer = PackedWriter(folder, count, totals.shape[1])
    for first in range(0, len(totals), block):
        places = offsets[first : first + block + 1]
        here = slice(places[0], places[-1])
        rows = totals[first : first + block]
        writer.append(places - places[0], documents[here], frequencies[here], rows)
    stored = PackedPostings(folder, opened(folder, writer.close()), count)
    assert stored.counts().tolist() == np.diff(offsets).tolist()
    for term in range(len(totals)):
        here = slice(offsets[term], offsets[term + 1])
        found, numbers = stored.unpack(term)
        assert found.tolist() == documents[here].tolist()
        assert stored.patterns[numbers].tolist() == frequencies[here].tolist()
        postings, occurrences = stored.occurrences(term)
        assert (postings, occurrences.tolist()) == (len(found), totals[term].tolist())
    order = np.arange(len(totals), dtype=np.int32)[::-1]
    places, found, rows = stored.unpack_all(order)
    for place, term in enumerate(order.tolist()):
        here = slice(offsets[term], offsets[term + 1])
        assert found[places[place] : places[place + 1]].tolist() == documents[here].tolist()
        assert rows[places[place] : places[place + 1]].tolist() == frequencies[here].tolist()


def test_more_patterns_than_there_is_room_for(tmp_path: Path) -> None:
    frequencies = np.arange(5000, dtype=np.uint16)[:, None]
    writer = PackedWriter(tmp_path, 5000, 1)
    documents, totals = np.arange(5000, dtype=np.int32), np.array([[frequencies.sum()]])
    writer.append(np.array([0, 5000]), documents, frequencies, totals)
    stored = PackedPostings(tmp_path, opened(tmp_path, writer.close()), 5000)
    assert stored.patterns[stored.unpack(0)[1]].tolist() == frequencies.tolist()


@modestly
@given(data=st.data(), room=st.integers(1, 40))
def test_pairs_are_numbered_alike(data: st.DataObject, room: int) -> None:
    longest = data.draw(st.sampled_from([3, 40, 2**31 - 1]))
    lengths = data.draw(arrays.arrays(np.int32, 12, elements=st.integers(0, longest)))
    documents = data.draw(arrays.arrays(np.int32, st.integers(1, 40), elements=st.integers(0, 11)))
    most = data.draw(st.sampled_from([3, 65_535]))
    sums = data.draw(arrays.arrays(np.uint16, documents.size, elements=st.integers(0, most)))
    by_rank = posting_cache.rank_lengths(lengths)
    assert by_rank
    assert by_rank.lengths[by_rank.ranks].tolist() == lengths.tolist()
    assert by_rank.lengths.tolist() == sorted({*lengths.tolist()})
    kernel: Any = posting_cache.pair_codes
    room_for = np.zeros(room, np.uint16), np.zeros(room, np.int32)
    known, given = both(kernel, documents, sums, *by_rank, *room_for)
    codes, frequencies, pair_lengths = given[1], given[4], given[5]
    if known < 0:
        assert codes.tolist() == sums.tolist()
        return
    assert frequencies[codes].tolist() == sums.tolist()
    assert pair_lengths[codes].tolist() == lengths[documents].tolist()


def test_too_many_lengths_have_no_ranks() -> None:
    lengths = np.arange(1 << 16, dtype=np.int32)
    assert posting_cache.rank_lengths(lengths)
    assert posting_cache.rank_lengths(np.append(lengths, np.int32(1 << 16))) is None
    assert posting_cache.rank_lengths(np.append(lengths, np.int32(2**31 - 1))) is None


@modestly
@given(st.lists(st.one_of(st.integers(0, 300), st.integers(0, 2**40)), max_size=80))
def test_offsets_are_kept(tmp_path_factory: pytest.TempPathFactory, sizes: list[int]) -> None:
    folder = tmp_path_factory.mktemp("offsets")
    offsets = np.append(0, np.cumsum(sizes)).astype(np.int64)
    stored = StoredOffsets(folder, opened(folder, write_offsets(folder, "x", offsets)), "x")
    assert stored.every().tolist() == offsets.tolist()
    numbers = np.arange(len(sizes))[::-1]
    assert [each.tolist() for each in stored.of(numbers)] == [
        offsets[numbers].tolist(), offsets[numbers + 1].tolist()
    ]  # fmt: skip
    for number in range(len(sizes)):
        assert stored.between(number) == tuple(offsets[number : number + 2].tolist())


def test_offsets_that_cannot_be(tmp_path: Path) -> None:
    files = write_offsets(tmp_path, "x", np.array([0, 5, 9]))
    arrays_of = {name: array.copy() for name, array in opened(tmp_path, files).items()}
    stored = StoredOffsets(tmp_path, arrays_of, "x")
    arrays_of["x"][1] = 200
    with pytest.raises(BrokenIndexError, match="x: damaged: found places from 0 to 200"):
        stored.between(0)
    with pytest.raises(BrokenIndexError, match="x: damaged: they are not in order"):
        stored.every()
