"""Every parser is given mutated files: it reads them, or says in one line why it cannot."""

from __future__ import annotations

import io
import json
import os
import zlib
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

from robustness.commands import check_message
from robustness.mutations import mutated
from robustness.trials import Trial
from sicetnon.arguments.models.onnx_model import DebateEncoder
from sicetnon.errors import SicetnonError
from sicetnon.evaluation.inputs import load_qrels, load_run
from sicetnon.formats.argquality import read_quality
from sicetnon.formats.corpora import open_corpus, read_documents, read_passages, read_processed
from sicetnon.formats.entries import read_arguments
from sicetnon.formats.files import Reading
from sicetnon.formats.page_scores import SideFiles
from sicetnon.formats.topics import read_queries, read_topics
from sicetnon.index.manifest import read_manifest, recorded_analysis
from sicetnon.services.http import ResponseCache
from sicetnon.uva.parameters import read_parameters
from sicetnon.validation import validate
from support.corpus_files import EMPTY_PASSAGE, PASSAGE, lines, row, table
from support.databases import opened_database
from support.quality_files import dagstuhl, webis
from support.small_indexes import build

Read = Callable[[Path], Any]
PAGE = (
    "<!DOCTYPE html><html><head><meta charset=utf-8><title>Laptop or desktop</title></head><body>"
    "<nav><a href=/>Home</a></nav><div id='content'><p>" + "A laptop is better than a desktop. " * 4
    + "</p><ul><li>one<li>two</ul><table><tr><td>x</table><script>let a = '<p>'</script></div>"
    "<!-- a comment --><pre>a\n b</pre>&amp;&eacute;&#8211;</body></html>"
)  # fmt: skip


class Parser(NamedTuple):
    """A parser with files that it reads.

    Attributes:
        name: The name of the file that it is given.
        samples: Contents of such files.
        read: Reads a file to the end.
    """

    name: str
    samples: list[bytes]
    read: Read


def prepare(folder: Path) -> Trial:
    """The parsers, each with its samples."""
    parsers = parsers_of(folder)
    others = [sample for parser in parsers for sample in parser.samples]

    def trial(seed: int, place: Path) -> None:
        rng = Random(seed)
        parser = parsers[seed % len(parsers)]
        path = place / parser.name
        path.write_bytes(mutated(rng.choice(parser.samples), rng, others))
        read(parser, path)

    return trial


def read(parser: Parser, path: Path) -> None:
    """Read a file; an error must be one clear line."""
    try:
        parser.read(path)
    except (SicetnonError, OSError) as error:
        check_message(error)


def parsers_of(folder: Path) -> list[Parser]:
    """All parsers.

    Args:
        folder: A place for what samples are made of.
    """
    run = "".join(f"{t} Q0 S{t}a-A{n} {n} {9.5 - n} tag\n" for t in (1, 2) for n in range(1, 6))
    stances = "".join(f"1 PRO clueweb12-{n}___{n} {n} {20 - n} my-tag\n" for n in range(1, 6))
    qrels = "".join(f"{t} 0 S{t}a-A{n} {n - 2}\n" for t in (1, 2) for n in range(5))
    topics = (
        "<?xml version='1.0' encoding='utf-8'?><topics><topic><number>1</number><title>Tea or milk?"
        "</title><objects>tea, milk</objects><description>d</description><narrative>n</narrative>"
        "</topic><topic><number>2</number><title>Tenure?</title></topic></topics>"
    )
    ranks = "clueweb12-0000tw-00-00000 1.5e-9\nclueweb12-0000tw-00-00001 0.25\n"
    spam = "77 clueweb12-0000tw-00-00000\n3 clueweb12-0000tw-00-00001\n"
    arguments = _arguments()
    texts = [
        {"id": "a", "title": "T", "text": "one\u2028two", "year": 2020},
        {"id": "b", "text": "x"},
    ]
    quality = [{"id": "a", "text": "t", "scores_mean": {"overall quality": 2.0, "cogency": 1.5,
                "effectiveness": 1.0, "reasonableness": 3.0}}]  # fmt: skip
    documents = [{"docno": "d1", "text": "t", "original_document": {"url": "https://x.org"}}]
    queries = [{"qid": 1, "query": "Tea?"}, {"qid": "2", "query": "b", "original_query": {}}]
    corpus = _corpus
    return [
        Parser("run.txt", [run.encode(), stances.encode()], _run),
        Parser("some.qrels", [qrels.encode(), qrels.replace(" 0 ", " 0\t").encode()], load_qrels),
        Parser("topics.xml", [topics.encode()], read_topics),
        Parser("passages.jsonl", [lines(PASSAGE, EMPTY_PASSAGE).encode()], _each(read_passages)),
        Parser("lines.jsonl", [lines(*texts).encode(), lines(PASSAGE).encode()], corpus),
        Parser("table.csv", [b'id,title,text\na,T,"one, ""two"""\nb,U,three\n'], corpus),
        Parser("args.json", [arguments], _each(read_arguments)),
        Parser("some.json", [arguments, b"[]"], corpus),
        Parser("processed.csv", [table(row(), row(id="b")).encode()], _each(read_processed)),
        Parser("page-ranks.txt", [ranks.encode()], lambda path: _scores(SideFiles(page_rank=path))),
        Parser("spam-ranks.txt", [spam.encode()], lambda path: _scores(SideFiles(spam_rank=path))),
        Parser("page.html", [PAGE.encode(), PAGE.encode("utf-16")], corpus),
        Parser("pages.warc", [_record("a") + _record("b", "Content-Encoding: br\r\n")], corpus),
        Parser("documents.jsonl", [lines(*documents).encode()], _each(read_documents)),
        Parser("queries.jsonl", [lines(*queries).encode()], read_queries),
        Parser("webis.csv", [webis(folder).read_bytes()[:2000]], read_quality),
        Parser("dagstuhl.csv", [dagstuhl(folder).read_bytes()], read_quality),
        Parser("dagstuhl.json", [json.dumps(quality).encode()], read_quality),
        Parser("answers.sqlite", [_answers(folder)], _cached),
        Parser("manifest.json", [_manifest(folder)], _sealed_manifest),
        Parser("weights.npz", [_arrays()], _parameters),
        Parser("weights.json", [_CARD], _parameters),
        Parser("model.json", [_described()], lambda path: DebateEncoder(path.parent)),
    ]


def _each(read_all: Callable[[Path], Any]) -> Read:
    return lambda path: list(read_all(path))


def _run(path: Path) -> None:
    load_run(path)
    with path.open(encoding="utf-8", errors="replace") as file:
        validate(file.readlines(), "touche-2020-task-1", name=path.name)


def _corpus(path: Path) -> None:
    corpus = open_corpus([path])
    for record in corpus.read(path, Reading()):
        corpus.texts(record)


def _scores(files: SideFiles) -> None:
    files.check()
    files.read({"clueweb12-0000tw-00-00000"})


def _cached(path: Path) -> None:
    cache = ResponseCache(path)
    try:
        for key in ("a", "b"):
            cache.get(key)
        cache.put("c", "request", b"body")
    finally:
        cache.close()


def _sealed_manifest(path: Path) -> None:
    """Read a manifest as it is, and with a checksum that fits."""
    try:
        read_manifest(path.parent)
    except SicetnonError as error:
        check_message(error)
    body, mark, _ = path.read_bytes().removeprefix(b'{"manifest": ').rpartition(b',\n"sha256"')
    if mark:
        seal = sha256(body).hexdigest().encode()
        path.write_bytes(b'{"manifest": ' + body + mark + b': "' + seal + b'"}\n')
        recorded_analysis(path.parent, read_manifest(path.parent))


def _parameters(path: Path) -> None:
    folder = path.parent
    for name, sample in (("weights.npz", _arrays()), ("weights.json", _CARD)):
        if not (folder / name).exists():
            (folder / name).write_bytes(sample)
    os.environ["SICETNON_MODELS"] = str(folder)
    read_parameters("weights")


_CARD = (
    b'{"name": "weights", "encoder": "hashed words", "kind": "svm", "trained_on": "x", '
    b'"command": "y", "figures": {"accuracy": 0.5}, "notes": "n"}\n'
)


def _arrays() -> bytes:
    data = io.BytesIO()
    np.savez_compressed(data, weights=np.arange(6.0).reshape(2, 3), bias=np.zeros(1, np.float32))
    return data.getvalue()


def _described() -> bytes:
    from sicetnon.arguments.models.model_files import SHIPPED

    return (SHIPPED / "model.json").read_bytes()


def _arguments() -> bytes:
    argument = {
        "id": "S1-A1",
        "conclusion": "Zoos should be closed",
        "premises": [{"text": 'They\'re \\ "cruel" 🦁.', "stance": "CON", "annotations": []}],
        "context": {"sourceId": "S1", "topic": "Zoos", "aspects": [{"name": "x", "weight": 0.5}]},
    }
    return json.dumps({"arguments": [argument, {**argument, "id": "S1-A2"}]}).encode()


def _record(name: str, header: str = "") -> bytes:
    http = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{header}\r\n{PAGE}".encode()
    head = (
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://forum.example.org/t/1\r\n"
        f"WARC-TREC-ID: {name}\r\nContent-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(http)}\r\n\r\n"
    )
    return head.encode() + http + b"\r\n\r\n"


def _answers(folder: Path) -> bytes:
    path = folder / "answers.sqlite"
    cache = ResponseCache(path)
    for key in ("a", "b"):
        cache.put(key, "request", json.dumps({"results": [key] * 9}).encode())
    cache.close()
    with opened_database(path) as database:
        assert zlib.decompress(database.execute("SELECT body FROM answers").fetchone()[0])
    return path.read_bytes()


def _manifest(folder: Path) -> bytes:
    place = folder / "for the manifest"
    place.mkdir()
    index = build(
        place, [{"text": "one"}, {"text": "two"}, {"text": "three"}], cuts=[2], deleted=[0]
    )
    return (index / "manifest.json").read_bytes()
