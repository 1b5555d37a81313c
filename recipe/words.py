"""Word vectors with four bits a number: half of a small model is its vocabulary."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

GROUP = 32
_LEAST, _MOST = -8, 7
_UNITS = 255
_SHRINKAGES = (1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7)


class Packed(NamedTuple):
    """Vectors of bytes with two numbers of four bits each.

    Attributes:
        numbers: Unsigned numbers [words, width / 2]; the low half is of the first half of the
            vector, the high half of the second.
        scales: What a number is multiplied with, less 8: how many units [words, width / 32].
        unit: The unit of the scales [1].
    """

    numbers: Tensor
    scales: Tensor
    unit: Tensor


def packed(vectors: Tensor) -> Packed:
    """Vectors [words, width] with four bits per number, and a scale for each 32 numbers.

    The scale is the one, of a few, that loses least: the largest number may be cut for the others.
    """
    groups = vectors.reshape(len(vectors), -1, GROUP)
    largest = groups.abs().amax(-1, keepdim=True).clamp(min=1e-6) / -_LEAST
    unit = largest.max() / _UNITS
    best = torch.full_like(largest, torch.inf)
    scales = largest.clone()
    for shrinkage in _SHRINKAGES:
        scale = (largest * shrinkage / unit).round().clamp(1, _UNITS) * unit
        loss = (_rounded(groups, scale) * scale - groups).square().sum(-1, keepdim=True)
        scales = torch.where(loss < best, scale, scales)
        best = torch.minimum(best, loss)
    whole = (_rounded(groups, scales) - _LEAST).reshape(vectors.shape).to(torch.uint8)
    low, high = whole.chunk(2, dim=1)
    counts = (scales / unit)[..., 0].round().to(torch.uint8)
    return Packed(low | (high << 4), counts, unit.reshape(1))


def _rounded(groups: Tensor, scale: Tensor) -> Tensor:
    return torch.round(groups / scale).clamp(_LEAST, _MOST)


def unpacked(found: Packed) -> Tensor:
    """The vectors [words, width] again, as near as four bits are."""
    numbers = torch.cat([found.numbers & 15, found.numbers >> 4], dim=1).float() + _LEAST
    scales = found.scales.float() * found.unit
    return numbers * scales.repeat_interleave(GROUP, dim=1)
