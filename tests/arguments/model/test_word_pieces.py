"""Tokens of texts: those that Python finds are those of the library."""

from __future__ import annotations

import copy
import gzip
import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from sicetnon.arguments.model import word_pieces
from sicetnon.arguments.model.model_files import SHIPPED, TOKENIZER
from sicetnon.arguments.model.word_pieces import WordPieces

CONTENT = gzip.decompress((SHIPPED / TOKENIZER).read_bytes())
LIBRARY = Tokenizer.from_buffer(CONTENT)
LETTERS = "aeinstAÉ ñß’“”—…-.,?!$\t\n\x00\x7f\xa0\xad0İŉǅ[]"
MARKED = ("[unused1]", "[CLS]", "[mask]", " ", "unaffable", "tenure", "I’m", "x" * 101, "é" * 100)


def expected(text: str) -> list[int]:
    ids: list[int] = LIBRARY.encode(text, add_special_tokens=False).ids
    return ids


def plain() -> WordPieces:
    """A tokenizer that reads any length without the library."""
    return WordPieces(CONTENT, 1 << 40)


def test_each_plain_character_is_read_as_the_library_reads_it() -> None:
    found = plain()
    for numbers in word_pieces._RANGES:
        for letter in map(chr, numbers):
            text = f"ab{letter}cd {letter} {letter}9 {letter}{letter}a{letter}"
            assert found.ids(text) == expected(text), f"U+{ord(letter):04X}"
    assert found._plain is not None


@pytest.fixture(scope="module")
def unused() -> WordPieces:
    """A tokenizer whose copies need not load the library again."""
    made = plain()
    made._library  # noqa: B018
    return made


@settings(max_examples=300)
@given(st.lists(st.sampled_from(MARKED) | st.text(LETTERS) | st.text(max_size=30)).map("".join))
def test_texts_have_the_tokens_of_the_library(unused: WordPieces, text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    found = copy.copy(unused)
    assert found.ids(text) == expected(text)
    # also once the library is loaded
    assert found.ids("tenure?") == expected("tenure?")


def test_other_letters_and_many_texts_need_the_library() -> None:
    found = plain()
    assert found.ids("校服 is 🙂") == expected("校服 is 🙂")
    assert found._plain is None
    short = WordPieces(CONTENT, 10)
    for text in ("tenure", "tenures", "tenured", ""):
        assert short.ids(text) == expected(text)
    assert short._plain is None
    assert short.id_of("[CLS]") == LIBRARY.token_to_id("[CLS]") == plain().id_of("[CLS]")
    assert short.id_of("[none]") is plain().id_of("[none]") is None


@pytest.mark.parametrize(
    "change",
    [
        {"normalizer": None},
        {"pre_tokenizer": {"type": "Whitespace"}},
        {"normalizer": {"type": "Lowercase"}},
        {
            "added_tokens": [
                {
                    "id": 3,
                    "content": "[UNK]",
                    "single_word": True,
                    "lstrip": False,
                    "rstrip": False,
                    "normalized": False,
                    "special": True,
                }
            ]
        },
    ],
)
def test_a_tokenizer_of_another_kind_is_left_to_the_library(change: dict[str, Any]) -> None:
    content = json.dumps(json.loads(CONTENT) | change).encode()
    text = "Tenure isn't É [UNK]x"
    read = Tokenizer.from_buffer(content).encode(text, add_special_tokens=False).ids
    assert WordPieces(content).ids(text) == read


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", b'{"model": {}}'])
def test_what_is_no_tokenizer_is_refused_at_once(content: bytes) -> None:
    with pytest.raises(Exception, match=r"."):
        WordPieces(content)


def test_a_first_search_loads_no_library_of_tokenizers() -> None:
    code = (
        "import sys; from sicetnon.arguments.model.classifiers import Embedding; "
        "Embedding().encode(['Teachers’ tenure']); sys.exit('tokenizers' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
