"""Unpacked postings: those asked for last stay in memory, within a bound, for all threads."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from random import Random

import numpy as np
import pytest

from sicetnon.index import posting_cache
from sicetnon.index.posting_cache import DecodedPostings, PostingCache, PostingList

BYTES = 12  # of which half are for the pool, 6 for each posting


def made(key: int) -> DecodedPostings:
    """Postings of as many documents as the key says; each has a pair where the key is even."""
    documents, pairs = np.arange(key, dtype=np.int32), 0 if key % 2 else key
    codes = np.full(key, key, np.uint16) if key % 2 else np.arange(key, dtype=np.uint16)
    return DecodedPostings(
        documents, codes, np.full(pairs, key, np.uint16), documents[:pairs] + key
    )


def size(key: int) -> tuple[int, int]:
    """The number of the postings of a key, and of its pairs."""
    return len(made(key).documents), len(made(key).pair_lengths)


def unpack(key: int, room: DecodedPostings) -> int:
    """Unpack the postings of a key into a room for as many pairs."""
    one = made(key)
    pairs = len(one.pair_lengths)
    room.documents[:], room.codes[:] = one.documents, one.codes
    room.pair_lengths[:] = -1  # which may hold anything meanwhile
    room.pair_frequencies[:pairs], room.pair_lengths[:pairs] = one[2:]
    return pairs


class Asked:
    """A cache, and what was unpacked for it."""

    def __init__(self, postings: int):
        self.cache, self.unpacked = PostingCache(BYTES * postings), list[int]()

    def check(self, *keys: int) -> list[int]:
        """Ask for terms, hold what is found against what it must be; the terms unpacked for it."""
        before = len(self.unpacked)

        def unpack_one(place: int, room: DecodedPostings) -> int:
            self.unpacked.append(keys[place])
            return unpack(keys[place], room)

        pool, places = self.cache.together(keys, lambda place: size(keys[place]), unpack_one)
        hold(pool.take, places.tolist(), keys)
        return self.unpacked[before:]


def hold(take: object, places: Sequence[Sequence[int]], keys: Sequence[int]) -> None:
    assert callable(take)
    for place, key in zip(places, keys, strict=True):
        for ours, theirs in zip(take(place), made(key), strict=True):
            assert ours.tolist() == theirs.tolist()


def test_a_term_is_unpacked_once() -> None:
    asked = Asked(100)
    assert asked.check(3, 5) == [3, 5]
    assert asked.check(5, 7, 3) == [7]
    assert asked.check(3, 5, 7) == []


def test_those_asked_for_last_stay() -> None:
    asked = Asked(100)
    asked.check(23)
    asked.check(31)
    asked.check(41)
    asked.check(23)
    assert asked.check(15) == [15]
    assert asked.check(23, 15) == []
    assert asked.check(31) == [31]


def test_many_terms_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posting_cache, "_FIRST_TERMS", 2)
    asked = Asked(10_000)
    for key in range(1, 60):
        assert asked.check(key) == [key]
    assert asked.check(*range(1, 60)) == []


def test_terms_of_one_query_stay_together() -> None:
    asked = Asked(100)
    asked.check(35)
    asked.check(39)
    assert asked.check(35, 61) == [61]
    assert asked.check(35, 61) == []


@pytest.mark.parametrize("keys", [(101,), (60,), (51, 53), (33, 101)])
def test_terms_beyond_the_bound_are_found_all_the_same(keys: tuple[int, ...]) -> None:
    asked = Asked(100)
    asked.check(33)
    for _ in range(2):
        assert asked.check(*keys) == [key for key in keys if key != 33]
    assert asked.check(33) == []


def test_without_memory_all_is_unpacked_each_time() -> None:
    asked = Asked(0)
    for _ in range(2):
        assert asked.check(3, 4) == [3, 4]


def test_the_bound_holds() -> None:
    random, asked = Random(1), Asked(500)
    for _ in range(2000):
        asked.check(*(random.randrange(60) for _ in range(random.randrange(4))))
        assert sum(asked.cache._filled) <= 500
        assert sum(asked.cache._filled) == sum(
            map(asked.cache._pool_used, asked.cache._places.last_first())
        )


def test_a_search_keeps_its_pool() -> None:
    asked = Asked(100)
    pool, places = asked.cache.together([40], lambda _: size(40), lambda _, room: unpack(40, room))
    for key in range(1, 60, 2):
        asked.check(key)
    hold(pool.take, places.tolist(), [40])


def test_a_pool_grows_with_what_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posting_cache, "_FIRST_ROOM", 50)
    asked, rooms = Asked(5000), list[int]()
    for key in range(1, 100, 2):
        assert asked.check(key) == [key]
        rooms.append(len(asked.cache._pool.documents))
    assert rooms[0] == 50
    assert rooms == sorted(rooms)
    assert len({*rooms}) < 8
    assert max(rooms) == 5000
    assert asked.check(*range(1, 100, 2)) == []


def test_closed_postings_keep_nothing() -> None:
    asked = Asked(100)
    pool, places = asked.cache.together([40], lambda _: size(40), lambda _, room: unpack(40, room))
    asked.cache.lists(1, lambda: PostingList(np.zeros(9, np.int32), np.zeros((9, 1), np.uint16)))
    kept = weakref.ref(asked.cache._pool)
    asked.cache.close()
    hold(pool.take, places.tolist(), [40])
    del pool
    assert kept() is None
    assert not asked.cache._lists
    for _ in range(2):
        assert asked.check(3, 4) == [3, 4]


def test_the_usual_bound_fits_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for memory, usual in ((None, 512), (64 << 10, 16 << 10), (2048, 512), (1024, 256)):
        found = None if memory is None else memory << 20
        monkeypatch.setattr(posting_cache, "memory_bytes", lambda found=found: found)
        assert posting_cache.default_cache_bytes() == usual << 20


def test_terms_are_found_while_others_move(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked(100)
    for key in (41, 31, 23):
        asked.check(key)
    own = asked.cache._pool_used

    def used(key: int) -> int:
        # as another thread does in between
        assert asked.cache._found([41]) is not None
        return own(key)

    monkeypatch.setattr(asked.cache, "_pool_used", used)
    assert asked.check(15) == [15]
    assert asked.check(15) == []


@pytest.mark.parametrize("is_closed", [False, True])
def test_threads_share(is_closed: bool) -> None:
    asked, errors = Asked(300), list[BaseException]()

    def ask(seed: int) -> None:
        random = Random(seed)
        try:
            for turn in range(400):
                asked.check(*(random.randrange(1, 60) for _ in range(3)))
                if is_closed and seed == turn == 7:
                    asked.cache.close()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_lists_are_kept_within_their_share() -> None:
    cache, unpacked = PostingCache(4 * 6 * 100), list[int]()

    def lists(size: int) -> PostingList:
        def unpack() -> PostingList:
            unpacked.append(size)
            return PostingList(np.arange(size, dtype=np.int32), np.ones((size, 1), np.uint16))

        return cache.lists(size, unpack)

    for size in (50, 40, 50, 30, 50, 40, 101, 101):
        assert len(lists(size).documents) == size
    assert unpacked == [50, 40, 30, 40, 101, 101]
