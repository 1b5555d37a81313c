"""Indexes that contradict themselves although all checksums fit: refused, and never run away."""

from __future__ import annotations

import shutil
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robustness.crafted import (
    Manifest,
    endless_frame,
    read,
    seal,
    write_frame,
    write_large,
    write_records,
)
from sicetnon.app.index import Index
from sicetnon.errors import BrokenIndexError, SicetnonError
from sicetnon.index.reader import IndexReader
from sicetnon.index.writing import (
    BuildOptions,
    add_documents,
    annotate_index,
    build_index,
    delete_documents,
)
from support.annotation_cases import BOTH
from support.index_cases import FORMS, PORTER, compact_index, entries

FIRST = "segment-000001"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index with all that an index can have: forms, two segments, a mask, annotations."""
    folder = tmp_path_factory.mktemp("whole") / "index"
    texts = {f"document-{n}": (f"schools and a school, number {n}",) for n in range(40)}
    build_index(entries(texts), folder, BuildOptions(FORMS))
    add_documents(entries({"more": ("another school",)}), folder, BuildOptions(FORMS))
    delete_documents(folder, ["document-7"])
    annotate_index(folder, BOTH)
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """A copy of that index, to be changed."""
    shutil.copytree(whole, tmp_path / "index")
    return tmp_path / "index"


def use(folder: Path) -> None:
    """Search an index, list its ids, read its annotations and records."""
    with Index.open(folder) as index:
        for question in ("school", "schools", "unknown"):
            index.search(question)
        every = list(range(index.size))
        for ids in (index.identifiers(every), ["document-1", "none"]):
            assert [index.number(identifier) for identifier in ids]
        for name in index.manifest.annotations:
            np.asarray(index.annotation(name))
        index.records_at(every)


def array(folder: Path, name: str) -> Any:
    """A file's array, which is written where it is changed."""
    path = next((folder / FIRST).glob(name))
    dtype = read(folder)["segments"][0]["files"][path.name]["dtype"]
    return np.memmap(path, dtype, "r+")


def refused(folder: Path, manifest: Manifest, file: str) -> None:
    """The index is refused, and the file is named; merging refuses it too."""
    seal(folder, manifest)
    with pytest.raises(BrokenIndexError, match=f"^{folder}.*{file}.*: .*(damaged|lacks)"):
        use(folder)


def test_the_index_can_be_used(folder: Path) -> None:
    seal(folder, read(folder))
    use(folder)


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("posting_offsets", 1, 255),
        ("posting_offsets_bases", 0, -1),
        ("posting_offsets_bases", 0, 2**40),
        ("postings", slice(None), 0),
        ("postings", slice(None), 2**64 - 1),
        ("terms_offsets", slice(1, -1), 255),
        ("terms_offsets_bases", slice(None), 2**62),
        ("terms_offsets", 0, 1),
        ("terms_numbers", slice(None), 2**31 - 1),
        ("ids_buckets", slice(None), 2**31 - 1),
        ("ids_buckets", slice(None), -1),
        ("ids_numbers", slice(None), -1),
        ("terms_letters", slice(None), 0xFF),
        ("ids_letters", slice(None), 0xFF),
        ("ids_letters", slice(None), 0x20),
        ("ids_offsets", 2, 2**16 - 1),
        ("ids_offsets", -1, 2**16 - 1),
        ("ids_offsets_bases", 1, 2**62),
        ("ids_offsets_bases", 1, -(2**62)),
        ("stems_numbers", slice(None), 2**31 - 1),
        ("form_offsets", slice(1, -1), -3),
        ("form_numbers", slice(None), 2**31 - 1),
        ("form_numbers", slice(None), -1),
        ("live-1", 3, 7),
        ("live-1", 3, 0),
        ("annotation-quality-*", 0, np.nan),
    ],
)
def test_numbers_out_of_bounds(folder: Path, name: str, place: Any, value: Any) -> None:
    array(folder, name)[place] = value
    refused(folder, read(folder), "" if "*" in name else name.removesuffix("_bases"))


def test_an_id_that_is_longer_beside_one_that_is_shorter(folder: Path) -> None:
    """The sum of their sizes is what it was, so that only each of them tells."""
    offsets = array(folder, "ids_offsets")
    offsets[20] += 150
    offsets[22] -= 140
    refused(folder, read(folder), "ids_offsets")


def test_occurrences_that_cannot_be(folder: Path) -> None:
    shutil.rmtree(folder)
    build_index(entries({"a": ("school",), "b": ("school",)}), folder, BuildOptions(PORTER))
    for value in (0, 2**16 - 1):
        array(folder, "patterns")[:] = value
        seal(folder, read(folder))
        with (
            IndexReader.open(folder) as index,
            pytest.raises(BrokenIndexError, match="postings: damaged"),
        ):
            index.segments[0].occurrences(0)


def test_lengths_below_zero(folder: Path) -> None:
    manifest = read(folder)
    path = folder / FIRST / "lengths_0"
    path.write_bytes(np.full(40, -1, np.int32).tobytes())
    manifest["segments"][0]["files"]["lengths_0"]["dtype"] = "int32"
    refused(folder, manifest, "lengths_0")


def described(name: str, **changes: Any) -> Callable[[Manifest], None]:
    def change(manifest: Manifest) -> None:
        manifest["segments"][0]["files"][name] |= {**changes, "kept": "size" in changes}

    return change


def entry(**changes: Any) -> Callable[[Manifest], None]:
    return lambda manifest: manifest["segments"][0].update(changes)


def setting(**changes: Any) -> Callable[[Manifest], None]:
    return lambda manifest: manifest.update(changes)


def rename(old: str, new: str) -> Callable[[Manifest], None]:
    def change(manifest: Manifest) -> None:
        files = manifest["segments"][0]["files"]
        files[new] = files.pop(old)

    return change


@pytest.mark.parametrize(
    ("change", "file"),
    [
        (described("lengths_0", shape=[41, 1]), "lengths_0"),
        (described("lengths_0", shape=[40, 1]), "lengths_0"),
        (described("lengths_0", dtype="uint32"), "lengths_0"),
        (described("lengths_0", dtype="float32"), "lengths_0"),
        (described("terms_numbers", dtype="object"), "terms_numbers"),
        (described("postings", dtype="no type"), "postings"),
        (described("postings", shape=[2]), "postings"),
        (described("patterns", shape=[2**62, 4]), "patterns"),
        (described("patterns", shape=[-1, 1]), "patterns"),
        (described("posting_offsets", shape=[7]), "posting_offsets"),
        (described("posting_offsets_bases", shape=[3]), "posting_offsets_bases"),
        (described("ids_buckets", shape=[1] * 70), "ids_buckets"),
        (described("ids_marks", shape=[16], size=16), "ids_marks"),
        (described("records", dtype="int64", shape=[5]), "records"),
        (described("records_offsets", shape=[40]), "records_offsets"),
        (described("records_blocks", shape=[0]), "records_blocks"),
        (entry(documents=10**9), ""),
        (entry(documents=39), ""),
        (entry(documents=0), "manifest.json"),
        (entry(documents=-1), "manifest.json"),
        (entry(name=f"../index/{FIRST}"), "manifest.json"),
        (entry(name="/"), "manifest.json"),
        (entry(name="segment-000002"), "manifest.json"),
        (entry(deleted="../live-1"), "manifest.json"),
        (entry(deleted="lengths_0"), "manifest.json"),
        (rename("lengths_0", "../lengths_0"), "manifest.json"),
        (rename("lengths_0", "/lengths_0"), "manifest.json"),
        (rename("lengths_0", "other"), ""),
        (setting(segments=[]), "manifest.json"),
        (setting(next_segment=1), "manifest.json"),
        (setting(records="others"), "manifest.json"),
        (setting(fields=[]), "manifest.json"),
        (setting(fields=["text", "text"]), "manifest.json"),
        (setting(fields=["text", "title"]), ""),
        (setting(annotations={"../x": {"model": "m", "reads": "r"}}), "manifest.json"),
        (setting(annotations={"quality": {"model": "m", "reads": "r"}}), ""),
        (setting(source={"deep": "DEEP"}), "manifest.json"),
        (setting(more={"deep": "DEEP"}), "manifest.json"),
    ],
)
def test_a_manifest_that_contradicts_its_files(
    folder: Path, change: Callable[[Manifest], None], file: str
) -> None:
    manifest = read(folder)
    change(manifest)
    refused(folder, manifest, file)


@pytest.mark.parametrize(
    "record",
    [
        b'{"id":"\xff"}',
        b'{"id": 5}',
        b"5",
        b"\0",
        b'{"id":"x","texts":{},"context":{"x":%s}}' % (b"[" * 100_000 + b"]" * 100_000),
    ],
)
def test_records_that_are_none(folder: Path, record: bytes) -> None:
    manifest = read(folder)
    write_records(folder, manifest["segments"][0], [record] * 40)
    seal(folder, manifest)
    unread(folder, "records: damaged")


def unread(folder: Path, error: str) -> None:
    """The index is opened, but its records cannot be read."""
    expected = pytest.raises(BrokenIndexError, match=f"{FIRST}/{error}")
    with IndexReader.open(folder) as index, expected:
        index.records_at(range(40))


@pytest.mark.parametrize(
    ("name", "place", "value", "error"),
    [
        ("records", 0, 7, "records: damaged"),
        ("records", 40, 7, "records: damaged"),
        ("records_offsets", 5, -1, "records: document 4 is missing"),
        ("records_offsets", 5, 2**40, "records: document 4 is missing"),
        ("records_offsets", 40, 2**40, "records: damaged"),
        ("records_offsets", 0, -(2**62), "records: damaged"),
        ("records_blocks", 1, 2**40, "records_blocks: damaged"),
        ("records_blocks", 1, 0, "records_blocks: damaged"),
        ("records_blocks", -1, 5, "records_blocks: damaged"),
        ("records_firsts", 1, 2**40, "records_blocks: damaged"),
        ("records_firsts", 0, 5, "records_blocks: damaged"),
    ],
)
def test_blocks_that_are_none(folder: Path, name: str, place: int, value: int, error: str) -> None:
    array(folder, name)[place] = value
    seal(folder, read(folder))
    with pytest.raises(BrokenIndexError, match=f"{FIRST}/{error}"):
        use(folder)


@pytest.mark.parametrize("size", [0, 1 << 17, 1 << 40, 1 << 62])
def test_a_block_of_any_size_takes_no_more_memory_than_it_has(folder: Path, size: int) -> None:
    manifest = read(folder)
    write_frame(folder, manifest["segments"][0], endless_frame(size), size)
    seal(folder, manifest)
    unread(folder, "records: damaged")


def test_records_larger_than_their_blocks_take_little_memory(folder: Path) -> None:
    manifest = read(folder)
    write_large(folder, manifest, 30 << 20)
    seal(folder, manifest)
    assert sum(path.stat().st_size for path in folder.rglob("*")) < 1 << 20
    with Index.open(folder) as index:
        every = list(range(index.size))
        tracemalloc.start()
        try:
            with pytest.raises(BrokenIndexError, match="SICETNON_MAX_UNPACKED_RATIO"):
                index.records_at(every)
            assert tracemalloc.get_traced_memory()[1] < 160 << 20
        finally:
            tracemalloc.stop()
        # one record alone is as large as a record may be
        assert len(index.records_at([0])) == 1


def test_the_limits_can_be_raised(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = read(folder)
    write_large(folder, manifest, 5 << 20)
    seal(folder, manifest)
    monkeypatch.setenv("SICETNON_MAX_UNPACKED_RATIO", "100000")
    with Index.open(folder) as index:
        assert len(index.records_at(range(20))) == 20


@pytest.mark.parametrize("system", ["bm25", "dirichlet", "bm25-rm3"])
def test_records_of_terms_that_overlap_are_refused(tmp_path: Path, system: str) -> None:
    texts = {f"d{n}": (f"school tenure {f'w{n}' if n < 40 else ''}",) for n in range(90)}
    for analysis in (PORTER, FORMS):
        folder = tmp_path / analysis.name
        build_index(entries(texts), folder, BuildOptions(analysis))
        manifest = read(folder)
        # the first group of offsets, which stand in one file alone
        offsets = array(folder, "posting_offsets")
        first = int(np.argmax(offsets[1:32] - offsets[:31]))
        offsets[:32:2], offsets[1:32:2] = offsets[first], offsets[first + 1]
        offsets.flush()
        seal(folder, manifest)
        with Index.open(folder) as index:
            words = " ".join(index.segments[0].terms.word(term) for term in range(0, 32, 2))
            with pytest.raises(BrokenIndexError, match="damaged"):
                index.search(words, system=system)


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("posting_offsets", 1, 255),
        ("posting_offsets", 2, 0),
        ("postings", slice(None), 0),
        ("postings", slice(None), 2**64 - 1),
        ("terms_offsets", 2, 255),
        ("ids_offsets", 3, 2**16 - 1),
        ("ids_letters", slice(None), 0x41),
    ],
)
@pytest.mark.parametrize("deleted", [(), ("document-3",)])
def test_merging_reads_no_further_than_its_arrays(
    folder: Path, name: str, place: Any, value: int, deleted: tuple[str, ...]
) -> None:
    delete_documents(folder, deleted)
    array(folder, name)[place] = value
    seal(folder, read(folder))
    before = read(folder)
    with pytest.raises(SicetnonError, match=f"^{folder}.*: damaged: "):
        compact_index(folder)
    assert read(folder) == before
