"""Write the lengths of documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sicetnon.index.layout import LENGTH_TYPES, lengths_name
from sicetnon.index.storage import ArrayWriter, StoredFile


class LengthWriter:
    """Writes the number of terms of each document, a file per field.

    Batches stay in memory until `close`, each field of a batch in the smallest type that holds it.

    Attributes:
        memory: Bytes of memory that the lengths take so far.

    Args:
        folder: The folder for the files.
        fields: The number of fields.
    """

    def __init__(self, folder: Path, fields: int):
        self._folder = folder
        self._columns: list[list[NDArray[Any]]] = [[] for _ in range(fields)]
        self.memory = 0

    def append(self, lengths: NDArray[np.int32]) -> None:
        """Add the terms of the next documents by field, shape (documents, fields)."""
        for column, batch in zip(self._columns, lengths.T, strict=True):
            most = int(batch.max(initial=0))
            small = next(name for name in LENGTH_TYPES if most <= np.iinfo(name).max)
            column.append(batch.astype(small))
            self.memory += column[-1].nbytes

    def close(self) -> dict[str, StoredFile]:
        """Write and describe the files."""
        files = {}
        for field, column in enumerate(self._columns):
            name = lengths_name(field)
            used = {batch.dtype.name for batch in column}
            largest = max(used, key=LENGTH_TYPES.index, default=LENGTH_TYPES[0])
            with ArrayWriter(self._folder / name, largest) as writer:
                for batch in column:
                    writer.append(batch)
                files[name] = writer.close()
            column.clear()
        return files
