"""A cache on disk of the vectors and named entities of texts, which take minutes to find."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from sicetnon.operating_system import cache_folder
from sicetnon.uva.text_models import entity_features, named_encoder

AT_A_TIME = 200


class Kept:
    """The numbers of each text, from the cache or from a function; saved after every few texts."""

    def __init__(self, name: str, find: Callable[[Sequence[str]], NDArray[np.float32]]):
        self._find, self._path = find, cache_folder() / f"uva-{name}.npz"
        self._known: dict[str, NDArray[np.float32]] = {}
        if self._path.is_file():
            with np.load(self._path, allow_pickle=False) as kept:
                self._known = dict(zip(kept["keys"].tolist(), kept["vectors"], strict=True))

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (texts, numbers of each)."""
        keys = [hashlib.sha1(text.encode("utf-8", "replace")).hexdigest() for text in texts]
        new = {k: text for k, text in zip(keys, texts, strict=True) if k not in self._known}
        for begin in range(0, len(new), AT_A_TIME):
            part = list(new)[begin : begin + AT_A_TIME]
            self._known.update(zip(part, self._find([new[k] for k in part]), strict=True))
            stacked = np.stack(list(self._known.values()))
            np.savez(self._path, keys=np.array(list(self._known)), vectors=stacked)
        return np.stack([self._known[key] for key in keys])


class KeptVectors:
    """An encoder whose vectors are kept on disk."""

    def __init__(self, name: str):
        self.name = name
        self._kept = Kept(f"vectors-{name}", lambda texts: named_encoder(name).encode(texts))

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As the encoder of the name."""
        return self._kept(texts)


@cache
def kept_entities() -> Kept:
    """As `entity_features`, found once for all rankers."""
    return Kept("entities", entity_features)
