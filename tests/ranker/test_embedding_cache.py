"""Embeddings of headings that are kept for other processes."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sicetnon import Argument, Index, Premise
from sicetnon.arguments.models.classifiers import Embedding
from sicetnon.ranker import features
from sicetnon.ranker.features import FOLDER, FeatureReader, Vector, VectorCache, vector_cache
from sicetnon.records import Topic
from sicetnon.tasks.touche_2020_task_1 import TASK

WIDTH = 6
QUESTION = "Should teachers get tenure?"


def vectors(texts: list[str], seed: int = 0) -> dict[str, Vector]:
    draw = np.random.default_rng(seed)
    return {text: draw.normal(size=WIDTH).astype(np.float32) for text in texts}


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    said = (
        Argument(f"a{n}", f"Tenure protects {n} teachers", (Premise(f"Tenure helps {n}."),), {})
        for n in range(9)
    )
    with Index.build(said, tmp_path / "index") as built:
        yield built


def table(index: Index) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """The features of a ranking, as a new process reads them."""
    features._CACHED.clear()
    topic = Topic("1", QUESTION)
    found = TASK.system("default", index).retrieve([topic], 20)[0]
    return FeatureReader(index).read(topic, found, index.records_of(found))


@given(texts=st.lists(st.text(), unique=True))
def test_vectors_come_back_bit_by_bit(
    texts: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("kept") / "file"
    kept = VectorCache(path, WIDTH)
    given_vectors = vectors([*texts, "odd \ud800"])
    given_vectors["odd \ud800"][:3] = np.nan, -0.0, np.inf
    kept.store(given_vectors)
    found = VectorCache(path, WIDTH).read([*given_vectors, "never kept"])
    # texts that share a bucket may be forgotten
    assert set(found) <= set(given_vectors)
    assert len(found) >= min(len(given_vectors), 4)
    for text, vector in found.items():
        assert vector.dtype == np.float32
        assert vector.tobytes() == given_vectors[text].tobytes()


def test_a_full_file_forgets_and_does_not_grow(tmp_path: Path) -> None:
    kept = VectorCache(tmp_path / "file", WIDTH, buckets=2)
    texts = [f"heading {number}" for number in range(200)]
    for start in range(0, 200, 20):
        kept.store(vectors(texts[start : start + 20], start))
    assert (tmp_path / "file").stat().st_size <= 8 * (16 + 4 * WIDTH + 4)
    found = kept.read(texts)
    assert 0 < len(found) <= 8
    for text, vector in found.items():
        place = texts.index(text)
        expected = vectors(texts[place - place % 20 : place - place % 20 + 20], place - place % 20)
        np.testing.assert_array_equal(vector, expected[text])


def test_a_damaged_record_is_none(tmp_path: Path) -> None:
    path = tmp_path / "file"
    kept, given_vectors = VectorCache(path, WIDTH, buckets=4), vectors(["one", "two", "three"])
    kept.store(given_vectors)
    content = path.read_bytes()
    for place in range(len(content)):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        for text, vector in kept.read([*given_vectors]).items():
            np.testing.assert_array_equal(vector, given_vectors[text])
    path.write_bytes(content[:-1])
    assert len(kept.read([*given_vectors])) < 3
    kept.store(given_vectors)
    assert len(kept.read([*given_vectors])) == 3


def test_threads_that_write_at_once_leave_whole_records(tmp_path: Path) -> None:
    texts = [f"heading {number}" for number in range(60)]
    given_vectors = vectors(texts)
    wrong: list[str] = []

    def work() -> None:
        kept = VectorCache(tmp_path / "file", WIDTH, buckets=8)
        for _ in range(20):
            kept.store(given_vectors)
            read = kept.read(texts).items()
            wrong.extend(text for text, each in read if (each != given_vectors[text]).any())

    workers = [threading.Thread(target=work) for _ in range(3)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert not wrong


@pytest.mark.parametrize("kind", ["folder", "link", "pipe", "unwritable"])
def test_a_cache_that_cannot_be_used_is_passed_over(
    kind: str, index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SICETNON_CACHE", str(tmp_path / "cache"))
    expected = table(index)
    (path,) = (tmp_path / "cache" / FOLDER).iterdir()
    path.unlink()
    if kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to(tmp_path / "elsewhere")
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.write_bytes(b"x")
        path.chmod(0o400)
    np.testing.assert_array_equal(table(index), expected)
    assert not (tmp_path / "elsewhere").exists()


def test_kept_embeddings_change_no_bit_of_the_features(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SICETNON_CACHE", str(tmp_path / "cache"))
    expected = table(index)
    read: list[str] = []
    encode = Embedding.encode

    def counting(model: Embedding, texts: list[str]) -> Vector:
        read.extend(texts)
        return encode(model, texts)

    monkeypatch.setattr(Embedding, "encode", counting)
    assert table(index).tobytes() == expected.tobytes()
    # a question is not for others to know
    assert read == [QUESTION]
    (path,) = (tmp_path / "cache" / FOLDER).iterdir()
    assert path.stat().st_mode & 0o77 == 0


def test_another_model_or_library_has_another_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SICETNON_CACHE", str(tmp_path))
    one, other = vector_cache("model 1", WIDTH), vector_cache("model 2", WIDTH)
    assert one
    assert other
    one.store(vectors(["heading"]))
    assert set(one.read(["heading"])) == {"heading"}
    assert other.read(["heading"]) == {}


def test_the_files_of_versions_that_are_gone_are_removed(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("SICETNON_CACHE", str(tmp_path))
    ages = {"old": 100, "recent": 10}
    folder = tmp_path / FOLDER
    folder.mkdir()
    for name, days in ages.items():
        (folder / name).touch()
        then = time.time() - days * 24 * 3600
        os.utime(folder / name, (then, then))
    assert vector_cache("a model", WIDTH) is not None
    assert [path.name for path in folder.iterdir()] == ["recent"]
