"""An index on a cluster: its settings, its mapping, and its documents.

A document has the terms of each field, as our analysis makes them; the engine counts them and
changes nothing. Beside them it has what the scores and their proof need, and its record as JSON.
Documents without `added` are the index's own: its state, its lock, and the forms of stems.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

MOST_FREQUENT = 65_535
"""A more frequent term of a field counts this often, as in a folder."""

LONGEST_ID = 480
"""Bytes of an id; the engine's limit is 512 with what stands behind the id."""

LARGEST_RECORD = 20 << 20
"""Bytes of a document's record."""

STATE, LOCK = "sicetnon state", "sicetnon lock"
"""Ids of the index's own documents; the white space keeps them apart from ids of documents."""

FREQUENCY, BOUND = "frequency", "bound"
"""Names of similarities; the second one is of a field of that name, see `skipping`."""

_FIRST_VERSION = 1 << 62


def settings(shards: int, replicas: int, bound: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a new index, which is not searched before it is loaded.

    Args:
        shards: Number of shards.
        replicas: Number of further copies of each.
        bound: The similarity of the field `bound`.
    """
    return {
        "number_of_shards": shards,
        "number_of_replicas": replicas,
        "refresh_interval": "-1",
        "analysis": {"analyzer": {"terms": {"type": "custom", "tokenizer": "whitespace"}}},
        # the score of a term is its frequency, so that named queries give frequencies
        "similarity": {
            FREQUENCY: {"type": "scripted", "script": {"source": "return query.boost * doc.freq;"}},
            BOUND: bound,
        },
    }


def mapping(fields: int, has_stems: bool, annotations: Iterable[str] = ()) -> dict[str, Any]:
    """The mapping of an index with some number of text fields.

    Args:
        fields: Their number.
        has_stems: Whether the field `bound` has stems of its own, or the terms of all fields.
        annotations: Names of annotations.
    """
    terms: dict[str, Any] = {
        "type": "text", "analyzer": "terms", "norms": False, "index_options": "freqs",
        "similarity": FREQUENCY,
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
    """Two numbers of 24 bits; sums of them over all documents check which ones there are."""
    digest = hashlib.sha256(identifier.encode()).digest()
    return int.from_bytes(digest[:3], "big"), int.from_bytes(digest[3:6], "big")


def stored_id(identifier: str, change: int) -> str:
    """The engine's id for a document: those of different changes can stand beside each other."""
    return f"{identifier} {change}"


def document_action(identifier: str, change: int, number: int) -> bytes:
    """The line of a bulk request that indexes a document.

    Of documents with one id the one with the lowest number stays, in whatever order they come.
    """
    action = {
        "_id": stored_id(identifier, change),
        "version": _FIRST_VERSION - number,
        "version_type": "external",
    }
    return msgspec.json.encode({"index": action})


def document_source(
    identifier: str,
    change: int,
    number: int,
    terms: Sequence[Sequence[str]],
    record: bytes,
    stems: Sequence[str] = (),
    annotations: Mapping[str, str] | None = None,
) -> bytes:
    """The line with a document.

    Args:
        identifier: Its id.
        change: The change that adds it.
        number: Its number.
        terms: The terms of each field.
        record: Its record as JSON.
        stems: The stems of all terms, where forms are kept apart.
        annotations: Stored numbers, by their field.
    """
    hash_a, hash_b = id_hash(identifier)
    source: dict[str, Any] = {
        "id": identifier,
        "number": number,
        "added": change,
        "hash_a": hash_a,
        "hash_b": hash_b,
        "record": record.decode(),
        **(annotations or {}),
    }
    for field, found in enumerate(terms):
        source[terms_field(field)] = " ".join(_limited(found))
        source[length_field(field)] = len(found)
    if stems:
        source[BOUND] = " ".join(stems)
    return msgspec.json.encode(source)


def form_lines(stems: Mapping[str, str]) -> bytes:
    """The lines that index the forms of stems.

    Args:
        stems: The stem of each form.
    """
    parts = []
    for form, stem in stems.items():
        action = {"index": {"_id": f"form {form}"}}
        parts += [msgspec.json.encode(action), msgspec.json.encode({"stem": stem, "form": form})]
    return b"".join(part + b"\n" for part in parts)


def live(change: int, pending: Sequence[int] = ()) -> dict[str, Any]:
    """The query of the documents that an index has after a change.

    Args:
        change: The number of the change.
        pending: Numbers of documents that are deleted, but perhaps not gone yet.
    """
    added: dict[str, Any] = {"range": {"added": {"lte": change}}}
    if not pending:
        return added
    return {"bool": {"filter": [added], "must_not": [{"terms": {"number": list(pending)}}]}}


def _limited(terms: Sequence[str]) -> Iterable[str]:
    if len(terms) <= MOST_FREQUENT:
        return terms
    counts: dict[str, int] = {}
    kept = []
    for term in terms:
        count = counts[term] = counts.get(term, 0) + 1
        if count <= MOST_FREQUENT:
            kept.append(term)
    return kept
