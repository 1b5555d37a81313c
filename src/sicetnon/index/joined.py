"""Byte strings that stand one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray


class Joined:
    """Many byte strings as few large ones: to pass on small objects takes as long as to make them.

    Attributes:
        sizes: The size of each.
        bytes: The size of all.

    Args:
        strings: The first of them.
    """

    def __init__(self, strings: Sequence[bytes] = ()):
        self._pieces: list[bytes] = []
        self.sizes: list[int] = []
        self.bytes = 0
        self.extend(strings)

    def __len__(self) -> int:
        return len(self.sizes)

    def extend(self, strings: Sequence[bytes]) -> None:
        """Add some behind the others."""
        piece = b"".join(strings)
        self._pieces.append(piece)
        self.bytes += len(piece)
        self.sizes.extend(map(len, strings))

    def whole(self) -> bytes:
        """All of them as one."""
        return b"".join(self._pieces)

    def each(self) -> list[bytes]:
        """Each of them."""
        whole = self.whole()
        return [whole[begin:end] for begin, end in pairwise(accumulate(self.sizes, initial=0))]

    def arrays(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """All of them as an array, and where each ends in it."""
        return np.frombuffer(self.whole(), np.uint8), np.cumsum(self.sizes, dtype=np.int64)
