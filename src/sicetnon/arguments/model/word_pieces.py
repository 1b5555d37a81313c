"""Tokens of texts in the pieces of words of BERT: by the library, and of few texts without it.

The library takes several times as long to load its vocabulary as to read a hundred headings. So a
process reads its first texts in Python, if they have plain letters, and gets the same tokens.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

PLAIN_CHARACTERS = 1 << 16
"""Characters that a process reads before it loads the library: about what loading it takes."""
# of the letters and marks of Europe; the library has another version of Unicode, which a test
# compares with Python's for each of these characters
_RANGES = (range(0x250), range(0x2010, 0x205F))
_NORMALIZER = {
    "type": "BertNormalizer",
    "clean_text": True,
    "handle_chinese_chars": True,
    "strip_accents": None,
    "lowercase": True,
}
_SPLITTER = {"type": "BertPreTokenizer"}


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


class WordPieces:
    """The tokenizer of a model.

    Args:
        content: A tokenizer of the library `tokenizers`, as JSON.
        plain_characters: Characters of texts that are read without the library.

    Raises:
        Exception: The library cannot use it; it raises nothing narrower.
    """

    def __init__(self, content: bytes, plain_characters: int = PLAIN_CHARACTERS):
        self._content, self._left = content, plain_characters
        self._plain = _plain(content) if plain_characters else None
        if self._plain is None:
            self._library  # noqa: B018  # what cannot be used is found at once

    def ids(self, text: str) -> list[int]:
        """The tokens of a text, without special tokens.

        Args:
            text: Any text without lone surrogates.
        """
        plain = self._plain  # another thread may read the last text that is read without it
        if plain is not None:
            self._left -= len(text)
            if self._left >= 0 and (found := plain.ids(text)) is not None:
                return found
            # the next texts are as quick by the library, which is loaded now
            self._library  # noqa: B018
            self._plain = None
        ids: list[int] = self._library.encode(text, add_special_tokens=False).ids
        return ids

    def id_of(self, token: str) -> int | None:
        """The number of a token; None where there is no such token."""
        plain = self._plain
        if plain is not None:
            return plain.vocabulary.get(token)
        number: int | None = self._library.token_to_id(token)
        return number

    @functools.cached_property
    def _library(self) -> Any:
        from tokenizers import Tokenizer

        found = Tokenizer.from_buffer(self._content)
        found.no_padding()
        found.no_truncation()
        return found


class _Plain:
    """The pieces of the words of texts in plain letters, as Python finds them."""

    def __init__(self, pieces: _Pieces, added: Sequence[_Added]):
        self.vocabulary = pieces.vocab
        self._unknown = [pieces.vocab[pieces.unk_token]]
        self._longest = pieces.max_input_chars_per_word
        self._prefix = pieces.continuing_subword_prefix
        self._added = {each.content: [each.id] for each in added}
        self._marks = re.compile(f"({'|'.join(map(re.escape, self._added)) or '(?!)'})")
        self._words: dict[str, list[int]] = {}

    def ids(self, text: str) -> list[int] | None:
        """The tokens of a text; None where it has other letters."""
        try:
            return [each for part in self._marks.split(text) for each in self._part(part)]
        except _OtherLetters:
            return None

    def _part(self, text: str) -> Iterator[int]:
        if text in self._added:
            yield from self._added[text]
            return
        words = self._words
        for word in text.translate(_table()).split():
            if word not in words:
                words[word] = self._word(word)
            yield from words[word]

    def _word(self, word: str) -> list[int]:
        """The longest pieces of a word, from its start; one for all if a part has none."""
        if len(word) > self._longest:
            return self._unknown
        found, start = [], 0
        while start < len(word):
            prefix = self._prefix if start else ""
            for end in range(len(word), start, -1):
                number = self.vocabulary.get(prefix + word[start:end])
                if number is not None:
                    break
            else:
                return self._unknown
            found.append(number)
            start = end
        return found


def _plain(content: bytes) -> _Plain | None:
    """The tokenizer in Python; None where it is of another kind."""
    try:
        read = msgspec.json.decode(content, type=_Described)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    pieces = read.model
    is_known = (
        read.normalizer == _NORMALIZER
        and read.pre_tokenizer == _SPLITTER
        and pieces.type == "WordPiece"
        and pieces.unk_token in pieces.vocab
        and all(each.is_plain for each in read.added_tokens)
        and all(pieces.vocab.get(each.content) == each.id for each in read.added_tokens)
    )
    return _Plain(pieces, read.added_tokens) if is_known else None


class _OtherLetters(Exception):
    """A text has a letter that the table lacks."""


class _Table(dict[int, str]):
    def __missing__(self, _: int) -> str:
        raise _OtherLetters


@functools.cache
def _table() -> Mapping[int, str]:
    """What the characters of plain texts become; marks stand between blanks."""
    return _Table({number: _normal(chr(number)) for numbers in _RANGES for number in numbers})


def _normal(character: str) -> str:
    """A character as the library's normalizer and its splitter leave it."""
    if character in "\t\n\r" or (character.isspace() and not _is_control(character)):
        return " "
    if _is_control(character):
        return ""
    letters = unicodedata.normalize("NFD", character)
    kept = "".join(each for each in letters if unicodedata.category(each) != "Mn").lower()
    is_mark = unicodedata.category(character)[0] == "P" or (
        character.isascii() and not character.isalnum()
    )
    return f" {kept} " if is_mark else kept


def _is_control(character: str) -> bool:
    return unicodedata.category(character)[0] == "C"
