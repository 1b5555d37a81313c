"""The document store: what is written is read, whatever the blocks; ten records take no time."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sicetnon.errors import BrokenIndexError, UsageError
from sicetnon.index.array_files import StoredFile
from sicetnon.index.document_store import (
    DICTIONARY,
    STORE,
    DocumentWriter,
    encode_record,
    opened_store,
)
from sicetnon.records import Entry

WORDS = [f"word{number}" for number in range(300)]


def entry(number: int, text: str) -> Entry:
    return Entry(f"id{number}", {"text": text})


def written(folder: Path, records: list[Entry], **sizes: int) -> dict[str, StoredFile]:
    writer = DocumentWriter(folder, **sizes)
    data = [encode_record(record) for record in records]
    for first in range(0, len(data), 7):
        writer.add(data[first : first + 7])
    return writer.close()


def sentences(count: int) -> list[Entry]:
    rng = Random(5)
    return [entry(n, " ".join(rng.choices(WORDS, k=rng.randrange(90)))) for n in range(count)]


@settings(max_examples=60, derandomize=True, deadline=None)
@given(
    texts=st.lists(
        st.one_of(st.text(max_size=30), st.just("long " * 5000)), min_size=1, max_size=30
    ),
    block_bytes=st.sampled_from([1, 100, 8192]),
    sampled_bytes=st.sampled_from([1, 500, 1 << 22]),
    order=st.randoms(use_true_random=False),
)
def test_what_is_written_is_read(
    texts: list[str], block_bytes: int, sampled_bytes: int, order: Random
) -> None:
    records = [entry(number, text) for number, text in enumerate(texts)]
    with tempfile.TemporaryDirectory() as name:
        files = written(Path(name), records, block_bytes=block_bytes, sampled_bytes=sampled_bytes)
        store = opened_store(Path(name), files, "entries")
        numbers = order.choices(range(len(records)), k=40)
        assert store.get(numbers) == [records[number] for number in numbers]
        first = order.randrange(len(records))
        assert store.between(first, len(records)) == records[first:]
        assert store.raw(0, len(records)) == [encode_record(record) for record in records]
        for outside in (-1, len(records)):
            with pytest.raises(BrokenIndexError, match=f"records: document {outside} is missing"):
                store.get([outside])


@pytest.mark.parametrize("sampled_bytes", [0, 1 << 22])
def test_empty_records_are_kept(tmp_path: Path, sampled_bytes: int) -> None:
    # no document has one, but merging copies what a store holds
    writer = DocumentWriter(tmp_path, sampled_bytes=sampled_bytes)
    writer.add([b"", b""])
    assert opened_store(tmp_path, writer.close(), "entries").raw(0, 2) == [b"", b""]


def test_a_large_store_has_a_dictionary_and_is_much_smaller(tmp_path: Path) -> None:
    records = sentences(3000)
    sizes = []
    for name, sampled_bytes in (("with", 1 << 18), ("without", 1 << 30)):
        (tmp_path / name).mkdir()
        files = written(tmp_path / name, records, block_bytes=1024, sampled_bytes=sampled_bytes)
        assert (DICTIONARY in files) == (name == "with")
        sizes.append(files[STORE].size)
        assert opened_store(tmp_path / name, files, "entries").between(0, 3000) == records
    json = sum(len(encode_record(record)) for record in records)
    assert sizes[0] < sizes[1] < json / 2


def test_another_dictionary_is_noticed(tmp_path: Path) -> None:
    files = written(tmp_path, sentences(3000), sampled_bytes=1 << 18)
    data = bytearray((tmp_path / DICTIONARY).read_bytes())
    data[len(data) // 2 :] = bytes(len(data) - len(data) // 2)
    (tmp_path / DICTIONARY).write_bytes(data)
    with pytest.raises(BrokenIndexError, match="records_dictionary: the checksum does not fit"):
        opened_store(tmp_path, files, "entries")


def test_threads_share_a_store(tmp_path: Path) -> None:
    records = sentences(500)
    store = opened_store(tmp_path, written(tmp_path, records, block_bytes=500), "entries")

    def read(seed: int) -> bool:
        numbers = Random(seed).choices(range(500), k=200)
        return store.get(numbers) == [records[number] for number in numbers]

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(read, range(40)))


def test_a_file_that_was_cut_short_is_named(tmp_path: Path) -> None:
    rng = Random(3)
    records = [entry(n, rng.randbytes(600).hex()) for n in range(4000)]
    store = opened_store(tmp_path, written(tmp_path, records), "entries")
    with (tmp_path / STORE).open("r+b") as file:
        file.truncate(1 << 20)
    for read in (lambda: store.get([3999]), lambda: store.between(0, 9)):
        with pytest.raises(BrokenIndexError, match="records: found 1,048,576 bytes, expected"):
            read()


@pytest.mark.parametrize("read", [lambda s: s.get([0]), lambda s: s.raw(0, 1)])
def test_a_closed_store_says_so(tmp_path: Path, read: Callable[[object], object]) -> None:
    store = opened_store(tmp_path, written(tmp_path, sentences(3)), "entries")
    store.close()
    with pytest.raises(UsageError, match="the index is closed"):
        read(store)


def test_records_of_another_kind_are_damage(tmp_path: Path) -> None:
    store = opened_store(tmp_path, written(tmp_path, sentences(3)), "arguments")
    with pytest.raises(BrokenIndexError, match="records: damaged: Object missing"):
        store.get([0])
    assert msgspec.json.decode(store.raw(0, 1)[0])["id"] == "id0"
