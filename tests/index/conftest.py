"""Fixtures that several tests of the index share."""

from __future__ import annotations

from pathlib import Path

import pytest

from sicetnon.index.compaction import MAX_SEGMENTS
from sicetnon.index.writing import BuildOptions, add_documents, build_index
from support.index_cases import PORTER, entries

WORDS = [f"word{number}" for number in range(400)]


@pytest.fixture(scope="session")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index that merges when something is added; its first files are too large to be read."""
    folder = tmp_path_factory.mktemp("crowded") / "index"
    first = {f"d{number}-{'x' * 300}": (_text(number),) for number in range(3600)}
    build_index(entries(first), folder, BuildOptions(PORTER))
    for segment in range(1, MAX_SEGMENTS):
        add_documents(entries({f"s{segment}": (_text(segment),)}), folder, BuildOptions(PORTER))
    return folder


def _text(number: int) -> str:
    return " ".join(WORDS[number % 7 :: 3]) + f" {number}"
