"""The loops of the searcher: compiled and numpy ones give the same; the order of scores."""

from __future__ import annotations

from inspect import signature

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sicetnon.jit import Inlined
from sicetnon.retrieval import formulas, kernels
from sicetnon.retrieval.kernels import COMPILED, NUMPY, Loops

GIVEN = ("tf", "norm", "a", "b")
FORMULAS = {
    name: value
    for name, value in vars(formulas).items()
    if isinstance(value, Inlined) and list(signature(value.function).parameters) == list(GIVEN)
}
positive = st.floats(0.01, 5000)


@pytest.mark.parametrize("name", FORMULAS)
@settings(max_examples=60, derandomize=True, deadline=None)
@given(
    postings=st.lists(st.tuples(st.integers(1, 40), st.floats(0.3, 2), positive), max_size=30),
    a=positive,
    b=st.sampled_from([-np.inf, 0.0, 0.7]),
)
def test_many_postings_have_the_scores_of_each(
    name: str, postings: list[tuple[int, float, float]], a: float, b: float
) -> None:
    formula = FORMULAS[name]
    tf = np.array([count * weight for count, weight, _ in postings], dtype=np.float64)
    norms = np.array([norm for *_, norm in postings], dtype=np.float64)
    one_by_one = []
    for each, norm in zip(tf.tolist(), norms.tolist(), strict=True):
        try:
            one_by_one.append(formula.function(each, norm, a, b))
        except (ArithmeticError, ValueError):
            one_by_one.append(np.nan)
    np.testing.assert_array_equal(formulas.formula_values(formula, tf, norms, a, b), one_by_one)


POSTINGS = st.lists(
    # 1, 33 and 257 are neighbours wherever a table of 2^n places is used
    st.tuples(*[st.sampled_from([0, 1, 2, 3, 33, 257, 65535])] * 3),
    max_size=600,
)


@pytest.mark.parametrize("formula", [formulas.log_ratio_matched, formulas.saturation])
@settings(max_examples=60, derandomize=True, deadline=None)
@given(POSTINGS, st.sampled_from([(1.0, 0.1, 2.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1e300)]))
def test_scores_are_added_alike(
    formula: formulas.Formula, rows: list[tuple[int, int, int]], weights: tuple[float, ...]
) -> None:
    size = 3 * len(rows) + 1
    documents = np.arange(7, 7 + 3 * len(rows), 3, dtype=np.int32)
    frequencies = np.array(rows, dtype=np.uint16).reshape(-1, 3)
    norms = np.linspace(-3.0, 5.0, size)
    found = []
    for loops in (NUMPY, COMPILED):
        scores = np.where(np.arange(size) % 2, formulas.UNSEEN, 0.5)
        accumulate = loops.accumulator(formula)
        assert accumulate((documents, frequencies, weights), 7, norms, scores, 1.5, 0.3, -2.0)
        found.append(scores)
    np.testing.assert_array_equal(*found)
    for wrong in (-1, 7 + size):
        damaged = np.append(documents, np.int32(wrong)), np.ones((len(rows) + 1, 3), np.uint16)
        for loops in (NUMPY, COMPILED):
            accumulate, scores = loops.accumulator(formula), np.zeros(size)
            assert not accumulate((*damaged, weights), 7, norms, scores, 1.5, 0.3, -2.0)


FORMS = st.lists(
    st.dictionaries(st.integers(0, 9000), st.sampled_from([0.0, 0.1, 1.0, 3.0]), max_size=9),
    min_size=1,
    max_size=5,
)


@settings(max_examples=100, derandomize=True, deadline=None)
@given(FORMS, st.sampled_from([0.1, 0.7]))
def test_forms_are_merged_and_counted_alike(forms: list[dict[int, float]], weight: float) -> None:
    documents = np.array([each for form in forms for each in sorted(form)], dtype=np.int32)
    frequencies = np.array([form[each] for form in forms for each in sorted(form)], dtype=float)
    offsets = np.cumsum([0, *map(len, forms)])
    weights = np.array([1.0, *[weight] * (len(forms) - 1)])
    results = [
        loops.merge_forms(documents, frequencies, offsets, weights) for loops in (NUMPY, COMPILED)
    ]
    for found, other in zip(*results, strict=True):
        np.testing.assert_array_equal(found, other)
    for loops in (NUMPY, COMPILED):
        assert loops.count_distinct(documents, 9001) == len({*documents.tolist()})


@pytest.mark.parametrize("loops", [NUMPY, COMPILED])
@pytest.mark.parametrize("wrong", [-1, 3])
def test_a_document_that_cannot_be_is_not_counted(loops: Loops, wrong: int) -> None:
    assert loops.count_distinct(np.array([0, wrong], dtype=np.int32), 3) == -1


def expected(scores: NDArray[np.float64]) -> list[int]:
    return sorted(range(len(scores)), key=lambda place: (-scores[place], place))


@given(st.lists(st.floats(-1e300, 1e300) | st.sampled_from([0.0, -0.0, 1.5, 5e-324]), min_size=1))
def test_equal_scores_stay_in_their_order(values: list[float]) -> None:
    scores = np.array(values)
    buckets = kernels._bucket_order.dispatcher(scores)
    assert len(buckets) in (0, len(scores))
    assert kernels.order_by_score(scores).tolist() == expected(scores)
    assert kernels._numpy_order(scores).tolist() == expected(scores)


@pytest.mark.parametrize("seed", range(5))
def test_scores_of_a_search_are_sorted_in_buckets(seed: int) -> None:
    scores = np.random.default_rng(seed).exponential(1.0, 2000).round(2 + seed) + 3.0
    assert kernels._bucket_order.dispatcher(scores).tolist() == expected(scores)


def test_scores_that_are_nearly_equal_are_sorted_in_another_way() -> None:
    scores = np.random.default_rng(1).permutation(3000) * 1e-12
    scores[0] = 1.0
    assert not len(kernels._bucket_order.dispatcher(scores))
    assert kernels.order_by_score(scores).tolist() == expected(scores)
