"""Weighting models of one's own: numpy, compiled, and what numba cannot compile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from sicetnon.app.index import Index
from sicetnon.errors import UsageError
from sicetnon.records import Topic
from sicetnon.retrieval.weighting import BM25, DPH, WeightingModel
from support.small_indexes import opened

WORDS = ("tax", "school", "vote", "ban", "gun")
TITLES = ["tax", "school tax", "vote vote ban gun", "unknown", "unknown gun"]


@dataclass(frozen=True)
class OwnBM25(WeightingModel):
    k1: float = 1.2
    b: float = 0.75

    def score(self, tf: Any, length: Any, term: Any, collection: Any) -> Any:
        weight = np.log1p((collection.documents - term.documents + 0.5) / (term.documents + 0.5))
        norm = self.k1 * (1 - self.b + self.b * length / collection.average_length)
        return weight * tf / (tf + norm)


@dataclass(frozen=True)
class OwnDPH(WeightingModel):
    def score(self, tf: Any, length: Any, term: Any, collection: Any) -> Any:
        share = np.minimum(tf / length, 1.0)
        norm = (1 - share) ** 2 / (tf + 1)
        informative = tf * np.log2(
            (tf * collection.average_length / length) * (collection.documents / term.occurrences)
        )
        corrected = np.maximum(1 - share, 1e-300)
        return norm * (informative + 0.5 * np.log2(2 * np.pi * tf * corrected))


@dataclass(frozen=True)
class CompiledBM25(OwnBM25):
    compile_from: ClassVar[int] = 0


@dataclass(frozen=True)
class CompiledDPH(OwnDPH):
    compile_from: ClassVar[int] = 0


@dataclass(frozen=True)
class NotCompilable(OwnBM25):
    """Calls itself by name through `super`, which numba does not know."""

    compile_from: ClassVar[int] = 0

    def score(self, tf: Any, length: Any, term: Any, collection: Any) -> Any:
        return super().score(tf, length, term, collection)


@dataclass(frozen=True)
class Importing(OwnBM25):
    """Imports a module in its function, for which numba has no opcode."""

    compile_from: ClassVar[int] = 0

    def score(self, tf: Any, length: Any, term: Any, collection: Any) -> Any:
        import math

        return OwnBM25.score(self, tf, length, term, collection) * math.exp(0)


@pytest.fixture(scope="module")
def index() -> Iterator[Index]:
    random = np.random.default_rng(3)
    texts = [" ".join(random.choice(WORDS, random.integers(3, 30))) + " end" for _ in range(80)]
    with opened([{"text": text} for text in texts], "plain", [30], [4, 50]) as opened_index:
        yield opened_index


def found(index: Index, model: WeightingModel) -> list[dict[str, float]]:
    topics = [Topic(str(place), title) for place, title in enumerate(TITLES)]
    return [dict(ranking) for ranking in index.retriever(model).retrieve(topics, 1000)]


@pytest.mark.parametrize(
    ("own", "built_in", "tolerance"),
    [
        (OwnBM25(), BM25(), 1e-12),
        (OwnBM25(0.9, 0.4), BM25(0.9, 0.4), 1e-12),
        (OwnDPH(), DPH(), 1e-12),
        (CompiledBM25(0.9, 0.4), BM25(0.9, 0.4), 1e-9),
        (CompiledDPH(), DPH(), 1e-9),
        (NotCompilable(0.9, 0.4), BM25(0.9, 0.4), 1e-12),
        (Importing(0.9, 0.4), BM25(0.9, 0.4), 1e-12),
    ],
    ids=str,
)
def test_an_own_model_equals_the_built_in_one(
    index: Index, own: WeightingModel, built_in: WeightingModel, tolerance: float
) -> None:
    for ours, theirs in zip(found(index, own), found(index, built_in), strict=True):
        assert ours == pytest.approx(theirs, rel=tolerance, abs=tolerance)


def test_parameters_reach_the_compiled_function(index: Index) -> None:
    one, other = (found(index, CompiledBM25(k1))[0] for k1 in (0.5, 2.0))
    assert one.keys() == other.keys()
    assert one != pytest.approx(other)


def test_a_model_needs_a_function(index: Index) -> None:
    with pytest.raises(UsageError, match="WeightingModel has no function `score`"):
        found(index, WeightingModel())


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (lambda tf: 1.0, "gives float of shape"),
        (lambda tf: tf[:-1], r"gives ndarray of shape \(\d+,\) for \d+ documents"),
        (lambda tf: tf * np.nan, "gives a score that is no finite number"),
        (lambda tf: None, "gives NoneType"),
    ],
)
def test_scores_are_one_finite_number_for_each_document(
    index: Index, scores: Any, message: str
) -> None:
    class Faulty(WeightingModel):
        def score(self, tf: Any, length: Any, term: Any, collection: Any) -> Any:
            return scores(tf)

    with pytest.raises(UsageError, match=f"Faulty {message}"):
        found(index, Faulty())
