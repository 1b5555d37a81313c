"""Files in the Common Index File Format, beside Google's protobuf library."""

from __future__ import annotations

import contextlib
import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sicetnon.errors import DataError
from sicetnon.formats.ciff import CiffHeader, CiffReader, PostingsLists, write_ciff
from support import ciff_files
from support.index_cases import SETTINGS

LARGEST = (1 << 31) - 1
WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)
POSTINGS = st.dictionaries(
    st.one_of(st.integers(0, 3), st.integers(0, LARGEST - 1)),
    st.integers(1, LARGEST),
    min_size=1,
    max_size=6,
).map(lambda postings: tuple(sorted(postings.items())))
LISTS = st.dictionaries(WORDS, POSTINGS, max_size=6)
DOCUMENTS = st.lists(st.tuples(WORDS, st.integers(0, LARGEST)), max_size=5)


def as_lists(lists: ciff_files.Lists) -> PostingsLists:
    rows = np.array([pair for postings in lists.values() for pair in postings], np.int64)
    documents, frequencies = rows.reshape(-1, 2).T
    terms = [term.encode() for term in lists]
    return PostingsLists(terms, np.array(list(map(len, lists.values()))), documents, frequencies)


def lists_of(reader: CiffReader, block_bytes: int = 1) -> dict[str, list[tuple[int, int]]]:
    found = {}
    for block in reader.lists(block_bytes):
        ends = np.cumsum(block.counts).tolist()
        for term, count, end in zip(block.terms, block.counts.tolist(), ends, strict=True):
            pairs = zip(block.documents.tolist(), block.frequencies.tolist(), strict=True)
            found[term.decode()] = list(pairs)[end - count : end]
    return found


@given(LISTS, DOCUMENTS, st.integers(1, 100))
@settings(SETTINGS)
def test_google_reads_what_is_written(
    tmp_path: Path, lists: ciff_files.Lists, documents: list[tuple[str, int]], block: int
) -> None:
    path = tmp_path / "x.ciff"
    header = CiffHeader(len(lists), len(documents), 7, 8, 1 << 40, 12.5, "by a test; ŝ")
    blocks = [{term: postings} for term, postings in lists.items()] if block % 2 else [lists]
    write_ciff(path, header, (as_lists(each) for each in blocks if each), documents)
    head, found, records = ciff_files.read(path)
    assert (head.version, head.total_docs, head.average_doclength) == (1, 8, 12.5)
    assert (head.total_terms_in_collection, head.description) == (1 << 40, "by a test; ŝ")
    assert found == {term: list(postings) for term, postings in lists.items()}
    assert records == documents
    assert [each.name for each in tmp_path.iterdir()] == ["x.ciff"]


@given(LISTS, DOCUMENTS, st.integers(1, 100))
@example({"a": ((0, 1),), "b": ((0, 300), (LARGEST - 1, 1))}, [("x", 0)], 1)
@settings(SETTINGS)
def test_what_google_writes_is_read(
    tmp_path: Path, lists: ciff_files.Lists, documents: list[tuple[str, int]], block: int
) -> None:
    path = ciff_files.write(
        tmp_path / "x.ciff", lists, documents, description="d", average_doclength=0.5
    )
    reader = CiffReader(path)
    most = max((each[-1][0] for each in lists.values()), default=0)
    assert (reader.header.description, reader.header.average_length) == ("d", 0.5)
    if most >= max(len(documents), 1):
        with pytest.raises(DataError, match="a document or a frequency that cannot be"):
            lists_of(reader, block)
        return
    assert lists_of(reader, block) == {term: list(each) for term, each in lists.items()}
    assert list(reader.documents()) == documents


LISTS_OF_TWO = {"a": ((0, 1), (1, 200)), "b": ((1, 3),)}
TWO = [("x", 1), ("y", 203)]


@given(st.data())
@settings(SETTINGS, max_examples=150)
def test_any_bytes_are_read_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    path = ciff_files.write(tmp_path / "x.ciff", LISTS_OF_TWO, TWO)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place : place + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=3))
        content = content or bytearray(b"\x00")
    path.write_bytes(content)
    with contextlib.suppress(DataError):
        reader = CiffReader(path)
        lists_of(reader)
        list(reader.documents())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty; expected a CIFF file"),
        (gzip.compress(b"x", mtime=0), "is packed; unpack it with gunzip first"),
        (b"\x02\x08\x02", "found version 2; expected 1"),
        (b"\xff\xff", "the header is cut short"),
        (b"{}", "no CIFF file"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "x.ciff"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        CiffReader(path)


def test_a_file_ends_with_its_last_record(tmp_path: Path) -> None:
    path = ciff_files.write(tmp_path / "x.ciff", LISTS_OF_TWO, TWO)
    whole = path.read_bytes()
    for content, message in ((whole + b"x", "1 bytes follow"), (whole[:-1], "is cut short")):
        path.write_bytes(content)
        reader = CiffReader(path)
        lists_of(reader)
        with pytest.raises(DataError, match=message):
            list(reader.documents())


def test_nothing_is_left_of_what_was_not_written(tmp_path: Path) -> None:
    def fail() -> None:
        raise OSError("no space")

    path = tmp_path / "x.ciff"
    path.write_text("before")
    header = CiffHeader(0, 1, 0, 1, 0, 0.0, "")
    with pytest.raises(OSError, match="no space"):
        write_ciff(path, header, [], ((fail(), 1) for _ in range(1)))  # type: ignore[misc]
    assert path.read_text() == "before"
    assert [each.name for each in tmp_path.iterdir()] == ["x.ciff"]
