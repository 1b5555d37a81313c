"""The effect of a text's length on its quality, which a window does not show."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sicetnon.arguments.model.windows import Window

_LENGTHS = 64.0, 400.0


def lengths_of(windows: Sequence[Window], texts: int, overlap: int) -> NDArray[np.float64]:
    """The number of tokens of each text [texts]; tokens in two windows count once."""
    found = np.full(texts, float(overlap))
    np.add.at(
        found, [each.owner for each in windows], [len(each.tokens) - overlap for each in windows]
    )
    return found


def log_lengths(tokens: NDArray[np.float64]) -> NDArray[np.float64]:
    """The factor of `Description.longer`: the natural logarithms of lengths [texts].

    Lengths are in units of 64 tokens. A text under 64 tokens counts as 64, one over 400, longer
    than those on which `longer` was fitted, as 400.
    """
    found: NDArray[np.float64] = np.log(np.clip(tokens, *_LENGTHS) / _LENGTHS[0])
    return found


def lengthened(
    quality: NDArray[np.float64], lengths: NDArray[np.float64], longer: float
) -> NDArray[np.float64]:
    """Qualities [texts], raised by the lengths of the texts."""
    raised: NDArray[np.float64] = quality / (
        quality + (1 - quality) * np.exp(-longer * log_lengths(lengths))
    )
    return raised
