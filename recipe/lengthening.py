"""Fit the gain of quality by the length of a text.

The encoder reads windows, so it cannot see how long a text is, and it learns quality from
arguments of one or two sentences. Judges of whole arguments (Webis-ArgQuality-20) prefer long
ones. One number says how much; no other part of the model learns from those judgments.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recipe.examples import Example
from recipe.network import tokenizer
from sicetnon.arguments.models.classifiers import Quality
from sicetnon.arguments.models.onnx_model import log_lengths

Floats = NDArray[np.float64]
_LEAST = 0.02


def fitted(quality: Floats, lengths: Floats, wanted: Floats) -> float:
    """The gain of the model's logit per logarithm of the length, by least squares.

    Args:
        quality: What the model says without it [texts].
        lengths: The logarithms of the texts' lengths [texts].
        wanted: Labels from 0 to 1 [texts].
    """
    slope, _ = np.polyfit(lengths, logits(wanted) - logits(quality), 1)
    return max(0.0, float(slope))


def lengths_of(found: Sequence[Example]) -> Floats:
    """The logarithms of the texts' lengths [texts], as in the model."""
    counts = [len(tokenizer().encode(each.text, add_special_tokens=False).ids) for each in found]
    return log_lengths(np.array(counts, dtype=float))


def plain_quality(found: Sequence[Example], model: Path | None, longer: float) -> Floats:
    """The quality of texts [texts] without the gain by their lengths."""
    scored = Quality(model=model).score([each.text for each in found]).astype(float)
    return 1 / (1 + np.exp(longer * lengths_of(found) - logits(scored, 1e-6)))


def lengthen(found: Sequence[Example], folder: Path) -> float:
    """Fit the gain by length, and write it into an exported model that has none.

    Args:
        found: Whole arguments with their quality.
        folder: The model.

    Returns:
        What the logarithm of a length counts.
    """
    wanted = np.array([each.label for each in found])
    longer = round(fitted(plain_quality(found, folder, 0.0), lengths_of(found), wanted), 3)
    path = folder / "model.json"
    described = json.loads(path.read_text(encoding="utf-8")) | {"longer": longer}
    path.write_text(json.dumps(described, indent=1) + "\n", encoding="utf-8")
    return longer


def logits(values: Floats, least: float = _LEAST) -> Floats:
    """Probabilities as logits, clipped to `least` from 0 and 1."""
    cut = np.clip(values, least, 1 - least)
    return np.log(cut / (1 - cut))
