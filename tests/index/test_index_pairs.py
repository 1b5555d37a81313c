"""Pairs of frequency and length: codes stand for what the postings hold, after every change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robustness.crafted import read, seal
from sicetnon.errors import BrokenIndexError
from sicetnon.index.posting_cache import PAIRED_FROM
from sicetnon.index.reader import IndexReader
from sicetnon.retrieval.kernels import COMPILED, NUMPY
from sicetnon.retrieval.reference import Best, search_exhaustively
from sicetnon.retrieval.scoring import FieldScore
from sicetnon.retrieval.searcher import search_tabulated
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
                documents, frequencies = segment.rows(term)
                sums = frequencies.sum(axis=1)
                assert segment.sums(term).documents.tolist() == documents.tolist()
                assert segment.sums(term).frequencies[:, 0].tolist() == sums.tolist()
                pool, places = segment.together([term], None)
                found = pool.take(tuple(places[0].tolist()))
                assert found.documents.tolist() == documents.tolist()
                assert (len(found.pair_lengths) > 0) == (len(sums) >= PAIRED_FROM)
                if not len(found.pair_lengths):
                    assert found.codes.tolist() == sums.tolist()
                    continue
                columns = found.pair_frequencies, found.pair_lengths
                pairs = np.stack(columns, axis=1).tolist()
                assert pairs == sorted(pairs)
                assert len({tuple(pair) for pair in pairs}) == len(pairs)
                assert found.pair_lengths[found.codes].tolist() == lengths[documents].tolist()
                assert found.pair_frequencies[found.codes].tolist() == sums.tolist()
                paired += 1
    return paired


def test_codes_stand_for_frequency_and_length(folder: Path) -> None:
    assert check(folder) == 6
    compact_index(folder)
    assert check(folder) == 3


@pytest.mark.parametrize("name", ["postings", "posting_offsets", "lengths_0"])
@pytest.mark.parametrize("loops", [NUMPY, COMPILED, None])
def test_damage_is_an_error(folder: Path, name: str, loops: Any) -> None:
    """Where no checksum tells, the records contradict themselves, or what is known of them."""
    stored = read(folder)["segments"][0]["files"][name]["dtype"]
    array: Any = np.memmap(folder / FIRST / name, stored, "r+")
    array[:] = 0 if name == "postings" else np.iinfo(stored).max
    array.flush()
    seal(folder, read(folder))

    def search() -> None:
        with IndexReader.open(folder) as index:
            part = FieldScore(BM25()).bind(index)({"vote": 1.0})
            if loops:
                search_exhaustively([part], index.segments, Best.of(5), loops)
            else:
                search_tabulated(part, index.segments, Best.of(5))

    if name == "lengths_0":  # lengths that there may be
        search()
        return
    with pytest.raises(BrokenIndexError, match="damaged"):
        search()
