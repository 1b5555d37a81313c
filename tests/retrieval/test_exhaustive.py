"""The compiled ways to search against the plain one: the same documents, and scores to the bit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sicetnon.index.reader import IndexReader
from sicetnon.retrieval import kernels, plain
from sicetnon.retrieval.exhaustive import Best, search_exhaustively
from sicetnon.retrieval.scoring import BM25F, Coverage, FieldScore, Scoring
from sicetnon.retrieval.weighting import BM25, DLH, DPH, PL2, TFIDF, DirichletLM, JelinekMercer
from support.small_indexes import build

WORDS = ("vote", "votes", "voting", "tax", "taxes", "school", "teacher", "ban", "gun", "zebra")
SCORES: list[list[Scoring]] = [
    [FieldScore(BM25())],
    [FieldScore(BM25(2.0, 0.3, "plus"))],
    [FieldScore(DirichletLM(50))],
    [FieldScore(DirichletLM(50, "full"), {"premise": 1.0, "title": 0.3}, other_forms=0.1)],
    [FieldScore(DirichletLM(50, "matched"), {"premise": 0.7})],
    [FieldScore(JelinekMercer())],
    [FieldScore(DPH())],
    [FieldScore(DLH())],
    [FieldScore(PL2())],
    [FieldScore(TFIDF(), {"premise": 0.7}, weight=0.5, other_forms=0.1)],
    [BM25F({"premise": 1.0, "title": 3.0})],
    [Coverage(("conclusion", "title"))],
    [FieldScore(BM25(), weight=0.3), BM25F({"title": 2.0}), Coverage(("title",), 0.2)],
]


@pytest.fixture(scope="module", params=["plain", "forms"])
def index(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator:
    """500 documents in three segments, some deleted, some equal, some empty."""
    random = np.random.default_rng(3)
    shares = 1 / np.arange(1, len(WORDS) + 1)

    def text(most: int) -> str:
        words = random.choice(WORDS, random.integers(0, most), p=shares / shares.sum())
        return " ".join(words)

    made = [{"conclusion": text(4), "premise": text(30), "title": text(4)} for _ in range(500)]
    for place in range(50, 500, 5):
        made[place] = made[place - 40]
    folder = tmp_path_factory.mktemp("exhaustive")
    path = build(folder, made, request.param, (120, 200), range(5, 300, 7))
    with IndexReader.open(path) as opened_index:
        yield opened_index


def found(
    index: IndexReader, scores: Sequence[Scoring], query: Mapping[str, float], k: int, **how: object
) -> list[tuple[int, float]]:
    parts = [score.bind(index)(query) for score in scores]
    best = Best.of(k)
    search_exhaustively(parts, index.segments, best, **how)  # type: ignore[arg-type]
    numbers, values = best.ordered()
    return list(zip(numbers.tolist(), values.tolist(), strict=True))


queries = st.dictionaries(
    st.sampled_from((*WORDS, "unknown")), st.sampled_from([1.0, 2.0, 0.1, 1 / 3]), min_size=1
)


@pytest.mark.parametrize("scores", SCORES, ids=lambda scores: type(scores[0]).__name__)
@settings(max_examples=12, derandomize=True)
@given(queries, st.sampled_from([1, 3, 10, 1000]), st.sampled_from([7, 64, 1 << 15]))
def test_windows_and_compiled_loops_change_no_bit(
    index: IndexReader,
    scores: Sequence[Scoring],
    query: Mapping[str, float],
    k: int,
    window: int,
) -> None:
    expected = found(index, scores, query, k, loops=plain)
    assert found(index, scores, query, k, loops=kernels, window=window) == expected
    assert found(index, scores, query, k, loops=plain, window=window) == expected
