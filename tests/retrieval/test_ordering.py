"""The order of scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sicetnon.retrieval import ordering


def expected(scores: NDArray[np.float64]) -> list[int]:
    return sorted(range(len(scores)), key=lambda place: (-scores[place], place))


@given(st.lists(st.floats(-1e300, 1e300) | st.sampled_from([0.0, -0.0, 1.5, 5e-324]), min_size=1))
def test_equal_scores_stay_in_their_order(values: list[float]) -> None:
    scores = np.array(values)
    buckets = ordering._by_buckets.dispatcher(scores)
    assert len(buckets) in (0, len(scores))
    assert ordering.by_score(scores).tolist() == expected(scores)
    assert ordering._plainly_by_score(scores).tolist() == expected(scores)


@pytest.mark.parametrize("seed", range(5))
def test_scores_of_a_search_are_sorted_in_buckets(seed: int) -> None:
    scores = np.random.default_rng(seed).exponential(1.0, 2000).round(2 + seed) + 3.0
    assert ordering._by_buckets.dispatcher(scores).tolist() == expected(scores)


def test_scores_that_are_nearly_equal_are_sorted_in_another_way() -> None:
    scores = np.random.default_rng(1).permutation(3000) * 1e-12
    scores[0] = 1.0
    assert not len(ordering._by_buckets.dispatcher(scores))
    assert ordering.by_score(scores).tolist() == expected(scores)
