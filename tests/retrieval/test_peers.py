"""Scores beside those of PISA and bm25s, on identical tokens. Each is skipped where it is not."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from math import log
from typing import Any

import numpy as np
import pytest

from sicetnon.index.reader import IndexReader
from sicetnon.records import Topic
from sicetnon.retrieval.scoring import FieldScore
from sicetnon.retrieval.searcher import LocalRetriever
from sicetnon.retrieval.weighting import BM25, DPH, PL2, DirichletLM, WeightingModel
from support.plain_models import PlainCollection, pl2
from support.small_indexes import by_place, opened

COUNT, K = 400, 1000
NEAR = 1e-4


def make_words(count: int) -> list[str]:
    letters = "bcdfghjklmnprstvwz"
    return [a + e + b for a in letters for e in "aeiou" for b in letters][:count]


def make_documents() -> list[dict[str, str]]:
    """Words as unevenly spread as in a language; no document of nothing but one word."""
    random, words = np.random.default_rng(20), make_words(600)
    shares = 1 / np.arange(1, len(words) + 1)
    lengths = random.integers(5, 250, COUNT)
    return [
        {"text": " ".join([*random.choice(words, size, p=shares / shares.sum()), "zzz"])}
        for size in lengths
    ]


DOCUMENTS = make_documents()
TEXTS = [texts["text"] for texts in DOCUMENTS]
QUERIES = [
    " ".join(np.random.default_rng(seed).choice(make_words(600), 1 + seed % 5, replace=False))
    for seed in range(30)
]


@pytest.fixture(scope="module")
def index() -> Iterator[IndexReader]:
    with opened(DOCUMENTS, "plain", [150]) as opened_index:
        yield opened_index


def ours(index: IndexReader, model: WeightingModel, query: str) -> dict[int, float]:
    retriever = LocalRetriever(index, [FieldScore(model)], threads=1)
    return by_place(retriever.retrieve([Topic("1", query)], K)[0])


def assert_near(mine: dict[int, float], theirs: dict[int, float]) -> None:
    """The same scores, and so the same order but for differences that small.

    Documents that score nothing may be missing among theirs: PISA leaves them out.
    """
    assert set(theirs) <= set(mine)
    assert all(mine[place] <= NEAR for place in set(mine) - set(theirs))
    assert {place: mine[place] for place in theirs} == pytest.approx(theirs, rel=NEAR, abs=NEAR)


# -- PISA

Pisa = Callable[..., Callable[[str], dict[int, float]]]


@pytest.fixture(scope="module")
def pisa(tmp_path_factory: pytest.TempPathFactory) -> Pisa:
    """Searches with PISA: a scorer and its parameters in, a function from queries to scores out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what PyTerrier's own dependencies deprecate
        module = pytest.importorskip(
            "pyterrier_pisa", reason="pyterrier-pisa is not installed (extra: peers)"
        )
    native = module._pisathon  # what wraps it needs PyTerrier's data frames, and a JVM
    folder = tmp_path_factory.mktemp("pisa")
    (folder / "documents.txt").write_text(
        "".join(f"{place} {text}\n" for place, text in enumerate(TEXTS)), encoding="utf-8"
    )
    native.index(str(folder / "documents.txt"), str(folder), "", 100_000, 1)

    def prepare(scorer: str, **parameters: float) -> Callable[[str], dict[int, float]]:
        context = native.RetrievalContext()
        native.prepare_index(context, str(folder), "block_simdbp", scorer, "", **parameters)
        return lambda query: pisa_search(native, context, query)

    return prepare


def pisa_search(native: Any, context: Any, query: str) -> dict[int, float]:
    numbers, ranks = np.empty(K, np.int32), np.empty(K, np.int32)
    names, scores = np.empty(K, object), np.empty(K, np.float32)
    found = native.retrieve(
        context, "ranked_or", [(0, query)], k=K, threads=1, pretokenised=False, query_weighted=0,
        result_qidxs=numbers, result_docnos=names, result_ranks=ranks, result_scores=scores,
    )  # fmt: skip
    return {int(names[place]): float(scores[place]) for place in range(found)}


@pytest.mark.parametrize(
    ("model", "scorer", "parameters"),
    [
        (BM25(1.2, 0.75, "robertson"), "bm25", {"bm25_k1": 1.2, "bm25_b": 0.75}),
        (BM25(0.9, 0.4, "robertson"), "bm25", {"bm25_k1": 0.9, "bm25_b": 0.4}),
        (DirichletLM(1000, "clipped"), "qld", {"qld_mu": 1000}),
        (DirichletLM(50, "clipped"), "qld", {"qld_mu": 50}),
        (DPH(), "dph", {}),
    ],
    ids=str,
)
def test_models_equal_pisa(
    index: IndexReader, pisa: Pisa, model: WeightingModel, scorer: str, parameters: dict[str, float]
) -> None:
    theirs = pisa(scorer, **parameters)
    for query in QUERIES:
        assert_near(ours(index, model, query), theirs(query))
    assert sum(len(theirs(query)) for query in QUERIES) > 10 * len(QUERIES)


def test_pl2_equals_pisa_but_for_its_logarithm_of_e(index: IndexReader, pisa: Pisa) -> None:
    """PISA has ln ½ where Amati and van Rijsbergen, and Terrier, have log2 e."""
    theirs, plain = pisa("pl2", pl2_c=1.5), PlainCollection(DOCUMENTS)
    for query in QUERIES:
        counts = {word: float(count) for word, count in Counter(query.split()).items()}
        assert_near(plain.search(counts, pl2(1.5, log2_e=log(1 / 2))), theirs(query))
        assert_near(ours(index, PL2(1.5), query), plain.search(counts, pl2(1.5)))


# -- bm25s


def bm25s_scores(
    method: str, k1: float, b: float, queries: Sequence[str]
) -> list[dict[int, float]]:
    """For each query bm25s's score of every document."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = pytest.importorskip("bm25s", reason="bm25s is not installed (extra: peers)")
    retriever = module.BM25(k1=k1, b=b, method=method, delta=0.5, backend="numpy")
    retriever.index([text.split() for text in TEXTS], show_progress=False)
    return [dict(enumerate(retriever.get_scores(query.split()).tolist())) for query in queries]


@pytest.mark.parametrize(
    ("variant", "method"),
    [("lucene", "lucene"), ("robertson", "robertson"), ("atire", "atire"), ("plus", "bm25+")],
)
@pytest.mark.parametrize(("k1", "b"), [(1.2, 0.75), (0.9, 0.4)])
def test_bm25_equals_bm25s(
    index: IndexReader, variant: Any, method: str, k1: float, b: float
) -> None:
    plain = PlainCollection(DOCUMENTS)
    for query, theirs in zip(QUERIES, bm25s_scores(method, k1, b, QUERIES), strict=True):
        mine = dict.fromkeys(range(COUNT), 0.0) | ours(index, BM25(k1, b, variant, 0.5), query)
        if variant == "robertson":  # bm25s leaves the constant factor out
            mine = {place: score / (k1 + 1) for place, score in mine.items()}
        if variant == "plus":  # bm25s gives δ for absent words too; the paper sums over q ∩ d
            for word in query.split():
                having = plain.frequencies(word)
                bonus = 0.5 * log((COUNT + 1) / len(having)) if having else 0.0
                for place in set(mine) - set(having):
                    mine[place] += bonus
        assert_near(mine, theirs)
