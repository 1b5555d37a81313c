"""How corpora are recognised: files, directories, ids of ir_datasets."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sicetnon.app.index import Index
from sicetnon.cli import main
from sicetnon.errors import DataError, MissingExtraError, UsageError
from sicetnon.formats.corpora import (
    PROCESSED_COLUMNS,
    Corpus,
    load_dataset,
    open_corpus,
    read_dataset,
    to_record,
)
from sicetnon.formats.entries import EntryFields
from sicetnon.formats.files import Reading
from sicetnon.records import Argument, Entry, Passage, Premise, ProcessedArgument, Sentence
from support.corpus_files import PASSAGE, PREMISES, lines, put, row, table

# recognition

ARGUMENT = {"id": "s1", "conclusion": "c", "premises": [{"text": "p"}], "context": {"topic": "t"}}
TEXTS = ("conclusion", "premise", "title")
ONE_LINE = json.dumps({"v": 1, "arguments": [ARGUMENT]})
PRETTY = json.dumps({"v": 1, "arguments": [ARGUMENT]}, indent=1)
MIXED = lines({"id": "1", "a": "x", "year": 5, "b": "y"})


def texts(corpus: Corpus) -> list[tuple[str, ...]]:
    reading = Reading()
    return [corpus.texts(item) for file in corpus.files for item in corpus.read(file, reading)]


REVERSED = table(row(), columns=reversed(PROCESSED_COLUMNS))


@pytest.mark.parametrize(
    ("name", "content", "records", "fields", "first"),
    [
        ("a.json", json.dumps({"arguments": [ARGUMENT]}), "arguments", TEXTS, ("c", "p", "t")),
        ("b.json", json.dumps([ARGUMENT], indent=1), "arguments", TEXTS, ("c", "p", "t")),
        ("c.json", "\ufeff\n{\n\"arguments\": []}", "arguments", TEXTS, None),
        ("d.json", ONE_LINE, "arguments", TEXTS, ("c", "p", "t")),
        ("e.json.gz", PRETTY, "arguments", TEXTS, ("c", "p", "t")),
        ("f.csv", table(row(id="a")), "processed", TEXTS, ("c, é", PREMISES[0]["text"], "t")),
        ("g.csv.gz", f"\ufeff{REVERSED}", "processed", TEXTS, None),
        ("h.jsonl", lines(PASSAGE), "passages", ("contents",), ("one\u2028line",)),
        ("i.jsonl.gz", lines(PASSAGE), "passages", ("contents",), ("one\u2028line",)),
        ("j.jsonl", lines({"docno": "d", "text": "t"}), "entries", ("text",), ("t",)),
        ("k.jsonl", MIXED, "entries", ("a", "b"), ("x", "y")),
        ("l.csv", "doc_id,a,b\n1,x,y\n", "entries", ("a", "b"), ("x", "y")),
        ("m.tsv", "a\t_id\nx\t1\n", "entries", ("a",), ("x",)),
    ],
)  # fmt: skip
def test_formats_are_recognised(
    name: str,
    content: str,
    records: str,
    fields: tuple[str, ...],
    first: tuple[str, ...] | None,
    tmp_path: Path,
) -> None:
    path = put(tmp_path, name, content)
    corpus = open_corpus([path])
    assert (corpus.records, corpus.fields, corpus.files) == (records, fields, (path,))
    assert corpus.size() == path.stat().st_size
    found = texts(corpus)
    assert first is None or found == [first]


def test_fields_may_be_chosen(tmp_path: Path) -> None:
    path = put(tmp_path, "x.jsonl", lines({"key": "1", "id": "2", "a": "x", "b": "y"}))
    assert texts(open_corpus([path], EntryFields(("b",)))) == [("y",)]
    corpus = open_corpus([path], EntryFields(("b", "id"), "key"))
    assert (corpus.fields, texts(corpus)) == (("b", "id"), [("y", "2")])


@pytest.mark.parametrize(
    ("name", "content", "fields", "id_field", "part"),
    [
        ("x.jsonl", lines({"a": "x"}), [], None, "found the fields a; expected one of id, docno"),
        ("x.jsonl", lines({"id": "1", "a": "x"}), [], "key", "expected key with the id"),
        ("x.jsonl", lines({"id": "1", "a": "x"}), ["a", "b"], None, "no field b; there are id, a"),
        (
            "x.jsonl",
            lines({"id": "1", "a": 5}),
            [],
            None,
            "found the fields id, a; expected one with a text",
        ),
        ("x.csv", "id,a\n", [], None, "the file holds no record"),
        ("x.csv", "id;a\n1;x\n", [], None, "found fields with ';' between them; expected commas"),
        ("x.csv", "id\ta\n1\tx\n", [], None, r"found fields with '\\t' between them"),
        ("x.csv", "", [], None, "the file holds no record"),
        ("x.jsonl", "", [], None, "the file holds no record"),
        ("x.txt", "Tea warms.\n", [], None, r"holds no JSON Lines; .*read_text"),
        ("x.jsonl", "nonsense\n", [], None, "line 1: the line cannot be used"),
        ("x.csv.gz", "id,a\n1,2,3\n", [], None, "more columns than the header"),
    ],
)
def test_unknown_files_are_refused(
    name: str, content: str, fields: list[str], id_field: str | None, part: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=part):
        open_corpus([put(tmp_path, name, content)], EntryFields(tuple(fields), id_field))


def test_a_list_of_other_records_is_refused_with_what_to_do(tmp_path: Path) -> None:
    corpus = open_corpus([put(tmp_path, "x.json", '[{"id": "1", "text": "x"}]')])
    with pytest.raises(DataError, match=r"line 1: argument 1 .* as JSON Lines: one in each line"):
        texts(corpus)


def test_directories_are_recognised(tmp_path: Path) -> None:
    contents = {
        "documents.jsonl": lines({"docno": "d", "text": "t"}),
        "passages.jsonl.gz": lines(PASSAGE),
        "args_processed.csv": table(row()),
    }
    with pytest.raises(DataError, match=r"is empty.*debateorg\.json.*; name .* one by one"):
        open_corpus([tmp_path])
    speeches = tmp_path / "texts"
    speeches.mkdir()
    put(speeches, "a.txt", "Tea warms.")
    with pytest.raises(DataError, match=r"holds no corpus; .*index plain texts in Python"):
        open_corpus([speeches])
    for name, content in contents.items():
        assert open_corpus([tmp_path / put(tmp_path, name, content)]).files == (tmp_path / name,)
        assert open_corpus([tmp_path]).files == (tmp_path / name,)
    portals = tmp_path / "portals"
    portals.mkdir()
    put(portals, "debateorg.json", "[]")
    with pytest.raises(DataError, match="the corpus lacks debatepedia"):
        open_corpus([portals])
    for name in ("debatepedia", "debatewise", "idebate", "parliamentary"):
        put(portals, f"{name}.json", json.dumps([ARGUMENT]))
    corpus = open_corpus([portals])
    assert len(corpus.files) == 5
    assert texts(corpus) == [("c", "p", "t")] * 4


def test_each_file_is_read_in_its_own_way(tmp_path: Path) -> None:
    tirex = put(tmp_path, "x.jsonl", lines({"docno": "d", "text": "one"}))
    sheet = put(tmp_path, "x.csv", "id,text\n1,two\n")
    assert texts(open_corpus([tirex, sheet])) == [("one",), ("two",)]


def test_files_of_two_kinds_are_refused(tmp_path: Path) -> None:
    one, two = put(tmp_path, "x.json", "[]"), put(tmp_path, "x.jsonl", lines(PASSAGE))
    with pytest.raises(DataError, match=r"x\.jsonl: holds passages .* index them apart"):
        open_corpus([one, two])


@pytest.mark.parametrize("source", ["./x", "/no/where", "x.json", "x.tsv", "x.jsonl.gz"])
def test_missing_files_are_named(source: str) -> None:
    with pytest.raises(DataError, match="there is no such file or directory"):
        open_corpus([source])


@pytest.mark.parametrize("sources", [[], ["-"]])
def test_a_corpus_needs_a_source_that_can_be_read_twice(sources: list[str]) -> None:
    with pytest.raises(UsageError):
        open_corpus(sources)


def test_the_checksum_tells_names_and_contents(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    known = [
        open_corpus([put(folder, name, content)]).checksum()
        for folder, name, content in [
            (tmp_path, "a.json", "[]"),
            (tmp_path, "b.json", "[]"),
            (tmp_path, "a.json", "[] "),
            (tmp_path / "other", "a.json", "[]"),
        ]
    ]
    assert len(set(known)) == 3
    assert known[0] == known[3]


# ir_datasets


def test_ir_datasets_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(
        MissingExtraError, match=r'needs an extra: pip install "sicetnon\[datasets\]"'
    ):
        open_corpus(["argsme/1.0"])


def test_unknown_ids_of_ir_datasets_are_named() -> None:
    pytest.importorskip("ir_datasets", reason="the extra `datasets` is not installed")
    with pytest.raises(DataError, match="no/such: there is no such file or directory; expected"):
        load_dataset("no/such")


def official(sentences: bool = False) -> Any:
    formats = pytest.importorskip(
        "ir_datasets.formats.argsme", reason="the extra `datasets` is not installed"
    )
    premise = {"text": "p1", "stance": "CON", "annotations": []}
    plain = {
        "id": "S1-A1",
        "conclusion": "c",
        "premises": [premise, premise | {"text": "p2", "stance": "PRO"}],
        "context": {
            "sourceId": "S1",
            "sourceTitle": "source",
            "sourceUrl": "https://x",
            "discussionTitle": "title",
            "acquisitionTime": datetime(2020, 4, 1).isoformat() + "Z",
        },
    }
    document = formats.ArgsMeDoc.from_json(plain)
    if not sentences:
        return document
    return formats.ArgsMeProcessedDoc(*document, [formats.ArgsMeSentence("x__CONC__1", "c")])


def test_arguments_of_ir_datasets_become_records() -> None:
    expected = Argument(
        "S1-A1",
        "c",
        (Premise("p1", "CON"), Premise("p2", "PRO")),
        {
            "discussionTitle": "title",
            "sourceId": "S1",
            "sourceTitle": "source",
            "sourceUrl": "https://x",
        },
    )
    assert to_record(official()) == expected
    sentences = (Sentence("x__CONC__1", "c"),)
    assert to_record(official(sentences=True)) == ProcessedArgument(expected, sentences)


def test_passages_of_ir_datasets_become_records() -> None:
    touche = pytest.importorskip(
        "ir_datasets.formats.touche", reason="the extra `datasets` is not installed"
    )
    document = touche.TouchePassageDoc("p", "text", "https://x")
    assert to_record(document) == Passage("p", "text", "https://x")


class _Document(NamedTuple):
    doc_id: str
    title: str
    year: int
    text: str


class _Dataset:
    def __init__(self, *documents: Any):
        self.documents = documents

    def has_docs(self) -> bool:
        return bool(self.documents)

    def docs_iter(self) -> Iterable[Any]:
        return iter(self.documents)


def test_other_documents_of_ir_datasets_become_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    ir_datasets = pytest.importorskip("ir_datasets", reason="the extra `datasets` is not installed")
    documents = [_Document("1", "a", 5, "b"), _Document("2", "c", 6, "d")]
    monkeypatch.setattr(ir_datasets, "load", lambda name: _Dataset(*documents))
    assert next(iter(read_dataset("some/id"))) == Entry("1", {"title": "a", "text": "b"})
    corpus = open_corpus(["some/id"])
    assert (corpus.records, corpus.fields) == ("entries", ("title", "text"))
    assert texts(corpus) == [("a", "b"), ("c", "d")]
    assert (corpus.size(), corpus.files) == (0, ("some/id",))


@pytest.mark.parametrize("sentences", [False, True])
def test_a_corpus_of_ir_datasets_has_the_fields_of_its_kind(
    sentences: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = official(sentences)
    import ir_datasets

    monkeypatch.setattr(ir_datasets, "load", lambda name: _Dataset(document))
    corpus = open_corpus(["argsme/x"])
    assert corpus.records == ("processed" if sentences else "arguments")
    assert texts(corpus) == [("c", "p1\np2", "title")]


def test_a_download_that_fails_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    ir_datasets = pytest.importorskip("ir_datasets", reason="the extra `datasets` is not installed")

    class Offline(_Dataset):
        def docs_iter(self) -> Iterable[Any]:
            raise ConnectionError("no such host")

    monkeypatch.setattr(ir_datasets, "load", lambda name: Offline(1))
    with pytest.raises(DataError, match="'some/id' cannot be downloaded or read: no such host"):
        open_corpus(["some/id"])


def test_an_id_without_documents_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    ir_datasets = pytest.importorskip("ir_datasets", reason="the extra `datasets` is not installed")
    monkeypatch.setattr(ir_datasets, "load", lambda name: _Dataset())
    with pytest.raises(DataError, match="has no documents"):
        open_corpus(["argsme/x"])


def test_own_documents_name_the_fields_of_side_and_claim(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text(
        "id,claim,side,reason\na,Ban tea,PRO,It stains.\nb,Ban tea,Against,It wakes.\n"
        "c,Ban tea,,It is wet.\nd,Ban tea,perhaps,Who knows?\n"
    )
    corpus = open_corpus([path], EntryFields(stance="side", claim="claim"))
    assert corpus.fields == ("claim", "reason")
    errors: list[DataError] = []
    found = list(corpus.read(path, Reading(errors.append)))
    assert [record.stance for record in found if isinstance(record, Entry)] == ["PRO", "CON", None]
    assert all(record.claim == "Ban tea" for record in found if isinstance(record, Entry))
    (error,) = errors
    assert error.line == 5
    assert "field 'side' holds 'perhaps'; expected PRO, CON, for or against" in str(error)
    with pytest.raises(DataError, match="found no field position"):
        open_corpus([path], EntryFields(stance="position"))


def test_own_documents_are_shown_for_and_against_their_claim(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, folder = tmp_path / "own.jsonl", str(tmp_path / "index")
    path.write_text(
        '{"id": "a", "claim": "Ban tea", "side": "for", "reason": "Tea stains teeth."}\n'
        '{"id": "b", "claim": "Ban tea", "side": "against", "reason": "Tea wakes people."}\n'
    )
    fields = ["--stance-field", "side", "--claim-field", "claim"]
    assert main(["index", "build", str(path), "-o", folder, *fields]) == 0
    capsys.readouterr()
    assert main(["search", "Should we ban tea?", "--index", folder, "--json"]) == 0
    answers = json.loads(capsys.readouterr().out)["answers"]
    assert {answer["id"]: answer["stance"] for answer in answers} == {"a": "PRO", "b": "CON"}
    assert main(["search", "Should we ban tea?", "--index", folder]) == 0
    shown = capsys.readouterr().out
    assert shown.count("Ban tea") >= 1
    assert shown.lower().index("for") < shown.lower().index("against")


LINKED = [
    {"id": "a", "reason": "Tea stains teeth.", "site": "", "stand": "for", "claim": "Ban tea"},
    {"id": "b", "reason": "https://a.example says so.", "site": "http://b.example/2", "stand": ""},
]


@pytest.mark.parametrize("name", [None, "own.jsonl", "own.csv"])
def test_links_are_kept_and_shown_as_the_source(name: str | None, tmp_path: Path) -> None:
    source: Path | list[dict[str, str]] = LINKED
    if name:
        source = tmp_path / name
        rows = [",".join(LINKED[0]), *(",".join(row.values()) for row in LINKED)]
        texts = rows if name.endswith(".csv") else [json.dumps(row) for row in LINKED]
        source.write_text("\n".join(texts))
    with Index.build(source, stance_field="stand", claim_field="claim") as index:
        assert index.fields == ("reason", "claim")
        (first,) = index.search("teeth")
        assert (first.stance, first.heading, first.source) == ("PRO", "Ban tea", "")
        (second,) = index.search("says")
        assert (second.stance, second.source) == (None, "http://b.example/2")
        third = {"id": "c", "reason": "Tea wakes.", "stand": "con", "site": "https://c.example"}
        with index.add([third], stance_field="stand") as larger:
            (found,) = larger.search("wakes")
            assert (found.stance, found.source) == ("CON", "https://c.example")
    with Index.build(source, fields=["reason", "site"]) as index:
        assert index.fields == ("reason", "site")
    with pytest.raises(DataError, match="found no field position; there are id, reason"):
        Index.build(source, stance_field="position")


def test_files_with_other_fields_are_told_how_to_be_indexed_together(tmp_path: Path) -> None:
    both, one = tmp_path / "both.jsonl", tmp_path / "one.jsonl"
    both.write_text('{"id": "a", "title": "Tenure", "text": "It protects."}\n')
    one.write_text('{"id": "b", "title": "Tests"}\n')
    with pytest.raises(DataError, match="name fields that all files have with --fields"):
        open_corpus([both, one])
    assert open_corpus([both, one], EntryFields(texts=("title",))).fields == ("title",)


def numbered(count: int) -> list[dict[str, object]]:
    return [{"id": f"d{number}", "title": "reforms", "note": None} for number in range(count)]


def test_fields_that_come_late_are_indexed(tmp_path: Path) -> None:
    rows = [*numbered(120), {"id": "late", "text": "About tenure.", "year": "1999", "note": "y"}]
    path = put(tmp_path, "x.jsonl", lines(*rows))
    corpus = open_corpus([path])
    assert corpus.fields == ("title", "note", "text")
    assert texts(corpus)[-1] == ("", "y", "About tenure.")
    # a field that is named may come late, too
    assert open_corpus([path], EntryFields(("text",))).fields == ("text",)
    with pytest.raises(DataError, match="found no field side"):
        open_corpus([path], EntryFields(stance="side"))
    with Index.build(rows) as index:
        assert index.fields == ("title", "note", "text")


def test_documents_that_are_no_list_warn_of_late_fields() -> None:
    rows = [*numbered(120), *({**each, "text": "About tenure."} for each in numbered(2))]
    rows = [{**row, "id": str(place)} for place, row in enumerate(rows)]
    with pytest.warns(UserWarning, match="document 120 has a text 'text', which the first") as seen:
        Index.build(iter(rows)).close()
    assert len(seen) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Index.build(iter(rows), fields=["title", "text"]).close()
        Index.build(iter([*numbered(120), {"id": "x", "year": 1999, "title": "t"}])).close()


def test_tsv_has_no_quotes(tmp_path: Path) -> None:
    path = put(tmp_path, "x.tsv", 'id\ttext\na\t"Tenure" is good\nb\t"Tests\nc\tc "d"\r\n')
    assert texts(open_corpus([path])) == [('"Tenure" is good',), ('"Tests',), ('c "d"',)]
    # unless its header has them, as in R
    path = put(tmp_path, "y.tsv", '"id"\t"text"\n"a"\t"one\ttab"\n')
    assert texts(open_corpus([path])) == [("one\ttab",)]
    path = put(tmp_path, "z.tsv", 'id\ttext\tside\na\t"Tenure\nis"\tPRO\nb\tx\tPRO\n')
    errors: list[DataError] = []
    found = list(open_corpus([path]).read(path, Reading(errors.append)))
    assert errors[0].line == 2
    assert "TSV has no quotes; save the file as CSV" in str(errors[0])
    assert "b" in [record.id for record in found]


def test_a_column_without_a_name_is_none_of_the_named_ones(tmp_path: Path) -> None:
    path = put(tmp_path, "x.csv", ',id,text,"",\n0,a,one,pro,\n1,b,two,con,\n')
    corpus = open_corpus([path])
    assert corpus.fields == ("text", "column 4")
    for record in corpus.read(path, Reading()):
        assert isinstance(record, Entry)
        assert (record.stance, record.claim) == (None, "")
    path = put(tmp_path, "y.jsonl", lines({"id": "a", "text": "x", "": "pro"}))
    (record,) = open_corpus([path]).read(path, Reading())
    assert isinstance(record, Entry)
    assert (record.stance, record.claim) == (None, "")
    path = put(tmp_path, "z.tsv", "id\ttext\n1\ta\tone\n")
    with pytest.raises(DataError, match="name the column of row names"):
        open_corpus([path])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.csv", "id,text,text\na,b,c\n", "line 1: found 2 columns of the name 'text'"),
        ("x.tsv", "id\tid\ttext\na\tb\tc\n", "found 2 columns of the name 'id'"),
        ("x.csv", "id;title, long;text\na;b;c\n", "found fields with ';' between them; expected"),
        ("x.csv", "id;text\n1;one, two, three\n", "expected commas; save it with commas"),
        ("x.csv.gz", "key;text\n1;one\n", "';' between them"),
        ("x.csv", "id\ttext\n1\tone\n", r"'\\t' between them; .*; rename it to \.tsv"),
        ("x.tsv", "id,text\n1,one\n", r"',' between them; expected tabs; rename it to \.csv"),
        ("x.tsv", "id;text\n1;one\n", "';' between them; expected tabs; save it with tabs"),
    ],
)
def test_headers_that_lose_a_column_are_refused(
    tmp_path: Path, name: str, content: str, message: str
) -> None:
    for fields in (EntryFields(), EntryFields(id="key"), EntryFields(("text",), "id")):
        with pytest.raises(DataError, match=message):
            open_corpus([put(tmp_path, name, content)], fields)
