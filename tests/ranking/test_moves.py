"""Bounded moves and chunked promotion: what they promise, on any ranking."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sicetnon.errors import UsageError
from sicetnon.ranking.stages import BoundedMoves, Promotion, bounded_order, promoted_order
from sicetnon.records import Ranking, Topic

KEYS = st.lists(st.integers(0, 5) | st.floats(allow_infinity=False), max_size=60)
FLAGS = st.lists(st.booleans(), max_size=60)
TOPIC = Topic("1", "which is better?")


def ranking(size: int) -> Ranking:
    names = tuple(str(place) for place in range(size))
    stances = tuple(f"stance of {name}" for name in names)
    return Ranking(TOPIC, names, -np.arange(size, dtype=np.float64), stances)


def plain(keys: list[float]) -> list[int]:
    worth = [-math.inf if math.isnan(key) else key for key in keys]
    return sorted(range(len(keys)), key=lambda at: -worth[at])


@given(KEYS, st.integers(0, 12))
def test_no_document_moves_further_than_the_bound(keys: list[float], bound: int) -> None:
    order = bounded_order(keys, bound).tolist()
    assert all(abs(new - old) <= bound for new, old in enumerate(order))


@given(KEYS, st.integers(0, 12))
def test_bounded_moves_lose_and_double_nothing(keys: list[float], bound: int) -> None:
    assert sorted(bounded_order(keys, bound).tolist()) == list(range(len(keys)))


@given(KEYS, st.integers(0, 80))
def test_when_everything_fits_it_is_the_plain_sort(keys: list[float], bound: int) -> None:
    sorted_places = plain(keys)
    if all(abs(new - old) <= bound for new, old in enumerate(sorted_places)):
        assert bounded_order(keys, bound).tolist() == sorted_places


@given(KEYS, st.integers(0, 12))
def test_equal_keys_keep_their_order(keys: list[float], bound: int) -> None:
    order = bounded_order(keys, bound).tolist()
    worth = [-math.inf if math.isnan(key) else key for key in keys]
    for key in set(worth):
        inside = [place for place in order if worth[place] == key]
        assert inside == sorted(inside)


@given(KEYS, st.integers(0, 12))
def test_bounded_moves_never_leave_a_swap_that_would_help(keys: list[float], bound: int) -> None:
    order = bounded_order(keys, bound).tolist()
    worth = [-math.inf if math.isnan(key) else key for key in keys]
    for place, (here, behind) in enumerate(pairwise(order)):
        if worth[behind] > worth[here]:
            assert here == place - bound or behind == place + 1 + bound


@given(FLAGS, st.integers(1, 15))
def test_promotion_keeps_chunks_and_order(flags: list[bool], chunk: int) -> None:
    order = promoted_order(flags, chunk).tolist()
    expected = []
    for begin in range(0, len(flags), chunk):
        places = range(begin, min(begin + chunk, len(flags)))
        expected += [place for place in places if flags[place]]
        expected += [place for place in places if not flags[place]]
    assert order == expected


@given(FLAGS, st.integers(0, 20))
def test_one_chunk_is_the_plain_sort(flags: list[bool], more: int) -> None:
    order = promoted_order(flags, max(len(flags) + more, 1)).tolist()
    assert order == sorted(range(len(flags)), key=lambda place: not flags[place])


@given(KEYS, st.integers(0, 12), st.none() | st.integers(0, 70))
def test_the_stages_move_stances_with_documents(
    keys: list[float], bound: int, depth: int | None
) -> None:
    before = ranking(len(keys))
    stages = (
        BoundedMoves(lambda _, top: [keys[int(name)] for name in top.ids], bound, depth),
        Promotion(lambda _, top: [keys[int(name)] > 2 for name in top.ids], 5, depth),
    )
    for stage in stages:
        after = stage.apply(TOPIC, before)
        assert sorted(after.ids) == sorted(before.ids)
        assert after.stances == tuple(f"stance of {name}" for name in after.ids)
        assert after.scores.tolist() == before.scores.tolist()
        if depth is not None:
            assert after.ids[depth:] == before.ids[depth:]


def test_a_bound_of_nothing_moves_nothing() -> None:
    assert bounded_order([1, 2, 3], 0).tolist() == [0, 1, 2]


def test_unknown_keys_go_last() -> None:
    assert bounded_order([math.nan, 1.0, 2.0], 10).tolist() == [2, 1, 0]


@pytest.mark.parametrize("wrong", [-1, -10])
def test_wrong_bounds_are_refused(wrong: int) -> None:
    with pytest.raises(UsageError, match="expected a whole number of 0 or more"):
        BoundedMoves(lambda *_: [], wrong)
    with pytest.raises(UsageError, match="expected a whole number of 1 or more"):
        Promotion(lambda *_: [], wrong)
