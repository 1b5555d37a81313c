"""LRU cache of decoded postings, and their impact codes.

The kernels of a search take the postings of all terms of a query from one array. A pool is such an
array, with room for many terms. When it is full, the most recently used terms move into a new one;
the old one is free when the searches that use it have ended. No search waits for another's decoding
unless it needs a term that is being decoded.

A posting's code is the number of its pair of frequency and length, which is what a weighting model
sees of it. The postings of a frequent term hold far fewer distinct pairs of a frequency over all
fields and a document's length than postings. A search computes the score of each pair once, and
looks it up for each posting. Pairs are numbered when a term is decoded.
"""

from __future__ import annotations

import functools
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from sicetnon.index.posting_codec import first_bit
from sicetnon.jit import compiled
from sicetnon.operating_system import anonymous_memory, memory_bytes

_DEFAULT_BYTES, _MEMORY_SHARE = 512 << 20, 4
_POSTING_BYTES = 6
_LISTS_SHARE, _MOST_LISTS_BYTES = 4, 128 << 20
_FIRST_TERMS = 64
_FIRST_ROOM, _GROWTH = 1 << 21, 8
"""Postings and pairs that the first pool has room for, and how many times as many the next one has:
to move them takes longer than to unpack a few."""


PAIRED_FROM = 256
"""Postings from which a term has pairs. The codes of rarer terms are frequencies."""
MAX_PAIRS = 1 << 16
"""A term with more pairs than codes can number has none: its codes are frequencies, too."""
_CELLS, _MOST_CELLS = 64, 1 << 22
"""Cells for each posting, and cells in all, up to which they take less time than a hash table."""
_MOST_COUNTED = 1 << 22
"""The highest length up to which distinct lengths are found by counting, and not by sorting."""
_CELL_BITS = 3
"""Bits of a cell's number within a word of eight cells."""
# what the plain way takes, in seconds per posting
_PAIRING = 2e-7

Extent: TypeAlias = tuple[int, int, int, int]
"""The positions where the postings of a term begin and end, and those of its pairs."""

Filled: TypeAlias = tuple[int, int]
"""The postings and the pairs that a pool holds."""


def default_cache_bytes() -> int:
    """The default size of the cache in bytes: a quarter of the memory.

    They are taken as queries need them. In less than the terms of the usual queries take, terms are
    unpacked again and again: some 2 GB for 10 million short documents.
    """
    memory = memory_bytes()
    return _DEFAULT_BYTES if memory is None else memory // _MEMORY_SHARE


class DecodedPostings(NamedTuple):
    """The decoded postings of a term, or the room for them.

    Attributes:
        documents: int32, rising, shape (postings,).
        codes: For each posting the number of its pair, or its frequency where the term has no
            pairs, uint16.
        pair_frequencies: uint16, shape (pairs,).
        pair_lengths: int32, shape (pairs,).
    """

    documents: NDArray[np.int32]
    codes: NDArray[np.uint16]
    pair_frequencies: NDArray[np.uint16]
    pair_lengths: NDArray[np.int32]


class PostingList(NamedTuple):
    """The documents and frequencies of a term's postings, shape (n,) and (n, columns).

    Frequencies are weighted sums, float64, where several terms were merged; else they are uint16.
    """

    documents: NDArray[np.int32]
    frequencies: NDArray[Any]


class NumberedPostings(NamedTuple):
    """The postings of some terms, one term after the other, with the numbers of their patterns.

    Attributes:
        documents: int32, rising for each term, shape (postings,).
        patterns: Which of the distinct rows of frequencies each posting has, shape (postings,).
        offsets: Where the postings of each term begin, and the last end, int64, shape (terms + 1,).
    """

    documents: NDArray[np.int32]
    patterns: NDArray[np.int32]
    offsets: NDArray[np.int64]


Cached = TypeVar("Cached", PostingList, NumberedPostings)

_Decoders: TypeAlias = dict[Hashable, Callable[[DecodedPostings], int]]


@dataclass(frozen=True)
class Pool:
    """The decoded postings of many terms in one array each, as in `DecodedPostings`."""

    documents: NDArray[np.int32]
    codes: NDArray[np.uint16]
    pair_frequencies: NDArray[np.uint16]
    pair_lengths: NDArray[np.int32]

    @classmethod
    def of(cls, postings: int) -> Pool:
        """A pool with room for so many postings. The system gives memory for those used alone."""
        types = (np.int32, np.uint16, np.uint16, np.int32)
        return cls(*(_empty(postings, dtype) for dtype in types))

    def append_decoded(
        self, filled: Filled, postings: int, unpack: Callable[[DecodedPostings], int]
    ) -> Extent:
        """Decode a term's postings into the pool; return the extent of postings and pairs."""
        begin, first = filled
        end = begin + postings
        # no term has more pairs than postings, and so there is room for as many of both
        pairs = unpack(self.take((begin, end, first, first + postings)))
        return begin, end, first, first + pairs

    def append(self, filled: Filled, one: DecodedPostings) -> Extent:
        """Append a term's decoded postings; return the extent of postings and pairs."""
        begin, first = filled
        end, last = begin + len(one.documents), first + len(one.pair_lengths)
        self.documents[begin:end], self.codes[begin:end] = one.documents, one.codes
        self.pair_frequencies[first:last] = one.pair_frequencies
        self.pair_lengths[first:last] = one.pair_lengths
        return begin, end, first, last

    def take(self, places: Extent) -> DecodedPostings:
        """The postings of a term."""
        begin, end, first, last = places
        return DecodedPostings(
            self.documents[begin:end],
            self.codes[begin:end],
            self.pair_frequencies[first:last],
            self.pair_lengths[first:last],
        )


class _Extents:
    """The extents of terms in a pool, and the order in which the terms were last used.

    They are in one array, since a search needs those of all of its terms, and nothing else that it
    reads has stayed in the processor's caches.
    """

    def __init__(self) -> None:
        self._rows: dict[Hashable, int] = {}
        self._places = np.empty((_FIRST_TERMS, 4), np.int64)
        self._asked = np.zeros(_FIRST_TERMS, np.int64)
        self._turn = 0

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._rows

    def __getitem__(self, key: Hashable) -> Extent:
        begin, end, first, last = self._places[self._rows[key]].tolist()
        return begin, end, first, last

    def of(self, keys: Sequence[Hashable]) -> NDArray[np.int64] | None:
        """The extents of terms, which are used now, shape (terms, 4); None if one is missing."""
        rows_of = self._rows
        try:
            rows = np.array([rows_of[key] for key in keys], np.int64)
        except KeyError:
            return None
        self._turn += 1
        self._asked[rows] = self._turn
        found: NDArray[np.int64] = self._places.take(rows, axis=0)
        return found

    def put(self, key: Hashable, places: Extent) -> None:
        """Add the extent of a term, which is used now."""
        row = self._rows.get(key, len(self._rows))
        if row == len(self._asked):
            grown = np.concatenate([self._places, np.empty_like(self._places)])
            self._asked = np.concatenate([self._asked, np.zeros_like(self._asked)])
            self._places = grown
        self._turn += 1
        self._places[row], self._asked[row] = places, self._turn
        # last: an interrupt before leaves the term unknown
        self._rows[key] = row

    def last_first(self) -> list[Hashable]:
        """The terms, the most recently used first."""
        keys = list(self._rows)
        order = np.argsort(-self._asked[: len(keys)], kind="stable")
        return [keys[row] for row in order.tolist()]


class PostingCache:
    """LRU cache of decoded postings, with a bound on its memory. Threads share it.

    Half of the bytes are for a pool, a quarter for the half of its terms that move into the next
    one, and a quarter, at most 128 MB, for lists of documents and frequencies. A pool begins small,
    and the next one has eight times the room, up to the bound. A query whose terms do not fit is
    served all the same, and leaves the pool as it was.

    Args:
        most_bytes: The bound, in bytes; `default_cache_bytes` when left out.
    """

    def __init__(self, most_bytes: int | None = None):
        if most_bytes is None:
            most_bytes = default_cache_bytes()
        # a pair takes as many bytes as a posting
        self._most = most_bytes // 2 // _POSTING_BYTES
        self._pool = Pool.of(0)
        self._places = _Extents()
        self._filled: Filled = 0, 0
        self._lists: OrderedDict[Hashable, Any] = OrderedDict()
        self._lists_bytes = 0
        self._most_lists_bytes = min(most_bytes // _LISTS_SHARE, _MOST_LISTS_BYTES)
        # the second is held for moments alone
        self._unpacking, self._lock = threading.Lock(), threading.Lock()

    def close(self) -> None:
        """Free the memory, and cache nothing from now on. Searches that go on are served."""
        with self._unpacking, self._lock:
            self._most = self._most_lists_bytes = self._lists_bytes = 0
            self._pool, self._places, self._filled = Pool.of(0), _Extents(), (0, 0)
            self._lists.clear()

    def together(
        self,
        keys: Sequence[Hashable],
        count: Callable[[int], tuple[int, int]],
        unpack: Callable[[int, DecodedPostings], int],
    ) -> tuple[Pool, NDArray[np.int64]]:
        """The postings of some terms in one pool.

        Args:
            keys: The keys of the terms.
            count: The number of postings of the term at a place among them, and the highest number
                of pairs that it may have, which is no higher.
            unpack: Unpacks the term at a place into a room for as many postings, and as many pairs;
                returns the number of its pairs.

        Returns:
            The pool, and where the postings and the pairs of each term begin and end, int64, shape
            (terms, 4). They do not change while they are used.
        """
        found = self._found(keys)
        if found is not None:
            return found
        with self._unpacking:
            # a term that a query names twice is missing once
            missing = {key: n for n, key in enumerate(keys) if key not in self._places}
            sizes = {key: count(n) for key, n in missing.items()}
            made: _Decoders = {key: functools.partial(unpack, n) for key, n in missing.items()}
            needed = sum(map(sum, sizes.values()))
            is_full = sum(self._filled) + needed > len(self._pool.documents)
            if is_full and not self._renew(keys, needed):
                return self._apart(keys, sizes, made)
            for key, (postings, _) in sizes.items():
                places = self._pool.append_decoded(self._filled, postings, made[key])
                self._filled = _filled_by(places)
                with self._lock:
                    self._places.put(key, places)
            found = self._found(keys)
            assert found is not None
            return found

    def lists(self, key: Hashable, make: Callable[[], Cached]) -> Cached:
        """The postings of a key, made if they are not cached; a key has one kind of them."""
        with self._lock:
            known: Cached | None = self._lists.get(key)
            if known is not None:
                self._lists.move_to_end(key)
                return known
        made = make()
        size = _bytes_of(made)
        with self._lock:
            if key not in self._lists and size <= self._most_lists_bytes:
                self._lists[key] = made
                self._lists_bytes += size
                while self._lists_bytes > self._most_lists_bytes:
                    _, old = self._lists.popitem(last=False)
                    self._lists_bytes -= _bytes_of(old)
        return made

    def _found(self, keys: Sequence[Hashable]) -> tuple[Pool, NDArray[np.int64]] | None:
        """The pool and the extents of terms, if it has them all; they count as used then."""
        with self._lock:
            places = self._places.of(keys)
            return None if places is None else (self._pool, places)

    def _renew(self, keys: Sequence[Hashable], needed: int) -> bool:
        """Move the most recently used terms into a larger pool; whether they fit."""
        own = {key: self._pool_used(key) for key in keys if key in self._places}
        kept, room = sum(own.values()), len(self._pool.documents)
        if kept + needed > self._most:
            return False
        # this pool and the next one are in memory at a time
        chosen, most = [*own], self._most if _GROWTH * room <= self._most else self._most // 2
        with self._lock:  # which others find, and put last, meanwhile
            last_first = self._places.last_first()
        for key in last_first:
            if key not in own:
                kept += self._pool_used(key)
                if kept + needed > most:
                    break
                chosen.append(key)
        room = max(_GROWTH * (kept + needed), _FIRST_ROOM)
        room = room if _GROWTH * room <= self._most else self._most
        try:
            pool = Pool.of(room)
        except MemoryError:  # a query alone needs less
            return False
        places, filled = _Extents(), (0, 0)
        for key in reversed(chosen):
            moved = pool.append(filled, self._pool.take(self._places[key]))
            places.put(key, moved)
            filled = _filled_by(moved)
        # all at once: an interrupt before leaves everything as it was
        with self._lock:
            self._pool, self._places, self._filled = pool, places, filled
        return True

    def _pool_used(self, key: Hashable) -> int:
        begin, end, first, last = self._places[key]
        return end - begin + last - first

    def _apart(
        self,
        keys: Sequence[Hashable],
        sizes: dict[Hashable, tuple[int, int]],
        made: _Decoders,
    ) -> tuple[Pool, NDArray[np.int64]]:
        """A pool for a query alone, whose terms take more than there may be."""
        room = sum(sum(sizes[key]) if key in sizes else self._pool_used(key) for key in keys)
        pool, places, filled = Pool.of(room), list[Extent](), (0, 0)
        for key in keys:
            if key in sizes:
                places.append(pool.append_decoded(filled, sizes[key][0], made[key]))
            else:
                places.append(pool.append(filled, self._pool.take(self._places[key])))
            filled = _filled_by(places[-1])
        return pool, np.array(places, np.int64).reshape(-1, 4)


def _empty(size: int, dtype: type[np.generic]) -> NDArray[Any]:
    """An array without content; numpy itself would take large pages for all of it."""
    if not size:
        return np.empty(0, dtype)
    return np.frombuffer(anonymous_memory(size * np.dtype(dtype).itemsize), dtype)


def _bytes_of(kept: PostingList | NumberedPostings) -> int:
    return sum(array.nbytes for array in kept)


def _filled_by(places: Extent) -> Filled:
    return places[1], places[3]


class RankedLengths(NamedTuple):
    """The lengths of documents by their ranks.

    Attributes:
        ranks: The rank of each document's length among all that there are, uint16.
        lengths: The length of each rank, rising, int32.
    """

    ranks: NDArray[np.uint16]
    lengths: NDArray[np.int32]


def rank_lengths(lengths: NDArray[np.int32]) -> RankedLengths | None:
    """Rank the lengths of documents, from 0, or None if there are too many distinct ones."""
    longest = int(lengths.max(initial=0))
    if longest < _MOST_COUNTED:
        is_there = np.zeros(longest + 1, bool)
        is_there[lengths] = True
        different, ranks = np.flatnonzero(is_there), (np.cumsum(is_there) - 1)[lengths]
    else:
        different, ranks = np.unique(lengths, return_inverse=True)
    if len(different) > MAX_PAIRS:
        return None
    return RankedLengths(ranks.astype(np.uint16), different.astype(np.int32))


def _numpy_pair_codes(
    documents: NDArray[np.int32],
    codes: NDArray[np.uint16],
    ranks: NDArray[np.uint16],
    lengths: NDArray[np.int32],
    frequencies: NDArray[np.uint16],
    pair_lengths: NDArray[np.int32],
) -> int:
    pairs, numbers = np.unique(codes.astype(np.int64) << 16 | ranks[documents], return_inverse=True)
    if len(pairs) > len(frequencies):
        return -1
    codes[:] = numbers
    frequencies[: len(pairs)], pair_lengths[: len(pairs)] = pairs >> 16, lengths[pairs & 0xFFFF]
    return len(pairs)


@compiled(numpy=_numpy_pair_codes, seconds=lambda documents, *_: _PAIRING * documents.size)
def pair_codes(
    documents: NDArray[np.int32],
    codes: NDArray[np.uint16],
    ranks: NDArray[np.uint16],
    lengths: NDArray[np.int32],
    frequencies: NDArray[np.uint16],
    pair_lengths: NDArray[np.int32],
) -> int:
    """Number the distinct pairs of frequency and length of a term's postings.

    Args:
        documents: The documents of the postings, shape (postings,).
        codes: Their frequencies; written: the number of each posting's pair. Pairs are numbered in
            rising order.
        ranks: The rank of each document's length.
        lengths: The length of each rank.
        frequencies: Written: the frequency of each pair.
        pair_lengths: Written: the length of each pair.

    Returns:
        How many pairs there are, or -1 where there is no room for them; codes are unchanged then.
    """
    most = np.uint16(0)
    for place in range(codes.size):
        most = max(most, codes[place])
    width = (np.int64(lengths.size) + 7) & ~7
    cells = (np.int64(most) + 1) * width
    if cells <= min(_CELLS * documents.size, _MOST_CELLS):
        return int(
            count_pairs(documents, codes, ranks, lengths, frequencies, pair_lengths, cells, width)
        )
    return hash_pairs(documents, codes, ranks, lengths, frequencies, pair_lengths)


@compiled
def count_pairs(
    documents: NDArray[np.int32],
    codes: NDArray[np.uint16],
    ranks: NDArray[np.uint16],
    lengths: NDArray[np.int32],
    frequencies: NDArray[np.uint16],
    pair_lengths: NDArray[np.int32],
    cells: np.int64,
    width: np.int64,
) -> np.int64:
    """Number pairs by a cell for each that there can be, in rows by frequency."""
    words, known = np.zeros(cells >> _CELL_BITS, np.uint64), np.uint64(0)
    marks, numbers, row = words.view(np.uint8), np.empty(cells, np.uint16), np.uint64(width)
    for place in range(documents.size):
        marks[np.uint64(codes[place]) * row + np.uint64(ranks[np.uint64(documents[place])])] = 1
    for word in range(words.size):
        marked = words[word]
        while marked:
            cell = np.uint64((word << _CELL_BITS) + (first_bit(marked) >> _CELL_BITS))
            marked &= marked - np.uint64(1)
            if known == frequencies.size:
                return np.int64(-1)
            numbers[cell] = known
            frequencies[known], pair_lengths[known] = cell // row, lengths[cell % row]
            known += np.uint64(1)
    for place in range(documents.size):
        cell = np.uint64(codes[place]) * row + np.uint64(ranks[np.uint64(documents[place])])
        codes[place] = numbers[cell]
    return np.int64(known)


@compiled
def hash_pairs(
    documents: NDArray[np.int32],
    codes: NDArray[np.uint16],
    ranks: NDArray[np.uint16],
    lengths: NDArray[np.int32],
    frequencies: NDArray[np.uint16],
    pair_lengths: NDArray[np.int32],
) -> int:
    """Number pairs by a hash table, if few of the possible ones occur."""
    slots = 1
    while slots < 2 * (min(documents.size, frequencies.size) + 1):
        slots *= 2
    table, pairs = np.full(slots, -1, np.int32), np.empty(frequencies.size, np.int64)
    numbers, mask, known = np.empty(documents.size, np.int32), np.uint64(slots - 1), 0
    for posting in range(documents.size):
        pair = np.int64(codes[posting]) << 16 | np.int64(ranks[documents[posting]])
        hashed = np.uint64(pair) * np.uint64(0x9E3779B97F4A7C15)  # Fibonacci hashing
        slot = (hashed >> np.uint64(40)) & mask
        while table[slot] >= 0 and pairs[table[slot]] != pair:
            slot = (slot + np.uint64(1)) & mask
        if table[slot] < 0:
            if known == pairs.size:
                return -1
            table[slot], pairs[known] = known, pair
            known += 1
        numbers[posting] = table[slot]
    order = np.argsort(pairs[:known])
    ranked_as = np.empty(known, np.uint16)
    for rank in range(known):
        pair = pairs[order[rank]]
        ranked_as[order[rank]], frequencies[rank] = rank, pair >> 16
        pair_lengths[rank] = lengths[pair & 0xFFFF]
    for posting in range(documents.size):
        codes[posting] = ranked_as[numbers[posting]]
    return known


def max_pairs(postings: int) -> int:
    """The highest number of pairs that a term of so many postings may have."""
    return min(postings, MAX_PAIRS) if postings >= PAIRED_FROM else 0


def encode_pairs(room: DecodedPostings, lengths: RankedLengths) -> int:
    """Replace the frequencies of a term by the codes of its pairs; return the number of pairs.

    Args:
        room: The documents, and for codes the frequencies, of the term; the codes of its pairs take
            their place.
        lengths: The lengths of all documents.
    """
    most = max_pairs(len(room.documents))
    if not most:
        return 0
    frequencies, pair_lengths = room.pair_frequencies[:most], room.pair_lengths[:most]
    return max(pair_codes(room.documents, room.codes, *lengths, frequencies, pair_lengths), 0)
