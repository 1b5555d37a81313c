"""Tokens of texts: the pieces of words that BERT reads (Devlin et al. 2019).

The tokens are those of the library `tokenizers`, with which tests compare them, but for some
hundred characters of rare scripts, which came after its version of Unicode. The library takes three
times as long for English, and brings a client of a model hub with it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

MOST_WORDS, _MOST_CHARACTERS = 1 << 17, 1 << 16
"""Words whose tokens are kept, and characters likewise; when there are more, all are forgotten."""
_NORMALIZER = {
    "type": "BertNormalizer",
    "clean_text": True,
    "handle_chinese_chars": True,
    "strip_accents": None,
    "lowercase": True,
}
_SPLITTER = {"type": "BertPreTokenizer"}
# blocks of which BERT reads each character as a word
_IDEOGRAPHS = (
    range(0x3400, 0x4DC0),
    range(0x4E00, 0xA000),
    range(0xF900, 0xFB00),
    range(0x20000, 0x2A6E0),
    range(0x2A700, 0x2B740),
    range(0x2B740, 0x2B820),
    range(0x2B920, 0x2CEB0),
    range(0x2F800, 0x2FA20),
)


class _Added(msgspec.Struct):
    id: int
    content: str
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether it is a token wherever its letters stand."""
        return not (self.single_word or self.lstrip or self.rstrip or self.normalized)


class _Pieces(msgspec.Struct):
    type: str
    vocab: dict[str, int]
    unk_token: str
    continuing_subword_prefix: str
    max_input_chars_per_word: int


class _Described(msgspec.Struct):
    normalizer: dict[str, Any] | None
    pre_tokenizer: dict[str, Any] | None
    model: _Pieces
    added_tokens: list[_Added] = []


# a decoder that is made at import: two threads that are the first to decode a type crash msgspec
_DESCRIBED = msgspec.json.Decoder(_Described)


class WordPieces:
    """The tokenizer of a model. Several threads may share it.

    Args:
        content: A tokenizer of word pieces without case, as the library `tokenizers` writes it in
            JSON.

    Raises:
        ValueError: The content is no such tokenizer.
    """

    def __init__(self, content: bytes):
        pieces, added = _described(content)
        self._vocabulary = pieces.vocab
        self._unknown = [pieces.vocab[pieces.unk_token]]
        self._longest = pieces.max_input_chars_per_word
        self._prefix = pieces.continuing_subword_prefix
        self._added = {each.content: [each.id] for each in added}
        self._marks = re.compile(f"({'|'.join(map(re.escape, self._added)) or '(?!)'})")
        self._words: dict[str, list[int]] = {}

    def ids(self, text: str) -> list[int]:
        """The tokens of a text, without special tokens.

        Args:
            text: Any text without lone surrogates.
        """
        return [each for part in self._marks.split(text) for each in self._part(part)]

    def id_of(self, token: str) -> int | None:
        """The number of a token, or None if there is no such token."""
        return self._vocabulary.get(token)

    def _part(self, text: str) -> Iterator[int]:
        if text in self._added:
            yield from self._added[text]
            return
        words = self._words
        for word in text.translate(_TABLE).split():
            found = words.get(word) if len(word) <= self._longest else self._unknown
            if found is None:
                if len(words) >= MOST_WORDS:
                    words.clear()
                found = words[word] = self._word(word)
            yield from found

    def _word(self, word: str) -> list[int]:
        """The longest pieces of a word, from its start; one for all if a part has none."""
        found, start = [], 0
        while start < len(word):
            prefix = self._prefix if start else ""
            for end in range(len(word), start, -1):
                number = self._vocabulary.get(prefix + word[start:end])
                if number is not None:
                    break
            else:
                return self._unknown
            found.append(number)
            start = end
        return found


def _described(content: bytes) -> tuple[_Pieces, Sequence[_Added]]:
    try:
        read = _DESCRIBED.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"it is no tokenizer: {error}") from None
    pieces = read.model
    is_known = (
        read.normalizer == _NORMALIZER
        and read.pre_tokenizer == _SPLITTER
        and pieces.type == "WordPiece"
        and pieces.unk_token in pieces.vocab
        and pieces.max_input_chars_per_word > 0
        and sorted(pieces.vocab.values()) == list(range(len(pieces.vocab)))
        and all(each.is_plain for each in read.added_tokens)
        and all(pieces.vocab.get(each.content) == each.id for each in read.added_tokens)
    )
    if not is_known:
        raise ValueError("it does not cut texts into word pieces without case, as BERT does")
    return pieces, read.added_tokens


class _Table(dict[int, str]):
    """Maps a character to its normal form, and keeps it."""

    def __missing__(self, number: int) -> str:
        if len(self) >= _MOST_CHARACTERS:
            self.clear()
        self[number] = found = _normal(chr(number))
        return found


_TABLE = _Table()


def _normal(character: str) -> str:
    """A character in lower case without accents; marks and ideographs stand between blanks."""
    if character in "\t\n\r" or (character.isspace() and not _is_removed(character)):
        return " "
    if _is_removed(character):
        return ""
    letters = unicodedata.normalize("NFD", character)
    kept = "".join(each for each in letters if unicodedata.category(each) != "Mn").lower()
    if any(ord(character) in each for each in _IDEOGRAPHS):
        return f" {kept} "
    return "".join(f" {each} " if _is_mark(each) else each for each in kept)


def _is_removed(character: str) -> bool:
    """Whether BERT drops a character: a control, format or private-use character."""
    return character in "\x00\ufffd" or unicodedata.category(character) in ("Cc", "Cf", "Co")


def _is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] == "P" or (
        character.isascii() and not character.isalnum()
    )
