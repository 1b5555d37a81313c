"""Pairs of frequency and length: codes stand for what the postings hold, after every change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robustness.crafted import read, seal
from sicetnon.errors import BrokenIndexError
from sicetnon.index.pairs import PAIRED_FROM
from sicetnon.index.reader import IndexReader
from sicetnon.retrieval import kernels, plain
from sicetnon.retrieval.exhaustive import Best, search_exhaustively
from sicetnon.retrieval.scoring import FieldScore
from sicetnon.retrieval.tabulated import search_tabulated
from sicetnon.retrieval.weighting import BM25
from support.index_cases import compact_index
from support.small_indexes import build

SIZE = 4 * PAIRED_FROM
FIRST = "segment-000001"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An index with frequent and rare terms, in two segments, with deleted documents."""
    random = np.random.default_rng(1)
    made = [
        {"title": "tax", "text": "vote " * random.integers(1, 9) + "ban " * random.integers(0, 3)}
        for _ in range(SIZE)
    ]
    return build(tmp_path, made, "plain", (SIZE // 2,), range(0, SIZE, 5))


def check(folder: Path) -> int:
    """Hold the codes of an index against its postings; the number of terms with pairs."""
    paired = 0
    with IndexReader.open(folder) as index:
        for segment in index.segments:
            lengths = segment.lengths.sum(axis=1)
            for term in range(len(segment.terms)):
                here, pairs = segment.postings(term), segment.pairs(term)
                sums = segment.frequencies[here].sum(axis=1)
                assert segment.sums(term)[:, 0].tolist() == sums.tolist()
                assert (pairs.stop > pairs.start) == (len(sums) >= PAIRED_FROM)
                if pairs.stop > pairs.start:
                    known = segment.pair_lengths[pairs][segment.codes[here]]
                    assert known.tolist() == lengths[segment.documents[here]].tolist()
                    paired += 1
    return paired


def test_codes_stand_for_frequency_and_length(folder: Path) -> None:
    assert check(folder) == 6
    compact_index(folder)
    assert check(folder) == 3


@pytest.mark.parametrize(
    ("name", "value"),
    [("codes", 65_535), ("pair_lengths", -1), ("pair_lengths", 2**31 - 1), ("pair_offsets", 7)],
)
def test_damaged_pairs_are_an_error(folder: Path, name: str, value: int) -> None:
    stored = read(folder)["segments"][0]["files"][name]["dtype"]
    array: Any = np.memmap(folder / FIRST / name, stored, "r+")
    array[: len(array) - (name == "pair_offsets")] = value
    array.flush()
    seal(folder, read(folder))

    def search() -> None:
        with IndexReader.open(folder) as index:
            part = FieldScore(BM25()).bind(index)({"vote": 1.0})
            search_tabulated(part, index.segments, Best.of(5))

    with pytest.raises(BrokenIndexError, match="damaged"):
        search()


@pytest.mark.parametrize("loops", [plain, kernels])
def test_a_wrong_code_is_an_error_of_the_plain_way_too(folder: Path, loops: Any) -> None:
    array: Any = np.memmap(folder / FIRST / "codes", np.uint16, "r+")
    array[:] = 65_535
    array.flush()
    seal(folder, read(folder))

    def search() -> None:
        with IndexReader.open(folder) as index:
            part = FieldScore(BM25()).bind(index)({"vote": 1.0})
            search_exhaustively([part], index.segments, Best.of(5), loops)

    with pytest.raises(BrokenIndexError, match="codes: damaged"):
        search()
