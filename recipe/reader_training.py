"""Training of the reader and its teacher: one head for three answers, by the clock."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from recipe.batches import arrays_of
from recipe.checkpoints import load_checkpoint, save_checkpoint
from recipe.configuration import Learner
from recipe.fit import device
from recipe.network import Head, Network
from recipe.pieces import Pieces
from recipe.reader_data import Pair
from recipe.rounding import round_layers

HEADS = {"side": 4, "about": 3, "carries": 3}
"""The numbers of classes."""

Floats = NDArray[np.float32]
_WEIGHTS = (1.0, 0.4, 0.4)
_UNKNOWN = -1.0
_LENGTH, _CONTEXT = 150, 64
_WIDEST, _SPREAD = 512, 1.5
_DRAWN = 32_768
_SAVE_AFTER = 60.0


class Reader(Network):
    """An encoder with one head for all three answers.

    Args:
        encoder: The encoder.
        dropout: The share that is dropped in the head while training.
    """

    def __init__(self, encoder: Any, dropout: float = 0.1):
        super().__init__(encoder, (), dropout=dropout)
        width = encoder.config.hidden_size
        self.head = Head(width, min(width, _WIDEST), sum(HEADS.values()), dropout)
        # what the states of a language model have in common says nothing
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("spread", torch.ones(width))

    def forward(self, batch: dict[str, Tensor]) -> Tensor:
        """The logits [batch, all classes] of the three answers."""
        return self.head(self._read(self.states(batch).float()))

    def standardise(self, batch: dict[str, Tensor], labels: Tensor) -> None:
        """Let the head read how states differ, and begin at the shares of the labels."""
        with torch.no_grad():
            first = self.states(batch)[:, 0].float()
            self.mean.copy_(first.mean(0))
            self.spread.copy_(first.std(0).clamp(min=1e-3) * _SPREAD)
            nn.init.zeros_(self.head.outer.weight)
            for part, bias in zip(_parts(labels), _parts(self.head.outer.bias), strict=True):
                bias.copy_((part[part[:, 0] >= 0].mean(0).nan_to_num(1.0) + 1e-3).log())

    def logits(self, head: str, states: Tensor, mask: Tensor, marks: Sequence[Tensor]) -> Tensor:
        """The logits of one answer; as a stance, BOTH and NONE are one class."""
        side, about, carries = _parts(self.head(self._read(states)))
        if head == "stance":
            return torch.cat([side[:, :2], side[:, 2:].logsumexp(-1, keepdim=True)], -1)
        return {"side": side, "about": about, "carries": carries}[head]

    def _read(self, states: Tensor) -> Tensor:
        return (states[:, 0] - self.mean) / self.spread


class Rows:
    """The tokens of pairs.

    Args:
        found: The pairs.
        pieces: The tokens of the encoder.
    """

    def __init__(self, found: Sequence[Pair], pieces: Pieces):
        self._found, self._pieces = found, pieces
        texts = {each for pair in found for each in (pair.text, pair.context)}
        self._ids = {each: np.array(pieces.ids(each)[:_LENGTH], np.int32) for each in texts}
        self.lengths = np.array(
            [len(self._ids[e.text]) + min(_CONTEXT, len(self._ids[e.context])) for e in found]
        )
        self.lengths += sum(map(len, pieces.framed([], [0]))) - 1

    def batch(self, places: NDArray[np.int64]) -> dict[str, Tensor]:
        """The inputs of the encoder."""
        chosen = [self._found[place] for place in places]
        framed = [
            self._pieces.framed(
                self._ids[each.text].tolist(), self._ids[each.context][:_CONTEXT].tolist()
            )
            for each in chosen
        ]
        return {name: array.to(device()) for name, array in arrays_of(framed).items()}

    def by_length(
        self, places: NDArray[np.int64], most: int
    ) -> Iterator[tuple[NDArray[np.int64], dict[str, Tensor]]]:
        """Places with their inputs, the longest first, in batches of so many tokens."""
        for batch in _cut(places, self.lengths, most):
            yield batch, self.batch(batch)


class Lesson:
    """A training by the clock; the rate falls with the time that is left.

    Args:
        reader: What learns.
        rows: What it reads.
        labels: The shares [pairs, all classes]; −1 where nothing is known.
        weights: The weight of each pair in drawing.
        settings: The settings of training.
        seconds: The seconds of training.
        folder: The folder of its checkpoint.
        seed: What draws.
    """

    def __init__(
        self,
        reader: Reader,
        rows: Rows,
        labels: Floats,
        weights: Floats,
        settings: Learner,
        seconds: float,
        folder: Path,
        seed: int,
    ):
        self._reader, self._rows, self._labels = reader.to(device()).train(), rows, labels
        self._settings, self._seconds, self._folder, self._seed = settings, seconds, folder, seed
        self._shares = np.cumsum(weights) / weights.sum()
        heads = list(reader.head.parameters())
        own = {id(each) for each in heads}
        others = [e for e in reader.parameters() if e.requires_grad and id(e) not in own]
        self._optimizer = torch.optim.AdamW(
            [{"params": others, "lr": settings.rate}, {"params": heads, "lr": settings.head_rate}],
            weight_decay=0.01, betas=(0.9, 0.98), fused=True,
        )  # fmt: skip
        self._rates = [settings.rate, settings.head_rate]
        self._step, self._elapsed = 0, 0.0
        folder.mkdir(parents=True, exist_ok=True)

    def run(self) -> None:
        """Learn to the end; a checkpoint is resumed."""
        if self._resume():
            return
        began = saved = time.monotonic()
        before, losses = self._elapsed, []
        for places, batch in self._batches():
            now = time.monotonic()
            self._elapsed = before + now - began
            done = self._elapsed / self._seconds
            if done >= 1:
                break
            if done >= 1 - self._settings.rounds:
                round_layers(self._reader)
            losses.append(self._learn(places, batch, done))
            if self._step % 50 == 0:
                print(f"{self._folder.name} {self._step} {done:.0%} loss {np.mean(losses):.3f}")
                losses = []
            if now - saved > _SAVE_AFTER:
                saved = now
                self._save(ended=False)
        self._save(ended=True)

    def _batches(self) -> Iterator[tuple[NDArray[np.int64], dict[str, Tensor]]]:
        rng = np.random.default_rng([self._seed, self._step])
        while True:
            drawn = np.searchsorted(self._shares, rng.random(_DRAWN)).clip(0, len(self._labels) - 1)
            batches = list(_cut(drawn, self._rows.lengths, self._settings.tokens))
            for place in rng.permutation(len(batches)):
                yield batches[place], self._rows.batch(batches[place])

    def _learn(self, places: NDArray[np.int64], batch: dict[str, Tensor], done: float) -> float:
        fall = max(0.02, 0.5 * (1 + math.cos(math.pi * done)))
        factor = min(1.0, (self._step + 1) / self._settings.warm_up) * fall
        for group, rate in zip(self._optimizer.param_groups, self._rates, strict=True):
            group["lr"] = rate * factor
        with precision():
            logits = self._reader(batch)
        loss = loss_of(logits.float(), torch.tensor(self._labels[places], device=device()))
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self._reader.parameters(), 1.0)
        self._optimizer.step()
        self._step += 1
        return float(loss.detach())

    def _save(self, ended: bool) -> None:
        state = {
            "network": _learnt(self._reader),
            "optimizer": self._optimizer.state_dict(),
            "step": self._step,
            "elapsed": self._elapsed,
            "ended": ended,
        }
        save_checkpoint(self._folder, state)

    def _resume(self) -> bool:
        """Take up the checkpoint, if there is one; whether the training had ended."""
        state = load_checkpoint(self._folder, map_location=device())
        if state is None:
            return False
        self._reader.load_state_dict(state["network"], strict=False)
        self._optimizer.load_state_dict(state["optimizer"])
        self._step, self._elapsed = state["step"], state["elapsed"]
        return bool(state["ended"])


def answers(reader: Reader, rows: Rows, places: NDArray[np.int64], most: int) -> Floats:
    """The shares [places, all classes] that a reader gives, in batches of so many tokens."""
    reader.eval()
    found = np.zeros((len(rows.lengths), sum(HEADS.values())), np.float16)
    with torch.inference_mode(), precision():
        for own, batch in rows.by_length(places, most):
            parts = [part.float().softmax(-1) for part in _parts(reader(batch))]
            found[own] = torch.cat(parts, -1).cpu().numpy()
    return found[places].astype(np.float32)


def loss_of(logits: Tensor, wanted: Tensor) -> Tensor:
    """Cross entropy with shares of the classes; an answer without a label counts nothing."""
    loss = torch.zeros((), device=logits.device)
    for weight, own, part in zip(_WEIGHTS, _parts(logits), _parts(wanted), strict=True):
        known = (part[:, 0] >= 0).float()
        loss = loss - weight * ((part * own.log_softmax(-1)).sum(-1) * known).mean()
    return loss


def labels_of(found: Sequence[Pair]) -> Floats:
    """The shares [pairs, all classes] of the labels; −1 where a label says nothing."""
    unknown = {name: (_UNKNOWN,) * count for name, count in HEADS.items()}
    shares = [
        (*(e.side or unknown["side"]), *(e.about or unknown["about"]),
         *(e.carries or unknown["carries"]))
        for e in found
    ]  # fmt: skip
    return np.array(shares, np.float32)


def precision() -> torch.autocast:
    """Bfloat16, in which the language model is kept."""
    return torch.autocast(device().type, torch.bfloat16)


def _parts(both: Tensor) -> tuple[Tensor, ...]:
    found: tuple[Tensor, ...] = both.split(list(HEADS.values()), -1)
    return found


def _learnt(reader: Reader) -> dict[str, Tensor]:
    """The trained parameters, without the frozen ones."""
    kept = {name for name, each in reader.named_parameters() if not each.requires_grad}
    return {name: each for name, each in reader.state_dict().items() if name not in kept}


def _cut(
    places: NDArray[np.int64], lengths: NDArray[np.int64], most: int
) -> Iterator[NDArray[np.int64]]:
    ordered = places[np.argsort(-lengths[places], kind="stable")]
    start = 0
    while start < len(ordered):
        end = start + max(1, most // int(lengths[ordered[start]]))
        yield ordered[start:end]
        start = end
