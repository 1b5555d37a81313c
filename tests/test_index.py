"""The index: what is counted, what is stored, and that changes add up to a build from scratch."""

from __future__ import annotations

import itertools
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sicetnon import cli
from sicetnon.errors import BrokenIndexError, DataError, UsageError
from sicetnon.formats.corpora import ARGUMENT_FIELDS, Corpus, open_corpus
from sicetnon.formats.files import Reading
from sicetnon.index import builder, merge, writing
from sicetnon.index.compaction import MAX_SEGMENTS
from sicetnon.index.index import Index
from sicetnon.index.postings import MAX_FREQUENCY
from sicetnon.index.storage import ArrayWriter
from sicetnon.index.writing import (
    BuildOptions,
    Progress,
    add_documents,
    build_index,
    compact_index,
    delete_documents,
)
from sicetnon.records import Argument, Entry, Passage, Premise, ProcessedArgument, Record, Sentence
from sicetnon.retrieval.postings import PostingsReader
from sicetnon.text.analysis import ANALYSES, Analysis, named_analysis

Documents = Mapping[str, tuple[str, ...]]
"""Texts by field, by document id."""

PORTER, FORMS = named_analysis("porter-stop"), named_analysis("forms")
PLAIN = named_analysis("plain")
FIELDS = ("text", "title", "note")
SETTINGS = settings(
    derandomize=True,
    deadline=None,
    max_examples=30,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

WORDS = """
school schools schooling uniform uniforms teacher teacher's teachers' don't the and of not 2020 b2b
naïve naive Straße 学校 ЭКЗАМЕН café cafe\u0301 x ' - <b> \u200b
"""
TEXTS = st.one_of(
    st.lists(st.sampled_from(WORDS.split()), max_size=12).map(" ".join), st.text(max_size=12)
)
IDS = st.sampled_from([f"d{number}" for number in range(8)] + ["S1-Aé", "学/1"])


def documents(fields: int, least: int = 1, most: int = 6) -> st.SearchStrategy[Documents]:
    return st.dictionaries(IDS, st.tuples(*[TEXTS] * fields), min_size=least, max_size=most)


def corpus_of(
    records: Iterable[Record], kind: str = "entries", fields: tuple[str, ...] = ("text",)
) -> Corpus:
    """A corpus that stands nowhere but in memory."""
    kept = list(records)

    def read(_: Path | str, __: Reading) -> Iterator[Record]:
        return iter(kept)

    return Corpus(kind, fields, ("memory",), read)


def entries(found: Documents) -> Corpus:
    fields = FIELDS[: len(next(iter(found.values()), ("",)))]
    return corpus_of(
        [Entry(i, dict(zip(fields, texts, strict=True))) for i, texts in found.items()],
        fields=fields,
    )


@dataclass(frozen=True)
class Content:
    """All that a search can see of an index, by ids and words instead of numbers."""

    postings: dict[str, dict[str, tuple[int, ...]]]
    lengths: dict[str, tuple[int, ...]]
    records: dict[str, Record]
    field_totals: tuple[int, ...]


def content(index: Index) -> Content:
    """Read an index whole."""
    postings: dict[str, dict[str, tuple[int, ...]]] = {}
    lengths: dict[str, tuple[int, ...]] = {}
    numbers = []
    for segment in index.segments:
        live = np.ones(len(segment)) if segment.live is None else segment.live
        ids = index.identifiers([segment.base + local for local in range(len(segment))])
        local_live = np.flatnonzero(live).tolist()
        numbers += [segment.base + local for local in local_live]
        lengths |= {ids[local]: tuple(segment.lengths[local].tolist()) for local in local_live}
        for number, (begin, end) in enumerate(itertools.pairwise(segment.posting_offsets)):
            places = segment.documents[begin:end].tolist()
            assert places == sorted(set(places))
            for local, row in zip(places, segment.frequencies[begin:end].tolist(), strict=True):
                if live[local]:
                    postings.setdefault(segment.terms.word(number), {})[ids[local]] = tuple(row)
    assert index.document_count == len(numbers)
    records = dict(zip(index.identifiers(numbers), index.records(numbers), strict=True))
    assert [index.number(identifier) for identifier in records] == numbers
    return Content(postings, lengths, records, tuple(index.field_totals.tolist()))


def content_of(folder: Path) -> Content:
    with Index.open(folder) as index:
        return content(index)


def counted(found: Documents, analysis: Analysis) -> Content:
    """What an index of some documents must hold, counted word by word."""
    analyzer = analysis.analyzer()
    fields = len(next(iter(found.values())))
    postings: dict[str, dict[str, tuple[int, ...]]] = {}
    lengths = {}
    for identifier, texts in found.items():
        terms = [analyzer.terms_of(text) for text in texts]
        lengths[identifier] = tuple(map(len, terms))
        counts = [Counter(field) for field in terms]
        for term in set().union(*counts):
            postings.setdefault(term, {})[identifier] = tuple(count[term] for count in counts)
    records = {record.id: record for record in entries(found).read("", Reading())}
    totals = tuple(sum(length[field] for length in lengths.values()) for field in range(fields))
    return Content(postings, lengths, records, totals)


def term_statistics(folder: Path, terms: Iterable[str]) -> list[tuple[str, Any]]:
    with Index.open(folder) as index:
        reader = PostingsReader(index, {})
        return [(term, reader.read(term).statistics) for term in sorted(terms)]


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def check_tidy(folder: Path) -> None:
    """Nothing lies in an index's folder but what its manifest counts."""
    with Index.open(folder) as index:
        wanted = {"manifest.json", "lock"}
        for entry in index.manifest.segments:
            wanted |= {f"{entry.name}/{name}" for name in entry.files}
        index.verify()
    assert set(files_of(folder)) == wanted
    assert {path.name for path in folder.iterdir()} == {name.split("/")[0] for name in wanted}


@pytest.fixture(autouse=True)
def no_waiting_for_disks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """An index of three entries."""
    folder = tmp_path / "small"
    found = {"a": ("school uniforms",), "b": ("a teacher",), "c": ("teachers and schools",)}
    build_index(entries(found), folder, BuildOptions(PORTER))
    return folder


def write_lines(path: Path, *rows: Mapping[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


# --- what a build counts ---


@SETTINGS
@given(
    found=st.integers(1, 3).flatmap(documents),
    analysis=st.sampled_from([PORTER, FORMS, PLAIN, named_analysis("letters")]),
)
def test_counts_what_a_plain_count_counts(
    found: Documents, analysis: Analysis, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("built") / "index"
    build_index(entries(found), folder, BuildOptions(analysis))
    expected = counted(found, analysis)
    assert content_of(folder) == expected
    with Index.open(folder) as index:
        (segment,) = index.segments
        assert len(segment.terms) == len(expected.postings)
        for term, by_document in expected.postings.items():
            number = segment.terms.number(term)
            assert segment.totals[number].tolist() == np.sum([*by_document.values()], 0).tolist()
    check_tidy(folder)


@SETTINGS
@given(found=documents(2))
def test_forms_are_all_terms_of_a_stem(
    found: Documents, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("forms") / "index"
    build_index(entries(found), folder, BuildOptions(FORMS))
    terms = list(counted(found, FORMS).postings)
    stems = FORMS.analyzer().stem(terms)
    with Index.open(folder) as index:
        (segment,) = index.segments
        assert segment.forms is not None
        for stem in stems:
            forms = {segment.terms.word(number) for number in segment.forms.of(stem)}
            assert forms == {t for t, s in zip(terms, stems, strict=True) if s == stem}
        assert segment.forms.of("no such stem") == []


def test_without_forms_terms_are_stems(small: Path) -> None:
    with Index.open(small) as index:
        assert index.segments[0].forms is None
        assert index.segments[0].terms.number("teachers") is None
        assert index.segments[0].terms.number("teacher") is not None


@SETTINGS
@given(found=documents(3, most=10), analysis=st.sampled_from([PORTER, FORMS]))
def test_spilled_builds_are_the_same_to_the_byte(
    found: Documents, analysis: Analysis, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("spilled")
    build_index(entries(found), folder / "whole", BuildOptions(analysis))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(builder, "MIN_ROWS", 1)
        patch.setattr(writing, "BATCH_DOCUMENTS", 2)
        patch.setattr(merge, "BLOCK_POSTINGS", 3)
        build_index(entries(found), folder / "spilled", BuildOptions(analysis, memory=1))
    assert files_of(folder / "spilled") == files_of(folder / "whole")


def test_a_small_memory_spills_many_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spilled: list[Path] = []

    def writer(path: Path, *rest: Any) -> ArrayWriter:
        spilled.append(path)
        return ArrayWriter(path, *rest)

    found = {f"d{n}": (" ".join(f"w{n * 7 % m}" for m in range(1, 40)),) for n in range(60)}
    build_index(entries(found), tmp_path / "whole", BuildOptions(PLAIN))
    monkeypatch.setattr(builder, "ArrayWriter", writer)
    monkeypatch.setattr(builder, "MIN_ROWS", 100)
    monkeypatch.setattr(writing, "BATCH_DOCUMENTS", 1)
    build_index(entries(found), tmp_path / "spilled", BuildOptions(PLAIN, memory=1))
    assert len(spilled) > 3 * 10
    assert files_of(tmp_path / "spilled") == files_of(tmp_path / "whole")
    assert content_of(tmp_path / "spilled") == counted(found, PLAIN)


def test_a_word_said_too_often_counts_as_often_as_can_be_counted(tmp_path: Path) -> None:
    often = MAX_FREQUENCY + 5
    build_index(entries({"a": ("tax " * often,)}), tmp_path / "ix", BuildOptions(PLAIN))
    found = content_of(tmp_path / "ix")
    assert found.postings == {"tax": {"a": (MAX_FREQUENCY,)}}
    assert found.lengths == {"a": (often,)}


@pytest.mark.parametrize("analysis", [PORTER, FORMS])
def test_documents_without_any_word_have_a_place(tmp_path: Path, analysis: Analysis) -> None:
    found = {"a": ("",), "b": ("the of --",), "c": ("\u200b",)}
    build_index(entries(found), tmp_path / "ix", BuildOptions(analysis))
    assert content_of(tmp_path / "ix") == counted(found, analysis)
    add_documents(entries({"d": ("the",)}), tmp_path / "ix", BuildOptions(analysis))
    compact_index(tmp_path / "ix")
    assert content_of(tmp_path / "ix") == counted({**found, "d": ("the",)}, analysis)


def test_the_same_corpus_gives_the_same_bytes(small: Path, tmp_path: Path) -> None:
    corpus = entries({i: (f"word{i} other",) for i in "zyxabc"})
    for name in ("one", "two"):
        build_index(corpus, tmp_path / name, BuildOptions(PORTER))
    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")


def test_tells_how_far_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Progress] = []
    monkeypatch.setattr(writing, "BATCH_DOCUMENTS", 2)
    options = BuildOptions(PORTER, progress=told.append)
    build_index(entries({f"d{n}": ("text",) for n in range(5)}), tmp_path / "ix", options)
    assert [progress.documents for progress in told] == [2, 4, 5]


# --- ids, numbers, records ---


def test_ids_and_numbers(small: Path) -> None:
    add_documents(entries({"d": ("more",), "e": ("words",)}), small, BuildOptions(PORTER))
    with Index.open(small) as index:
        assert index.size == index.document_count == 5
        assert index.identifiers([4, 0, 4, 2]) == ["e", "a", "e", "c"]
        assert [index.number(i) for i in "edcba"] == [4, 3, 2, 1, 0]
        assert [record.id for record in index.records([4, 0, 4, 2])] == ["e", "a", "e", "c"]
        assert index.number("f") is None
        assert index.number("") is None
        assert index.number("\ud800") is None
        assert index.identifiers([]) == []
        assert index.records(np.empty(0, dtype=np.int64)) == []


def test_many_records_at_once(tmp_path: Path) -> None:
    found = {f"d{n}": (f"text {n}",) for n in range(1234)}
    build_index(entries(found), tmp_path / "ix", BuildOptions(PLAIN))
    numbers = list(range(1233, -1, -1))
    with Index.open(tmp_path / "ix") as index:
        assert [record.id for record in index.records(numbers)] == [f"d{n}" for n in numbers]
        assert index.identifiers(numbers) == [f"d{n}" for n in numbers]


ARGUMENT = Argument(
    "S1-A1",
    "Zoos should be closed",
    (Premise("They're cruel – sehr grausam.", "CON"), Premise("No 🦁 is free.")),
    {"sourceId": "S1", "topic": "Zoos", "aspects": [{"name": "x", "weight": 0.5}], "none": None},
)
RECORDS: dict[str, tuple[tuple[str, ...], list[Record]]] = {
    "arguments": (ARGUMENT_FIELDS, [ARGUMENT, Argument("S2", "", (Premise("why", "PRO"),))]),
    "processed": (
        ARGUMENT_FIELDS,
        [ProcessedArgument(ARGUMENT, (Sentence("S1-A1__PREMISE__1", "They're cruel."),))],
    ),
    "passages": (
        ("contents",),
        [Passage("p___1", "A lion.", "https://x.org/?q=1"), Passage("q", "")],
    ),
    "entries": (
        ("title", "text"),
        [Entry("e1", {"title": "T", "text": "t\n\x00"}, {"year": 2020, "list": [1, None, {}]})],
    ),
}


@pytest.mark.parametrize("kind", RECORDS)
def test_records_come_back_as_they_went_in(tmp_path: Path, kind: str) -> None:
    fields, records = RECORDS[kind]
    corpus = corpus_of(records, kind, fields)
    build_index(corpus, tmp_path / "ix", BuildOptions(PLAIN))
    with Index.open(tmp_path / "ix") as index:
        assert index.records(range(len(records))) == records
        assert (index.manifest.records, index.fields) == (kind, fields)
        analyzer = PLAIN.analyzer()
        for number, record in enumerate(records):
            lengths = [len(analyzer.terms_of(text)) for text in corpus.texts(record)]
            assert index.segments[0].lengths[number].tolist() == lengths
    add_documents(corpus, tmp_path / "ix", BuildOptions(PLAIN), replace=True)
    compact_index(tmp_path / "ix")
    with Index.open(tmp_path / "ix") as index:
        assert index.records(range(len(records))) == records


@pytest.mark.parametrize("kind", ["arguments", "processed"])
def test_whole_debates_are_not_repeated_in_every_argument(tmp_path: Path, kind: str) -> None:
    context = {"sourceText": "a whole debate", "sourceId": "S1"}
    argument = Argument("S1", "c", (Premise("p"),), context)
    record = argument if kind == "arguments" else ProcessedArgument(argument, ())
    build_index(corpus_of([record], kind, ARGUMENT_FIELDS), tmp_path / "ix", BuildOptions(PLAIN))
    with Index.open(tmp_path / "ix") as index:
        (found,) = index.records([0])
    assert (found.argument if isinstance(found, ProcessedArgument) else found) == Argument(
        "S1", "c", (Premise("p"),), {"sourceId": "S1"}
    )


@pytest.mark.parametrize(
    "record",
    [
        Entry("b", {"text": "half a character: \ud800"}),
        Entry("b", {"text": "t"}, {"number": 1j}),
        Entry("b", {"text": "t"}, {"keys": {(1, 2): 3}}),
        Entry("two words", {"text": "t"}),
        Entry("", {"text": "t"}),
    ],
)
def test_records_that_cannot_be_kept_are_refused(tmp_path: Path, record: Record) -> None:
    corpus = corpus_of([Entry("a", {"text": "t"}), record])
    with pytest.raises(DataError, match=f"^memory: document {record.id!r} cannot be indexed: "):
        build_index(corpus, tmp_path / "ix", BuildOptions(PLAIN))
    assert not (tmp_path / "ix").exists()
    errors: list[DataError] = []
    build_index(corpus, tmp_path / "ix", BuildOptions(PLAIN, on_error=errors.append))
    assert len(errors) == 1
    assert list(content_of(tmp_path / "ix").records) == ["a"]


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
    with Index.open(small) as index:
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
    with Index.open(tmp_path / "one") as index:
        assert index.manifest.source == {}


# --- duplicates, and what does not fit ---


def test_an_id_twice_in_a_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    twice = [Entry(i, {"text": text}) for i, text in ("a1", "b2", "a3", "c4", "a5", "b6")]
    with pytest.raises(DataError, match=r"^memory: the id 'a' occurs more than once"):
        build_index(corpus_of(twice), tmp_path / "ix", BuildOptions(PLAIN))
    assert not (tmp_path / "ix").exists()
    for size in (1, 2, 4, 100):
        monkeypatch.setattr(writing, "BATCH_DOCUMENTS", size)
        errors: list[DataError] = []
        build_index(corpus_of(twice), tmp_path / "ix", BuildOptions(PLAIN, on_error=errors.append))
        assert len(errors) == 3
        found = counted({"a": ("1",), "b": ("2",), "c": ("4",)}, PLAIN)
        assert content_of(tmp_path / "ix").postings == found.postings
        assert content_of(tmp_path / "ix").lengths == found.lengths


def test_an_id_that_is_in_the_index(small: Path) -> None:
    before = content_of(small)
    more = corpus_of([Entry(i, {"text": f"new {i}"}) for i in ("x", "b", "y", "b")])
    with pytest.raises(DataError, match=r"^memory: the id 'b' is already in the index; add --repl"):
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


# --- the command ---


def test_the_command_builds_adds_deletes_verifies(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = write_lines(tmp_path / "one.jsonl", {"id": "a", "text": "x"}, {"id": "b", "text": "y"})
    two = write_lines(tmp_path / "two.jsonl", {"id": "b", "text": "z"}, {"id": "c", "text": "z"})
    index = str(tmp_path / "ix")
    assert cli.main(["index", str(one), "-o", index, "--memory", "1", "--analysis", "forms"]) == 0
    shown = capsys.readouterr().out
    assert "documents  2 entries" in shown
    assert "analysis   forms" in shown
    assert cli.main(["index", str(two), "-o", index, "--add"]) == 1
    assert "two.jsonl: the id 'b' is already in the index" in capsys.readouterr().err
    assert cli.main(["index", str(two), "-o", index, "--add", "--analysis", "plain"]) == 2
    assert "was made with the analysis 'forms'" in capsys.readouterr().err
    assert cli.main(["index", str(two), "-o", index, "--add", "--skip-invalid"]) == 0
    shown, told = capsys.readouterr()
    assert "documents  3 entries" in shown
    assert "left out   1" in shown
    assert "left out: " in told
    assert content_of(Path(index)).records["b"] == Entry("b", {"text": "y"})
    assert cli.main(["index", str(two), "-o", index, "--add", "--replace"]) == 0
    assert "documents  3 entries" in capsys.readouterr().out
    assert content_of(Path(index)).records["b"] == Entry("b", {"text": "z"})
    assert cli.main(["index", "-o", index, "--delete", "a", "nobody"]) == 0
    assert capsys.readouterr().out == "deleted: 1; not in the index: 1\n"
    assert cli.main(["index", "-o", index, "--delete", "b", "c"]) == 2
    assert cli.main(["index", "-o", index, "--verify"]) == 0
    assert capsys.readouterr().out == f"{index}: all files are as they were written\n"


def test_the_command_refuses_what_makes_no_sense(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = str(write_lines(tmp_path / "one.jsonl", {"id": "z", "text": "x"}))
    before = files_of(small)
    for arguments in (
        [],
        [source, "--replace"],
        [source, "--delete", "a"],
        [source, "--verify"],
        [source, "--analysis", "nobody's"],
    ):
        assert cli.main(["index", "-o", str(small), *arguments]) == 2
        shown, told = capsys.readouterr()
        assert (shown, told.count("\n")) == ("", 1)
    assert files_of(small) == before


def test_the_command_indexes_files_of_each_kind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argument = {"id": "S1", "conclusion": "c", "premises": [{"text": "t", "stance": "PRO"}]}
    (tmp_path / "arguments.json").write_text(json.dumps({"arguments": [argument]}))
    (tmp_path / "processed.csv").write_text(
        "id,conclusion,premises,context,sentences\nS1,c,\"[{'text': 't'}]\",{},[]\n"
    )
    write_lines(tmp_path / "passages.jsonl", {"id": "p", "contents": "t", "chatNoirUrl": "u"})
    write_lines(tmp_path / "entries.jsonl", {"id": "e", "text": "t", "year": 3})
    for name in RECORDS:
        (source,) = tmp_path.glob(f"{name}.*")
        extra = ["--fields", "text"] if name == "entries" else []
        assert cli.main(["index", str(source), "-o", str(tmp_path / name), *extra]) == 0
        assert f"documents  1 {name}" in capsys.readouterr().out
        corpus = open_corpus([source], extra[1:])
        with Index.open(tmp_path / name) as index:
            assert index.records([0]) == list(corpus.read(source, Reading()))
            assert index.manifest.source["files"] == [source.name]
            assert index.manifest.source["sha256"] == corpus.checksum()


def test_every_analysis_builds(tmp_path: Path) -> None:
    found = {"a": ("Teachers' unions of 2020",), "b": ("Ein Test",)}
    for name, analysis in ANALYSES.items():
        build_index(entries(found), tmp_path / name, BuildOptions(analysis))
        assert content_of(tmp_path / name) == counted(found, analysis)
        with Index.open(tmp_path / name) as index:
            assert index.analysis == analysis
