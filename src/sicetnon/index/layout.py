"""The arrays of a segment: their types, and how their shapes fit together."""

from __future__ import annotations

from pathlib import Path

from sicetnon.errors import BrokenIndexError
from sicetnon.index.manifest import SegmentEntry
from sicetnon.index.offsets import STEP_TYPES, bases_name, groups_of
from sicetnon.index.packed import PATTERNS, POSTING_OFFSETS, POSTINGS
from sicetnon.index.storage import REBUILD, StoredFile, damaged
from sicetnon.index.store import BLOCKS, DICTIONARY, FIRSTS, OFFSETS, STORE, STORE_TYPES
from sicetnon.index.words import buckets_of

FORM_OFFSETS, FORM_NUMBERS, STEMS = "form_offsets", "form_numbers", "stems"

_Arrays = dict[str, tuple[tuple[str, ...], tuple[int, ...]]]
"""Types that an array may have, and shapes, by name."""
LENGTH_TYPES = ("uint8", "uint16", "int32")
"""The types that lengths can have, the smallest first."""


def lengths_name(field: int) -> str:
    """The name of the file with the number of terms that each document has in a field."""
    return f"lengths_{field}"


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
            expected[entry.deleted] = (("uint8",), (entry.documents,))
        for name, (types, shape) in expected.items():
            _check_array(folder / name, entry.files[name], types, shape)
    except KeyError as error:
        raise BrokenIndexError(f"{folder}: its manifest lacks {error}; {REBUILD}") from None


def _expected(files: dict[str, StoredFile], documents: int, fields: int) -> _Arrays:
    terms = _rows(files, "terms_numbers")
    expected: _Arrays = {
        POSTINGS: (("uint64",), (_rows(files, POSTINGS),)),
        PATTERNS: (("uint16",), (_rows(files, PATTERNS), fields)),
        **_offsets(POSTING_OFFSETS, terms),
        **{lengths_name(field): (LENGTH_TYPES, (documents,)) for field in range(fields)},
        **_word_table(files, "terms", terms),
        **_word_table(files, "ids", documents),
        **_store(files, documents),
    }
    if FORM_OFFSETS in files:
        stems = _rows(files, f"{STEMS}_numbers")
        expected |= _word_table(files, STEMS, stems)
        expected[FORM_OFFSETS] = (("int64",), (stems + 1,))
        expected[FORM_NUMBERS] = (("int32",), (terms,))
    return expected


def _offsets(name: str, things: int) -> _Arrays:
    return {
        name: (STEP_TYPES, (things + 1,)),
        bases_name(name): (("int64",), (groups_of(things),)),
    }


def _store(files: dict[str, StoredFile], documents: int) -> _Arrays:
    rows = {
        STORE: _rows(files, STORE),
        OFFSETS: documents + 1,
        BLOCKS: _rows(files, FIRSTS),
        FIRSTS: max(_rows(files, FIRSTS), 1),
    }
    if DICTIONARY in files:
        rows[DICTIONARY] = _rows(files, DICTIONARY)
    return {name: ((STORE_TYPES[name],), (rows[name],)) for name in rows}


def _word_table(files: dict[str, StoredFile], prefix: str, words: int) -> _Arrays:
    letters = f"{prefix}_letters"
    return {
        letters: (("uint8",), (_rows(files, letters),)),
        **_offsets(f"{prefix}_offsets", words),
        f"{prefix}_numbers": (("int32",), (words,)),
        f"{prefix}_marks": (("uint8",), (words,)),
        f"{prefix}_buckets": (("int32",), (buckets_of(words) + 1,)),
    }


def _rows(files: dict[str, StoredFile], name: str) -> int:
    shape = files[name].shape
    return shape[0] if shape else 0


def _check_array(
    path: Path, stored: StoredFile, types: tuple[str, ...], shape: tuple[int, ...]
) -> None:
    if stored.dtype not in types or stored.shape != shape:
        found = f"found an array of {stored.dtype!r}, shape {stored.shape}"
        raise damaged(path, f"{found}; expected {' or '.join(types)}, shape {shape}")
