"""Learned parameters on disk: arrays in an .npz file, and a card in JSON that tells of them.

No pickle is ever loaded. Parameters are looked for in `SICETNON_MODELS`, then in the user's data
folder, then among those that come with the package.
"""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import DataError, UsageError

Arrays = Mapping[str, NDArray[Any]]
_SHIPPED = Path(__file__).parent / "data"


class Card(msgspec.Struct, frozen=True):
    """What is known of parameters.

    Attributes:
        name: Of the part that they are for, as in `uva-quality`.
        encoder: Of the vectors that they were trained on.
        kind: Of the predictor.
        trained_on: The data, with its size.
        command: What trains them again.
        figures: What they score, by measure.
        notes: What must be said beside the figures.
    """

    name: str
    encoder: str
    kind: str
    trained_on: str
    command: str
    figures: dict[str, float] = {}
    notes: str = ""


@dataclass(frozen=True)
class Parameters:
    """Arrays with their card."""

    card: Card
    arrays: Arrays


def models_folder() -> Path:
    """Where trained parameters go: `SICETNON_MODELS`, or the user's data folder."""
    if named := os.environ.get("SICETNON_MODELS"):
        return Path(named).expanduser()
    home = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(home).expanduser() / "sicetnon" / "models"


def write_parameters(folder: Path, parameters: Parameters) -> Path:
    """Write arrays and card, each whole or not at all; the .npz file is returned."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{parameters.card.name}.npz"
    data = io.BytesIO()
    np.savez_compressed(data, **parameters.arrays)  # type: ignore[arg-type]
    _write(path, data.getvalue())
    card = msgspec.json.format(msgspec.json.encode(parameters.card), indent=1)
    _write(path.with_suffix(".json"), card + b"\n")
    return path


def read_parameters(name: str) -> Parameters:
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


def _read(path: Path) -> Parameters:
    try:
        card = msgspec.json.decode(path.with_suffix(".json").read_bytes(), type=Card)
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
            return Parameters(card, {name: arrays[name] for name in arrays.files})
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, msgspec.DecodeError) as error:
        raise DataError(f"the parameters are damaged: {error}; train them again", path) from None


def _write(path: Path, data: bytes) -> None:
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_bytes(data)
    beside.replace(path)
