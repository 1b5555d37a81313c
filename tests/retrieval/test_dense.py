"""Dense retrieval and what stands on stored numbers, against plain computations."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sicetnon.errors import UsageError
from sicetnon.index import annotations
from sicetnon.index.annotations import Annotator, packed, unpacked
from sicetnon.index.reader import IndexReader
from sicetnon.index.writing import annotate_index
from sicetnon.ranking.fusion import Fusion, Joint
from sicetnon.ranking.stages import Blend
from sicetnon.records import Ranking, Topic
from sicetnon.retrieval.dense import Dense, required_annotation
from support.small_indexes import build, opened, passing_folder, places
from support.stand_ins import directions, strengths

SETTINGS = settings(derandomize=True, max_examples=25, database=None)
WORDS = ["school", "teacher", "uniform", "tax", "meat"]
TEXT = st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join)
TEXTS = [f"{WORDS[n % 5]} {WORDS[n % 3]} {n}" for n in range(20)]


def embedder(model: str = "stand-in 1", compute: Any = directions) -> Annotator:
    return Annotator("embedding", model, "the text", lambda r: r.default_text(), compute)


QUALITY = Annotator("quality", "stand-in 1", "the text", lambda r: r.default_text(), strengths)


def topics(*titles: str) -> list[Topic]:
    return [Topic(str(place), title) for place, title in enumerate(titles)]


def annotated(folder: Path, texts: Sequence[str], *each: Annotator, **changes: Any) -> Path:
    index = build(folder, [{"text": text} for text in texts], **changes)
    annotate_index(index, each)
    return index


def expected(
    texts: Sequence[str], deleted: Sequence[int], title: str, k: int
) -> list[tuple[int, float]]:
    """All documents compared one by one."""
    vectors = unpacked(packed(directions(texts)))
    (question,) = directions([title])
    scores = [float(vector.astype(np.float64) @ question) for vector in vectors]
    alive = [number for number in range(len(texts)) if number not in deleted]
    best = sorted(alive, key=lambda number: (-round(scores[number], 5), number))[:k]
    return [(number, scores[number]) for number in best]


@SETTINGS
@given(
    texts=st.lists(TEXT, min_size=2, max_size=12),
    cut=st.integers(0, 12),
    deleted=st.sets(st.integers(0, 11), max_size=4),
    title=TEXT,
    k=st.integers(1, 14),
)
def test_finds_what_comparing_all_finds(
    texts: list[str], cut: int, deleted: set[int], title: str, k: int
) -> None:
    gone = sorted(number for number in deleted if number < len(texts))[: len(texts) - 1]
    with passing_folder() as folder:
        index = annotated(folder, texts, embedder(), cuts=(cut,), deleted=gone)
        with IndexReader.open(index) as opened_index:
            (found,) = Dense(opened_index, embedder()).retrieve(topics(title), k)
    wanted = expected(texts, gone, title, k)
    assert len(found) == len(wanted)
    np.testing.assert_allclose(found.scores, [score for _, score in wanted], atol=1e-5)
    assert (np.diff(found.scores) <= 0).all()
    assert len(set(places(found))) == len(found)
    assert not set(places(found)) & set(gone)
    # those of one text have one score, and stand in the order of their numbers
    for number, after in pairwise(places(found)):
        if texts[number] == texts[after]:
            assert number < after


@pytest.fixture
def index(tmp_path: Path) -> Any:
    folder = annotated(tmp_path, TEXTS, embedder(), QUALITY, cuts=(7,), deleted=(3, 11))
    with IndexReader.open(folder) as opened_index:
        yield opened_index


def test_the_size_of_blocks_makes_no_difference(
    index: IndexReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = Dense(index, embedder()).retrieve(topics("school tax", "meat"), 9)
    monkeypatch.setattr(annotations.Annotation.blocks, "__defaults__", (3,))
    found = Dense(index, embedder()).retrieve(topics("school tax", "meat"), 9)
    for one, other in zip(wanted, found, strict=True):
        assert one.ids == other.ids
        np.testing.assert_allclose(one.scores, other.scores, atol=1e-6)


def test_questions_do_not_depend_on_one_another(index: IndexReader) -> None:
    titles = [f"{word} {other}" for word in WORDS for other in WORDS]
    together = Dense(index, embedder()).retrieve(topics(*titles), 9)
    for title, ranking in zip(titles, together, strict=True):
        (alone,) = Dense(index, embedder()).retrieve(topics(title), 9)
        assert alone.scores.tolist() == ranking.scores.tolist()
        assert alone.ids == ranking.ids
    assert Dense(index, embedder()).retrieve([], 9) == []


def test_a_question_of_any_length_has_the_same_answers(index: IndexReader) -> None:
    def longer(texts: Sequence[str]) -> NDArray[np.float32]:
        return 3 * directions(texts)

    def nothing(texts: Sequence[str]) -> NDArray[np.float32]:
        return 0 * directions(texts)

    (wanted,) = Dense(index, embedder()).retrieve(topics("tax"), 5)
    (found,) = Dense(index, embedder(compute=longer)).retrieve(topics("tax"), 5)
    assert wanted.ids == found.ids
    (found,) = Dense(index, embedder(compute=nothing)).retrieve(topics("tax"), 5)
    assert places(found) == [0, 1, 2, 4, 5]
    assert not found.scores.any()


def test_an_index_without_embeddings_or_with_others() -> None:
    with opened([{"text": text} for text in TEXTS]) as index:
        command = f"sicetnon index annotate {index.folder} --with"
        for name, act in (
            ("embedding", lambda: Dense(index, embedder())),
            ("quality", lambda: required_annotation(index, "quality")),
        ):
            with pytest.raises(UsageError) as caught:
                act()
            message = f"its documents have no {name}; give them one with: {command} {name}"
            assert str(caught.value) == f"{index.folder}: {message}"
        annotate_index(index.folder, [embedder()])
        with (
            IndexReader.open(index.folder) as now,
            pytest.raises(UsageError, match=r"by stand-in 1, that of questions .* by stand-in 2;"),
        ):
            Dense(now, embedder("stand-in 2"))


# --- fused, and blended ---


def test_finders_are_fused_by_ranks() -> None:
    class Finder:
        def __init__(self, *ids: str):
            self.ids = ids

        def retrieve(self, asked: Sequence[Topic], k: int) -> list[Ranking]:
            depths.append(k)
            scores = -np.arange(len(self.ids), dtype=np.float64)
            return [Ranking(topic, self.ids, scores) for topic in asked]

    depths: list[int] = []
    joint = Joint([Finder("5", "1", "9"), Finder("9", "5"), Finder()])
    (found, other) = joint.retrieve(topics("a", "b"), 2)
    assert depths == [1000] * 3
    assert found.ids == other.ids == ("5", "9")
    np.testing.assert_allclose(found.scores, [1 / 61 + 1 / 62, 1 / 61 + 1 / 63])
    joint = Joint([Finder("b", "a"), Finder("a", "b")], Fusion(weights=(1, 1)), depth=5)
    (found,) = joint.retrieve(topics("a"), 7)
    # even in all, so the first id stands first
    assert found.ids == ("a", "b")
    assert depths[-1] == 7
    assert len(Joint([Finder()]).retrieve(topics("a"), 5)[0]) == 0


def test_stored_numbers_are_blended_in(index: IndexReader) -> None:
    numbers, scores = np.array([4, 15, 0, 19]), np.array([3.0, 2.0, 1.0, 0.0])
    (topic,) = topics("anything")
    ranking = Ranking(topic, tuple(map(str, numbers)), scores)
    quality = strengths([TEXTS[number] for number in numbers])
    annotation = required_annotation(index, "quality")
    np.testing.assert_array_equal(annotation[index.numbers(ranking.ids)], quality)
    stage = Blend([(lambda _, top: annotation[index.numbers(top.ids)], 0.7)], depth=3)
    found = stage.apply(topic, ranking)
    sums = np.array([1, 0.5, 0]) + 0.7 * quality[:3]
    order = np.argsort(-sums)
    assert places(found) == [*numbers[:3][order].tolist(), 19]
    np.testing.assert_allclose(found.scores[:3], sums[order])
