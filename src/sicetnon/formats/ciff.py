"""The Common Index File Format, by which search engines exchange indexes.

Lin, Mackenzie, Kamphuis, Macdonald, Mallia, Siedlaczek, Trotman and de Vries, "Supporting
Interoperability Between Open-Source Search Engines with the Common Index File Format", SIGIR 2020.

A file is a header, then postings lists, then document records, each a protobuf message after its
length. A posting holds the gap to the document before, and the term's frequency. Messages are read
and written here as bytes: numbers of seven bits a byte, fields by number. A postings list is one
long row of such numbers, which numpy decodes at once.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import DataError
from sicetnon.formats.files import GZIP_MAGIC, check_output
from sicetnon.operating_system import sync_folder

VERSION = 1
_VARINT, _FIXED, _BYTES = 0, 1, 2
_POSTING, _GAP, _FREQUENCY = 0x22, 0x08, 0x10
"""The tags before a posting, and before the numbers in it."""
_OCCURRENCES = 6
"""The field of the header with the occurrences of all terms."""
_MOST_BYTES, _MOST_HEADER = 5, 10
_LEAST_BYTES = 4
"""Bytes of the shortest list or record: its length, and a text of one letter."""
_BLOCK_BYTES = 1 << 22
_SEVEN_BITS, _MORE = 0x7F, 0x80


@dataclass(frozen=True)
class CiffHeader:
    """The header of a file.

    Attributes:
        lists: Number of postings lists in the file.
        documents: Number of document records in the file.
        all_lists: Number of terms of the whole collection.
        all_documents: Number of documents of the whole collection.
        occurrences: Number of occurrences of all terms in the collection.
        average_length: The average length of a document.
        description: Words of the exporting program.
    """

    lists: int
    documents: int
    all_lists: int
    all_documents: int
    occurrences: int
    average_length: float
    description: str


class PostingsLists(NamedTuple):
    """The postings of some terms.

    Attributes:
        terms: The terms, in UTF-8.
        counts: The number of postings of each term, from 1, shape (terms,).
        documents: Document numbers from 0, rising within a term, shape (postings,).
        frequencies: Term frequencies, from 1, shape (postings,).
    """

    terms: Sequence[bytes]
    counts: NDArray[np.int64]
    documents: NDArray[np.int64]
    frequencies: NDArray[np.int64]


class CiffReader:
    """Reads a file from its start to its end: the header, all lists, all documents.

    Raises:
        DataError: The file cannot be read or is no CIFF file; so do the methods.
    """

    def __init__(self, path: Path):
        self._path, self._position = path, 0
        if path.exists() and not path.is_file():
            # to open a named pipe waits for another program
            raise DataError("is no regular file; expected a CIFF file", path)
        try:
            with path.open("rb") as file:
                self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror}", path) from None
        except ValueError:
            raise DataError("is empty; expected a CIFF file", path) from None
        if self._data[:2] == GZIP_MAGIC:
            raise DataError("is packed; unpack it with gunzip first", path)
        self.header = self._header()

    def lists(self, block_bytes: int = _BLOCK_BYTES) -> Iterator[PostingsLists]:
        """All postings lists, some at a time.

        Args:
            block_bytes: Lists of about so many bytes are decoded at once.
        """
        terms, counts, rows, size = list[bytes](), list[int](), list[bytes](), 0
        for number in range(1, self.header.lists + 1):
            message = self._message(f"postings list {number:,}")
            fields, end = self._fields(message, f"postings list {number:,}")
            terms.append(self._text(fields, 1, f"postings list {number:,}"))
            counts.append(self._count(fields, 2, f"postings list {number:,}"))
            rows.append(_with_first_gap(message[end:]))
            size += len(message)
            if size >= block_bytes or number == self.header.lists:
                yield self._decoded(terms, np.array(counts, np.int64), b"".join(rows))
                terms, counts, rows, size = [], [], [], 0

    def documents(self) -> Iterator[tuple[str, int]]:
        """The id and the length of each document, in the order of their numbers."""
        for number in range(self.header.documents):
            what = f"the record of document {number:,}"
            fields, _ = self._fields(self._message(what), what)
            if (found := self._count(fields, 1, what)) != number:
                raise self._damaged(f"{what} is of document {found:,}; expected their order")
            yield self._text(fields, 2, what).decode(), self._count(fields, 3, what)
        if self._position < len(self._data):
            raise self._damaged(
                f"{len(self._data) - self._position:,} bytes follow the last record"
            )

    def _header(self) -> CiffHeader:
        fields, _ = self._fields(self._message("the header"), "the header")
        if fields.get(1) != VERSION:
            raise self._damaged(f"found version {fields.get(1)!r}; expected {VERSION}")
        lists, documents, all_lists, all_documents, occurrences = (
            self._count(fields, number, "the header") for number in range(2, 7)
        )
        average = fields.get(7)
        description = self._text(fields, 8, "the header") if 8 in fields else b""
        if (lists + documents) * _LEAST_BYTES > len(self._data):
            what = f"{lists:,} lists and {documents:,} documents in {len(self._data):,} bytes"
            raise self._damaged(f"the header tells of {what}")
        return CiffHeader(
            lists, documents, all_lists, all_documents, occurrences,
            average if isinstance(average, float) else 0.0, description.decode(),
        )  # fmt: skip

    def _message(self, what: str) -> bytes:
        size, self._position = self._varint(self._data, self._position, what)
        end = self._position + size
        if end > len(self._data):
            raise self._damaged(f"{what} is cut short")
        message = self._data[self._position : end]
        self._position = end
        return message

    def _fields(self, message: bytes, what: str) -> tuple[dict[int, int | float | bytes], int]:
        """The fields of a message up to its first posting, and where that begins."""
        found: dict[int, int | float | bytes] = {}
        position = 0
        while position < len(message) and message[position] != _POSTING:
            key, position = self._varint(message, position, what)
            number, kind = key >> 3, key & 7
            if kind == _VARINT:
                found[number], position = self._varint(message, position, what)
            elif kind == _FIXED and position + 8 <= len(message):
                found[number] = struct.unpack_from("<d", message, position)[0]
                position += 8
            elif kind == _BYTES:
                size, position = self._varint(message, position, what)
                found[number] = message[position : position + size]
                position += size
            else:
                position = len(message) + 1
        if position > len(message):
            raise self._damaged(f"{what} is no protobuf message")
        return found, position

    def _varint(self, data: bytes | mmap.mmap, position: int, what: str) -> tuple[int, int]:
        value = 0
        for count in range(min(_MOST_HEADER, len(data) - position)):
            byte = data[position + count]
            value |= (byte & _SEVEN_BITS) << 7 * count
            if byte < _MORE:
                return value, position + count + 1
        raise self._damaged(f"{what} is cut short")

    def _count(self, fields: dict[int, int | float | bytes], number: int, what: str) -> int:
        """A number from 0 to 2³¹, or to 2⁶³ for the occurrences of all terms; 0 if left out."""
        value = fields.get(number, 0)
        most = 1 << (63 if number == _OCCURRENCES else 31)
        if not isinstance(value, int) or value >= most:
            raise self._damaged(f"{what} has the count {value!r}")
        return value

    def _text(self, fields: dict[int, int | float | bytes], number: int, what: str) -> bytes:
        text = fields.get(number)
        try:
            if isinstance(text, bytes) and text.decode():
                return text
        except UnicodeDecodeError:
            pass
        raise self._damaged(f"{what} has the text {text!r}")

    def _decoded(self, terms: list[bytes], counts: NDArray[np.int64], rows: bytes) -> PostingsLists:
        numbers = _varints(np.frombuffer(rows, np.uint8))
        where = f"the lists of {terms[0].decode()!r} to {terms[-1].decode()!r}"
        if numbers is None or len(numbers) != 6 * counts.sum() or counts.min() < 1:
            raise self._damaged(f"{where} hold no postings, or not so many as they say")
        columns = numbers.reshape(-1, 6)
        gaps, frequencies = columns[:, 3], columns[:, 5]
        if (columns[:, [0, 2, 4]] != (_POSTING, _GAP, _FREQUENCY)).any():
            raise self._damaged(f"{where} hold other messages than postings")
        first = np.cumsum(counts) - counts
        documents = np.cumsum(gaps)
        documents -= np.repeat(documents[first] - gaps[first], counts)
        is_first = np.zeros(len(gaps), bool)
        is_first[first] = True
        if (
            (gaps < np.where(is_first, 0, 1)).any()
            or documents.max(initial=0) >= max(self.header.documents, 1)
            or frequencies.min(initial=1) < 1
        ):
            raise self._damaged(f"{where} hold a document or a frequency that cannot be")
        return PostingsLists(terms, counts, documents, frequencies)

    def _damaged(self, problem: str) -> DataError:
        return DataError(f"is no CIFF file that can be used: {problem}", self._path)


def write_ciff(
    path: Path,
    header: CiffHeader,
    lists: Iterable[PostingsLists],
    documents: Iterable[tuple[str, int]],
) -> None:
    """Write a file, atomically.

    Args:
        path: The file.
        header: Its header.
        lists: All postings lists, some at a time.
        documents: The id and the length of each document.

    Raises:
        OSError: The disk is full or not writable, or the file is a folder, a pipe or a device.
    """
    check_output(path)
    temporary = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
    try:
        with temporary.open("xb") as file:
            file.write(_delimited(_encoded_header(header)))
            for each in lists:
                file.write(b"".join(map(_delimited, _encoded_lists(each))))
            for number, (identifier, length) in enumerate(documents):
                text = identifier.encode()
                record = [_number(1, number), _bytes(2, text), _number(3, length)]
                file.write(_delimited(b"".join(record)))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        sync_folder(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _encoded_header(header: CiffHeader) -> bytes:
    numbers = (header.lists, header.documents, header.all_lists, header.all_documents)
    fields = [_number(n, v) for n, v in enumerate((VERSION, *numbers, header.occurrences), start=1)]
    average = bytes([7 << 3 | _FIXED]) + struct.pack("<d", header.average_length)
    return b"".join([*fields, average, _bytes(8, header.description.encode())])


def _encoded_lists(lists: PostingsLists) -> Iterator[bytes]:
    ends = np.cumsum(lists.counts)
    gaps = np.diff(lists.documents, prepend=0)
    firsts = ends - lists.counts
    gaps[firsts] = lists.documents[firsts]
    gap_sizes, sizes = _sizes(gaps), _sizes(lists.frequencies)
    bodies = 2 + gap_sizes + sizes
    starts = np.cumsum(2 + bodies) - bodies - 2
    data = np.zeros(int((2 + bodies).sum()), np.uint8)
    data[starts], data[starts + 1], data[starts + 2] = _POSTING, bodies, _GAP
    _put(data, starts + 3, gaps, gap_sizes)
    data[starts + 3 + gap_sizes] = _FREQUENCY
    _put(data, starts + 4 + gap_sizes, lists.frequencies, sizes)
    positions = np.append(starts, len(data))[np.append(0, ends)].tolist()
    occurrences = np.append(0, np.cumsum(lists.frequencies))[np.append(0, ends)]
    for position, term in enumerate(lists.terms):
        count, total = (
            int(lists.counts[position]),
            int(occurrences[position + 1] - occurrences[position]),
        )
        head = _bytes(1, term) + _number(2, count) + _number(3, total)
        yield head + data[positions[position] : positions[position + 1]].tobytes()


def _varints(data: NDArray[np.uint8]) -> NDArray[np.int64] | None:
    """All numbers in some bytes, or None if one is cut short or too large."""
    ends = np.flatnonzero(data < _MORE)
    if len(data) and (not len(ends) or ends[-1] != len(data) - 1):
        return None
    begins = np.append(-1, ends[:-1]) + 1 if len(ends) else ends
    sizes = ends - begins + 1
    values = (data[begins] & _SEVEN_BITS).astype(np.int64)
    for position in range(1, int(sizes.max(initial=0))):
        if position == _MOST_BYTES:
            return None
        longer = np.flatnonzero(sizes > position)
        more = (data[begins[longer] + position] & _SEVEN_BITS).astype(np.int64)
        values[longer] |= more << 7 * position
    return values


def _sizes(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The bytes of each number."""
    sizes = np.ones(len(values), np.int64)
    for bits in range(7, 32, 7):
        sizes += values >> bits > 0
    return sizes


def _put(
    data: NDArray[np.uint8],
    starts: NDArray[np.int64],
    values: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> None:
    for position in range(int(sizes.max(initial=0))):
        here = np.flatnonzero(sizes > position)
        more = np.where(sizes[here] > position + 1, _MORE, 0)
        data[starts[here] + position] = (values[here] >> 7 * position) & _SEVEN_BITS | more


def _with_first_gap(postings: bytes) -> bytes:
    """Postings with the gap of the first one, which writers leave out where it is 0."""
    if len(postings) > 2 and postings[2] == _FREQUENCY and postings[1] <= _MOST_BYTES + 1:
        return bytes([_POSTING, postings[1] + 2, _GAP, 0]) + postings[2:]
    return postings


def _delimited(message: bytes) -> bytes:
    return _encoded(len(message)) + message


def _number(field: int, value: int) -> bytes:
    # protobuf leaves out what is 0
    return bytes([field << 3 | _VARINT]) + _encoded(value) if value else b""


def _bytes(field: int, value: bytes) -> bytes:
    return bytes([field << 3 | _BYTES]) + _encoded(len(value)) + value


def _encoded(value: int) -> bytes:
    encoded = bytearray()
    while value >= _MORE:
        encoded.append(value & _SEVEN_BITS | _MORE)
        value >>= 7
    return bytes([*encoded, value])
