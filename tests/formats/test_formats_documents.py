"""Documents of the other corpora: processed arguments, passages, TIREx, JSON Lines, tables."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sicetnon.errors import DataError
from sicetnon.formats.corpora import (
    PROCESSED_COLUMNS,
    read_documents,
    read_passages,
    read_processed,
)
from sicetnon.formats.entries import EntryFields, read_entries
from sicetnon.formats.files import Reading
from sicetnon.formats.topics import read_queries
from sicetnon.records import Argument, Entry, Passage, Premise, ProcessedArgument, Sentence, Topic
from support.corpus_files import EMPTY_PASSAGE, PASSAGE, PREMISES, SENTENCES, lines, put, row, table

modestly = settings(max_examples=60, derandomize=True)

# the processed corpus

EXPECTED = ProcessedArgument(
    Argument(
        "a",
        "c, é",
        (Premise(PREMISES[0]["text"], "CON"),),  # type: ignore[arg-type]
        {"topic": "t", "aspects": [{"rank": 1, "weight": 0.5}], "none": None},
    ),
    (Sentence("a__PREMISE__1", "It's so"), Sentence("a__CONC__1", "c")),
)


@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz"])
@pytest.mark.parametrize("columns", [PROCESSED_COLUMNS, ("more", *reversed(PROCESSED_COLUMNS))])
def test_processed_rows_become_arguments(
    name: str, columns: tuple[str, ...], tmp_path: Path
) -> None:
    path = put(tmp_path, name, "\ufeff" + table(row(), row(id="b"), columns=columns) + "\n\n")
    first, second = read_processed(path)
    assert first == EXPECTED
    assert (second.id, second.sentences) == ("b", EXPECTED.sentences)
    assert first.default_text() == "c, é\n" + PREMISES[0]["text"]  # type: ignore[operator]


def test_processed_fields_may_be_huge_and_context_empty(tmp_path: Path) -> None:
    text = "long " * 60_000
    path = put(tmp_path, "x.csv", table(row(premises=repr([{"text": text}]), context="")))
    (found,) = read_processed(path)
    assert found.argument.premise == text
    assert found.argument.context == {}


def test_half_characters_in_literals_become_replacement_characters(tmp_path: Path) -> None:
    premises = [{"text": "x \ud83d y \ud83d\ude00"}]
    (found,) = read_processed(put(tmp_path, "x.csv", table(row(premises=repr(premises)))))
    assert found.argument.premise == "x \ufffd y 😀"


@modestly
@given(
    texts=st.lists(st.text(), min_size=1, max_size=3),
    sentences=st.lists(st.tuples(st.text(), st.text()), max_size=3),
    context=st.dictionaries(st.text(), st.text() | st.integers() | st.none(), max_size=3),
)
def test_literals_are_read_back(
    texts: list[str],
    sentences: list[tuple[str, str]],
    context: dict[str, Any],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    written = row(
        premises=repr([{"text": text} for text in texts]),
        context=repr(context),
        sentences=repr([{"sent_id": name, "sent_text": text} for name, text in sentences]),
    )
    path = put(tmp_path_factory.getbasetemp(), "literals.csv", table(written))
    (found,) = read_processed(path)
    assert [premise.text for premise in found.argument.premises] == texts
    assert [(sentence.id, sentence.text) for sentence in found.sentences] == sentences
    assert found.argument.context == context


UNUSABLE_ROWS = {
    "code": ({"premises": "__import__('os').mkdir('evil')"}, "premises is no Python literal"),
    "call": ({"context": "dict(a=1)"}, "context is no Python literal"),
    "cut literal": ({"sentences": repr(SENTENCES)[:-5]}, "sentences is no Python literal"),
    "JSON words": ({"context": '{"a": null}'}, "context is no Python literal"),
    "list as key": ({"context": "{[]: 1}"}, "context is no Python literal"),
    "NUL": ({"context": "{'a': '\0'}"}, "context is no Python literal"),
    "brackets": ({"premises": "[" * 5_000}, "premises"),
    "signs": ({"premises": "-" * 100_000 + "1"}, "premises is nested too deeply"),
    "no premise": ({"premises": "[]"}, "'a' has no premise"),
    "number": ({"premises": "5"}, "premises"),
    "stance": ({"premises": "[{'text': 't', 'stance': 'NO'}]"}, "'NO'"),
    "sentence": ({"sentences": "[{'sent_id': 'x'}]"}, "sent_text"),
    "id": ({"id": "a b"}, "white space"),
    "no id": ({"id": ""}, "is empty"),
}


@pytest.mark.parametrize("case", UNUSABLE_ROWS)
def test_unusable_rows_are_named_by_their_first_line(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    changes, part = UNUSABLE_ROWS[case]
    two_lines = row(conclusion="one\ntwo")
    path = put(tmp_path, "x.csv", table(two_lines, row(**changes), row(id="z")))
    with pytest.raises(DataError, match=part) as caught:
        list(read_processed(path))
    assert (caught.value.file, caught.value.line) == (path, 4)
    errors: list[DataError] = []
    found = [item.id for item in read_processed(path, Reading(on_error=errors.append))]
    assert (found, [error.line for error in errors]) == (["a", "z"], [4])
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        ("", 1, "found an empty file; expected id, conclusion"),
        ("id,text\n1,x\n", 1, "found the columns id, text; expected id, conclusion"),
        ("id," + table(row()), 1, "found 2 columns of the name 'id'"),
        (table(row()).replace(",", ";"), 1, "found fields with ';' between them"),
        (table(row()) + "a,b\n", 3, "found 2 columns; expected 5"),
        (table(row())[:-4], 2, "breaks off or is damaged: unexpected end of data"),
        (table(row()) + '"a"b,', 3, "breaks off or is damaged"),
        (table(row()).encode() + b"\xff", 3, "byte 1 of the line is not UTF-8"),
    ],
)
def test_damaged_tables_are_refused(
    text: str | bytes, line: int, part: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=part) as caught:
        list(read_processed(put(tmp_path, "x.csv", text)))
    assert caught.value.line == line


# passages


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz"])
def test_passages_are_read(name: str, tmp_path: Path) -> None:
    path = put(
        tmp_path, name, "\ufeff" + lines(PASSAGE) + "\r\n  \n" + lines(EMPTY_PASSAGE).strip()
    )
    assert list(read_passages(path)) == [
        Passage("p___1", "one\u2028line", "https://x"),
        Passage("p___2", ""),
    ]


def test_cut_gzip_is_refused_at_any_byte(tmp_path: Path) -> None:
    whole = gzip.compress(lines(PASSAGE, EMPTY_PASSAGE).encode())
    for size in range(1, len(whole)):
        (tmp_path / "x.jsonl.gz").write_bytes(whole[:size])
        with pytest.raises(DataError, match=r"cut short|cannot be used"):
            list(read_passages(tmp_path / "x.jsonl.gz"))


def test_damaged_gzip_is_refused(tmp_path: Path) -> None:
    whole = bytearray(
        gzip.compress(lines(*[PASSAGE | {"id": f"p{n}"} for n in range(99)]).encode())
    )
    whole[len(whole) // 2] ^= 0xFF
    (tmp_path / "x.gz").write_bytes(whole)
    with pytest.raises(DataError, match=r"damaged|cannot be used"):
        list(read_passages(tmp_path / "x.gz"))


@pytest.mark.parametrize(
    "bad",
    [
        "{", "[]", "null", '{"id": "x"}', '{"contents": "x"}', '{"id": 5, "contents": "x"}',
        '{"id": "a b", "contents": "x"}', '{"id": "", "contents": "x"}', "nonsense",
        '{"id": "x", "contents": "x"} trailing',
        '{"id": "x", "contents": "x", "deep": ' + "[" * 9**5,
    ],
)  # fmt: skip
def test_bad_passages_are_named(bad: str, tmp_path: Path) -> None:
    path = put(tmp_path, "x.jsonl", lines(PASSAGE) + "\n" + bad + "\n" + lines(EMPTY_PASSAGE))
    with pytest.raises(DataError, match=r"line 3: .*expected {\"id\": ") as caught:
        list(read_passages(path))
    assert "\n" not in str(caught.value)
    errors: list[DataError] = []
    found = [item.id for item in read_passages(path, Reading(on_error=errors.append))]
    assert (found, [error.line for error in errors]) == (["p___1", "p___2"], [3])


# TIREx

Q1 = {
    "qid": "1",
    "query": " Which\nis better? ",
    "original_query": {"title": "x", "description": "d", "narrative": None},
}


def test_tirex_is_read(tmp_path: Path) -> None:
    documents = put(
        tmp_path, "d", lines({"docno": "d1", "text": "t", "original_document": {"y": 1}})
    )
    assert list(read_documents(documents)) == [Entry("d1", {"text": "t"}, {"y": 1})]
    queries = put(tmp_path, "q", lines(Q1, {"qid": 7, "query": "so"}))
    assert read_queries(queries) == [
        Topic("1", "Which is better?", description="d"),
        Topic("7", "so"),
    ]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "found no query"),
        (lines(Q1, {"qid": "2"}), "line 2: .*`query`"),
        (lines(Q1, Q1), "line 2: the qid '1' occurs more than once"),
        (lines(Q1, {"qid": "a b", "query": "x"}), "line 2: .*white space"),
    ],
)
def test_bad_queries_are_refused(text: str, part: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=part):
        read_queries(put(tmp_path, "queries.jsonl", text))


def test_bad_tirex_documents_may_be_skipped(tmp_path: Path) -> None:
    path = put(tmp_path, "d", lines({"docno": "a b", "text": ""}, {"docno": "c", "text": "t"}))
    with pytest.raises(DataError, match="line 1: the line cannot be used: the id 'a b'"):
        list(read_documents(path))
    errors: list[DataError] = []
    assert [item.id for item in read_documents(path, Reading(on_error=errors.append))] == ["c"]
    assert len(errors) == 1


# documents of no known corpus


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.jsonl", lines({"no": "1", "a": "x, y", "b": "z", "n": "5"}, {"no": 2, "a": "w"})),
        ("x.csv", 'no,a,b,n\n1,"x, y",z,5\n2,w\n'),
        ("x.CSV.GZ", 'no,a,b,n\r\n1,"x, y",z,5\r\n\r\n2,w\r\n'),
        ("x.TSV", "no\ta\tb\tn\n1\tx, y\tz\t5\n2\tw\n"),
        ("x.tsv.gz", "\ufeffno\ta\tb\tn\n1\tx, y\tz\t5\n2\tw\n"),
    ],
)
def test_entries_are_read(name: str, text: str, tmp_path: Path) -> None:
    first, second = read_entries(put(tmp_path, name, text), EntryFields(("a", "b"), "no"))
    assert first == Entry("1", {"a": "x, y", "b": "z"}, {"n": "5"})
    assert (second.id, second.texts) == ("2", {"a": "w", "b": ""})
    assert second.default_text() == "w"


@pytest.mark.parametrize(
    ("name", "text", "part"),
    [
        ("x.jsonl", lines({"a": "x"}), "found no id in 'no'"),
        ("x.jsonl", lines({"no": None, "a": "x"}), "found no id in 'no'"),
        ("x.jsonl", lines({"no": "1 2", "a": "x"}), "white space"),
        ("x.jsonl", lines({"no": "1", "c": "x"}), "found none of the fields a, b"),
        ("x.jsonl", lines({"no": "1", "a": 5}), "field 'a' holds int; expected a text"),
        ("x.jsonl", lines({"no": "1", "a": ["x"]}), "field 'a' holds list; expected a text"),
        ("x.jsonl", '{"no": "1", "a": "x', "the line cannot be used"),
        ("x.csv", "no,a\n1,2,3\n", "more columns than the header"),
        ("x.csv", '"no";"a"\n"1";"x"\n', "found fields with ';' between them; expected commas"),
        ("x.csv", '"no"\t"a"\n"1"\t"x"\n', "expected commas; rename it to .tsv"),
        ("x.tsv", '"no","a"\n"1","x"\n', "expected tabs; rename it to .csv"),
        ("x.csv", "no,a\r1,x\r2,y\r", "carriage return"),
        ("x.tsv", "no\ta\r1\tx\r2\ty\r", "carriage return"),
        ("x.csv", 'no,a\n1,"cut\n', "breaks off or is damaged: unexpected end of data"),
        ("x.tsv", "no\ta\n\tx\n", "is empty"),
    ],
)
def test_bad_entries_are_refused(name: str, text: str, part: str, tmp_path: Path) -> None:
    path = put(tmp_path, name, text)
    with pytest.raises(DataError, match=part) as caught:
        list(read_entries(path, EntryFields(("a", "b"), "no")))
    assert caught.value.file == path
    assert caught.value.line


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.csv", "no,a\n1,x\n2,y,z\n,w\n3,v\n"),
        ("x.jsonl", lines({"no": 1, "a": "x"}, {"no": 2, "a": 5}, {"a": "w"}, {"no": 3, "a": "v"})),
    ],
)
def test_bad_entries_may_be_skipped(name: str, text: str, tmp_path: Path) -> None:
    errors: list[DataError] = []
    reading = Reading(on_error=errors.append)
    found = [
        item.id
        for item in read_entries(put(tmp_path, name, text), EntryFields(("a",), "no"), reading)
    ]
    header = name == "x.csv"
    assert found == ["1", "3"]
    assert [error.line for error in errors] == [2 + header, 3 + header]
