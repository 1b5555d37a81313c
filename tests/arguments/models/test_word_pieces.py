"""Tokens of texts: they are those of the library `tokenizers`."""

from __future__ import annotations

import gzip
import json
import random
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from sicetnon.arguments.models import word_pieces
from sicetnon.arguments.models.model_files import SHIPPED, TOKENIZER
from sicetnon.arguments.models.word_pieces import WordPieces

CONTENT = gzip.decompress((SHIPPED / TOKENIZER).read_bytes())
LIBRARY = Tokenizer.from_buffer(CONTENT)
PIECES = WordPieces(CONTENT)
LETTERS = "aeinstAÉ ñß’“”—…-.,?!$\t\n\x00\x7f\xa0\xad0İŉǅ[]校服あ안🙂\ufffd\ue000"
MARKED = ("[unused1]", "[CLS]", "[mask]", " ", "unaffable", "tenure", "I’m", "x" * 101, "é" * 100)
# whose kind Unicode has changed since the library's version of it
CHANGED = (0x166D, 0x1734, 0x1885, 0x1886)


def expected(text: str) -> list[int]:
    ids: list[int] = LIBRARY.encode(text, add_special_tokens=False).ids
    return ids


def is_known(character: str) -> bool:
    """Whether a character is so old that every version of Unicode knows it.

    Of newer characters, the library reads some hundred in another way.
    """
    was_there = unicodedata.ucd_3_2_0.category(character) != "Cn"
    return was_there and ord(character) not in CHANGED


def test_each_character_is_read_as_the_library_reads_it() -> None:
    # those for private use, and the ideographs beyond these, are read alike
    for letter in filter(is_known, map(chr, [*range(0x5000), *range(0xF900, 0x10400)])):
        text = f"ab{letter}cd {letter} {letter}9 {letter}{letter}a{letter}"
        assert PIECES.ids(text) == expected(text), f"U+{ord(letter):04X}"


@settings(max_examples=300)
@example("\u1100\u1161\u11a8 각 é e\u0301\u0323 ﬁ \U0001d165")
@given(
    st.lists(
        st.sampled_from(MARKED)
        | st.text(LETTERS)
        | st.text(st.characters(exclude_categories=["Cs"]).filter(is_known), max_size=30)
    ).map("".join)
)
def test_texts_have_the_tokens_of_the_library(text: str) -> None:
    assert PIECES.ids(text) == expected(text)


def test_tokens_stay_the_same_when_words_were_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_pieces, "MOST_WORDS", 3)
    rng, found = random.Random(4), WordPieces(CONTENT)
    words = ["teachers", "should", "get", "tenure", "in", "unaffable", "schools"]
    for _ in range(50):
        text = " ".join(rng.choices(words, k=5))
        assert found.ids(text) == expected(text)


def test_threads_share_a_tokenizer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_pieces, "MOST_WORDS", 50)
    found = WordPieces(CONTENT)
    texts = [" ".join(chr(97 + n % 26) * (1 + n % 7) for n in range(m, m + 60)) for m in range(40)]
    with ThreadPoolExecutor(4) as pool:
        read = list(pool.map(found.ids, texts * 10))
    assert read == [expected(text) for text in texts] * 10


def test_no_long_word_is_kept() -> None:
    found, text = WordPieces(CONTENT), " ".join(letter * 60_000 for letter in "abc")
    assert found.ids(text) == expected(text)
    assert not found._words


def test_tokens_have_the_numbers_of_the_library() -> None:
    assert PIECES.id_of("[CLS]") == LIBRARY.token_to_id("[CLS]")
    assert PIECES.id_of("[none]") is LIBRARY.token_to_id("[none]") is None


@pytest.mark.parametrize(
    "change",
    [
        {"normalizer": None},
        {"pre_tokenizer": {"type": "Whitespace"}},
        {"normalizer": {"type": "Lowercase"}},
        {"added_tokens": [{"id": 3, "content": "[UNK]", "single_word": True}]},
        {"added_tokens": [{"id": 4, "content": "[UNK]"}]},
        {"added_tokens": [{"id": 3, "content": "[UNK]", "lstrip": True}]},
    ],
)
def test_a_tokenizer_of_another_kind_is_refused(change: dict[str, Any]) -> None:
    content = json.dumps(json.loads(CONTENT) | change).encode()
    with pytest.raises(ValueError, match="word pieces without case"):
        WordPieces(content)


@pytest.mark.parametrize("number", [-1, 3, 1 << 20, 1 << 70])
def test_a_number_that_no_token_can_have_is_refused(number: int) -> None:
    content = json.loads(CONTENT)
    content["model"]["vocab"]["tenure"] = number
    with pytest.raises(ValueError, match="it "):
        WordPieces(json.dumps(content).encode())


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", b'{"model": {}}', b"[" * 100_000])
def test_what_is_no_tokenizer_is_refused_at_once(content: bytes) -> None:
    with pytest.raises(ValueError, match="it is no tokenizer: "):
        WordPieces(content)
