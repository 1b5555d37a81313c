"""Merging and other rewriting: damage is not passed on under a new checksum."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sicetnon.errors import BrokenIndexError
from sicetnon.index.reader import IndexReader
from sicetnon.index.writing import (
    BuildOptions,
    add_documents,
    annotate_index,
    delete_documents,
)
from support.annotation_cases import QUALITY
from support.index_cases import PORTER, compact_index, entries, files_of


def flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)


def add(folder: Path) -> Any:
    return add_documents(entries({"new": ("new",)}), folder, BuildOptions(PORTER))


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("postings", lambda path: flip(path, 0)),
        ("ids_letters", lambda path: flip(path, 1)),
        ("records", lambda path: flip(path, 0)),
        ("records_offsets", lambda path: flip(path, 9)),
    ],
)
@pytest.mark.parametrize("act", [add, compact_index])
def test_merging_refuses_damage(
    crowded: Path, tmp_path: Path, act: Callable[[Path], Any], name: str, damage: Any
) -> None:
    folder = tmp_path / "index"
    shutil.copytree(crowded, folder)
    path = folder / "segment-000001" / name
    damage(path)
    before = files_of(folder)
    with pytest.raises(BrokenIndexError, match=f"^{path}: the checksum does not fit; "):
        act(folder)
    assert files_of(folder) == before


def test_deleting_refuses_damaged_ids(crowded: Path, tmp_path: Path) -> None:
    folder = tmp_path / "index"
    shutil.copytree(crowded, folder)
    path = folder / "segment-000001" / "ids_letters"
    flip(path, 1)
    with pytest.raises(BrokenIndexError, match=f"^{path}: the checksum does not fit; "):
        delete_documents(folder, ["s1"])


def test_a_model_reads_no_damaged_records(crowded: Path, tmp_path: Path) -> None:
    folder = tmp_path / "index"
    shutil.copytree(crowded, folder)
    path = folder / "segment-000001" / "records"
    flip(path, 0)
    with pytest.raises(BrokenIndexError, match=f"^{path}: the checksum does not fit; "):
        annotate_index(folder, [QUALITY])
    flip(path, 0)
    with IndexReader.open(folder) as index:
        assert index.annotation("quality") is None
