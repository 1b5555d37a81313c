"""The index: what is counted, and what is stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sicetnon.errors import BrokenIndexError, DataError
from sicetnon.formats.corpora import KINDS
from sicetnon.index import inversion, merge
from sicetnon.index.array_files import ArrayWriter
from sicetnon.index.inversion import MAX_FREQUENCY
from sicetnon.index.merge import copy_postings
from sicetnon.index.reader import IndexReader
from sicetnon.index.writing import BuildOptions, Progress, add_documents, build_index
from sicetnon.records import Argument, Entry, Premise, ProcessedArgument, Record
from sicetnon.text.analysis import Analysis, named_analysis
from support.index_cases import (
    FORMS,
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
)

# --- what a build counts ---


@SETTINGS
@given(
    found=st.integers(1, 3).flatmap(documents),
    analysis=st.sampled_from([PORTER, FORMS, PLAIN, named_analysis("porter")]),
)
def test_counts_what_a_plain_count_counts(
    found: Documents, analysis: Analysis, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("built") / "index"
    build_index(entries(found), folder, BuildOptions(analysis))
    expected = counted(found, analysis)
    assert content_of(folder) == expected
    with IndexReader.open(folder) as index:
        (segment,) = index.segments
        assert len(segment.terms) == len(expected.postings)
        for term, by_document in expected.postings.items():
            number = segment.terms.number(term)
            occurrences = np.sum([*by_document.values()], 0).tolist()
            assert segment.occurrences(number) == occurrences
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
    with IndexReader.open(folder) as index:
        (segment,) = index.segments
        assert segment.forms is not None
        for stem in stems:
            forms = {segment.terms.word(number) for number in segment.forms.of(stem)}
            assert forms == {t for t, s in zip(terms, stems, strict=True) if s == stem}
        assert segment.forms.of("no such stem") == []


def test_without_forms_terms_are_stems(small: Path) -> None:
    with IndexReader.open(small) as index:
        assert index.segments[0].forms is None
        assert index.segments[0].terms.number("teachers") is None
        assert index.segments[0].terms.number("teacher") is not None


@SETTINGS
@given(
    found=documents(3, most=10),
    analysis=st.sampled_from([PORTER, FORMS]),
    memory=st.sampled_from([1, 72, 240]),
)
def test_spilled_builds_are_the_same_to_the_byte(
    found: Documents, analysis: Analysis, memory: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("spilled")
    build_index(entries(found), folder / "whole", BuildOptions(analysis))
    options = BuildOptions(analysis, memory=memory, batch_documents=2)
    build_index(entries(found), folder / "spilled", options)
    assert files_of(folder / "spilled") == files_of(folder / "whole")


@pytest.fixture
def spilled_files(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that builds spill postings to, as they are made."""
    files: list[Path] = []

    def writer(path: Path, *rest: Any) -> ArrayWriter:
        files.append(path)
        return ArrayWriter(path, *rest)

    monkeypatch.setattr(inversion, "ArrayWriter", writer)
    return files


def test_a_small_memory_spills_many_runs(tmp_path: Path, spilled_files: list[Path]) -> None:
    found = {f"d{n}": (" ".join(f"w{n * 7 % m}" for m in range(1, 40)),) for n in range(60)}
    build_index(entries(found), tmp_path / "whole", BuildOptions(PLAIN))
    options = BuildOptions(PLAIN, memory=1600, batch_documents=1)
    build_index(entries(found), tmp_path / "spilled", options)
    assert len(spilled_files) > 3 * 10
    assert files_of(tmp_path / "spilled") == files_of(tmp_path / "whole")
    assert content_of(tmp_path / "spilled") == counted(found, PLAIN)


def test_ids_take_from_the_memory_for_postings(tmp_path: Path, spilled_files: list[Path]) -> None:
    found = {f"d{n}": ("tenure",) for n in range(6_000)}
    build_index(entries(found), tmp_path / "whole", BuildOptions(PLAIN))
    assert not spilled_files
    # the postings alone would fit
    options = BuildOptions(PLAIN, memory=60_000, batch_documents=100)
    build_index(entries(found), tmp_path / "spilled", options)
    assert spilled_files
    assert files_of(tmp_path / "spilled") == files_of(tmp_path / "whole")


def test_words_take_from_the_memory_for_postings(tmp_path: Path, spilled_files: list[Path]) -> None:
    options = BuildOptions(PLAIN, memory=400_000, batch_documents=100)
    # as many documents and postings twice, of few words and of many
    for words, name in ((10, "few"), (6_000, "many")):
        spilled_files.clear()
        found = {
            f"d{n}": (" ".join(f"w{n * 10 % words + m}" for m in range(10)),) for n in range(600)
        }
        build_index(entries(found), tmp_path / name, options)
        assert bool(spilled_files) == (name == "many")
        assert content_of(tmp_path / name) == counted(found, PLAIN)


def test_a_million_postings_in_memory_are_those_of_spilled_runs(tmp_path: Path) -> None:
    # memory for few postings is taken first, for all that are allowed when these are too many
    words = [f"w{number}" for number in range(3000)]
    found = {f"d{n}": (" ".join(words[n % 50 :: 1 + n % 5]),) for n in range(1000)}
    build_index(entries(found), tmp_path / "whole", BuildOptions(PLAIN))
    build_index(entries(found), tmp_path / "spilled", BuildOptions(PLAIN, memory=1 << 20))
    assert files_of(tmp_path / "spilled") == files_of(tmp_path / "whole")
    with IndexReader.open(tmp_path / "whole") as index:
        postings = index.segments[0].postings
        assert sum(postings.count(term) for term in range(len(words))) > 1 << 20


def test_nothing_is_merged_behind_a_damaged_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied: list[bool] = []

    def damaged_at_last(*given: Any) -> bool:
        copied.append(len(copied) < 5 and copy_postings(*given))
        return copied[-1]

    found = {f"d{n}": (" ".join(f"w{n * 7 % m}" for m in range(1, 40)),) for n in range(60)}
    monkeypatch.setattr(merge, "copy_postings", damaged_at_last)
    options = BuildOptions(PLAIN, memory=1600, batch_documents=1)
    with pytest.raises(BrokenIndexError, match="damaged"):
        build_index(entries(found), tmp_path / "index", options)
    assert copied == [True] * 5 + [False]
    assert not (tmp_path / "index").exists()


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


def test_tells_how_far_it_is(tmp_path: Path) -> None:
    told: list[Progress] = []
    options = BuildOptions(PORTER, progress=told.append, batch_documents=2)
    build_index(entries({f"d{n}": ("text",) for n in range(5)}), tmp_path / "ix", options)
    assert [progress.documents for progress in told] == [0, 2, 4, 5]


# --- ids, numbers, records ---


def test_ids_and_numbers(small: Path) -> None:
    add_documents(entries({"d": ("more",), "e": ("words",)}), small, BuildOptions(PORTER))
    with IndexReader.open(small) as index:
        assert index.size == index.document_count == 5
        assert index.identifiers([4, 0, 4, 2]) == ["e", "a", "e", "c"]
        assert [index.number(i) for i in "edcba"] == [4, 3, 2, 1, 0]
        assert [record.id for record in index.records_at([4, 0, 4, 2])] == ["e", "a", "e", "c"]
        assert index.number("f") is None
        assert index.number("") is None
        assert index.number("\ud800") is None
        assert index.identifiers([]) == []
        assert index.records_at(np.empty(0, dtype=np.int64)) == []


def test_many_records_at_once(tmp_path: Path) -> None:
    found = {f"d{n}": (f"text {n}",) for n in range(1234)}
    build_index(entries(found), tmp_path / "ix", BuildOptions(PLAIN))
    numbers = list(range(1233, -1, -1))
    with IndexReader.open(tmp_path / "ix") as index:
        assert [record.id for record in index.records_at(numbers)] == [f"d{n}" for n in numbers]
        assert index.identifiers(numbers) == [f"d{n}" for n in numbers]


@pytest.mark.parametrize("kind", RECORDS)
def test_records_come_back_as_they_went_in(tmp_path: Path, kind: str) -> None:
    fields, records = RECORDS[kind]
    corpus = corpus_of(records, kind, fields)
    build_index(corpus, tmp_path / "ix", BuildOptions(PLAIN))
    with IndexReader.open(tmp_path / "ix") as index:
        assert index.records_at(range(len(records))) == records
        assert (index.manifest.records, index.fields) == (kind, fields)
        analyzer = PLAIN.analyzer()
        for number, record in enumerate(records):
            lengths = [len(analyzer.terms_of(text)) for text in corpus.texts(record)]
            assert index.segments[0].lengths[number].tolist() == lengths
    add_documents(corpus, tmp_path / "ix", BuildOptions(PLAIN), replace=True)
    compact_index(tmp_path / "ix")
    with IndexReader.open(tmp_path / "ix") as index:
        assert index.records_at(range(len(records))) == records


@pytest.mark.parametrize("kind", ["arguments", "processed"])
def test_whole_debates_are_not_repeated_in_every_argument(tmp_path: Path, kind: str) -> None:
    context = {"sourceText": "a whole debate", "sourceId": "S1"}
    argument = Argument("S1", "c", (Premise("p"),), context)
    record = argument if kind == "arguments" else ProcessedArgument(argument, ())
    build_index(corpus_of([record], kind, KINDS[Argument][1]), tmp_path / "ix", BuildOptions(PLAIN))
    with IndexReader.open(tmp_path / "ix") as index:
        (found,) = index.records_at([0])
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
