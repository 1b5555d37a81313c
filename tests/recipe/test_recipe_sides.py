"""The weights of sides: fitted to evidence, written as text, judged on rows they did not see."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import msgspec
import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.effectiveness.sides import row  # noqa: E402
from recipe.side_fit import fitted  # noqa: E402
from sicetnon.arguments.side.classifier import SIDES, Weights, sides_of  # noqa: E402
from sicetnon.arguments.side.evidence import Evidence  # noqa: E402

# it takes a second to load, which every process that collects tests would spend
pytestmark = pytest.mark.skipif(not find_spec("sklearn"), reason="needs the extra train")

FOR, AGAINST, _, NONE = range(4)


@pytest.fixture(scope="module")
def labelled() -> tuple[Evidence, np.ndarray]:
    """Evidence that tells the labels: the sign of one feature, and the size of another."""
    rng = np.random.default_rng(1)
    labels = rng.choice([FOR, AGAINST, NONE], 600).astype(float)
    sign = np.where(labels == FOR, 1.0, np.where(labels == AGAINST, -1.0, 0.0))
    noise = rng.normal(0, 0.3, (2, 600))
    favours = {"sign": 10 * (sign + noise[0]), "constant": np.ones(600)}
    return Evidence(favours, {"size": np.abs(sign) + noise[1]}), labels


def test_weights_find_sides_that_they_did_not_see(labelled: tuple[Evidence, np.ndarray]) -> None:
    evidence, labels = labelled
    seen = np.arange(600) < 400
    weights = fitted(evidence, labels, seen)
    found = sides_of(evidence, weights, np.zeros(600, dtype=bool))
    assert found.shape == (600, len(SIDES))
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert (found.argmax(axis=1) == labels)[~seen].mean() > 0.85
    # a feature that tells nothing has no weight
    assert set(weights.favours.weights) == {"sign"}
    assert msgspec.json.decode(msgspec.json.encode(weights), type=Weights) == weights


def test_what_weighs_both_sides_is_both(labelled: tuple[Evidence, np.ndarray]) -> None:
    evidence, labels = labelled
    weights = fitted(evidence, labels, np.ones(600, dtype=bool))
    torn = Evidence({"sign": np.zeros(1), "constant": np.ones(1)}, {"size": np.full(1, 2.0)})
    (weighing,) = sides_of(torn, weights, np.array([True]))
    (other,) = sides_of(torn, weights, np.array([False]))
    assert SIDES[weighing.argmax()] == "BOTH"
    assert SIDES[other.argmax()] in ("FOR", "AGAINST")


def test_a_row_counts_what_labels_became() -> None:
    wanted = np.array([FOR, FOR, AGAINST, NONE], dtype=float)
    found = np.eye(4)[[FOR, AGAINST, AGAINST, FOR]]
    shown = row("x", found, wanted, np.ones(4, dtype=bool))
    assert shown == "| x | 3 | 0.667 | 0.389 | 0.50 / 0.67 / 0.00 | 1/1/0; 0/1/0; 1/0/0 |"
