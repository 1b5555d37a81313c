"""The searcher: which documents, how many, in which order, for any question and any index."""

from __future__ import annotations

import string
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sicetnon.index.reader import IndexReader
from sicetnon.index.writing import (
    BuildOptions,
    add_documents,
    delete_documents,
)
from sicetnon.records import Ranking, Topic
from sicetnon.retrieval.feedback import RM3, Bo1
from sicetnon.retrieval.formulas import UNSEEN
from sicetnon.retrieval.kernels import COMPILED, NUMPY
from sicetnon.retrieval.reference import Best
from sicetnon.retrieval.scoring import BM25F, Coverage, FieldScore, Scoring
from sicetnon.retrieval.searcher import LocalRetriever
from sicetnon.retrieval.weighting import BM25, DLH, DPH, PL2, TFIDF, DirichletLM, JelinekMercer
from sicetnon.tasks import general
from sicetnon.tasks.touche_2020_task_1 import TASK
from support.index_cases import compact_index
from support.small_indexes import build, by_place, corpus, opened, passing_folder, places

WORDS = ("vote", "votes", "voting", "voter", "tax", "taxes", "school", "teacher", "ban", "gun")
SCORES: list[Scoring] = [
    *(FieldScore(m) for m in (BM25(), DirichletLM(), JelinekMercer(), DPH(), DLH(), PL2())),
    FieldScore(DirichletLM(50, "full"), {"premise": 1.0, "title": 0.3}, other_forms=0.1),
    FieldScore(TFIDF(), {"premise": 0.7}, weight=0.5, other_forms=0.1),
    BM25F({"premise": 1.0, "title": 3.0}),
    Coverage(("conclusion", "title")),
]
SETTINGS = settings(max_examples=40, derandomize=True)


def documents(count: int, seed: int = 1) -> list[dict[str, str]]:
    """Arguments of random words; some are equal, some empty."""
    random = np.random.default_rng(seed)

    def text(most: int) -> str:
        return " ".join(random.choice(WORDS, random.integers(0, most)))

    made = [{"conclusion": text(4), "premise": text(20), "title": text(4)} for _ in range(count)]
    return [made[int(random.integers(0, place + 1))] for place in range(count)]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexReader]:
    """300 documents in three segments, some deleted, the forms of words kept apart."""
    folder = tmp_path_factory.mktemp("retrieval")
    path = build(folder, documents(300), "forms", (120, 200), range(5, 300, 7))
    with IndexReader.open(path) as opened_index:
        yield opened_index


def topics(count: int = 40) -> list[Topic]:
    random = np.random.default_rng(9)
    titles = [" ".join(random.choice(WORDS, random.integers(0, 7))) for _ in range(count)]
    return [Topic(str(number), title) for number, title in enumerate(titles)]


def same(ours: Ranking, theirs: Ranking) -> bool:
    return (
        ours.topic == theirs.topic
        and ours.ids == theirs.ids
        and ours.scores.tolist() == theirs.scores.tolist()
    )


# -- how many, and which of equals


@pytest.mark.parametrize("k", [-1, 0, 1, 2, 10, 299, 300, 5000, 10**15])
def test_k_smaller_and_larger_than_the_matches(index: IndexReader, k: int) -> None:
    retriever = LocalRetriever(index, [FieldScore(BM25())])
    for topic in topics(8):
        everything = retriever.retrieve([topic], index.size)[0]
        found = retriever.retrieve([topic], k)[0]
        assert found.ids == everything.ids[: max(k, 0)]
        assert found.scores.tolist() == everything.scores[: max(k, 0)].tolist()


def test_every_document_with_a_term_is_found_and_no_deleted_one(index: IndexReader) -> None:
    query = "tax gun"
    numbers = [number for number in range(index.size) if index.number(str(number)) is not None]
    having = [
        number
        for number, record in zip(numbers, index.records_at(numbers), strict=True)
        if {"tax", "gun"} & set(record.default_text().split())
    ]
    for score in SCORES[:6]:
        exact = FieldScore(score.model, other_forms=0.0)  # type: ignore[attr-defined]
        found = LocalRetriever(index, [exact]).retrieve([Topic("1", query)], 1000)[0]
        assert sorted(places(found)) == having


@pytest.mark.parametrize("score", SCORES, ids=str)
def test_ties_go_by_document_number(index: IndexReader, score: Scoring) -> None:
    texts = {n: repr(record) for n, record in enumerate(index.records_at(range(index.size)))}
    for ranking in LocalRetriever(index, [score]).retrieve(topics(), 1000):
        order = list(by_place(ranking).items())
        assert order == sorted(order, key=lambda found: (-found[1], found[0]))
        by_text: dict[str, set[float]] = {}
        for number, value in order:
            text = texts[number].split(",", 1)[1]  # all but the id
            by_text.setdefault(text, set()).add(value)
        # equal documents have equal scores, so that they tie, in whatever segment they are
        assert all(len(values) == 1 for values in by_text.values())


def test_equal_documents_tie_though_their_forms_were_met_in_another_order() -> None:
    text = {"text": "vote votes votes voted voted voted voting voting voting voting"}
    backwards = {"text": " ".join(reversed(text["text"].split()))}
    with opened([text, backwards, text], "forms", [1, 2]) as index:
        score = FieldScore(DirichletLM(), other_forms=0.1)
        ranking = LocalRetriever(index, [score]).retrieve([Topic("1", "vote")], 10)[0]
        assert places(ranking) == [0, 1, 2]
        assert len(set(ranking.scores.tolist())) == 1


# -- the selection of the best


@dataclass(frozen=True)
class Scored:
    """Scores of documents, made from a seed: hypothesis cannot draw thousands of numbers."""

    count: int
    levels: int
    unseen: float
    deleted: float
    seed: int

    def arrays(self) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
        random = np.random.default_rng(self.seed)
        scores = random.integers(-self.levels, self.levels + 1, self.count) / 7
        scores[random.random(self.count) < self.unseen] = UNSEEN
        if not self.deleted:
            return scores, np.empty(0, np.uint8)
        return scores, (random.random(self.count) >= self.deleted).astype(np.uint8)


def best_of(
    scores: NDArray[np.float64], live: NDArray[np.uint8], k: int, window: int, loops: Any
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    best = Best.of(k)
    for first in range(0, len(scores), window):
        best.filled, best.threshold = loops.best(
            scores[first : first + window], live[first : first + window], first, k,
            best.numbers, best.scores, best.filled, best.threshold,
        )  # fmt: skip
    return best.ordered()


shares = st.sampled_from([0.0, 0.1, 0.5, 0.99, 1.0])
scored = st.builds(
    Scored,
    st.one_of(st.integers(0, 300), st.integers(5_000, 40_000)),
    st.sampled_from([0, 1, 5, 100, 10**9]),
    shares,
    shares,
    st.integers(0, 2**32),
)


@settings(max_examples=150, derandomize=True)
@given(scored, st.sampled_from([1, 2, 10, 63, 1000, 20_000]))
@example(Scored(40_000, 0, 0.0, 0.0, 0), 1000)
@example(Scored(40_000, 10**9, 0.0, 0.99, 0), 1000)
@example(Scored(40_000, 1, 0.99, 0.0, 0), 10)
def test_the_best_equal_a_full_sort(made: Scored, k: int) -> None:
    scores, live = made.arrays()
    numbers = np.flatnonzero(scores > UNSEEN)
    if live.size:
        numbers = numbers[live[numbers] != 0]
    expected = numbers[np.argsort(-scores[numbers], kind="stable")][:k]
    for window in (64, 30_000):
        for loops in (COMPILED, NUMPY):
            found, found_scores = best_of(scores, live, k, window, loops)
            assert found.tolist() == expected.tolist()
            assert found_scores.tolist() == scores[expected].tolist()


@pytest.mark.parametrize("order", ["rising", "falling", "highest deleted"])
@pytest.mark.parametrize("k", [1, 10, 1000])
def test_the_best_of_scores_in_unkind_orders(order: str, k: int) -> None:
    scores = np.arange(9000.0)
    if order == "falling":
        scores = scores[::-1].copy()
    if order == "highest deleted":
        scores[::32] += 10_000
    live = np.ones(len(scores), np.uint8)
    live[::32] = order != "highest deleted"
    found, _ = best_of(scores, live, k, 512, COMPILED)
    kept = np.flatnonzero(live)
    assert found.tolist() == kept[np.argsort(-scores[kept])][:k].tolist()


# -- any string is a question

STRANGE = [
    "", " ", "?", "'", '"', "\0", "a\0b", "\n\t\r", "😀", "👩‍👩‍👧 vote", "\ud800",
    "tax \udfff\ud800 vote",
    "ｖｏｔｅ", "vótе", "votе" * 10, "ß", "İ", "\u202evote", "\ufeff", "-", "--", "1e999", "NaN",
    "title:tax^2.5 AND (vote OR -ban)~3 [a TO z] {x} \"vote tax\"~2 /re.*/ && || ! \\", "vote*",
    "+vote -tax title:{ban gun}", "#combine( vote #1(tax ban) )", "tax^1e308", "<script>", "%s %n",
    "'; DROP TABLE documents; --", "vote " * 20_000, "x" * 100_000, "😀" * 100_000, "\0" * 1000,
    string.printable, "".join(map(chr, range(0x300))),
]  # fmt: skip


@pytest.fixture(scope="module")
def all_systems(index: IndexReader) -> list[LocalRetriever]:
    makers = {**general.TASK.systems, **TASK.systems}
    # those that compare embeddings have tests of their own
    by_words = [make for name, make in makers.items() if name not in ("dense", "hybrid")]
    retrievers = [make(index).retriever for make in by_words]
    assert all(isinstance(retriever, LocalRetriever) for retriever in retrievers)
    every = LocalRetriever(index, SCORES, Bo1())
    return [*retrievers, every]  # type: ignore[list-item]


@pytest.mark.parametrize("title", STRANGE, ids=lambda title: ascii(title)[:20])
def test_any_string_is_a_question(all_systems: list[LocalRetriever], title: str) -> None:
    for retriever in all_systems:
        ranking = retriever.retrieve([Topic("1", title)], 10)[0]
        assert np.isfinite(ranking.scores).all()
        assert len(ranking) == len(ranking.scores) <= 10


@SETTINGS
@given(st.text(st.characters(exclude_categories=()), max_size=50))
def test_any_other_string_too(all_systems: list[LocalRetriever], title: str) -> None:
    for retriever in all_systems:
        assert np.isfinite(retriever.retrieve([Topic("1", title)], 10)[0].scores).all()


def test_a_question_of_stop_words_or_unknown_words_finds_nothing(index: IndexReader) -> None:
    retriever = LocalRetriever(index, [FieldScore(DirichletLM())], RM3())
    for title in ("", "the of and", "xylophone"):
        ranking = retriever.retrieve([Topic("1", title)], 10)[0]
        assert (len(ranking), list(ranking), ranking.topic.title) == (0, [], title)


# -- many questions at a time


@pytest.mark.parametrize("feedback", [None, RM3(), Bo1()], ids=str)
def test_batches_over_threads_equal_single_questions(
    index: IndexReader, feedback: RM3 | Bo1 | None
) -> None:
    asked = topics(16)
    alone = [
        LocalRetriever(index, SCORES, feedback, threads=1).retrieve([topic], 50)[0]
        for topic in asked
    ]
    retriever = LocalRetriever(index, SCORES, feedback, threads=8)
    for _ in range(3):
        together = retriever.retrieve(asked, 50)
        assert all(map(same, together, alone))
    assert all(map(same, LocalRetriever(index, SCORES, feedback).retrieve(asked, 50), alone))


def test_no_topics_have_no_rankings(index: IndexReader) -> None:
    assert LocalRetriever(index, SCORES).retrieve([], 10) == []


# -- an index that has changed

CHANGES = st.lists(
    st.one_of(
        st.integers(1, 6).map(lambda count: ("add", count)),
        st.integers(0, 60).map(lambda place: ("delete", place)),
        st.just(("compact", 0)),
    ),
    max_size=6,
)


@SETTINGS
@given(CHANGES, st.integers(0, 100), st.sampled_from(["plain", "forms"]))
@example([("add", 6), ("delete", 2), ("add", 3), ("delete", 9), ("compact", 0)], 3, "forms")
@example([("add", 6), ("delete", 2), ("add", 3), ("delete", 9), ("compact", 0)], 4, "forms")
def test_a_changed_index_searches_like_one_built_anew(
    changes: list[tuple[str, int]], seed: int, analysis: str
) -> None:
    with passing_folder() as folder:
        made = documents(60, seed)
        path = build(folder, made[:8], analysis)
        kept = change_index(path, made, changes)
        ids = [str(place) for place in kept]
        with IndexReader.open(path) as changed, opened(list(kept.values()), analysis) as anew:
            # half of the scores by turns: forty lists of changes meet each of them twenty times
            for score in SCORES[seed % 2 :: 2]:
                compare(changed, anew, score, ids)


def change_index(
    path: Path, made: list[dict[str, str]], changes: list[tuple[str, int]]
) -> dict[int, dict[str, str]]:
    """Make changes to an index of the first 8 documents; those that are left, by their places."""
    kept, used = dict(enumerate(made[:8])), 8
    for change, size in changes:
        if change == "add":
            new = made[used : used + size]
            with IndexReader.open(path) as index:
                options = BuildOptions(index.analysis)
            add_documents(corpus(path.parent, new, used), path, options)
            kept |= {used + place: texts for place, texts in enumerate(new)}
            used += len(new)
        elif change == "compact":
            compact_index(path)
        elif size in kept and len(kept) > 1:
            assert delete_documents(path, [str(size), "unknown"]) == 1
            del kept[size]
    return kept


def compare(changed: IndexReader, anew: IndexReader, score: Scoring, ids: list[str]) -> None:
    for topic in topics(3):
        ours = LocalRetriever(changed, [score]).retrieve([topic], 1000)[0]
        theirs = LocalRetriever(anew, [score]).retrieve([topic], 1000)[0]
        assert ours.scores == pytest.approx(theirs.scores, rel=1e-9, abs=1e-12)
        assert list(ours.ids) == [ids[place] for place in places(theirs)]


def test_a_replaced_document_is_found_by_its_new_words_alone(tmp_path: Path) -> None:
    path = build(tmp_path, [{"text": "tax"}, {"text": "ban"}])
    with IndexReader.open(path) as index:
        options = BuildOptions(index.analysis)
    add_documents(corpus(tmp_path, [{"text": "gun"}], 0), path, options, replace=True)
    with IndexReader.open(path) as index:
        retriever = LocalRetriever(index, [FieldScore(BM25())])
        tax, gun = retriever.retrieve([Topic("1", "tax"), Topic("2", "gun")], 10)
        assert len(tax) == 0
        assert gun.ids == ("0",)
