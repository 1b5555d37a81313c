"""An index that is none, or damaged: what is wrong is named."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sicetnon import Index, cli
from sicetnon.errors import BrokenIndexError, DataError, UsageError
from sicetnon.index.manifest import FORMAT_VERSION, MANIFEST, read_manifest, write_manifest
from sicetnon.index.reader import IndexReader, verify_index
from sicetnon.index.writing import BuildOptions, add_documents, build_index, delete_documents
from sicetnon.text.analysis import Analysis
from support.index_cases import (
    FORMS,
    PORTER,
    check_tidy,
    compact_index,
    content_of,
    corpus_of,
    entries,
)
from support.index_faults import (
    NEW,
    NEW_CONTENT,
    OLD,
    OLD_CONTENT,
    delete_some,
    rebuild,
    replace_some,
)


def test_opening_where_no_index_is(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")
    for name, message in (
        ("missing", "there is no such folder"),
        ("file", "is no folder"),
        ("empty", "holds no finished index (no manifest.json)"),
    ):
        with pytest.raises(BrokenIndexError, match=re.escape(f"{tmp_path / name}: {message}")):
            IndexReader.open(tmp_path / name)
    (tmp_path / "empty" / MANIFEST).mkdir()
    with pytest.raises(BrokenIndexError, match=r"manifest\.json: is no regular file"):
        IndexReader.open(tmp_path / "empty")


@pytest.mark.parametrize(
    "edit",
    [
        lambda data: data.replace(b'"documents": 30', b'"documents": 29'),
        lambda data: data.replace(b'"name": "porter-stop"', b'"name": "plain"'),
        lambda data: data[: len(data) // 2],
        lambda data: data[:-3],
        lambda data: b"",
        lambda data: b"[]",
        lambda data: b'{"manifest": [], "sha256": ""}',
        lambda data: b"\xff\x00" + data,
        lambda data: data.replace(b"porter", b"p\xff\xfeter"),
    ],
)
def test_a_manifest_edited_by_hand(old: Path, edit: Callable[[bytes], bytes]) -> None:
    path = old / MANIFEST
    written = path.read_bytes()
    path.write_bytes(edit(written))
    assert path.read_bytes() != written
    for act in (IndexReader.open, replace_some, delete_some, compact_index):
        with pytest.raises(BrokenIndexError, match=f"^{path}: damaged or foreign: "):
            act(old)
    path.write_bytes(written)
    assert content_of(old) == OLD_CONTENT
    path.write_bytes(edit(written))
    rebuild(old)
    assert content_of(old) == NEW_CONTENT
    check_tidy(old)


@pytest.mark.parametrize("other", [1, FORMAT_VERSION - 1, FORMAT_VERSION + 1])
def test_an_index_of_another_format(old: Path, other: int) -> None:
    future = msgspec.structs.replace(read_manifest(old), version=other)
    write_manifest(old, future)
    known = f"sicetnon index version {FORMAT_VERSION}"
    expected = f"found sicetnon index version {other}, expected {known}; build an index with: "
    for act in (IndexReader.open, replace_some, delete_some, compact_index):
        with pytest.raises(BrokenIndexError, match=expected):
            act(old)
    with pytest.raises(DataError, match="holds no document"):
        build_index(corpus_of([]), old, BuildOptions(PORTER))
    write_manifest(old, msgspec.structs.replace(future, version=FORMAT_VERSION))
    assert content_of(old) == OLD_CONTENT


@pytest.mark.parametrize("analysis", [PORTER, FORMS])
def test_damaged_files_are_named(tmp_path: Path, analysis: Any) -> None:
    folder, other = tmp_path / "one", tmp_path / "other"
    often = {f"often-{place}": ("a word of many documents",) for place in range(300)}
    build_index(entries({**OLD, **often}), folder, BuildOptions(analysis))
    delete_documents(folder, ["old5"])
    longer = {f"long-{i}": (f"{text} words" * 9,) for i, (text,) in NEW.items()}
    build_index(entries(longer), other, BuildOptions(analysis))
    (entry,) = read_manifest(folder).segments
    assert len(entry.files) == (30 if analysis.forms else 22)
    for name, stored in entry.files.items():
        path = folder / entry.name / name
        data = path.read_bytes()
        for damaged in (data[:-1], data + b"x", b"", data[: len(data) // 2], None):
            path.unlink()
            if damaged is not None:
                path.write_bytes(damaged)
            with pytest.raises(BrokenIndexError, match=f"^{path}: ") as caught:
                IndexReader.open(folder)
            assert ("expected" if damaged is not None else "cannot be read") in str(caught.value)
        path.write_bytes(data)
        strange = other / entry.name / name
        if strange.exists() and strange.stat().st_size != stored.size:
            path.write_bytes(strange.read_bytes())
            with pytest.raises(BrokenIndexError, match=f"^{path}: .*belongs to another index"):
                IndexReader.open(folder)
            path.write_bytes(data)
        flipped = bytearray(data)
        flipped[len(data) // 2] ^= 0x10
        path.write_bytes(flipped)
        with pytest.raises(BrokenIndexError, match=f"^{path}: the ch"):
            verify_index(folder)
        with pytest.raises(BrokenIndexError, match=f"^{path}: the ch"):
            IndexReader.open(folder)
        path.write_bytes(data)
    check_tidy(folder)


def test_all_damaged_files_are_named_at_once(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = old / read_manifest(old).segments[0].name
    for name in ("lengths_0", "terms_letters"):
        data = bytearray((folder / name).read_bytes())
        data[0] ^= 1
        (folder / name).write_bytes(data)
    assert cli.main(["index", "verify", str(old)]) == 1
    error = capsys.readouterr().err
    assert f"{folder}/lengths_0" in error
    assert f"{folder}/terms_letters" in error
    assert "documents" not in error
    assert error.count("\n") == 1


def test_a_damaged_store_is_named(old: Path) -> None:
    path = old / read_manifest(old).segments[0].name / "records"
    path.write_bytes(b"x" * path.stat().st_size)
    with pytest.raises(BrokenIndexError, match=f"^{path}: the checksum does not fit; "):
        IndexReader.open(old)
    with pytest.raises(BrokenIndexError, match=f"^{path}: the checksum does not fit; "):
        compact_index(old)


def test_a_closed_index_says_that_it_is_closed(old: Path) -> None:
    with IndexReader.open(old) as index:
        (identifier,) = index.identifiers([0])
    for read in (lambda: index.records_at([0]), lambda: index.records([identifier])):
        with pytest.raises(UsageError, match=f"^{old}: the index is closed; open it again$"):
            read()


def test_a_record_that_is_missing_is_named(old: Path) -> None:
    with (
        IndexReader.open(old) as index,
        pytest.raises(BrokenIndexError, match=r"records: document 30 is"),
    ):
        index.segments[0].store.get([30])


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("stemmer_version", "PyStemmer 0.0.1"),
        ("stop_words_hash", "0123456789abcdef"),
        ("unicode", "3.2.0"),
        ("scanner", 0),
    ],
)
def test_an_index_of_another_analysis_is_refused(old: Path, key: str, value: str | int) -> None:
    manifest = read_manifest(old)
    now = manifest.analysis[key]
    changed = msgspec.structs.replace(manifest, analysis={**manifest.analysis, key: value})
    write_manifest(old, changed)
    expected = re.escape(f"{old}: the index was made with another text analysis ")
    expected += re.escape(f"({key} {value!r} then, {now!r} now)")
    for act in (IndexReader.open, replace_some, delete_some, compact_index):
        with pytest.raises(BrokenIndexError, match=expected):
            act(old)
    write_manifest(old, manifest)
    assert content_of(old) == OLD_CONTENT


@pytest.mark.parametrize("python", ["14.0.0", "15.1.0"])
def test_an_index_of_the_tokeniser_before_keeps_its_rules(tmp_path: Path, python: str) -> None:
    # U+200B joined words, vowel signs were left out
    texts = {"joined": "climate\u200bchange", "gift": "दान", "day": "दिन"}
    documents = {name: (text,) for name, text in texts.items()}
    older = Analysis("plain", older_scanner=1)
    build_index(entries(documents), tmp_path / "index", BuildOptions(older))
    manifest = read_manifest(tmp_path / "index")
    assert manifest.analysis["scanner"] == 1
    recorded = {**manifest.analysis, "unicode": python}
    write_manifest(tmp_path / "index", msgspec.structs.replace(manifest, analysis=recorded))
    with Index.open(tmp_path / "index") as index:
        for question, expected in (("climatechange", ["joined"]), ("दिन", ["day", "gift"])):
            found = index.search(question, system="bm25", sides=False)
            assert sorted(answer.id for answer in found) == expected
    more = entries({"later": ("दिन",)})
    with pytest.raises(UsageError, match="was made with the analysis 'plain'"):
        add_documents(more, tmp_path / "index", BuildOptions(Analysis("porter")))
    add_documents(more, tmp_path / "index", BuildOptions(Analysis("plain")))
    with Index.open(tmp_path / "index") as index:
        assert len(index.search("दिन", system="bm25", sides=False)) == 3


@pytest.mark.parametrize("change", [{"stemmer": "lovins"}, {"stop_words": "mine"}, None])
def test_an_unknown_analysis_is_refused(old: Path, change: dict[str, str] | None) -> None:
    manifest = read_manifest(old)
    analysis = {**manifest.analysis, **change} if change else {}
    write_manifest(old, msgspec.structs.replace(manifest, analysis=analysis))
    with pytest.raises(BrokenIndexError, match=f"^{old}: its analysis is unknown here: "):
        IndexReader.open(old)
    rebuild(old)
    assert content_of(old) == NEW_CONTENT


def test_a_manifest_that_lacks_a_file(old: Path) -> None:
    manifest = read_manifest(old)
    (entry,) = manifest.segments
    files = {name: file for name, file in entry.files.items() if name != "lengths_0"}
    entry = msgspec.structs.replace(entry, files=files)
    write_manifest(old, msgspec.structs.replace(manifest, segments=(entry,)))
    with pytest.raises(
        BrokenIndexError, match=f"^{old / entry.name}: its manifest lacks 'lengths_0'"
    ):
        IndexReader.open(old)
