"""Files that others change while an index is open."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sicetnon.app.index import Index
from sicetnon.errors import BrokenIndexError
from sicetnon.index import array_files
from sicetnon.index.manifest import read_manifest
from support.index_faults import forked

SEARCHES: list[Callable[[Index], Any]] = [
    lambda index: index.search("word1"),
    lambda index: index.identifiers([0]),
    lambda index: index.numbers(["s1"]),
]


@pytest.mark.parametrize("name", ["postings", "ids_letters"])
@pytest.mark.parametrize("act", SEARCHES)
def test_a_file_that_is_cut_short_is_named(
    crowded: Path,
    tmp_path: Path,
    act: Callable[[Index], Any],
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In another process: the system ends one that reads behind the end of a mapped file."""
    monkeypatch.setattr(array_files, "READ_AT_OPENING", 1 << 10)
    folder = tmp_path / "index"
    shutil.copytree(crowded, folder)
    path = folder / "segment-000001" / name

    def cut_and_search() -> None:
        with Index.open(folder) as index:
            with path.open("rb+") as file:
                file.truncate(100)
            with pytest.raises(BrokenIndexError, match=f"^{path}: found 100 bytes, .* cut short"):
                act(index)

    assert forked(cut_and_search, tmp_path / "errors") == 0, (tmp_path / "errors").read_text()


def test_small_files_may_be_overwritten(old: Path) -> None:
    folder = old / "segment-000001"
    (entry,) = read_manifest(old).segments
    with Index.open(old) as index:
        retriever = index.retriever()
        before = retriever.search({"school": 1.0}, 10)
        for name, stored in entry.files.items():
            if stored.dtype:
                (folder / name).write_bytes(b"\xff" * stored.size)
        after = index.retriever().search({"school": 1.0}, 10)
        assert [each.tolist() for each in after] == [each.tolist() for each in before]
        assert len(index.identifiers(after[0])) == 10
