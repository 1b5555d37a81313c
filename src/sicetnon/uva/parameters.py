"""Learned parameters on disk: arrays in an .npz file, and a card in JSON that describes them.

No pickle is ever loaded. Parameters are read from the folder `SICETNON_MODELS` (by default a folder
of the user), or else from the package.
"""

from __future__ import annotations

import io
import os
import tokenize
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
from sicetnon.formats.files import Limits, read_all, write_atomic
from sicetnon.formats.json_records import decode
from sicetnon.operating_system import make_folder

Arrays = Mapping[str, NDArray[Any]]
_SHIPPED = Path(__file__).parent / "data"
# what zipfile raises for archives that are damaged, encrypted or of another version
_ARCHIVE_ERRORS = (zipfile.BadZipFile, zlib.error, RuntimeError, EOFError)


class ModelCard(msgspec.Struct, frozen=True):
    """A description of parameters."""

    name: str
    encoder: str
    kind: str
    trained_on: str
    command: str
    figures: dict[str, float] = {}
    notes: str = ""


@dataclass(frozen=True)
class LearnedParameters:
    """Arrays with their card."""

    card: ModelCard
    arrays: Arrays


_CARD = msgspec.json.Decoder(ModelCard)


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
    write_atomic({path: data.getvalue(), path.with_suffix(".json"): card})
    return path


def read_parameters(name: str) -> LearnedParameters:
    """The parameters of a name, from the first folder that has them."""
    for folder in (models_folder(), _SHIPPED):
        path = folder / f"{name}.npz"
        if path.is_file():
            return _read(path)
    raise UsageError(f"there are no parameters {name!r}; train them: sicetnon train {name}")


def _read(path: Path) -> LearnedParameters:
    try:
        card = decode(_CARD, read_all(path.with_suffix(".json")))
        return LearnedParameters(card, _arrays(path))
    except (ValueError, *_ARCHIVE_ERRORS) as error:
        raise DataError(f"the parameters are damaged: {error}; train them again", path) from None


def _arrays(path: Path) -> Arrays:
    """The arrays of an archive. Its checksums are compared before numpy parses anything."""
    data, limits = path.read_bytes(), Limits.from_environment()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        size = sum(member.file_size for member in archive.infolist())
        if error := limits.unpacks_too_much(len(data), size, path):
            raise error
        members = {name: archive.read(name) for name in archive.namelist()}
    return {name.removesuffix(".npy"): _array(content) for name, content in members.items()}


def _array(content: bytes) -> NDArray[Any]:
    try:
        return np.asarray(np.load(io.BytesIO(content), allow_pickle=False))
    except tokenize.TokenError as error:  # numpy reads odd headers as Python
        raise ValueError(error) from None
