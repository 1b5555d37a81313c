"""Feedback against plain transcriptions of RM3 and Bo1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sicetnon.app.index import Index
from sicetnon.errors import UsageError
from sicetnon.index.reader import IndexReader
from sicetnon.records import Topic
from sicetnon.retrieval.feedback import RM3, Bo1, Feedback
from sicetnon.retrieval.postings import PostingsReader, postings_of
from sicetnon.retrieval.scoring import Coverage, FieldScore
from sicetnon.retrieval.searcher import LocalRetriever
from sicetnon.retrieval.weighting import BM25, DirichletLM
from support.plain_models import PlainCollection, bm25, bose_einstein, dirichlet, relevance_model
from support.small_indexes import by_place, opened

WORDS = ("ban", "tax", "school", "vote", "gun", "teacher", "tenure", "q", "uniform", "law", "x1")


def make_documents(count: int, seed: int) -> list[dict[str, str]]:
    random = np.random.default_rng(seed)
    shares = 1 / np.arange(1, len(WORDS) + 1)
    return [
        {
            "title": " ".join(random.choice(WORDS, random.integers(0, 4))),
            "text": " ".join(random.choice(WORDS, random.integers(1, 15), p=shares / shares.sum())),
        }
        for _ in range(count)
    ]


DOCUMENTS = make_documents(60, 4)
DELETED = [3, 31, 59]


@pytest.fixture(scope="module")
def index() -> Iterator[IndexReader]:
    with opened(DOCUMENTS, "plain", [25], DELETED) as opened_index:
        yield opened_index


def words(texts: Mapping[str, str]) -> list[str]:
    return " ".join(texts.values()).split()


def best_first(scores: Mapping[int, float], k: int) -> list[int]:
    return sorted(scores, key=lambda place: (-round(scores[place], 12), place))[:k]


def as_ranked(
    index: IndexReader, score: FieldScore, feedback: Feedback, title: str
) -> dict[int, float]:
    retriever = LocalRetriever(index, [score], feedback, threads=1)
    return by_place(retriever.retrieve([Topic("1", title)], 1000)[0])


QUERIES = [
    "gun law",
    "tenure",
    "teacher teacher school",
    "q",
    "x1 zebra",
    "ban",
    "tax vote uniform",
]


@pytest.mark.parametrize("title", QUERIES)
@pytest.mark.parametrize(
    "rm3", [RM3(), RM3(3, 4, 0.5), RM3(1, 1, 0.0), RM3(1000, 1000, 0.9), RM3(5, 5, 1.0)], ids=str
)
def test_rm3_equals_its_published_formula(index: IndexReader, rm3: RM3, title: str) -> None:
    plain = PlainCollection(DOCUMENTS, DELETED)
    query = {word: float(count) for word, count in Counter(title.split()).items()}
    formula = bm25("lucene", 1.2, 0.75)
    first = plain.search(query, formula)
    pool = best_first(first, rm3.documents)
    widened = relevance_model(
        query, [words(DOCUMENTS[place]) for place in pool], [first[place] for place in pool],
        rm3.terms, rm3.original,
    )  # fmt: skip
    found = as_ranked(index, FieldScore(BM25()), rm3, title)
    assert found == pytest.approx(plain.search(widened, formula), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("title", QUERIES)
@pytest.mark.parametrize("bo1", [Bo1(), Bo1(1, 1), Bo1(10, 1000)], ids=str)
def test_bo1_equals_its_published_formula(index: IndexReader, bo1: Bo1, title: str) -> None:
    plain = PlainCollection(DOCUMENTS, DELETED)
    query = {word: float(count) for word, count in Counter(title.split()).items()}
    first = plain.search(query, dirichlet(20))
    widened = bose_einstein(
        query,
        [words(DOCUMENTS[place]) for place in best_first(first, bo1.documents)],
        lambda word: sum(plain.frequencies(word).values()),
        plain.N,
        bo1.terms,
    )
    found = as_ranked(index, FieldScore(DirichletLM(20, "matched")), bo1, title)
    assert found == pytest.approx(plain.search(widened, dirichlet(20)), rel=1e-9, abs=1e-12)


counts = st.dictionaries(st.sampled_from(WORDS), st.integers(1, 9).map(float), min_size=1)


@settings(max_examples=60, derandomize=True)
@given(
    counts,
    st.lists(st.tuples(counts, st.floats(-50, 50)), max_size=6),
    st.just(0.0) | st.floats(1e-100, 1),
)
def test_a_widened_question_keeps_its_words_and_is_finite(
    index: IndexReader,
    query: Mapping[str, float],
    found: Sequence[tuple[Mapping[str, float], float]],
    original: float,
) -> None:
    documents, scores = [d for d, _ in found], np.array([score for _, score in found])
    statistics = PostingsReader(index, {})
    for feedback in (RM3(10, 4, original), Bo1(10, 4)):
        widened = feedback.expand(query, documents, scores, statistics)
        assert set(query) <= set(widened)
        assert set(widened) <= set(query).union(*documents)
        assert len(widened) <= len(query) + 4
        assert all(0 <= weight < np.inf for weight in widened.values())
        if isinstance(feedback, RM3) and any(len(word) > 1 for d in documents for word in d):
            assert sum(widened.values()) == pytest.approx(1)


def test_rm3_takes_no_single_letters(index: IndexReader) -> None:
    widened = RM3().expand(
        {"ban": 1.0}, [{"q": 5.0, "law": 1.0}], np.array([2.0]), PostingsReader(index, {})
    )
    assert widened == pytest.approx({"ban": 0.7, "law": 0.3})


def test_of_equal_terms_the_first_in_the_alphabet_is_taken(index: IndexReader) -> None:
    document = {"vote": 1.0, "gun": 1.0, "law": 1.0}
    widened = RM3(1, 2).expand({}, [document], np.array([1.0]), PostingsReader(index, {}))
    assert list(widened) == ["gun", "law"]


def test_feedback_that_leaves_a_question_without_weight_finds_it_all_the_same() -> None:
    with opened([{"title": "q", "text": "q q"}, {"title": "law", "text": "q"}]) as index:
        score = Coverage(("title",))
        retriever = LocalRetriever(index, [score], RM3(original=0.0), threads=1)
        assert by_place(retriever.retrieve([Topic("1", "q")], 10)[0]) == {0: 0.0}


def test_terms_of_too_many_documents_are_left_out() -> None:
    texts = ["tenure protects teachers", "tenure costs schools", *["schools teachers money"] * 3]
    index = Index.build(texts)
    query, first = {"tenur": 1.0}, [{"tenur": 1.0, "protect": 1.0, "teacher": 2.0}]
    statistics = postings_of(index, {})
    counts = {term: statistics.read(term).documents for term in first[0]}
    assert counts == {"tenur": 2, "protect": 1, "teacher": 4}

    def expanded(feedback: RM3) -> dict[str, float]:
        return feedback.expand(query, first, np.array([1.0]), statistics)

    assert expanded(RM3()) == expanded(RM3(most=1)) == expanded(RM3(most=0.8))
    assert set(expanded(RM3())) == {"tenur", "protect", "teacher"}
    # "teacher" is in four of five documents
    assert expanded(RM3(most=0.79)) == pytest.approx({"tenur": 0.85, "protect": 0.15})
    assert expanded(RM3(most=0.2)) == pytest.approx({"tenur": 0.7, "protect": 0.3})
    assert expanded(RM3(most=0.1)) == pytest.approx({"tenur": 0.7})
    assert RM3(most=0.1).needs_statistics
    assert not RM3().needs_statistics
    assert index.retriever(feedback=RM3(most=0.1)).name == "BM25+RM3(most=0.1)"
    (ranking,) = index.retriever(feedback=RM3(most=0.4)).retrieve([Topic("1", "tenure")], 9)
    assert set(ranking.ids) == {"0", "1"}
    for most in (0, -1, 1.1, float("nan"), "0.1"):
        with pytest.raises(UsageError, match="most"):
            RM3(most=most)  # type: ignore[arg-type]
