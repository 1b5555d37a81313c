"""CIFF files as Google's protobuf library writes and reads them, and for PISA."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

_LABELS = {"optional": 1, "repeated": 3}
_TYPES = {"double": 1, "int64": 3, "int32": 5, "string": 9, "message": 11}
# as in CommonIndexFileFormat.proto
_MESSAGES: Mapping[str, Sequence[tuple[str, str]]] = {
    "Header": [
        ("version", "int32"), ("num_postings_lists", "int32"), ("num_doc_records", "int32"),
        ("total_postings_lists", "int32"), ("total_docs", "int32"),
        ("total_terms_in_collection", "int64"), ("average_doclength", "double"),
        ("description", "string"),
    ],
    "Posting": [("docid", "int32"), ("tf", "int32")],
    "PostingsList": [("term", "string"), ("df", "int64"), ("cf", "int64"), ("postings", "message")],
    "DocRecord": [("docid", "int32"), ("collection_docid", "string"), ("doclength", "int32")],
}  # fmt: skip


@cache
def messages() -> dict[str, Any]:
    """The classes of the messages, by name."""
    descriptor = pytest.importorskip("google.protobuf.descriptor_pb2")
    from google.protobuf import descriptor_pool, message_factory

    file = descriptor.FileDescriptorProto(name="ciff.proto", package="ciff", syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for number, (field, kind) in enumerate(fields, start=1):
            label = _LABELS["repeated" if kind == "message" else "optional"]
            added = message.field.add(name=field, number=number, type=_TYPES[kind], label=label)
            if kind == "message":
                added.type_name = ".ciff.Posting"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"ciff.{name}"))
        for name in _MESSAGES
    }


Lists = Mapping[str, Sequence[tuple[int, int]]]
"""Documents and frequencies by term."""


def write(path: Path, lists: Lists, documents: Sequence[tuple[str, int]], **header: Any) -> Path:
    """Write a file by Google's library."""
    made = messages()
    total = sum(length for _, length in documents)
    counts = {"num_postings_lists": len(lists), "num_doc_records": len(documents)}
    head = made["Header"](**({"version": 1, "total_terms_in_collection": total} | counts | header))
    parts = [head]
    for term, postings in lists.items():
        gaps = np.diff([0, *(document for document, _ in postings)]).tolist()
        pairs = zip(gaps, (frequency for _, frequency in postings), strict=True)
        parts.append(
            made["PostingsList"](
                term=term,
                df=len(postings),
                cf=sum(frequency for _, frequency in postings),
                postings=[made["Posting"](docid=gap, tf=tf) for gap, tf in pairs],
            )
        )
    for number, (identifier, length) in enumerate(documents):
        record = {"docid": number, "collection_docid": identifier, "doclength": length}
        parts.append(made["DocRecord"](**record))
    path.write_bytes(b"".join(_delimited(part.SerializeToString()) for part in parts))
    return path


def read(path: Path) -> tuple[Any, dict[str, list[tuple[int, int]]], list[tuple[str, int]]]:
    """The header, the postings and the documents of a file, by Google's library."""
    made, data = messages(), path.read_bytes()
    place = 0

    def following(name: str) -> Any:
        nonlocal place
        size = shift = 0
        while True:
            byte = data[place]
            place, size, shift = place + 1, size | (byte & 127) << shift, shift + 7
            if byte < 128:
                break
        place += size
        return made[name].FromString(data[place - size : place])

    header = following("Header")
    lists = {}
    for _ in range(header.num_postings_lists):
        each = following("PostingsList")
        numbers = np.cumsum([posting.docid for posting in each.postings]).tolist()
        frequencies = [posting.tf for posting in each.postings]
        assert (each.df, each.cf) == (len(numbers), sum(frequencies))
        lists[each.term] = list(zip(numbers, frequencies, strict=True))
    documents = []
    for number in range(header.num_doc_records):
        each = following("DocRecord")
        assert each.docid == number
        documents.append((each.collection_docid, each.doclength))
    assert place == len(data)
    return header, lists, documents


def for_pisa(path: Path, folder: Path, native: Any) -> Path:
    """The files that PISA's own importer makes of a CIFF file; that importer needs pyciff.

    Args:
        path: The file.
        folder: An empty folder.
        native: The compiled module of pyterrier_pisa.
    """
    _, lists, documents = read(path)
    postings = lists.values()
    parts = {
        "docs": [[len(documents)], *([document for document, _ in each] for each in postings)],
        "freqs": [[frequency for _, frequency in each] for each in postings],
        "sizes": [[length for _, length in documents]],
    }
    for name, sequences in parts.items():
        numbers = [number for each in sequences for number in (len(each), *each)]
        (folder / f"inv.{name}").write_bytes(np.array(numbers, "<u4").tobytes())
    words = {"terms": list(lists), "documents": [identifier for identifier, _ in documents]}
    for name, lines in words.items():
        (folder / f"fwd.{name}").write_text("".join(f"{line}\n" for line in lines))
        lexicon = name.removesuffix("s") if name == "terms" else "doc"
        native.build_binlex(str(folder / f"fwd.{name}"), str(folder / f"fwd.{lexicon}lex"))
    return folder


def _delimited(message: bytes) -> bytes:
    size, head = len(message), bytearray()
    while size > 127:
        head.append(size & 127 | 128)
        size >>= 7
    return bytes([*head, size]) + message
