"""The forms of each stem, for an index that keeps them apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sicetnon.index.layout import FORM_NUMBERS, FORM_OFFSETS, STEMS
from sicetnon.index.storage import StoredFile, damaged, ends_fit, write_array
from sicetnon.index.words import StoredWords, write_words
from sicetnon.text.analysis import StemWords
from sicetnon.text.words import WordTable


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
    files = write_words(folder, STEMS, stems)
    files[FORM_OFFSETS] = write_array(folder / FORM_OFFSETS, offsets)
    files[FORM_NUMBERS] = write_array(folder / FORM_NUMBERS, order)
    return files


class StoredForms:
    """The forms of stems, on disk."""

    def __init__(self, folder: Path, arrays: dict[str, NDArray[Any]]):
        self._folder = folder
        self._stems = StoredWords(folder, arrays, STEMS)
        self._offsets, self._numbers = arrays[FORM_OFFSETS], arrays[FORM_NUMBERS]
        if not ends_fit(self._offsets, len(self._numbers)):
            raise damaged(folder / FORM_OFFSETS, "they do not fit the terms")

    def of(self, stem: str) -> list[int]:
        """The numbers of the terms with a stem.

        Raises:
            BrokenIndexError: There can be no such numbers.
        """
        number = self._stems.number(stem)
        if number is None:
            return []
        begin, end = self._offsets[number : number + 2].tolist()
        if not 0 <= begin <= end <= len(self._numbers):
            raise damaged(self._folder / FORM_OFFSETS, f"found terms from {begin:,} to {end:,}")
        found: list[int] = self._numbers[begin:end].tolist()
        if not all(0 <= term < len(self._numbers) for term in found):
            raise damaged(self._folder / FORM_NUMBERS, f"found the terms {found[:10]}")
        return found
