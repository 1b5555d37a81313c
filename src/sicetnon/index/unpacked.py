"""Postings that were unpacked, kept in memory for the next query: those asked for last.

The kernels of a search take the postings of all terms of a query from one array. A pool is such an
array, with room for many terms. When it is full, the terms asked for last move into a new one; the
old one is free when the searches that use it have ended. No search waits for another's unpacking
unless it needs a term that is being unpacked.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

DEFAULT_POSTINGS_MEMORY = 512 << 20
"""Bytes for unpacked postings."""
_POSTING_BYTES = 6
_LISTS_SHARE = 4


Places: TypeAlias = tuple[int, int, int, int]
"""Where the postings of a term begin and end, and its pairs."""


class Unpacked(NamedTuple):
    """The unpacked postings of a term.

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


class Lists(NamedTuple):
    """The documents and frequencies of a term's postings, shape (n,) and (n, columns)."""

    documents: NDArray[np.int32]
    frequencies: NDArray[np.uint16]


@dataclass(frozen=True)
class Pool:
    """The unpacked postings of many terms in one array each; see `Unpacked`."""

    documents: NDArray[np.int32]
    codes: NDArray[np.uint16]
    pair_frequencies: NDArray[np.uint16]
    pair_lengths: NDArray[np.int32]

    @classmethod
    def of(cls, postings: int) -> Pool:
        """A pool with room for so many postings. The system gives memory for those used alone."""
        # the pairs of a term, which are no more than its postings, begin where these begin
        types = (np.int32, np.uint16, np.uint16, np.int32)
        return cls(*(np.empty(postings, each) for each in types))  # type: ignore[arg-type]

    def put(self, begin: int, one: Unpacked) -> Places:
        """Write the postings of a term; where they and its pairs begin and end."""
        end, pairs_end = begin + len(one.documents), begin + len(one.pair_lengths)
        self.documents[begin:end], self.codes[begin:end] = one.documents, one.codes
        self.pair_frequencies[begin:pairs_end] = one.pair_frequencies
        self.pair_lengths[begin:pairs_end] = one.pair_lengths
        return begin, end, begin, pairs_end

    def take(self, places: Places) -> Unpacked:
        """The postings of a term."""
        begin, end, first, last = places
        return Unpacked(
            self.documents[begin:end],
            self.codes[begin:end],
            self.pair_frequencies[first:last],
            self.pair_lengths[first:last],
        )


class UnpackedPostings:
    """Unpacked postings of an index, with a bound on their memory. Threads share them.

    Half of the bytes are for a pool, a quarter for the half of its terms that move into the next
    one, and a quarter for lists of documents and frequencies. A query whose terms do not fit is
    served all the same, and leaves the pool as it was.

    Args:
        most_bytes: The bound, in bytes.
    """

    def __init__(self, most_bytes: int = DEFAULT_POSTINGS_MEMORY):
        # a pair takes as many bytes as a posting
        self._room = most_bytes // 2 // _POSTING_BYTES
        self._pool: Pool | None = None
        self._places: OrderedDict[Hashable, Places] = OrderedDict()
        self._filled = self._used = 0
        self._lists: OrderedDict[Hashable, Lists] = OrderedDict()
        self._lists_bytes, self._most_lists_bytes = 0, most_bytes // _LISTS_SHARE
        # the second is held for moments alone
        self._unpacking, self._lock = threading.Lock(), threading.Lock()

    def together(
        self, keys: Sequence[Hashable], unpack: Callable[[int], Unpacked]
    ) -> tuple[Pool, NDArray[np.int64]]:
        """The postings of some terms in one pool.

        Args:
            keys: The keys of the terms.
            unpack: Unpacks the term at a place among them.

        Returns:
            The pool, and where the postings and the pairs of each term begin and end, int64, shape
            (terms, 4). They stay as they are as long as they are used.
        """
        found = self._found(keys)
        if found is not None:
            return found
        with self._unpacking:
            missing = [n for n, key in enumerate(keys) if key not in self._places]
            made = {n: unpack(n) for n in missing}
            used = sum(map(_used, made.values()))
            if self._used + used > self._room and not self._renew(keys, used):
                return self._apart(keys, made)
            self._publish(keys, made)
            found = self._found(keys)
            assert found is not None
            return found

    def lists(self, key: Hashable, make: Callable[[], Lists]) -> Lists:
        """The documents and frequencies of a term."""
        with self._lock:
            known = self._lists.get(key)
            if known is not None:
                self._lists.move_to_end(key)
                return known
        made = make()
        size = made.documents.nbytes + made.frequencies.nbytes
        with self._lock:
            if key not in self._lists and size <= self._most_lists_bytes:
                self._lists[key] = made
                self._lists_bytes += size
                while self._lists_bytes > self._most_lists_bytes:
                    _, old = self._lists.popitem(last=False)
                    self._lists_bytes -= old.documents.nbytes + old.frequencies.nbytes
        return made

    def _found(self, keys: Sequence[Hashable]) -> tuple[Pool, NDArray[np.int64]] | None:
        """The pool and the places of terms, if it has them all; they were asked for last then."""
        with self._lock:
            places = self._places
            try:
                for key in keys:
                    places.move_to_end(key)
            except KeyError:
                return None
            if self._pool is None:
                return None
            return self._pool, np.array([places[key] for key in keys], np.int64).reshape(-1, 4)

    def _publish(self, keys: Sequence[Hashable], made: dict[int, Unpacked]) -> None:
        if self._pool is None:
            self._pool = Pool.of(self._room)
        for n, one in made.items():
            if keys[n] in self._places:  # a term that a query names twice
                continue
            places = self._pool.put(self._filled, one)
            self._filled += len(one.documents)
            self._used += _used(one)
            with self._lock:
                self._places[keys[n]] = places

    def _renew(self, keys: Sequence[Hashable], used: int) -> bool:
        """Move the terms asked for last into a new pool with room for more; whether they fit."""
        own = {key: self._pool_used(key) for key in keys if key in self._places}
        kept = sum(own.values())
        if kept + used > self._room or self._pool is None:
            return False
        chosen, most = [*own], self._room // 2
        for key in reversed(self._places):  # the last asked for first
            if key not in own:
                kept += self._pool_used(key)
                if kept + used > most:
                    break
                chosen.append(key)
        pool, places = Pool.of(self._room), OrderedDict[Hashable, Places]()
        self._filled = self._used = 0
        for key in reversed(chosen):
            one = self._pool.take(self._places[key])
            places[key] = pool.put(self._filled, one)
            self._filled += len(one.documents)
            self._used += _used(one)
        with self._lock:
            self._pool, self._places = pool, places
        return True

    def _pool_used(self, key: Hashable) -> int:
        begin, end, first, last = self._places[key]
        return end - begin + last - first

    def _apart(
        self, keys: Sequence[Hashable], made: dict[int, Unpacked]
    ) -> tuple[Pool, NDArray[np.int64]]:
        """A pool for a query alone, whose terms take more than there may be."""
        every = [made[n] if n in made else self._known(key) for n, key in enumerate(keys)]
        pool, places, filled = Pool.of(sum(len(one.documents) for one in every)), [], 0
        for one in every:
            places.append(pool.put(filled, one))
            filled += len(one.documents)
        return pool, np.array(places, np.int64).reshape(-1, 4)

    def _known(self, key: Hashable) -> Unpacked:
        assert self._pool is not None
        return self._pool.take(self._places[key])


def _used(one: Unpacked) -> int:
    """Postings that the bytes of a term would hold."""
    return len(one.documents) + len(one.pair_lengths)
