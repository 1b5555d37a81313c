"""The document store: records as JSON, compressed in blocks that can be read one by one.

The records stand one after the other, cut into blocks of some kilobytes. Each block is a frame of
Zstandard (RFC 8878) with a checksum. The blocks of a large store share a dictionary, made of its
first records, without which small blocks would hardly shrink.
"""

from __future__ import annotations

import contextlib
import datetime
import threading
from array import array
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from itertools import accumulate
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import zstandard
from numpy.typing import NDArray

from sicetnon.errors import BrokenIndexError, SicetnonError, UsageError
from sicetnon.formats.corpora import is_gap
from sicetnon.formats.files import Limits
from sicetnon.index.array_files import (
    REBUILD,
    ArrayWriter,
    ByteColumn,
    MappedArray,
    StoredFile,
    damaged,
    ends_fit,
    write_array,
)
from sicetnon.records import Argument, Entry, Passage, ProcessedArgument, Record, WebPage

STORE = "records"
"""The file with the blocks; the names of the other files of a store begin so."""
OFFSETS, BLOCKS, FIRSTS, DICTIONARY = (
    f"{STORE}_{part}" for part in ("offsets", "blocks", "firsts", "dictionary")
)
STORE_TYPES = {
    STORE: "uint8",
    OFFSETS: "int64",
    BLOCKS: "int64",
    FIRSTS: "int64",
    DICTIONARY: "uint8",
}
"""The files of a store with the types of their elements.

Offsets tell where each record begins in the text of all records, blocks where each block begins in
the file, firsts which document is the first of each block; each has one more element.
"""

BLOCK_BYTES = 1 << 14
"""A block ends with the record that brings it to so many bytes."""
_LEVEL = 1
_DICTIONARY_BYTES, _SAMPLED_BYTES, _SAMPLES = 1 << 16, 1 << 22, 1000
# four bytes of a frame are 128 KiB of one letter at most
_MOST_GROWTH = 1 << 15
_KEPT_BLOCKS, _LARGEST_KEPT = 256, 1 << 16


RECORD_TYPES: dict[str, type[Record]] = {
    "arguments": Argument,
    "processed": ProcessedArgument,
    "passages": Passage,
    "pages": WebPage,
    "entries": Entry,
}
# the portals' full debate texts; left out since each is repeated in every argument of a debate
_LEFT_OUT = "sourceText"


def _of_python(value: Any) -> Any:
    """A value that numpy or pandas hold as JSON can hold it."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if is_gap(value):
        return None
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    raise TypeError(f"found {type(value).__name__}; expected what JSON can hold")


_encoder = msgspec.json.Encoder(enc_hook=_of_python)


def encode_records(records: Iterable[Record]) -> list[bytes]:
    """Encode records as the store holds them."""
    try:
        return list(map(_encoder.encode, map(_without_debate_text, records)))
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from None


def encode_record(record: Record) -> bytes:
    """Encode a record as the store holds it."""
    return encode_records([record])[0]


def _without_debate_text(record: Record) -> Record:
    if isinstance(record, Argument):
        record = _without_source_text(record)
    elif isinstance(record, ProcessedArgument):
        argument = _without_source_text(record.argument)
        record = msgspec.structs.replace(record, argument=argument)
    return record


def _without_source_text(argument: Argument) -> Argument:
    if _LEFT_OUT not in argument.context:
        return argument
    kept = {key: value for key, value in argument.context.items() if key != _LEFT_OUT}
    return msgspec.structs.replace(argument, context=kept)


class DocumentWriter:
    """Writes a new store. Its files count when the folder is renamed and the manifest names them.

    Args:
        folder: The folder for the files.
        block_bytes: A block ends with the record that brings it to so many bytes.
        sampled_bytes: Records of so many bytes are waited for before a dictionary is made; a
            smaller store has none.
    """

    def __init__(
        self, folder: Path, block_bytes: int = BLOCK_BYTES, sampled_bytes: int = _SAMPLED_BYTES
    ):
        self._folder, self._block_bytes, self._sampled_bytes = folder, block_bytes, sampled_bytes
        with ExitStack() as opened:
            self._file = opened.enter_context(ArrayWriter(folder / STORE, np.uint8))
            self._offsets = opened.enter_context(ArrayWriter(folder / OFFSETS, np.int64))
            self._opened = opened.pop_all()
        self._compressor: zstandard.ZstdCompressor | None = None
        self._dictionary = b""
        # text and sizes of the records that are in no block yet
        self._waiting, self._waiting_bytes = list[bytes](), 0
        self._sizes: list[int] = []
        self._offsets.append(np.zeros(1, np.int64))
        self._end = 0
        self._blocks, self._firsts = array("q", [0]), array("q", [0])

    def add(self, records: Iterable[bytes]) -> None:
        """Add the records of the next documents."""
        self.append(ByteColumn(list(records)))

    def append(self, records: ByteColumn) -> None:
        """Add the records of the next documents, in one column."""
        self._waiting.append(records.data())
        self._waiting_bytes += len(self._waiting[-1])
        self._sizes += records.sizes
        ends = self._end + np.cumsum(records.sizes, dtype=np.int64)
        self._offsets.append(ends)
        self._end = int(ends[-1]) if len(ends) else self._end
        if self._compressor is None and self._waiting_bytes >= self._sampled_bytes:
            self._train()
        if self._compressor is not None:
            self._write(self._compressor, is_end=False)

    def close(self) -> dict[str, StoredFile]:
        """Write the rest, flush all to the disk, close and describe the files."""
        compressor = self._compressor or zstandard.ZstdCompressor(_LEVEL, write_checksum=True)
        self._write(compressor, is_end=True)
        files = {STORE: self._file.close(), OFFSETS: self._offsets.close()}
        for name, values in {BLOCKS: self._blocks, FIRSTS: self._firsts}.items():
            files[name] = write_array(self._folder / name, np.frombuffer(values, dtype=np.int64))
        if self._dictionary:
            dictionary = np.frombuffer(self._dictionary, dtype=np.uint8)
            files[DICTIONARY] = write_array(self._folder / DICTIONARY, dictionary)
        return files

    def abandon(self) -> None:
        """Close the files, which may be unfinished."""
        self._opened.close()

    def _train(self) -> None:
        """Make the dictionary of some of the records that wait."""
        text, ends = b"".join(self._waiting), list(accumulate(self._sizes))
        sampled = range(0, len(ends), len(ends) // _SAMPLES + 1)
        samples: list[Any] = [text[ends[each] - self._sizes[each] : ends[each]] for each in sampled]
        found = None
        # records that are too few or too much alike have none, and need none
        with contextlib.suppress(zstandard.ZstdError):
            # words of 8 bytes in segments of 256; a search for better numbers takes long
            found = zstandard.train_dictionary(
                _DICTIONARY_BYTES, samples, k=256, d=8, f=20, split_point=1.0, accel=4
            )
        if found is not None:
            self._dictionary = found.as_bytes()
            found.precompute_compress(level=_LEVEL)
        self._compressor = zstandard.ZstdCompressor(_LEVEL, dict_data=found, write_checksum=True)

    def _write(self, compressor: zstandard.ZstdCompressor, is_end: bool) -> None:
        begin = position = first = 0
        begins, sizes = list[int](), list[int]()
        for after, size in enumerate(self._sizes, start=1):
            position += size
            if position - begin >= self._block_bytes or (is_end and after == len(self._sizes)):
                begins.append(begin)
                sizes.append(position - begin)
                self._firsts.append(self._firsts[-1] + after - first)
                begin, first = position, after
        text = b"".join(self._waiting)
        frames = _frames(compressor, text, begins, sizes)
        self._blocks.extend(list(accumulate(map(len, frames), initial=self._blocks[-1]))[1:])
        self._waiting, self._waiting_bytes = [text[begin:]], len(text) - begin
        self._sizes = self._sizes[first:]
        self._file.append(np.frombuffer(b"".join(frames), dtype=np.uint8))


def _frames(
    compressor: zstandard.ZstdCompressor, text: bytes, begins: list[int], sizes: list[int]
) -> list[bytes]:
    """The frame of each block of a text.

    All are compressed in one call: one call each would wait for the interpreter's lock each time.
    """
    # which takes neither no block nor an empty one
    is_there = "multi_compress_to_buffer" in zstandard.backend_features
    if not begins or not all(sizes) or not is_there:
        blocks = zip(begins, sizes, strict=True)
        return [compressor.compress(text[begin : begin + size]) for begin, size in blocks]
    places = np.array([begins, sizes], dtype=np.uint64).T.tobytes()
    found = compressor.multi_compress_to_buffer(
        zstandard.BufferWithSegments(text, places), threads=1
    )
    return [found[place].tobytes() for place in range(len(found))]


class DocumentReader:
    """Reads a store.

    Its files are mapped at once, so that they can be read to the end even if a writer removes
    them. Several threads may share a reader.

    Args:
        folder: The folder with the files.
        mapped: The files of `STORE_TYPES`; a small store has no dictionary.
        kind: The kind of the records.
    """

    def __init__(self, folder: Path, mapped: Mapping[str, MappedArray], kind: str):
        self._folder, self._is_closed = folder, False
        self._mapped = [mapped[name] for name in (STORE, OFFSETS, BLOCKS, FIRSTS)]
        self._data, self._offsets, self._blocks, self._firsts = (
            each.array for each in self._mapped
        )
        self._decoder: msgspec.json.Decoder[Record] = msgspec.json.Decoder(RECORD_TYPES[kind])
        if not ends_fit(self._blocks, len(self._data)) or not ends_fit(self._firsts, len(self)):
            raise damaged(folder / BLOCKS, "they do not fit the records")
        shared = None
        if DICTIONARY in mapped:
            shared = zstandard.ZstdCompressionDict(mapped[DICTIONARY].array.tobytes())
        self._decompressor = zstandard.ZstdDecompressor(dict_data=shared)
        self._limits = Limits.from_environment()
        self._kept: OrderedDict[int, tuple[int, int, bytes]] = OrderedDict()
        # a decompressor serves one thread at a time
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def get(self, numbers: Sequence[int]) -> list[Record]:
        """The records of some numbers, in their order."""
        self._check()
        return self._decoded(self._texts(np.array(numbers, np.int64)))

    def between(self, first: int, end: int) -> list[Record]:
        """The records of a range of numbers."""
        return self._decoded(self.raw(first, end))

    def raw(self, first: int, end: int) -> list[bytes]:
        """The stored JSON of a range of numbers."""
        self._check()
        return self._texts(np.arange(first, end, dtype=np.int64))

    def close(self) -> None:
        """Read no more."""
        self._is_closed = True

    def _texts(self, numbers: NDArray[np.int64]) -> list[bytes]:
        if (wrong := numbers[(numbers < 0) | (numbers >= len(self))]).size:
            raise self._missing(int(wrong[0]))
        blocks = np.searchsorted(self._firsts, numbers, side="right") - 1
        begins, ends = self._offsets[numbers], self._offsets[numbers + 1]
        found, last, packed, unpacked = [], -1, 0, 0
        first, start, text = 0, 0, b""
        for place in zip(*(each.tolist() for each in (numbers, blocks, begins, ends)), strict=True):
            number, block, begin, end = place
            if block != last:
                first, start, text = self._block(block)
                last = block
                if len(text) > _LARGEST_KEPT:
                    packed += int(self._blocks[block + 1] - self._blocks[block])
                    unpacked += len(text)
                    self._check_unpacked(packed, unpacked)
            if first > number or not start <= begin <= end <= start + len(text):
                raise self._missing(number)
            found.append(text[begin - start : end - start])
        return found

    def _block(self, block: int) -> tuple[int, int, bytes]:
        """The first document of a block, where its text begins, and the text of all documents."""
        with self._lock:
            known = self._kept.get(block)
            if known is None:
                known = self._read(block)
                if len(known[2]) <= _LARGEST_KEPT:
                    self._kept[block] = known
                    if len(self._kept) > _KEPT_BLOCKS:
                        self._kept.popitem(last=False)
            return known

    def _read(self, block: int) -> tuple[int, int, bytes]:
        if not 0 <= block < len(self._firsts) - 1 or block >= len(self._blocks) - 1:
            raise damaged(self._folder / FIRSTS, f"found no block {block:,}")
        first, after = self._firsts[block : block + 2].tolist()
        begin, end = self._blocks[block : block + 2].tolist()
        if not 0 <= first < after <= len(self) or not 0 <= begin < end <= len(self._data):
            raise damaged(self._folder / BLOCKS, f"found bytes {begin:,} to {end:,}")
        offsets = self._offsets[first : after + 1]
        start = int(offsets[0])
        size = int(offsets[-1]) - start
        if size > _LARGEST_KEPT and (offsets[1:] < offsets[:-1]).any():
            # records that overlap would take more memory than their block
            raise damaged(self._folder / OFFSETS, f"those of block {block:,} are not in order")
        frame = self._data[begin:end].tobytes()
        try:
            # a frame that says another size must not take the memory for it
            fits = zstandard.frame_content_size(frame) == size <= _MOST_GROWTH * len(frame)
            if fits:
                self._check_unpacked(len(frame), size)
            text = self._decompressor.decompress(frame) if fits else b""
        except (zstandard.ZstdError, MemoryError) as error:
            raise self._damaged(error) from None
        if not fits or len(text) != size:
            raise damaged(self._folder / STORE, f"block {block:,} has another size")
        return first, start, text

    def _check_unpacked(self, packed: int, unpacked: int) -> None:
        """Refuse blocks that are much larger than any of real records, in all that one call reads.

        A block is some kilobytes and one record.
        """
        free = 2 * self._limits.record_bytes
        where = self._folder / STORE
        if error := self._limits.unpacks_too_much(packed, unpacked, where, free):
            raise BrokenIndexError(str(error))

    def _check(self) -> None:
        if self._is_closed:
            raise UsageError(f"{self._folder.parent}: the index is closed; open it again")
        for each in self._mapped:
            each.check_size()

    def _decoded(self, records: Iterable[bytes]) -> list[Record]:
        try:
            return [self._decoder.decode(record) for record in records]
        # bad UTF-8 is a ValueError
        except (ValueError, RecursionError) as error:
            raise self._damaged(error) from None

    def _missing(self, number: int) -> BrokenIndexError:
        where = self._folder / STORE
        return BrokenIndexError(f"{where}: document {number} is missing; {REBUILD}")

    def _damaged(self, error: Exception) -> SicetnonError:
        return damaged(self._folder / STORE, str(error))


def opened_store(folder: Path, files: Mapping[str, StoredFile], kind: str) -> DocumentReader:
    """The store of a segment that is not open.

    Args:
        folder: The segment's folder.
        files: The manifest's entries for its files.
        kind: The kind of its records.
    """
    names = [name for name in STORE_TYPES if name in files]
    mapped = {name: MappedArray(folder / name, files[name]) for name in names}
    return DocumentReader(folder, mapped, kind)
