"""The settings of a training, from `configuration.yaml`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec
import yaml

FOLDER = Path("out/training")
"""The folder of checkpoints and logs, below the current folder."""


class Stage(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One training. `shares` is how often an epoch reads each data set."""

    start: str
    reads: Literal["first", "both", "marks"]
    words: Literal["whole", "four-bit"]
    epochs: int
    batch: int
    rate: float
    warm_up: float
    loss: dict[str, float]
    distillation: dict[str, float]
    shares: dict[str, dict[str, float]]
    encoder: Literal["original", "larger", "language"] = "original"
    layers: int = 0
    adapters: int = 0
    kept_layers: int = 0
    keeps: tuple[str, ...] = ()
    folds_of: tuple[str, ...] = ()
    left_out: tuple[tuple[int, ...], ...] = ()
    teachers: dict[str, str] = msgspec.field(default_factory=dict)
    rounds: bool = False
    seed: int | None = None
    nearest: int = 14
    near_claims: int = 0
    beside: str = ""

    def heads(self) -> list[str]:
        """The heads that are trained or kept."""
        return [*(head for head in self.shares if head != "embedding"), *self.keeps]

    def left_out_with(self, fold: int | None) -> tuple[int, ...]:
        """The folds that one network leaves out together with this one; the first names it."""
        if fold is None:
            return ()
        return next((folds for folds in self.left_out if fold in folds), (fold,))


class Learner(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Training of the reader or its teacher: `rounds` is the last part, with rounded weights."""

    layers: int
    rate: float
    head_rate: float
    warm_up: int
    tokens: int
    adapters: int = 0
    rounds: float = 0.0


class ReaderSettings(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The reader and its teacher; `shares` is how often a text of a data set is read."""

    teacher: Learner
    student: Learner
    shares: dict[str, float]


class Configuration(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """All settings."""

    seed: int
    folds: int
    length: int
    dropout: float
    weight_decay: float
    unlabelled: int
    save_every: int
    reader: ReaderSettings
    stages: dict[str, Stage]

    def seed_of(self, stage: Stage) -> int:
        """The seed of a stage: its own, or the common one."""
        return self.seed if stage.seed is None else stage.seed

    def folder_of(self, name: str, fold: int | None) -> str:
        """The folder of a stage's network without a fold, or of its only network."""
        stage = self.stages[name]
        left_out = stage.left_out_with(fold) if stage.folds_of else ()
        return f"{name}-{left_out[0]}" if left_out else name


def configuration(path: Path | None = None) -> Configuration:
    """Read the settings from a file; the file beside this module when left out."""
    text = (path or Path(__file__).with_name("configuration.yaml")).read_text(encoding="utf-8")
    settings: Any = yaml.safe_load(text)
    return msgspec.convert(settings, Configuration)
