"""Agreement, by published examples and by other libraries."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sicetnon.errors import UsageError
from sicetnon.judging.votes import Level, cohen_kappa, combine, krippendorff_alpha

# Krippendorff, Computing Krippendorff's alpha-reliability (2011), part C: four observers, twelve
# units, with missing data
OBSERVERS = (
    (1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3),
    (None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None),
)
UNITS = [[value for value in unit if value is not None] for unit in zip(*OBSERVERS, strict=True)]


@pytest.mark.parametrize(
    ("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_as_published(level: Level, published: float) -> None:
    assert round(krippendorff_alpha(UNITS, level), 3) == published


def test_kappa_as_published() -> None:
    # Fleiss, Levin and Paik, Statistical Methods for Rates and Proportions, table 18.1: two raters
    # and the diagnoses of 100 subjects
    table = ((75, 1, 4), (5, 4, 1), (0, 0, 10))
    pairs = [(a, b) for a, row in enumerate(table) for b, n in enumerate(row) for _ in range(n)]
    first, second = zip(*pairs, strict=True)
    assert round(cohen_kappa(first, second), 2) == 0.68


grades = st.integers(0, 3)


@settings(max_examples=40)
@given(st.lists(st.tuples(grades, grades), min_size=1, max_size=40))
def test_kappa_as_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    first, second = zip(*pairs, strict=True)
    mine = cohen_kappa(first, second)
    if math.isnan(mine):
        assert len({*first, *second}) == 1
    else:
        assert mine == pytest.approx(metrics.cohen_kappa_score(first, second), abs=1e-9)


@given(
    st.lists(st.lists(st.one_of(st.none(), grades), min_size=3, max_size=3), min_size=2),
    st.sampled_from(["nominal", "ordinal", "interval"]),
)
def test_alpha_as_the_package_krippendorff(rows: list[list[int | None]], level: Level) -> None:
    package = pytest.importorskip("krippendorff")
    units = [[float(value) for value in row if value is not None] for row in rows]
    mine = krippendorff_alpha(units, level)
    pairable = {value for unit in units if len(unit) > 1 for value in unit}
    if len(pairable) < 2:
        assert math.isnan(mine)
        return
    data = [[math.nan if value is None else value for value in row] for row in rows]
    theirs = package.alpha(
        [list(each) for each in zip(*data, strict=True)], level_of_measurement=level
    )
    assert mine == pytest.approx(theirs, abs=1e-9)


def test_what_has_no_agreement() -> None:
    assert math.isnan(cohen_kappa([], []))
    assert math.isnan(cohen_kappa([1, 1], [1, 1]))
    assert math.isnan(krippendorff_alpha([[1], [2]]))
    assert cohen_kappa([0, 1], [0, 1]) == 1
    with pytest.raises(UsageError):
        cohen_kappa([1], [])


@pytest.mark.parametrize(
    ("labels", "by", "expected"),
    [
        (["0", "2", "2"], "majority", "2"),
        (["0", "2"], "majority", "0"),
        (["-2", "0", "0", "2", "2"], "majority", "0"),
        (["2", "0", "1"], "median", "1"),
        (["2", "1"], "median", "1"),
        (["2", "-2", "1"], "lowest", "-2"),
        (["2"], "lowest", "2"),
    ],
)
def test_grades_are_combined(labels: list[str], by: str, expected: str) -> None:
    assert combine(labels, by, True) == expected  # type: ignore[arg-type]


def test_words_are_combined_by_majority() -> None:
    assert combine(["FOR", "FOR", "NONE"], "majority", False) == "FOR"
    assert combine(["FOR", "NONE"], "majority", False) is None
    with pytest.raises(UsageError):
        combine(["FOR"], "median", False)
