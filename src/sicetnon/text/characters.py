"""The class and the folded form of each character, as tables for the compiled tokeniser.

Case is folded, accents and other marks are taken off, compatibility forms (ﬁ, ２, ª) become plain.
Vowel signs of Indic and related scripts remain: they tell words apart, as letters do.

The tables are files, one for each version of the rules: so every version of Python gives the same
words, and an index keeps the rules with which it was made.
"""

from __future__ import annotations

import bisect
import functools
import json
import unicodedata
from importlib import resources
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SCANNER_VERSION = 2
"""Raised when the tokeniser would split or fold any text in another way; each has its table."""
UNICODE_VERSION = "14.0.0"
"""The Unicode data of the table, whatever Python has."""

SEPARATOR, LETTER, APOSTROPHE, IDEOGRAPH, IGNORED, MARK, SYLLABLE = range(7)
"""The classes. A mark belongs to the word before it. A syllable is a letter that begins a word,
which ends after its marks: Thai and its neighbours are written without spaces."""
OTHER = 1
"""The answer of `plain_letters` for a byte that has to be decoded; those for letters are larger."""

ASCII_SIZE = 0x80
TABLE_SIZES = (ASCII_SIZE, 0x500, 0x3000, 0x20000)
"""ASCII, Latin with Greek and Cyrillic, the Basic Multilingual Plane's alphabets, all."""
_FIRST_BYTES = (0x80, 0xD4, 0xE3)
"""The first byte of a character in UTF-8 that the table of a size has no longer: 0xD4 begins
U+0500, 0xE3 U+3000."""
LAST_POINT = TABLE_SIZES[-1]
"""The first code point after the tables: from here on a plane of Unicode has one class."""
MAX_FOLDED_BYTES = 16

_APOSTROPHES = frozenset("'’ʼ＇")
# letters that Unicode does not decompose although readers take the base letter for them
_PLAIN_LETTERS = {
    "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ħ": "h", "ı": "i",
    "ŋ": "n", "ŧ": "t", "ƒ": "f", "ς": "σ",
}  # fmt: skip
# Iteration marks, Hiragana, Katakana, CJK ideographs with all extensions, compatibility ideographs:
# scripts written without spaces, where a character is the safest unit
IDEOGRAPH_RANGES = (
    (0x3005, 0x3007), (0x3021, 0x3029), (0x3041, 0x30FF), (0x31F0, 0x31FF), (0x3400, 0x9FFF),
    (0xF900, 0xFAFF), (0x1AFF0, 0x1B16F), (0x20000, 0x3FFFD),
)  # fmt: skip
# Unicode gives planes 2 and 3 to ideographs, plane 14 to tags and variation selectors
_PLANES = {2: IDEOGRAPH, 3: IDEOGRAPH, 14: IGNORED}
_HANGUL = (0xAC00, 0xD7A3)
# Thaana, Devanagari to Myanmar, Tagalog to Khmer, Limbu to Tai Tham, Balinese to Ol Chiki, Syloti
# Nagri to Meetei Mayek, Kharoshthi, Brahmi to Kawi, Miao
_VOWEL_SIGNS = (
    (0x0780, 0x07BF), (0x0900, 0x109F), (0x1700, 0x17FF), (0x1900, 0x1AAF), (0x1B00, 0x1C7F),
    (0xA800, 0xABFF), (0x10A00, 0x10A3F), (0x11000, 0x11FFF), (0x16F00, 0x16F9F),
)  # fmt: skip
# Thai and Lao, Myanmar, Khmer, Tai Le and New Tai Lue, Tai Tham, Balinese, Javanese and Myanmar,
# Myanmar and Tai Viet, Ahom
_WITHOUT_SPACES = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x1950, 0x19DF), (0x1A20, 0x1AAF),
    (0x1B00, 0x1B7F), (0xA980, 0xA9FF), (0xAA60, 0xAADF), (0x11700, 0x1174F),
)  # fmt: skip
# inherent vowels of Khmer, which cannot be seen
_INVISIBLE = (0x17B4, 0x17B5)
_ZERO_WIDTH_SPACE = 0x200B


class CharacterTable(NamedTuple):
    """Tables indexed by code point.

    Attributes:
        classes: uint8, shape (size,).
        offsets: int32, shape (size + 1,): where the folded UTF-8 of a code point begins.
        folded: uint8, the folded forms, one after the other.
        planes: uint8, shape (32,): the class of all code points of a plane that is not in
            `classes`; such a letter folds to itself.
    """

    classes: NDArray[np.uint8]
    offsets: NDArray[np.int32]
    folded: NDArray[np.uint8]
    planes: NDArray[np.uint8]


@functools.cache
def _stored(scanner: int) -> tuple[list[list[int]], dict[str, str]]:
    """The ranges of one class, as [first, last, class], and the folded forms that differ."""
    name = f"data/characters-{scanner}.json"
    stored = json.loads(resources.files("sicetnon.text").joinpath(name).read_text("utf-8"))
    return stored["classes"], stored["folded"]


@functools.cache
def character_table(size: int, scanner: int = SCANNER_VERSION) -> CharacterTable:
    """The table of the first `size` code points, by a version of the rules."""
    ranges, folded = _stored(scanner)
    classes = np.zeros(size, dtype=np.uint8)
    lengths = np.zeros(size + 1, dtype=np.int32)
    parts: list[bytes] = []
    for first, last, kind in ranges:
        classes[first : last + 1] = kind
        if kind in (APOSTROPHE, IGNORED):
            continue
        for point in range(first, min(last + 1, size)):
            character = chr(point)
            data = folded.get(character, character).encode("utf-8")
            lengths[point + 1] = len(data)
            parts.append(data)
    folded_bytes = np.frombuffer(b"".join(parts), dtype=np.uint8)
    planes = np.zeros(32, dtype=np.uint8)
    if scanner > 1:
        planes[list(_PLANES)] = list(_PLANES.values())
    return CharacterTable(classes, np.cumsum(lengths, dtype=np.int32), folded_bytes, planes)


def character_class(point: int, scanner: int) -> tuple[int, str]:
    """The class of a code point and its folded form, by a version of the rules."""
    if point >= LAST_POINT:
        return (_PLANES.get(point >> 16, SEPARATOR) if scanner > 1 else SEPARATOR), chr(point)
    ranges, folded = _stored(scanner)
    place = bisect.bisect_right(ranges, point, key=lambda each: each[0]) - 1
    if place < 0 or point > ranges[place][1]:
        return SEPARATOR, ""
    return ranges[place][2], folded.get(chr(point), chr(point))


def characters_of(*kinds: int) -> str:
    """The characters of some classes, as ranges for a regular expression."""
    ranges, _ = _stored(SCANNER_VERSION)
    return "".join(f"{chr(first)}-{chr(last)}" for first, last, kind in ranges if kind in kinds)


def table_for(data: NDArray[np.uint8], scanner: int) -> CharacterTable:
    """The smallest table that serves a text in UTF-8."""
    highest = int(data.max()) if data.size else 0
    return character_table(TABLE_SIZES[bisect.bisect_right(_FIRST_BYTES, highest)], scanner)


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
    """The class of a code point below `LAST_POINT` and its folded form, by the present rules.

    `tools/make_characters.py` writes them into the table of this version.
    """
    character = chr(point)
    if character in _APOSTROPHES:
        return APOSTROPHE, ""
    category = unicodedata.category(character)
    if category[0] == "M":
        return (MARK, fold(character)) if _is_vowel_sign(character) else (IGNORED, "")
    if category == "Cf" and point != _ZERO_WIDTH_SPACE:
        return IGNORED, ""
    if category[0] not in "LN":
        return SEPARATOR, ""
    if _is_in(point, IDEOGRAPH_RANGES):
        return IDEOGRAPH, unicodedata.normalize("NFC", character)
    if _HANGUL[0] <= point <= _HANGUL[1]:
        return LETTER, character
    folded = fold(character)
    if not folded or len(folded.encode("utf-8")) > MAX_FOLDED_BYTES:
        return SEPARATOR, ""
    letters = "".join(part for part in folded if not _is_vowel_sign(part))
    if not (letters.isdecimal() or letters.isalpha()):
        return SEPARATOR, ""
    is_syllable = category[0] == "L" and _is_in(point, _WITHOUT_SPACES)
    return SYLLABLE if is_syllable else LETTER, folded


def fold(text: str) -> str:
    """Fold case and take off marks: `Éclair` becomes `eclair`, `Straße` `strasse`, `٣` `3`."""
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return "".join(
        _PLAIN_LETTERS.get(character, str(unicodedata.decimal(character, character)))
        for character in decomposed
        if not unicodedata.combining(character) or _is_vowel_sign(character)
    )


def _is_vowel_sign(character: str) -> bool:
    """Whether a character is a vowel sign, or another mark of such a script."""
    point = ord(character)
    is_mark = unicodedata.category(character)[0] == "M" and point not in _INVISIBLE
    return is_mark and _is_in(point, _VOWEL_SIGNS)


def _is_in(point: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(low <= point <= high for low, high in ranges)
