"""Documents for indexes, what an index must hold, and what it does hold."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from sicetnon.formats.corpora import KINDS, Corpus
from sicetnon.formats.files import Reading
from sicetnon.index.compaction import merge_indexes
from sicetnon.index.manifest import Manifest
from sicetnon.index.reader import IndexReader
from sicetnon.records import Argument, Entry, Passage, Premise, ProcessedArgument, Record, Sentence
from sicetnon.retrieval.postings import PostingsReader
from sicetnon.text.analysis import Analysis, named_analysis

Documents = Mapping[str, tuple[str, ...]]
"""Texts by field, by document id."""

PORTER, FORMS = named_analysis("porter-stop"), named_analysis("forms")
PLAIN = named_analysis("plain")
FIELDS = ("text", "title", "note")
SETTINGS = settings(
    derandomize=True,
    max_examples=30,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
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


ARGUMENT = Argument(
    "S1-A1",
    "Zoos should be closed",
    (Premise("They're cruel – sehr grausam.", "CON"), Premise("No 🦁 is free.")),
    {"sourceId": "S1", "topic": "Zoos", "aspects": [{"name": "x", "weight": 0.5}], "none": None},
)
RECORDS: dict[str, tuple[tuple[str, ...], list[Record]]] = {
    "arguments": (KINDS[Argument][1], [ARGUMENT, Argument("S2", "", (Premise("why", "PRO"),))]),
    "processed": (
        KINDS[ProcessedArgument][1],
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


@dataclass(frozen=True)
class Content:
    """All that a search can see of an index, by ids and words instead of numbers."""

    postings: dict[str, dict[str, tuple[int, ...]]]
    lengths: dict[str, tuple[int, ...]]
    records: dict[str, Record]
    field_totals: tuple[int, ...]


def content(index: IndexReader) -> Content:
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
        for number in range(len(segment.terms)):
            documents, frequencies = segment.rows(number)
            places = documents.tolist()
            assert places == sorted(set(places))
            for local, row in zip(places, frequencies.tolist(), strict=True):
                if live[local]:
                    postings.setdefault(segment.terms.word(number), {})[ids[local]] = tuple(row)
    assert index.document_count == len(numbers)
    records = dict(zip(index.identifiers(numbers), index.records_at(numbers), strict=True))
    assert [index.number(identifier) for identifier in records] == numbers
    return Content(postings, lengths, records, tuple(index.field_totals.tolist()))


def content_of(folder: Path) -> Content:
    with IndexReader.open(folder) as index:
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
    with IndexReader.open(folder) as index:
        reader = PostingsReader(index, {})
        found = ((term, reader.read(term)) for term in sorted(terms))
        return [(term, (each.documents, each.occurrences)) for term, each in found]


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def compact_index(folder: Path, **options: Any) -> Manifest:
    """Merge all segments of an index into one, without the deleted documents."""
    return merge_indexes([folder], folder, **options)


def check_tidy(folder: Path) -> None:
    """Nothing lies in an index's folder but what its manifest counts."""
    with IndexReader.open(folder) as index:
        wanted = {"manifest.json", "lock"}
        for entry in index.manifest.segments:
            wanted |= {f"{entry.name}/{name}" for name in entry.files}
        index.verify()
    assert set(files_of(folder)) == wanted
    assert {path.name for path in folder.iterdir()} == {name.split("/")[0] for name in wanted}


def write_lines(path: Path, *rows: Mapping[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
