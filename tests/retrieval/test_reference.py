"""The compiled ways to search against the plain one: the same documents, and scores to the bit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sicetnon.index.reader import IndexReader
from sicetnon.retrieval.kernels import COMPILED, NUMPY
from sicetnon.retrieval.reference import Best, search_exhaustively
from sicetnon.retrieval.scoring import BM25F, Coverage, FieldScore, Scoring
from sicetnon.retrieval.searcher import can_tabulate, search_tabulated
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
    return listed(best)


def listed(best: Best) -> list[tuple[int, float]]:
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
    expected = found(index, scores, query, k, loops=NUMPY)
    assert found(index, scores, query, k, loops=COMPILED, window=window) == expected
    assert found(index, scores, query, k, loops=NUMPY, window=window) == expected


ONE_MODEL: list[Scoring] = [
    *(FieldScore(model) for model in (BM25(), DirichletLM(50), JelinekMercer(), DPH(), TFIDF())),
    FieldScore(BM25(2.0, 0.3, "plus"), {"title": 0.7}),
    FieldScore(DirichletLM(50, "full"), {"premise": 2.0, "conclusion": 2.0, "title": 2.0}),
    FieldScore(DirichletLM(50, "matched"), {"premise": 0.7}),
    FieldScore(DLH(), {"premise": 1.0}),
    FieldScore(PL2(), {"premise": 1.0}),
]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexReader]:
    """40,000 documents in two segments, so that terms have tables, and samples are taken."""
    random = np.random.default_rng(5)
    shares = 1 / np.arange(1, len(WORDS) + 1)
    words = random.choice(WORDS, 40_000 * 8, p=shares / shares.sum()).tolist()
    ends = np.cumsum(random.integers(0, 16, 40_000)) % len(words)
    made = [
        {"conclusion": "", "premise": " ".join(words[end : end + place % 13]), "title": words[end]}
        for place, end in enumerate(ends.tolist())
    ]
    made[7]["premise"] = " ".join(words[:700])
    folder = tmp_path_factory.mktemp("large")
    path = build(folder, made, "plain", (20_000,), range(5, 40_000, 97))
    with IndexReader.open(path) as opened_index:
        yield opened_index


@pytest.mark.parametrize("score", ONE_MODEL, ids=str)
@settings(max_examples=8, derandomize=True, deadline=None)
@given(queries, st.sampled_from([1, 10, 200, 5000]), st.sampled_from([64, 1000, 1 << 14]))
def test_tables_and_samples_change_no_bit(
    large: IndexReader, score: Scoring, query: Mapping[str, float], k: int, window: int
) -> None:
    part = score.bind(large)(query)
    expected = found(large, [score], query, k, loops=COMPILED)
    if not part.terms:
        assert expected == []
        return
    assert can_tabulate([part])
    for sampled_from in (1 << 14, 1 << 30):
        best = Best.of(k)
        search_tabulated(part, large.segments, best, window, sampled_from)
        assert listed(best) == expected


def test_an_unfair_sample_is_noticed(tmp_path: Path) -> None:
    """The documents of the sample score highest, and are fewer than those wanted."""
    made = [
        {
            "conclusion": "",
            "premise": "vote " * (1 + place % 7) if place % 10_000 < 3_072 else "vote gun gun gun",
            "title": "",
        }
        for place in range(20_000)
    ]
    query, score, k = {"vote": 1.0}, FieldScore(BM25()), 7_000
    with IndexReader.open(build(tmp_path, made, "plain", (), ())) as index:
        expected = found(index, [score], query, k, loops=COMPILED)
        best = Best.of(k)
        search_tabulated(score.bind(index)(query), index.segments, best, sampled_from=1)
        assert listed(best) == expected
