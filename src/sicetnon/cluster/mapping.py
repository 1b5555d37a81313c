"""An index on a cluster: its settings, its mapping, and its documents.

A document has the terms of each field, which our analysis makes; the engine counts them and changes
nothing. Beside them it has what the scores and their proof need, and its record as JSON. Documents
without `added` are the index's own: its state, its lock, and the forms of stems.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

MOST_FREQUENT = 65_535
"""A more frequent term of a field counts this often, the same as in a folder."""

LONGEST_ID = 480
"""Bytes of an id; the engine's limit is 512, with the number of the change."""

LARGEST_RECORD = 20 << 20
"""Bytes of a document's record."""

STATE, LOCK = "sicetnon state", "sicetnon lock"
"""Ids of the index's own documents; the white space separates them from ids of documents."""

BOUND = "bound"
"""The field, and its similarity, of upper bounds that skip documents; see `queries.SIMILARITY`."""

_FREQUENCY = "frequency"
_FIRST_VERSION = 1 << 62


def index_settings(shards: int, bound: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a new index with some shards, and the similarity of the field `bound`.

    It has no copies, and is not refreshed before it is loaded.
    """
    return {
        "number_of_shards": shards,
        "number_of_replicas": 0,
        "refresh_interval": "-1",
        "analysis": {"analyzer": {"terms": {"type": "custom", "tokenizer": "whitespace"}}},
        # the score of a term is its frequency, so that named queries give frequencies
        "similarity": {
            _FREQUENCY: {
                "type": "scripted",
                "script": {"source": "return query.boost * doc.freq;"},
            },
            BOUND: bound,
        },
    }


def index_mapping(fields: int, has_stems: bool, annotations: Iterable[str]) -> dict[str, Any]:
    """The mapping of an index with some text fields, stems in the field `bound`, and annotations.

    Without stems the field `bound` has the terms of all fields.
    """
    terms: dict[str, Any] = {
        "type": "text", "analyzer": "terms", "norms": False, "index_options": "freqs",
        "similarity": _FREQUENCY,
    }  # fmt: skip
    bound = terms | {"norms": True, "similarity": BOUND}
    if not has_stems:
        terms["copy_to"] = BOUND
    number = {"type": "integer", "index": False}
    properties: dict[str, Any] = {
        "id": {"type": "keyword"},
        "number": {"type": "long"},
        "added": {"type": "integer"},
        "stem": {"type": "keyword"},
        "form": {"type": "keyword", "index": False},
        "hash_a": number,
        "hash_b": number,
        BOUND: bound,
    }
    for field in range(fields):
        properties[terms_field(field)] = terms
        properties[length_field(field)] = number
    for name in annotations:
        properties[annotation_field(name)] = {"type": "binary", "doc_values": True}
    source = {"includes": ["record"]}
    return {"dynamic": False, "_source": source, "properties": properties}


def terms_field(field: int) -> str:
    """The name of the field with the terms of a text field."""
    return f"terms_{field}"


def length_field(field: int) -> str:
    """The name of the field with the length of a text field."""
    return f"length_{field}"


def annotation_field(name: str) -> str:
    """The name of the field with an annotation, as base64."""
    return f"annotation_{name}"


def id_hash(identifier: str) -> tuple[int, int]:
    """Two numbers of 24 bits; sums of them over all documents are a checksum of the ids."""
    digest = hashlib.sha256(identifier.encode()).digest()
    return int.from_bytes(digest[:3], "big"), int.from_bytes(digest[3:6], "big")


def stored_id(identifier: str, change: int) -> str:
    """The engine's id for a document; it differs by change, so that two versions can coexist."""
    return f"{identifier} {change}"


def document_lines(
    identifier: str,
    change: int,
    number: int,
    terms: Sequence[Sequence[str]],
    record: bytes,
    stems: Sequence[str],
    annotations: Mapping[str, str],
) -> bytes:
    """The lines of a bulk request that index a document with a number, added by a change.

    Of documents with one id the one with the lowest number stays, in whatever order they come.

    Args:
        identifier: Its id.
        change: The change that adds it.
        number: Its number.
        terms: The terms of each field.
        record: Its record as JSON.
        stems: The stems of all terms; empty unless the index distinguishes forms of a stem.
        annotations: Stored numbers, by their field.
    """
    action = {
        "_id": stored_id(identifier, change),
        "version": _FIRST_VERSION - number,
        "version_type": "external",
    }
    hash_a, hash_b = id_hash(identifier)
    source: dict[str, Any] = {
        "id": identifier,
        "number": number,
        "added": change,
        "hash_a": hash_a,
        "hash_b": hash_b,
        "record": record.decode(),
        **annotations,
    }
    for field, words in enumerate(terms):
        source[terms_field(field)] = " ".join(_limited(words))
        source[length_field(field)] = len(words)
    if stems:
        source[BOUND] = " ".join(stems)
    return msgspec.json.encode({"index": action}) + b"\n" + msgspec.json.encode(source) + b"\n"


def form_lines(stems: Mapping[str, str]) -> bytes:
    """The lines of a bulk request that index the stem of each form."""
    lines = []
    for form, stem in stems.items():
        action = {"index": {"_id": f"form {form}"}}
        lines += [msgspec.json.encode(action), msgspec.json.encode({"stem": stem, "form": form})]
    return b"".join(line + b"\n" for line in lines)


def live(change: int, pending: Sequence[int] = ()) -> dict[str, Any]:
    """The query of the documents after a change; `pending` ones are deleted, if not gone yet."""
    added: dict[str, Any] = {"range": {"added": {"lte": change}}}
    if not pending:
        return added
    return {"bool": {"filter": [added], "must_not": [{"terms": {"number": list(pending)}}]}}


def _limited(terms: Sequence[str]) -> Iterable[str]:
    """Terms without the repetitions that do not count."""
    if len(terms) <= MOST_FREQUENT:
        return terms
    counts: dict[str, int] = {}
    counted = []
    for term in terms:
        count = counts[term] = counts.get(term, 0) + 1
        if count <= MOST_FREQUENT:
            counted.append(term)
    return counted
