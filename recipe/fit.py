"""The training loop: resumable, logged, reproducible except for rounding."""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from msgspec.structs import replace
from torch import Tensor
from torch.nn import functional

from recipe.batches import schedule, tokens
from recipe.checkpoints import (
    finished_checkpoint,
    load_checkpoint,
    other_settings,
    save_checkpoint,
)
from recipe.configuration import Configuration, Stage
from recipe.examples import Example
from recipe.growth import grow
from recipe.losses import distillation_loss, loss_of
from recipe.more_sources import written_conclusions
from recipe.network import Network, mean_of
from recipe.rounding import round_layers
from recipe.shipped import shipped_judge

_SINGLE = ("quality", "argumentativeness", "embedding")
_SAMPLED = 512


def device() -> torch.device:
    """A GPU if there is one, else the processor."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Training:
    """One training of a network.

    Args:
        settings: The settings.
        stage: The settings of this training.
        found: The examples.
        folder: The folder of its checkpoint and log.
        start: The initial network.
    """

    def __init__(
        self,
        settings: Configuration,
        stage: Stage,
        found: Sequence[Example],
        folder: Path,
        start: Network,
    ):
        self._settings, self._stage, self._folder = settings, stage, folder
        self._seed = settings.seed_of(stage)
        torch.manual_seed(self._seed)
        self._batches = schedule(found, stage, self._seed)
        self._device = device()
        self._network = start.to(self._device).train()
        self._original = Network.original().to(self._device).eval()
        trained = [p for p in self._network.parameters() if p.requires_grad]
        self._optimizer = torch.optim.AdamW(
            trained, lr=stage.rate, weight_decay=settings.weight_decay, fused=True
        )
        self._scheduler = torch.optim.lr_scheduler.LambdaLR(self._optimizer, self._rate)
        self._step = 0
        folder.mkdir(parents=True, exist_ok=True)

    def run(self) -> Network:
        """Train to the end; a checkpoint is resumed."""
        self._resume()
        if self._step < len(self._batches):
            for said in self._folder.glob("said-*.npy"):  # before it went on
                said.unlink()
        sums: dict[str, list[float]] = {}
        began, first = time.monotonic(), self._step
        while self._step < len(self._batches):
            batch = self._batches[self._step]
            loss = self._learn(batch)
            sums.setdefault(batch[0].head, []).append(loss)
            self._step += 1
            if self._step % 50 == 0:
                left = (time.monotonic() - began) / (self._step - first)
                self._log(sums, left * (len(self._batches) - self._step))
                sums = {}
            if self._step % self._settings.save_every == 0:
                self._save()
        self._save()
        return self._network.eval()

    def _rate(self, step: int) -> float:
        whole = max(1, len(self._batches))
        warm = max(1, round(self._stage.warm_up * whole))
        return min(1.0, (step + 1) / warm) * max(0.02, 0.5 * (1 + math.cos(math.pi * step / whole)))

    def _learn(self, batch: Sequence[Example]) -> float:
        head = batch[0].head
        rng = random.Random(self._seed * 1_000_003 + self._step)
        arrays = tokens(batch, self._settings.length, rng, self._network.pieces)
        arrays = {name: array.to(self._device) for name, array in arrays.items()}
        with self._precision():
            states = self._network.states(arrays)
        loss = torch.zeros((), device=self._device)
        if head != "embedding":
            loss = self._stage.loss[head] * loss_of(self._network, batch, states.float(), arrays)
        if head in _SINGLE and self._stage.distillation:
            loss = loss + self._kept(arrays, states)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._network.parameters(), 1.0)
        self._optimizer.step()
        self._scheduler.step()
        self._optimizer.zero_grad(set_to_none=True)
        return float(loss.detach())

    def _precision(self) -> torch.autocast:
        """Bfloat16 where the processor has it; elsewhere its emulation is slow."""
        has_it = self._device.type == "cuda" or torch.ops.mkldnn._is_mkldnn_bf16_supported()
        return torch.autocast(self._device.type, torch.bfloat16, enabled=has_it)

    def _kept(self, arrays: dict[str, Tensor], states: Tensor) -> Tensor:
        mask = arrays["attention_mask"]
        with torch.no_grad(), self._precision():
            original = self._original.states(arrays)
        wanted = functional.normalize(mean_of(original.float(), mask), dim=-1)
        found = self._network.embedding(states.float(), mask)
        return distillation_loss(found, wanted, **self._stage.distillation)

    def _log(self, sums: dict[str, list[float]], left: float) -> None:
        means = {head: round(sum(each) / len(each), 4) for head, each in sorted(sums.items())}
        line = {
            "step": self._step,
            "of": len(self._batches),
            "minutes_left": round(left / 60, 1),
            **means,
        }
        with (self._folder / "log.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def _save(self) -> None:
        state: dict[str, Any] = {
            "network": self._network.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "scheduler": self._scheduler.state_dict(),
            "step": self._step,
            "ended": self._step == len(self._batches),
        }
        save_checkpoint(self._folder, state)

    def _resume(self) -> None:
        state = load_checkpoint(self._folder, map_location=self._device)
        if state is None:
            return
        try:
            self._network.load_state_dict(state["network"])
            self._optimizer.load_state_dict(state["optimizer"])
        except (RuntimeError, ValueError) as error:
            raise other_settings(self._folder) from error
        for group in self._optimizer.param_groups:
            group["fused"] = True
        self._scheduler.load_state_dict(state["scheduler"])
        self._step = state["step"]


def begun(settings: Configuration, stage: Stage, folder: Path, fold: int | None = None) -> Network:
    """The initial network of a stage: an original, or the final network of another stage.

    Args:
        settings: The settings.
        stage: The stage.
        folder: The folder of all stages.
        fold: The fold that is left out, also by the other stage if that leaves out folds.
    """
    torch.manual_seed(settings.seed_of(stage))
    before = settings.stages.get(stage.start, stage)
    network = _untrained(settings, replace(stage, layers=before.layers), folder)
    if stage.start == "shipped":
        network.take(shipped_judge())
    elif stage.start != "original":
        own, state = network.state_dict(), _started(settings, stage, folder, fold)
        # a head may read something else from here on
        fitting = {n: v for n, v in state.items() if n in own and v.shape == own[n].shape}
        network.take(fitting)
    if stage.layers != before.layers:
        grow(network.encoder, stage.layers, sample())
    if stage.words == "four-bit":
        network.quantize_words()
    if stage.keeps:
        network.keep(stage.keeps)
    if stage.rounds:
        round_layers(network)
    return network


def _started(
    settings: Configuration, stage: Stage, folder: Path, fold: int | None
) -> dict[str, Tensor]:
    """The numbers that a stage begins with: those of another stage, or the mean of two."""
    names = (stage.start, stage.beside) if stage.beside else (stage.start,)
    folders = [folder / settings.folder_of(name, fold) for name in names]
    return _mean([finished_checkpoint(each)["network"] for each in folders])


def trained(settings: Configuration, stage: Stage, folder: Path) -> Network:
    """The final network of a stage.

    Args:
        settings: The settings.
        stage: The stage.
        folder: The folder of its checkpoint.
    """
    network = _untrained(settings, stage, folder.parent)
    try:
        network.take(finished_checkpoint(folder)["network"])
    except RuntimeError as error:
        raise other_settings(folder) from error
    return network.eval()


def _mean(states: Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
    """The means of the numbers of networks that began alike (Wortsman et al., ICML 2022)."""
    return {
        key: torch.stack([state[key] for state in states]).mean(dim=0)
        if value.is_floating_point()
        else value
        for key, value in states[0].items()
    }


def _untrained(settings: Configuration, stage: Stage, folder: Path) -> Network:
    heads, reads, dropout = stage.heads(), stage.reads, settings.dropout
    if stage.encoder == "larger":
        place = folder / "all-mpnet-base-v2"
        return Network.larger(place, heads, reads, dropout, stage.kept_layers)
    if stage.encoder == "language":
        place = folder / "language"
        return Network.language(place, heads, dropout, stage.layers, stage.adapters)
    return Network.original(heads, reads, dropout, stage.adapters, stage.layers)


def sample() -> dict[str, Tensor]:
    """Texts of our own, to see what the states of a network are like."""
    return tokens(list(written_conclusions())[:_SAMPLED], length=64)
