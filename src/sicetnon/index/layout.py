"""The arrays of a segment: their types, and how their shapes fit together."""

from __future__ import annotations

from pathlib import Path

from sicetnon.errors import BrokenIndexError
from sicetnon.index.manifest import SegmentEntry
from sicetnon.index.pairs import PAIR_FREQUENCIES, PAIR_LENGTHS, PAIR_OFFSETS
from sicetnon.index.storage import REBUILD, StoredFile, damaged
from sicetnon.index.store import BLOCKS, DICTIONARY, FIRSTS, OFFSETS, STORE, STORE_TYPES

FORM_OFFSETS, FORM_NUMBERS, STEMS = "form_offsets", "form_numbers", "stems"

_Arrays = dict[str, tuple[str, tuple[int, ...]]]
"""Types and shapes by name."""


def check_layout(folder: Path, entry: SegmentEntry, fields: int) -> None:
    """Hold the manifest's description of a segment against the layout of every segment.

    No file is opened.

    Args:
        folder: The segment's folder, for messages.
        entry: Its description.
        fields: The number of indexed fields.

    Raises:
        BrokenIndexError: A file is missing, or types and shapes do not fit together.
    """
    try:
        expected = _expected(entry.files, entry.documents, fields)
        if entry.deleted:
            expected[entry.deleted] = ("uint8", (entry.documents,))
        for name, (dtype, shape) in expected.items():
            _check_array(folder / name, entry.files[name], dtype, shape)
        for name in expected:
            if name.endswith("_slots"):
                words = _rows(entry.files, name.replace("slots", "hashes"))
                _check_slots(folder / name, _rows(entry.files, name), words)
    except KeyError as error:
        raise BrokenIndexError(f"{folder}: its manifest lacks {error}; {REBUILD}") from None


def _expected(files: dict[str, StoredFile], documents: int, fields: int) -> _Arrays:
    terms, postings = _rows(files, "terms_hashes"), _rows(files, "documents")
    pairs = _rows(files, PAIR_FREQUENCIES)
    expected: _Arrays = {
        "posting_offsets": ("int64", (terms + 1,)),
        "documents": ("int32", (postings,)),
        "frequencies": ("uint16", (postings, fields)),
        "codes": ("uint16", (postings,)),
        PAIR_OFFSETS: ("int64", (terms + 1,)),
        PAIR_FREQUENCIES: ("uint16", (pairs,)),
        PAIR_LENGTHS: ("int32", (pairs,)),
        "totals": ("int64", (terms, fields)),
        "lengths": ("int32", (documents, fields)),
        **_word_table(files, "terms", terms),
        **_word_table(files, "ids", documents),
        **_store(files, documents),
    }
    if FORM_OFFSETS in files:
        stems = _rows(files, f"{STEMS}_hashes")
        expected |= _word_table(files, STEMS, stems)
        expected[FORM_OFFSETS] = ("int64", (stems + 1,))
        expected[FORM_NUMBERS] = ("int32", (terms,))
    return expected


def _store(files: dict[str, StoredFile], documents: int) -> _Arrays:
    rows = {
        STORE: _rows(files, STORE),
        OFFSETS: documents + 1,
        BLOCKS: _rows(files, FIRSTS),
        FIRSTS: max(_rows(files, FIRSTS), 1),
    }
    if DICTIONARY in files:
        rows[DICTIONARY] = _rows(files, DICTIONARY)
    return {name: (STORE_TYPES[name], (rows[name],)) for name in rows}


def _word_table(files: dict[str, StoredFile], prefix: str, words: int) -> _Arrays:
    slots, letters = f"{prefix}_slots", f"{prefix}_letters"
    return {
        slots: ("int32", (_rows(files, slots),)),
        f"{prefix}_hashes": ("uint64", (words,)),
        f"{prefix}_offsets": ("int64", (words + 1,)),
        letters: ("uint8", (_rows(files, letters),)),
    }


def _rows(files: dict[str, StoredFile], name: str) -> int:
    shape = files[name].shape
    return shape[0] if shape else 0


def _check_array(path: Path, stored: StoredFile, dtype: str, shape: tuple[int, ...]) -> None:
    if (stored.dtype, stored.shape) != (dtype, shape):
        found = f"found an array of {stored.dtype!r}, shape {stored.shape}"
        raise damaged(path, f"{found}; expected {dtype}, shape {shape}")


def _check_slots(path: Path, slots: int, words: int) -> None:
    if slots <= words or slots & (slots - 1):
        raise damaged(path, f"found {slots:,} slots for {words:,} words")
