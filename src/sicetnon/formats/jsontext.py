"""JSON as crawls have it: decoded strictly, but for escapes that name half a character."""

from __future__ import annotations

import json
import math
from os import PathLike
from pathlib import PurePath
from typing import Any, TypeVar

import msgspec

Shape = TypeVar("Shape")
_TOO_DEEP = "its lists and objects are nested too deeply"


def decode(decoder: msgspec.json.Decoder[Shape], data: bytes) -> Shape:
    r"""Decode JSON; a lone `\\ud83d` becomes U+FFFD.

    Raises:
        ValueError: It is no UTF-8, no JSON, of another shape than the decoder's, or nested deeper
            than Python's limit on recursion.
    """
    try:
        return decoder.decode(data)
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _decode_mended(decoder, data)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None


def _decode_mended(decoder: msgspec.json.Decoder[Shape], data: bytes) -> Shape:
    try:
        parsed = strict_json(_text(data))
        return msgspec.convert(mended(parsed), decoder.type)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None


def strict_json(text: str) -> Any:
    """Parse JSON as its standard has it, which Python does not: NaN and Infinity are no JSON.

    Raises:
        ValueError: It is no JSON, or holds a number beyond 64 bits of floating point.
    """
    return json.loads(text, parse_constant=_finite, parse_float=_finite)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"found the number {text[:40]}; expected a finite one")
    return value


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"byte {error.start + 1} of it is not UTF-8; save the file as UTF-8"
        ) from None


def whole_text(text: str) -> str:
    """A text with U+FFFD for each half of a character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def name_of(path: PathLike[str] | str) -> str:
    """The name of a file as text; U+FFFD stands for bytes that are no UTF-8."""
    return whole_text(PurePath(path).name)


def mended(value: Any) -> Any:
    """Parsed JSON with U+FFFD for each half of a character, which escapes in crawls name."""
    if isinstance(value, str):
        return whole_text(value)
    if isinstance(value, list | tuple):
        return [mended(item) for item in value]
    if isinstance(value, dict):
        return {mended(key): mended(item) for key, item in value.items()}
    return value
