"""The class and the folded form of each character, as tables for the compiled tokeniser.

Case is folded, accents and other marks are taken off, compatibility forms (ﬁ, ２, ª) become plain.
"""

from __future__ import annotations

import bisect
import functools
import unicodedata
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SEPARATOR, LETTER, APOSTROPHE, IDEOGRAPH, IGNORED = range(5)
OTHER = 1
"""The answer of `plain_letters` for a byte that has to be decoded; those for letters are larger."""

ASCII_SIZE = 0x80
TABLE_SIZES = (ASCII_SIZE, 0x500, 0x3000, 0x20000)
"""ASCII, Latin with Greek and Cyrillic, the Basic Multilingual Plane's alphabets, all."""
_FIRST_BYTES = (0x80, 0xD4, 0xE3)
"""The first byte of a character in UTF-8 that the table of a size has no longer: 0xD4 begins
U+0500, 0xE3 U+3000."""
LAST_POINT = TABLE_SIZES[-1]
"""The first code point behind the tables: from here on all are separators."""
MAX_FOLDED_BYTES = 16

_APOSTROPHES = frozenset("'’ʼ＇")
# letters that Unicode does not decompose although readers take the base letter for them
_PLAIN_LETTERS = {
    "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ħ": "h", "ı": "i",
    "ŋ": "n", "ŧ": "t", "ƒ": "f", "ς": "σ",
}  # fmt: skip
# Hiragana, Katakana, CJK ideographs with extension A, compatibility ideographs: scripts written
# without spaces, where a character is the safest unit
IDEOGRAPH_RANGES = ((0x3041, 0x30FF), (0x3400, 0x9FFF), (0xF900, 0xFAFF))
_HANGUL = (0xAC00, 0xD7A3)


class CharacterTable(NamedTuple):
    """Tables indexed by code point; a code point past their end is a separator.

    Attributes:
        classes: uint8, shape (size,).
        offsets: int32, shape (size + 1,): where the folded UTF-8 of a code point begins.
        folded: uint8, the folded forms, one after the other.
    """

    classes: NDArray[np.uint8]
    offsets: NDArray[np.int32]
    folded: NDArray[np.uint8]


@functools.cache
def character_table(size: int) -> CharacterTable:
    """The table of the first `size` code points (building the largest takes about 0.15 s)."""
    classes = np.zeros(size, dtype=np.uint8)
    lengths = np.zeros(size + 1, dtype=np.int32)
    parts: list[bytes] = []
    for point in range(size):
        kind, folded = classify(point)
        if kind:
            classes[point] = kind
            data = folded.encode("utf-8")
            lengths[point + 1] = len(data)
            parts.append(data)
    folded_bytes = np.frombuffer(b"".join(parts), dtype=np.uint8)
    return CharacterTable(classes, np.cumsum(lengths, dtype=np.int32), folded_bytes)


def table_for(data: NDArray[np.uint8]) -> CharacterTable:
    """The smallest table that serves a text in UTF-8."""
    highest = int(data.max()) if data.size else 0
    return character_table(TABLE_SIZES[bisect.bisect_right(_FIRST_BYTES, highest)])


@functools.cache
def plain_letters() -> NDArray[np.uint8]:
    """For each byte the folded form of an ASCII letter or digit, `SEPARATOR`, or `OTHER`.

    Other are bytes of other characters, and the apostrophe. Shape (256,).
    """
    table = np.full(0x100, OTHER, dtype=np.uint8)
    for point in range(ASCII_SIZE):
        kind, folded = classify(point)
        if kind != APOSTROPHE:
            table[point] = ord(folded) if kind == LETTER else SEPARATOR
    return table


def classify(point: int) -> tuple[int, str]:
    """The class of a code point, and its folded form."""
    character = chr(point)
    if character in _APOSTROPHES:
        return APOSTROPHE, ""
    category = unicodedata.category(character)
    if category in ("Mn", "Me", "Mc", "Cf"):
        return IGNORED, ""
    if category[0] not in "LN":
        return SEPARATOR, ""
    if any(low <= point <= high for low, high in IDEOGRAPH_RANGES):
        return IDEOGRAPH, character
    if _HANGUL[0] <= point <= _HANGUL[1]:
        return LETTER, character
    folded = fold(character)
    if not folded or len(folded.encode("utf-8")) > MAX_FOLDED_BYTES:
        return SEPARATOR, ""
    is_word = folded.isdecimal() or folded.isalpha()
    return (LETTER, folded) if is_word else (SEPARATOR, "")


def fold(text: str) -> str:
    """Fold case and take off marks: `Éclair` becomes `eclair`, `Straße` `strasse`, `٣` `3`."""
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return "".join(
        _PLAIN_LETTERS.get(character, str(unicodedata.decimal(character, character)))
        for character in decomposed
        if not unicodedata.combining(character)
    )
