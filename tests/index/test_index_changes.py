"""Changes of an index: they add up to a build from scratch, and what does not fit is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sicetnon.errors import BrokenIndexError, DataError, UsageError
from sicetnon.formats.corpora import Corpus, open_corpus
from sicetnon.formats.files import Reading
from sicetnon.index.compaction import MAX_SEGMENTS
from sicetnon.index.reader import IndexReader
from sicetnon.index.writing import (
    BuildOptions,
    add_documents,
    build_index,
    delete_documents,
)
from sicetnon.records import Entry, Record
from support.index_cases import (
    FORMS,
    IDS,
    PLAIN,
    PORTER,
    RECORDS,
    SETTINGS,
    Documents,
    check_tidy,
    compact_index,
    content_of,
    corpus_of,
    counted,
    documents,
    entries,
    files_of,
    term_statistics,
)

# --- changes ---


Change = tuple[str, Any]
CHANGES: st.SearchStrategy[Change] = st.one_of(
    st.tuples(st.just("add"), documents(2, most=3)),
    st.tuples(st.just("replace"), documents(2, most=3)),
    st.tuples(st.just("delete"), st.sets(IDS, min_size=1, max_size=4)),
    st.tuples(st.just("compact"), st.none()),
)


def change(folder: Path, live: dict[str, tuple[str, ...]], step: Change) -> None:
    """Change an index, and what should be in it, in the same way."""
    kind, what = step
    options = BuildOptions(FORMS)
    if kind == "compact":
        compact_index(folder)
    elif kind == "delete":
        gone = what & set(live)
        if gone == set(live):
            with pytest.raises(UsageError, match="no document would be left"):
                delete_documents(folder, sorted(what))
        else:
            assert delete_documents(folder, sorted(what)) == len(gone)
            for identifier in gone:
                del live[identifier]
    elif kind == "add" and set(what) & set(live):
        with pytest.raises(DataError, match="is already in the index"):
            add_documents(entries(what), folder, options)
    else:
        add_documents(entries(what), folder, options, replace=kind == "replace")
        live |= what


@settings(SETTINGS, max_examples=25)
@given(first=documents(2), steps=st.lists(CHANGES, max_size=10))
def test_changes_add_up_to_a_build_from_scratch(
    first: Documents, steps: list[Change], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("changed")
    build_index(entries(first), folder / "ix", BuildOptions(FORMS))
    live = dict(first)
    for step in steps:
        change(folder / "ix", live, step)
        assert content_of(folder / "ix") == counted(live, FORMS)
    check_tidy(folder / "ix")
    build_index(entries(live), folder / "scratch", BuildOptions(FORMS))
    expected = content_of(folder / "scratch")
    terms = [*expected.postings, "nowhere"]
    statistics = term_statistics(folder / "scratch", terms)
    assert term_statistics(folder / "ix", terms) == statistics
    compact_index(folder / "ix")
    assert content_of(folder / "ix") == expected
    assert term_statistics(folder / "ix", terms) == statistics
    check_tidy(folder / "ix")


def test_additions_in_order_compact_to_the_bytes_of_one_build(tmp_path: Path) -> None:
    found = {f"d{n}": (f"word{n % 4} schools", f"title {n}") for n in range(9)}
    build_index(entries(found), tmp_path / "one", BuildOptions(FORMS))
    pieces = [dict(list(found.items())[first : first + 3]) for first in (0, 3, 6)]
    build_index(entries(pieces[0]), tmp_path / "ix", BuildOptions(FORMS))
    for piece in pieces[1:]:
        add_documents(entries(piece), tmp_path / "ix", BuildOptions(FORMS))
    compact_index(tmp_path / "ix")
    one, pieced = (files_of(tmp_path / name) for name in ("one", "ix"))
    assert {Path(name).name: data for name, data in one.items() if "/" in name} == {
        Path(name).name: data for name, data in pieced.items() if "/" in name
    }


@pytest.mark.parametrize("replace", [False, True])
def test_many_additions_compact_by_themselves(small: Path, replace: bool) -> None:
    live = {"a": ("school uniforms",), "b": ("a teacher",), "c": ("teachers and schools",)}
    most = 0
    for number in range(2 * MAX_SEGMENTS + 3):
        more = {f"n{number}": (f"school {number}",)} | ({"a": (f"{number}",)} if replace else {})
        manifest = add_documents(entries(more), small, BuildOptions(PORTER), replace)
        live |= more
        most = max(most, len(manifest.segments))
        check_tidy(small)
    assert most == MAX_SEGMENTS
    assert content_of(small) == counted(live, PORTER)


def test_a_failed_addition_to_a_crowded_index_adds_nothing(small: Path) -> None:
    for number in range(MAX_SEGMENTS - 1):
        add_documents(entries({f"n{number}": ("text",)}), small, BuildOptions(PORTER))
    before = content_of(small)
    with pytest.raises(DataError):
        add_documents(entries({"new": ("text",), "a": ("taken",)}), small, BuildOptions(PORTER))
    assert content_of(small) == before
    check_tidy(small)


def test_a_build_takes_the_place_of_the_old_index(small: Path) -> None:
    delete_documents(small, ["a"])
    build_index(entries({"x": ("new",)}), small, BuildOptions(FORMS))
    assert content_of(small) == counted({"x": ("new",)}, FORMS)
    check_tidy(small)


def test_deleting(small: Path) -> None:
    before = content_of(small)
    assert delete_documents(small, ["nobody", "", "\ud800"]) == 0
    assert delete_documents(small, []) == 0
    assert content_of(small) == before
    assert delete_documents(small, ["b", "b", "nobody"]) == 1
    assert delete_documents(small, ["b"]) == 0
    with IndexReader.open(small) as index:
        assert (index.size, index.document_count) == (3, 2)
        assert index.number("b") is None
        assert index.number("c") == 2
    with pytest.raises(UsageError, match="no document would be left; remove the folder"):
        delete_documents(small, ["a", "b", "c"])
    assert set(content_of(small).records) == {"a", "c"}
    check_tidy(small)


def test_an_index_forgets_its_source_when_it_is_changed(tmp_path: Path) -> None:
    corpus = entries({"a": ("x",), "b": ("y",)})
    options = BuildOptions(PORTER, source={"sha256": "abc"})
    assert build_index(corpus, tmp_path / "one", options).source == {"sha256": "abc"}
    assert compact_index(tmp_path / "one").source == {"sha256": "abc"}
    assert add_documents(entries({"c": ("z",)}), tmp_path / "one", options).source == {}
    build_index(corpus, tmp_path / "one", options)
    delete_documents(tmp_path / "one", ["a"])
    with IndexReader.open(tmp_path / "one") as index:
        assert index.manifest.source == {}


# --- duplicates, and what does not fit ---


def test_an_id_twice_in_a_build(tmp_path: Path) -> None:
    twice = [Entry(i, {"text": text}) for i, text in ("a1", "b2", "a3", "c4", "a5", "b6")]
    with pytest.raises(DataError, match=r"^memory: the id 'a' occurs more than once"):
        build_index(corpus_of(twice), tmp_path / "ix", BuildOptions(PLAIN))
    assert not (tmp_path / "ix").exists()
    for size in (1, 2, 4, 100):
        errors: list[DataError] = []
        options = BuildOptions(PLAIN, on_error=errors.append, batch_documents=size)
        build_index(corpus_of(twice), tmp_path / "ix", options)
        assert len(errors) == 3
        found = counted({"a": ("1",), "b": ("2",), "c": ("4",)}, PLAIN)
        assert content_of(tmp_path / "ix").postings == found.postings
        assert content_of(tmp_path / "ix").lengths == found.lengths


def test_an_id_that_is_in_the_index(small: Path) -> None:
    before = content_of(small)
    more = corpus_of([Entry(i, {"text": f"new {i}"}) for i in ("x", "b", "y", "b")])
    with pytest.raises(
        DataError, match=r"^memory: the id 'b' is already in the index; to replace it"
    ):
        add_documents(more, small, BuildOptions(PORTER))
    assert content_of(small) == before
    errors: list[DataError] = []
    add_documents(more, small, BuildOptions(PORTER, on_error=errors.append))
    assert len(errors) == 2
    assert content_of(small).records["b"] == before.records["b"]
    assert set(content_of(small).records) == {*"abcxy"}
    with pytest.raises(DataError, match="holds no document"):
        add_documents(entries({"b": ("t",)}), small, BuildOptions(PORTER, on_error=errors.append))


def test_replacing(small: Path) -> None:
    more = corpus_of([Entry("b", {"text": "second"}), Entry("b", {"text": "third"})])
    with pytest.raises(DataError, match="the id 'b' occurs more than once"):
        add_documents(more, small, BuildOptions(PORTER), replace=True)
    assert content_of(small).records["b"] == Entry("b", {"text": "a teacher"})
    errors: list[DataError] = []
    add_documents(more, small, BuildOptions(PORTER, on_error=errors.append), replace=True)
    assert len(errors) == 1
    assert content_of(small).records["b"] == Entry("b", {"text": "second"})
    everything = {i: (f"again {i}",) for i in "abc"}
    add_documents(entries(everything), small, BuildOptions(PORTER), replace=True)
    assert set(content_of(small).records) == {*"abc"}
    check_tidy(small)


def test_an_empty_corpus(small: Path, tmp_path: Path) -> None:
    before = files_of(small)
    for folder in (small, tmp_path / "new"):
        with pytest.raises(DataError, match=r"^memory: holds no document$"):
            build_index(corpus_of([]), folder, BuildOptions(PORTER))
    with pytest.raises(DataError, match=r"^memory: holds no document$"):
        add_documents(corpus_of([]), small, BuildOptions(PORTER))
    assert files_of(small) == before
    assert not (tmp_path / "new").exists()


def test_an_error_in_the_middle_changes_nothing(small: Path) -> None:
    def read(_: Path | str, __: Reading) -> Iterator[Record]:
        yield Entry("x", {"text": "fine"})
        raise DataError("breaks off", "memory", 2)

    before = files_of(small)
    broken = Corpus("entries", ("text",), ("memory",), read)
    for act in (build_index, add_documents):
        with pytest.raises(DataError, match="memory, line 2: breaks off"):
            act(broken, small, BuildOptions(PORTER))
        assert files_of(small) == before


def test_only_the_same_kind_can_be_added(small: Path) -> None:
    before = files_of(small)
    _, records = RECORDS["passages"]
    for corpus in (
        corpus_of(records, "passages", ("contents",)),
        corpus_of([Entry("x", {"body": "t"})], fields=("body",)),
    ):
        with pytest.raises(DataError, match=r"^memory: holds .*, but .* is an index of entries \("):
            add_documents(corpus, small, BuildOptions(PORTER))
    with pytest.raises(UsageError, match=r"was made with the analysis 'porter-stop'.*'forms'"):
        add_documents(entries({"x": ("t",)}), small, BuildOptions(FORMS))
    assert files_of(small) == before


@pytest.mark.parametrize("act", ["add", "delete", "compact"])
def test_only_an_index_can_be_changed(tmp_path: Path, act: str) -> None:
    acts = {
        "add": lambda folder: add_documents(entries({"a": ("t",)}), folder, BuildOptions(PORTER)),
        "delete": lambda folder: delete_documents(folder, ["a"]),
        "compact": compact_index,
    }
    with pytest.raises(BrokenIndexError, match=r"there is no such folder"):
        acts[act](tmp_path / "none")
    assert not (tmp_path / "none").exists()
    (tmp_path / "some").mkdir()
    (tmp_path / "some" / "letter.txt").write_text("mine")
    with pytest.raises(BrokenIndexError, match=r"holds no finished index"):
        acts[act](tmp_path / "some")
    assert files_of(tmp_path / "some") == {"letter.txt": b"mine"}


def test_fields_may_stand_in_any_order(tmp_path: Path) -> None:
    files = [tmp_path / f"{name}.jsonl" for name in "abc"]
    files[0].write_text('{"id": "a", "title": "Tenure", "text": "It protects teachers."}\n')
    files[1].write_text('{"id": "b", "text": "They measure teachers.", "title": "Tests"}\n')
    files[2].write_text('{"text": "They are worn.", "title": "Uniforms", "id": "c"}\n')
    folder = tmp_path / "index"
    build_index(open_corpus(files[:2]), folder, BuildOptions(PLAIN))
    add_documents(open_corpus(files[2:]), folder, BuildOptions(PLAIN))
    found = counted(
        {
            "a": ("Tenure", "It protects teachers."),
            "b": ("Tests", "They measure teachers."),
            "c": ("Uniforms", "They are worn."),
        },
        PLAIN,
    )
    assert content_of(folder).postings == found.postings
    assert content_of(folder).lengths == found.lengths
