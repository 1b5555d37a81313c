"""The forms of each stem, for an index that keeps them apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sicetnon.index.storage import StoredFile, write_array
from sicetnon.index.words import StoredWords, write_words
from sicetnon.text.stems import StemWords
from sicetnon.text.words import WordTable

PREFIX = "stems"
OFFSETS, NUMBERS = "form_offsets", "form_numbers"


def write_forms(folder: Path, terms: WordTable, stem: StemWords) -> dict[str, StoredFile]:
    """Write the stems of all terms, and each stem's terms.

    Args:
        folder: The folder for the files.
        terms: The terms.
        stem: Gives the stems of distinct words.
    """
    stems = WordTable()
    stem_of_term = stems.insert([s.encode("utf-8") for s in stem(terms.words())])
    order = np.argsort(stem_of_term, kind="stable").astype(np.int32)
    offsets = np.searchsorted(stem_of_term[order], np.arange(len(stems) + 1)).astype(np.int64)
    files = write_words(folder, PREFIX, stems)
    files[OFFSETS] = write_array(folder / OFFSETS, offsets)
    files[NUMBERS] = write_array(folder / NUMBERS, order)
    return files


class StoredForms:
    """The forms of stems, on disk."""

    def __init__(self, arrays: dict[str, NDArray[Any]]):
        self._stems = StoredWords(arrays, PREFIX)
        self._offsets, self._numbers = arrays[OFFSETS], arrays[NUMBERS]

    def of(self, stem: str) -> list[int]:
        """The numbers of the terms with a stem."""
        number = self._stems.number(stem)
        if number is None:
            return []
        begin, end = self._offsets[number : number + 2].tolist()
        return self._numbers[begin:end].tolist()  # type: ignore[no-any-return]
