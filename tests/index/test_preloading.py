"""Postings that are unpacked before a query asks for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sicetnon.errors import BrokenIndexError
from sicetnon.index.packed import PackedPostings
from sicetnon.index.reader import IndexReader
from sicetnon.index.writing import BuildOptions, add_documents, build_index
from sicetnon.retrieval.scoring import FieldScore
from sicetnon.retrieval.searcher import LocalRetriever
from sicetnon.retrieval.weighting import BM25
from support.index_cases import FORMS, PORTER, entries

FREQUENT, DOCUMENTS = [f"word{number}" for number in range(20)], 24_000
POSTING_BYTES = 12  # of which half are for the pool


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two segments, in which each of twenty words is in a third of the documents."""
    random, place = np.random.default_rng(5), tmp_path_factory.mktemp("preloading") / "index"
    texts = [" ".join(random.choice(FREQUENT, 8)) + f" rare{n}" for n in range(DOCUMENTS)]
    named = {f"d{number}": (text,) for number, text in enumerate(texts)}
    first, second = list(named)[:14_000], list(named)[14_000:]
    build_index(entries({name: named[name] for name in first}), place, BuildOptions(PORTER))
    add_documents(entries({name: named[name] for name in second}), place, BuildOptions(PORTER))
    return place


@pytest.fixture
def unpacked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of postings that were unpacked so far."""
    found, unpack_into = list[int](), PackedPostings.unpack_into

    def counted(self: PackedPostings, term: int, documents: Any, numbers: Any) -> None:
        found.append(len(documents))
        unpack_into(self, term, documents, numbers)

    monkeypatch.setattr(PackedPostings, "unpack_into", counted)
    return found


def best(index: IndexReader, words: list[str]) -> list[tuple[int, float]]:
    query = dict.fromkeys(words, 1.0)
    numbers, scores = LocalRetriever(index, [FieldScore(BM25())]).search(query, 20)
    return list(zip(numbers.tolist(), scores.tolist(), strict=True))


def test_queries_unpack_no_frequent_word(folder: Path, unpacked: list[int]) -> None:
    with IndexReader.open(folder) as index:
        expected = best(index, FREQUENT)
    unpacked.clear()
    with IndexReader.open(folder) as index:
        index.preload()
        assert len(unpacked) == 2 * len(FREQUENT)
        assert best(index, FREQUENT) == expected
        assert best(index, ["rare7", "word3"])[0][0] == 7
        index.preload()
        assert len(unpacked) == 2 * len(FREQUENT) + 1
        # what is there stays where it is
        pool = index._unpacked._pool
        index.preload()
        assert index._unpacked._pool is pool


def test_no_more_is_unpacked_than_there_is_memory_for(folder: Path, unpacked: list[int]) -> None:
    with IndexReader.open(folder) as index:
        expected = best(index, FREQUENT)
    preloaded = []
    for postings in (0, 200_000, 2_000_000):
        unpacked.clear()
        with IndexReader.open(folder, postings_memory=POSTING_BYTES * postings) as index:
            index.preload()
            preloaded.append(sum(unpacked))
            # half of the room is for what queries ask for
            assert 2 * preloaded[-1] <= postings
            assert best(index, FREQUENT) == expected
    nothing, some, all_of_them = preloaded
    assert nothing == 0 < some < all_of_them


def test_frequent_terms_stay_longest(folder: Path, unpacked: list[int]) -> None:
    with IndexReader.open(folder) as index:
        index.preload()
        assert unpacked == sorted(unpacked[:20]) + sorted(unpacked[20:])


def test_forms_that_are_kept_apart_are_not_preloaded(tmp_path: Path, unpacked: list[int]) -> None:
    texts = {f"d{number}": (f"tax taxes {number % 3}",) for number in range(12_000)}
    build_index(entries(texts), tmp_path / "index", BuildOptions(FORMS))
    with IndexReader.open(tmp_path / "index") as index:
        index.preload()
        assert not unpacked


def test_what_cannot_be_preloaded_is_refused(folder: Path) -> None:
    index = IndexReader.open(folder)
    index.segments[0].postings._words = np.zeros_like(index.segments[0].postings._words)
    with pytest.raises(BrokenIndexError, match="found a record of a term that cannot be one"):
        index.preload()
    index.close()
