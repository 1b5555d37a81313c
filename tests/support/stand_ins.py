"""Stand-ins for a model that reads texts: what they give is decided by the text alone."""

from __future__ import annotations

import functools
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

WIDTH = 24


def strengths(texts: Sequence[str]) -> NDArray[np.float32]:
    """A number from 0 to 1 for each text, shape (n,)."""
    sums = [zlib.crc32(text.encode("utf-8", "replace")) for text in texts]
    return (np.array(sums, dtype=np.float64) / 2**32).astype(np.float32)


@functools.cache
def direction(word: str) -> NDArray[np.float64]:
    """A vector for a word, shape (width,)."""
    seed = zlib.crc32(word.encode("utf-8", "replace"))
    return np.random.default_rng(seed).normal(size=WIDTH)


def directions(texts: Sequence[str]) -> NDArray[np.float32]:
    """Vectors of length 1, shape (n, width): like words give like vectors."""
    found = np.zeros((len(texts), WIDTH), dtype=np.float32)
    for row, text in zip(found, texts, strict=True):
        for word in ["", *text.lower().split()]:
            row += direction(word)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


class StandIn:
    """What is put in place of the model that comes with the package.

    Attributes:
        version: What it says of itself.
        readings: Every list of texts that it read, with what was wanted of it.
        stop_after: How many readings it does before it is interrupted.
    """

    def __init__(self) -> None:
        self.version = "stand-in 1"
        self.readings: list[tuple[list[str], tuple[str, ...]]] = []
        self.stop_after = 1 << 30

    def read_all(
        self, texts: Sequence[str], outputs: Sequence[str], model: Path | None = None
    ) -> dict[str, NDArray[np.float32]]:
        """As `sicetnon.arguments.models.classifiers.read_all`."""
        if len(self.readings) >= self.stop_after:
            raise KeyboardInterrupt
        self.readings.append((list(texts), tuple(outputs)))
        functions = {"embedding": directions}
        return {name: functions.get(name, strengths)(texts) for name in outputs}

    def embedding(self, model: Path | None = None) -> StandIn:
        """In place of `Embedding`, of which the identity is wanted."""
        return self

    def identity(self) -> str:
        """Name and version."""
        return self.version
