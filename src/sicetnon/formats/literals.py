"""Python literals in files: read without running anything, and quickly where they are plain.

`ast.literal_eval` says what a literal means. Most literals in files are what `repr` writes of
lists, dictionaries, strings, numbers and None; these are rewritten as JSON, which a decoder reads
in a third of the time. Whatever is not surely the same in both notations is left to
`ast.literal_eval`.
"""

from __future__ import annotations

import ast
import re
from typing import Any

import msgspec

# strings, numbers and words; what stands between them must be JSON's punctuation to be decoded
_TOKEN = re.compile(
    r"""'([^'\\]*(?:\\.[^'\\]*)*)'|"([^"\\]*(?:\\.[^"\\]*)*)"|([A-Za-z]+)|([0-9][0-9.eE]*)""",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-cefA-CEF][0-9a-fA-F]{3}|.)", re.DOTALL)
_WORDS = {"None": "null", "True": "true", "False": "false"}
_SAME_ESCAPES = frozenset('\\"nrt')
_BRACKETS = {"[": "]", "{": "}"}
_MOST_DIGITS = 15


class _OtherwiseError(Exception):
    """The literal holds something that JSON would have otherwise."""


def read_literal(text: str) -> Any:
    """The value of a Python literal, the same as `ast.literal_eval` gives.

    Raises:
        ValueError, SyntaxError, TypeError, MemoryError, RecursionError: As `ast.literal_eval`.
    """
    if text and _BRACKETS.get(text[0]) == text[-1]:
        try:
            return msgspec.json.decode(_TOKEN.sub(_as_json, text))
        except (_OtherwiseError, ValueError, RecursionError):
            pass  # not plain, or no literal: the judge of both is below
    return ast.literal_eval(text)


def _as_json(token: re.Match[str]) -> str:
    quoted, double_quoted, word, number = token.groups()
    if quoted is not None:
        string = quoted.replace('"', '\\"') if '"' in quoted else quoted
    elif double_quoted is not None:
        string = double_quoted
    elif word is not None:
        if word not in _WORDS:
            raise _OtherwiseError
        return _WORDS[word]
    elif len(number) > _MOST_DIGITS and number.isdecimal():
        raise _OtherwiseError
    else:
        return str(number)
    if "\\" in string:
        # a quotation mark escaped in both ways at once is left alone
        if quoted is not None and '\\\\"' in string:
            raise _OtherwiseError
        string = _ESCAPE.sub(_escape_as_json, string)
    return f'"{string}"'


def _escape_as_json(escape: re.Match[str]) -> str:
    said = escape[1]
    if said in _SAME_ESCAPES:
        return f"\\{said}"
    if said == "'":
        return said
    if said[0] == "u" and len(said) > 1:
        return f"\\{said}"
    if said[0] == "x" and len(said) > 1:
        return f"\\u00{said[1:]}"
    raise _OtherwiseError
