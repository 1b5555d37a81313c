"""Texts to numbers of words: plainly for little text, by compiled code for much of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sicetnon.jit import use_numpy
from sicetnon.text.characters import SCANNER_VERSION
from sicetnon.text.compiled_words import CompiledWords, join
from sicetnon.text.plain_words import MAX_WORD_BYTES, CompactWords, PlainWords, hash_word

__all__ = ["MAX_WORD_BYTES", "WordTable", "hash_word", "join"]

# what the plain way takes here, in seconds per letter and per word
_SCANNING, _NUMBERING, _COMPACTING = 4e-8, 3e-7, 2e-6


class WordTable:
    """Distinct words, numbered from 0 in the order in which they were first met.

    It begins as `PlainWords` and becomes `CompiledWords` when there is much to do: both give the
    same numbers and the same arrays.

    Args:
        scanner: The version of the tokeniser.
    """

    def __init__(self, scanner: int = SCANNER_VERSION) -> None:
        self._scanner = scanner
        self._table: PlainWords | CompiledWords = PlainWords(scanner)

    def __len__(self) -> int:
        return len(self._table)

    @property
    def memory(self) -> int:
        """Bytes of memory that the words take."""
        return self._table.memory

    def scan(
        self, data: NDArray[np.uint8], ends: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Tokenise texts, numbering their words.

        Args:
            data: The UTF-8 of all texts, one after the other.
            ends: The end of each text in it, shape (texts,).

        Returns:
            The numbers of all words in order, and where those of each text end, shape (texts,).
        """
        return self._for(_SCANNING * data.size).scan(data, ends)

    def insert(self, words: Sequence[bytes]) -> NDArray[np.int32]:
        """The numbers of whole words, new ones added."""
        return self._for(_NUMBERING * len(words)).insert(words)

    def words(self, first: int = 0) -> list[str]:
        """The words from number `first` on."""
        return self._table.words(first)

    def compact(self) -> CompactWords:
        """Offsets and letters without spare room, as they go to disk.

        Offsets, int64, tell where each word begins in the letters, uint8, which are UTF-8; there
        is one more than there are words.
        """
        return self._for(_COMPACTING * len(self)).compact()

    def _for(self, seconds: float) -> PlainWords | CompiledWords:
        """The table for a piece of work that takes so long plainly."""
        if isinstance(self._table, PlainWords) and not use_numpy(seconds):
            compiled = CompiledWords(self._scanner)
            compiled.insert(self._table.encoded())
            self._table = compiled
        return self._table
