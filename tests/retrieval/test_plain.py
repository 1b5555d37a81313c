"""Formulas of many postings at once: the numbers of one posting after the other, to the bit."""

from __future__ import annotations

from inspect import signature

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sicetnon.compiled import Inlined
from sicetnon.retrieval import formulas, plain

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
    np.testing.assert_array_equal(plain._each(formula, tf, norms, a, b), one_by_one)
