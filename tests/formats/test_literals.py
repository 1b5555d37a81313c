"""Python literals: the quick way gives what `ast.literal_eval` gives, or the same complaint."""

from __future__ import annotations

import ast
import warnings
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sicetnon.formats.literals import read_literal

often = settings(max_examples=300, deadline=None, derandomize=True)

# what reprs are made of, in any order: mostly nonsense, which must be refused alike
PIECES = st.sampled_from(
    [
        *"[]{}:,'\"\\ -+.0123e#()_\n",
        "'a'", '"b"', "None", "True", "null", "NaN", "u'x'", "b'x'", "\\n", "\\x41", "\\ud83d",
        "\\u00e9", "\\'", '\\"', "\\\\", "\\/", "\\0", "\\N{DASH}", "'''", "1e5", "é", "\0",
    ]
)  # fmt: skip
PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
VALUES = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=4), inner, max_size=3)
        | st.tuples(inner)
    ),
    max_leaves=8,
)


def outcome(read: Any, text: str) -> tuple[str, str]:
    """What a reader makes of a text: the value with its types, or the kind of error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return "value", repr(read(text))
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
            return "error", type(error).__name__


@often
@given(VALUES)
def test_what_repr_writes_is_read_back(value: Any) -> None:
    text = repr(value)
    assert outcome(read_literal, text) == outcome(ast.literal_eval, text)


@often
@given(st.lists(PIECES, max_size=12).map("".join))
def test_any_text_is_read_as_literal_eval_reads_it(inner: str) -> None:
    for text in (inner, f"[{inner}]", f"['{inner}']", f'{{"k": "{inner}"}}'):
        assert outcome(read_literal, text) == outcome(ast.literal_eval, text)


@pytest.mark.parametrize(
    "text",
    [
        "", "[", "]", "[0]x]", " [1]", "[1]\n", "\n [1]", "[1, ]", "['a' 'b']", "[-0, -0.0, - 1]",
        "[1e400]", "[00]", "[1_0]", "[0x1f]", "[12345678901234567890]", "[1.5.2]", "['\\/']",
        "['\\\"']", "['\\\\\"']", "['\\ud83d\\ude00']", '["\\x7f\\x00"]', "{1: 2}", "{[]: 1}",
        "{'a': 1, 'a': 2}", "['\t']", "['\r']", "['''x''']", "[1 # one\n]", "[" * 5000 + "]" * 5000,
        "__import__('os')", "[__import__('os')]", "{'a'}", "[None, True, False, NaN, null]",
    ],
)  # fmt: skip
def test_corners_are_read_as_literal_eval_reads_them(text: str) -> None:
    assert outcome(read_literal, text) == outcome(ast.literal_eval, text)
