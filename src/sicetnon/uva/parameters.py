"""Learned parameters on disk: arrays in an .npz file, and a card in JSON that describes them.

No pickle is ever loaded. Parameters are read from the folder `SICETNON_MODELS` (by default a folder
of the user), or else from the package.
"""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import DataError, UsageError
from sicetnon.formats.files import write_whole
from sicetnon.platforms import make_folder

Arrays = Mapping[str, NDArray[Any]]
_SHIPPED = Path(__file__).parent / "data"


class Card(msgspec.Struct, frozen=True):
    """A description of parameters.

    Attributes:
        name: The name of the part, as in `uva-quality`.
        encoder: The name of the encoder whose vectors they were trained on.
        kind: The kind of predictor.
        trained_on: The training data, with its size.
        command: The command that trains them.
        figures: Scores by measure.
        notes: Remarks on the figures.
    """

    name: str
    encoder: str
    kind: str
    trained_on: str
    command: str
    figures: dict[str, float] = {}
    notes: str = ""


_DAMAGED = (
    # what numpy, zipfile, zlib and msgspec raise for damaged files; some are errors of theirs
    *(OSError, ValueError, EOFError, NotImplementedError, RuntimeError, TypeError, KeyError),
    *(zipfile.BadZipFile, zlib.error, msgspec.DecodeError),
)


@dataclass(frozen=True)
class LearnedParameters:
    """Arrays with their card."""

    card: Card
    arrays: Arrays


def models_folder() -> Path:
    """The folder for trained parameters: `SICETNON_MODELS`, or one in the user's data folder."""
    if named := os.environ.get("SICETNON_MODELS"):
        return Path(named).expanduser()
    home = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(home).expanduser() / "sicetnon" / "models"


def write_parameters(folder: Path, parameters: LearnedParameters) -> Path:
    """Write arrays and card, or neither where that fails, and return the path of the .npz file."""
    make_folder(folder)
    path = folder / f"{parameters.card.name}.npz"
    data = io.BytesIO()
    np.savez_compressed(data, **parameters.arrays)  # type: ignore[arg-type]
    card = msgspec.json.format(msgspec.json.encode(parameters.card), indent=1) + b"\n"
    write_whole({path: data.getvalue(), path.with_suffix(".json"): card})
    return path


def read_parameters(name: str) -> LearnedParameters:
    """The parameters of a name, from the first folder that has them.

    Raises:
        UsageError: There are none.
        DataError: They are damaged.
    """
    for folder in (models_folder(), _SHIPPED):
        path = folder / f"{name}.npz"
        if path.is_file():
            return _read(path)
    raise UsageError(f"there are no parameters {name!r}; train them: sicetnon train {name}")


def _read(path: Path) -> LearnedParameters:
    try:
        card = msgspec.json.decode(path.with_suffix(".json").read_bytes(), type=Card)
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
            return LearnedParameters(card, {name: arrays[name] for name in arrays.files})
    except _DAMAGED as error:
        raise DataError(f"the parameters are damaged: {error}; train them again", path) from None
