"""Checkpoints of a training: one torch file per network, replaced as a whole."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch

_NAME = "checkpoint.pt"
State = dict[str, Any]


def save_checkpoint(folder: Path, state: State) -> None:
    """Replace the checkpoint of a training; ends the program with one line where that fails.

    Args:
        folder: The folder of the training.
        state: The states of the network and the optimizer, and `ended`.
    """
    whole = folder / _NAME
    part = whole.with_suffix(".part")
    try:
        torch.save(state, part)
        part.replace(whole)
    except (OSError, RuntimeError) as error:  # torch raises either of them on a full disk
        with suppress(OSError):
            part.unlink()
        raise SystemExit(
            f"{whole} cannot be written; is the disk full, or read-only? The checkpoint before it "
            "stays: run the command again to resume there"
        ) from error


def load_checkpoint(folder: Path, **options: Any) -> State | None:
    """The checkpoint of a training; None where there is none.

    Args:
        folder: The folder of the training.
        options: Further arguments of `torch.load`.
    """
    path = folder / _NAME
    if not path.exists():
        return None
    try:
        state: State = torch.load(path, weights_only=True, **options)
    except (RuntimeError, EOFError, UnpicklingError) as error:
        raise SystemExit(f"{path}: damaged; remove {folder}, and train it again") from error
    return state


def finished_checkpoint(folder: Path) -> State:
    """The checkpoint of a training that has ended; ends the program where it has not."""
    state = load_checkpoint(folder, map_location="cpu", mmap=True)
    if state is None:
        raise SystemExit(
            f"{folder / _NAME} is not there; train {folder.name} first (see recipe/README.md)"
        )
    if not state.get("ended", True):
        raise SystemExit(f"{folder}: the training has not ended; run it again to resume it")
    return state


def check_ended(folders: Iterable[Path]) -> None:
    """End the program with one line where a training is missing or has not ended."""
    for folder in folders:
        finished_checkpoint(folder)


def other_settings(folder: Path) -> SystemExit:
    """The error of a checkpoint that does not fit the network of these settings."""
    return SystemExit(f"{folder}: of other settings; remove it, and train it again")
