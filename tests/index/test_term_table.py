"""Ids numbered while an index is written: as a dictionary does it, and found in the files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sicetnon.index.array_files import ArrayWriter, MappedArray, StoredFile
from sicetnon.index.term_table import (
    IdentifierWriter,
    StoredWords,
    hash_all,
    write_hashes,
    write_offsets,
    write_sizes,
)
from sicetnon.text.words import hash_word

modestly = settings(max_examples=100, derandomize=True, deadline=None)
COLLIDING = ("8yn0iYCKYHlIj4-BwPqk", "GReLUrM4wMqfg9yzV3KQ")
"""Two ids with one hash."""
IDS = st.sampled_from([*COLLIDING, "a", "b", "ab", "é", "x" * 300]) | st.text("abc", min_size=1)


def opened(folder: Path, files: dict[str, StoredFile]) -> dict[str, NDArray[Any]]:
    return {name: MappedArray(folder / name, stored).array for name, stored in files.items()}


def check(folder: Path, batches: Sequence[Sequence[str]]) -> None:
    """Number the ids of batches, and read them back."""
    expected = dict[str, int]()
    writer = IdentifierWriter(folder)
    for batch in batches:
        for identifier in batch:
            expected.setdefault(identifier, len(expected))
        numbers = writer.insert([identifier.encode() for identifier in batch])
        assert numbers.tolist() == [expected[identifier] for identifier in batch]
        assert len(writer) == len(expected)
    stored = StoredWords(folder, opened(folder, writer.close()), "ids")
    assert [word.decode() for word in stored.words()] == list(expected)
    assert stored.numbers(list(expected)).tolist() == list(expected.values())
    assert stored.number("another") is None


@modestly
@given(batches=st.lists(st.lists(IDS, max_size=9), max_size=5))
def test_ids_are_numbered_as_by_a_dictionary(
    batches: list[list[str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    check(tmp_path_factory.mktemp("ids"), batches)


def test_different_ids_may_have_one_hash(tmp_path: Path) -> None:
    first, second = COLLIDING
    assert hash_word(first.encode()) == hash_word(second.encode())
    check(tmp_path, [["a", first], [second, first, "b", second], [first, second, "c"]])


def test_many_ids_make_the_table_grow(tmp_path: Path) -> None:
    ids = [f"d{number}" for number in range(50_000)]
    check(tmp_path, [[*COLLIDING, *ids[:3]], ids[3:2_000], [*ids[1_990:20_000], *COLLIDING[::-1]]])
    (tmp_path / "more").mkdir()
    check(tmp_path / "more", [ids[:3], ids[3:2_000], [*ids[1_990:20_000], *ids[:9]], ids[20_000:]])


@pytest.mark.parametrize("at_a_time", [1, 100, 1 << 20])
@pytest.mark.parametrize("count", [0, 1, 15, 16, 40_000])
def test_words_are_put_into_buckets_some_at_a_time(
    tmp_path: Path, count: int, at_a_time: int
) -> None:
    words = [b"w%d" % number for number in range(count)]
    ends = np.cumsum([0, *map(len, words)])
    hashes = hash_all(ends, np.frombuffer(b"".join(words), np.uint8))
    (tmp_path / "whole").mkdir()
    found = opened(tmp_path, write_hashes(tmp_path, "x", hashes, at_a_time))
    expected = opened(tmp_path / "whole", write_hashes(tmp_path / "whole", "x", hashes, 1 << 30))
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert found[name].dtype == array.dtype
        assert found[name].tolist() == array.tolist()
    assert sorted(found["x_numbers"].tolist()) == list(range(count))


@pytest.mark.parametrize("count", [0, 1, 31, 32, 1 << 18, (1 << 18) + 1, 600_000])
def test_sizes_are_written_as_their_offsets_are(tmp_path: Path, count: int) -> None:
    sizes = (np.arange(count) % 300).astype(np.uint16)
    (tmp_path / "sizes").mkdir()
    files = write_sizes(tmp_path / "sizes", "x", sizes)
    offsets = np.append(0, np.cumsum(sizes, dtype=np.int64))
    assert files == write_offsets(tmp_path, "x", offsets)


def write_and_fail(path: Path) -> None:
    with ArrayWriter(path, np.uint8) as writer:
        writer.append(np.zeros(9, np.uint8))
        raise ValueError("the first error")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full disk")
def test_a_full_disk_does_not_hide_another_error() -> None:
    with pytest.raises(ValueError, match="the first error"):
        write_and_fail(Path("/dev/full"))
