"""Unicode: classes and folded forms of characters for the tokeniser, and texts made safe to print.

Case is folded, accents and other marks are taken off, compatibility forms (ﬁ, ２, ª) become plain.
Vowel signs of Indic and related scripts remain: they tell words apart, as letters do.

The tables are files, one for each version of the rules: so every version of Python gives the same
words, and an index keeps the rules with which it was made.

Texts of strangers must not steer the terminal, nor hide anything.
"""

from __future__ import annotations

import bisect
import functools
import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from sicetnon.errors import cut

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.console import Console, ConsoleOptions
    from rich.measure import Measurement
    from rich.text import Text

SCANNER_VERSION = 2
"""Raised when the tokeniser would split or fold any text in another way; each has its table."""
UNICODE_VERSION = "14.0.0"
"""The Unicode data of the table, whatever Python has."""

SEPARATOR, LETTER, APOSTROPHE, IDEOGRAPH, IGNORED, MARK, SYLLABLE = range(7)
"""The classes. A mark belongs to the word before it. A syllable is a letter that begins a word,
which ends after its marks: Thai and its neighbours are written without spaces."""
OTHER = 1
"""The value in `ascii_letters` for a byte that has to be decoded; those for letters are larger."""

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
    from importlib import resources  # it takes as long as half of `--help`

    name = f"data/characters-{scanner}.json"
    stored = json.loads(resources.files("sicetnon.text").joinpath(name).read_text("utf-8"))
    return stored["classes"], stored["folded"]


@functools.cache
def character_table(size: int, scanner: int = SCANNER_VERSION) -> CharacterTable:
    """The table of the first `size` code points, by a version of the rules."""
    # commands that print and do not search need no numpy
    import numpy as np

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
    position = bisect.bisect_right(ranges, point, key=lambda each: each[0]) - 1
    if position < 0 or point > ranges[position][1]:
        return SEPARATOR, ""
    return ranges[position][2], folded.get(chr(point), chr(point))


def characters_of(*kinds: int) -> str:
    """The characters of some classes, as ranges for a regular expression."""
    ranges, _ = _stored(SCANNER_VERSION)
    return "".join(f"{chr(first)}-{chr(last)}" for first, last, kind in ranges if kind in kinds)


def table_for(data: NDArray[np.uint8], scanner: int) -> CharacterTable:
    """The smallest table that serves a text in UTF-8."""
    highest = int(data.max()) if data.size else 0
    return character_table(TABLE_SIZES[bisect.bisect_right(_FIRST_BYTES, highest)], scanner)


@functools.cache
def ascii_letters() -> NDArray[np.uint8]:
    """For each byte the folded form of an ASCII letter or digit, `SEPARATOR`, or `OTHER`.

    Other are bytes of other characters, and the apostrophe. Shape (256,).
    """
    import numpy as np

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


PLAIN_WIDTH = 80
"""Columns of output that goes to no terminal."""
# blanks, separators of lines and paragraphs, format characters
_BLANK = frozenset({"Zs", "Zl", "Zp", "Cf"})
_BEYOND_ASCII = re.compile(r"[^\x00-\x7e]")


def printable(text: str) -> str:
    """A text without characters that steer a terminal or are invisible; as long as the text.

    Line feeds and tabs stay. A blank stands for other white space and for format characters
    (zero-width, bidirectional, tags), U+FFFD for the rest.
    """
    return text if text.isprintable() else "".join(map(_printable_letter, text))


def _printable_letter(letter: str) -> str:
    if letter.isprintable() or letter in "\n\t":
        return letter
    is_blank = letter in "\r\v\f" or unicodedata.category(letter) in _BLANK
    return " " if is_blank else "\N{REPLACEMENT CHARACTER}"


def one_line(text: str) -> str:
    """A printable text on one line; the middle of a very long one is left out."""
    return cut(" ".join(printable(text).split()))


def json_text(value: Any, indent: int | None = None) -> str:
    """A value as JSON that steers no terminal."""
    return escaped_json(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent))


def escaped_json(text: str) -> str:
    """JSON with escapes for characters that do not print.

    Its value stays the same, but for U+FFFD in place of half characters, such as bytes of the name
    of a file that are no UTF-8.
    """
    return _BEYOND_ASCII.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    letter = match.group()
    if unicodedata.category(letter) == "Cs":
        return "\N{REPLACEMENT CHARACTER}"
    return letter if letter.isprintable() else json.dumps(letter)[1:-1]


def decimals(value: float | None, places: int = 3) -> str:
    """A number with its decimals; a dash for None and NaN."""
    return "–" if value is None or value != value else f"{value:.{places}f}"


def shortened(text: str, letters: int) -> str:
    """A text of at most so many letters; an ellipsis marks a cut."""
    return text if len(text) <= letters else text[: letters - 1].rstrip() + "…"


def print_paragraph(text: Text, screen: Console, indent: int = 2) -> None:
    """Print a text wrapped at the width of the screen, all lines but the first indented."""
    for position, line in enumerate(text.wrap(screen, max(screen.width - indent, 1))):
        line.rstrip()
        if position:
            line.pad_left(indent)
        screen.print(line, soft_wrap=True)


@dataclass(frozen=True)
class BreakableName:
    """A name in a cell of a table, broken after punctuation where it is too long for a line."""

    name: str

    def __rich_console__(self, screen: Console, options: ConsoleOptions) -> Iterator[Text]:
        from rich.text import Text

        # Text, since rich takes what stands in brackets in a plain string for markup
        yield Text("\n".join(_broken(printable(self.name), options.max_width)))

    def __rich_measure__(self, screen: Console, options: ConsoleOptions) -> Measurement:
        from rich.measure import Measurement

        return Measurement(1, min(len(self.name), options.max_width))


def _broken(name: str, width: int) -> list[str]:
    """The lines of a name that has at most so many letters a line."""
    lines = [""]
    for part in re.split(r"(?<=[-_+.,/ ])(?=\w)", name):
        if len(lines[-1] + part) > width and lines[-1]:
            lines.append("")
        lines[-1] += part
    return [line[at : at + width] for line in lines for at in range(0, len(line), width)]
