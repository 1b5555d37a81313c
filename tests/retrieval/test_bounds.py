"""Bounds of terms kept from query to query."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sicetnon.retrieval import bounds
from sicetnon.retrieval.range_bounds import BLOCK_BITS, RANGE_BITS

DOCUMENTS = 1 << BLOCK_BITS


class Segment:
    """A segment whose postings of term 2 are damaged."""

    def __len__(self) -> int:
        return DOCUMENTS

    def wrong_posting(self) -> Exception:
        return ValueError("damaged")


def test_a_damaged_term_leaves_the_bounds_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    two_rows = 2 * ((DOCUMENTS >> RANGE_BITS) + 4)
    monkeypatch.setattr(bounds, "usual_bytes", lambda: 8 * two_rows)
    segment: Any = Segment()
    known = bounds.KnownBounds([segment])
    documents = np.arange(DOCUMENTS, dtype=np.int32)
    codes = np.zeros(DOCUMENTS, np.uint16)
    scores, offsets = np.array([1.0]), np.array([0, 1])

    def row_of(number: int) -> int:
        damaged = documents[::-1].copy() if number == 2 else documents
        postings: Any = (damaged, codes)
        terms: Any = (None, None, None, offsets, scores)
        places = np.array([[0, DOCUMENTS]])
        arguments = 0, segment, [number], postings, terms, places
        found = known.of(*arguments) or known.of(*arguments)
        assert found is not None
        return int(found[2][0])

    rows = [row_of(0), row_of(1)]
    assert sorted(rows) == [0, 1]
    with pytest.raises(ValueError, match="damaged"):
        row_of(2)
    assert row_of(1) != row_of(3)
