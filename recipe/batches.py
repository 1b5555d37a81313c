"""Batches: the order of the examples in training, and their tokens and labels."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from recipe.augmentation import augmented
from recipe.configuration import Stage
from recipe.examples import Example, turned_round
from recipe.network import original_pieces
from recipe.pieces import Ids, Pieces
from sicetnon.arguments.models.classifiers import COMPARISONS, TOPIC_STANCES
from sicetnon.arguments.models.onnx_model import marked_objects, marked_text, unmarked

_SORTED_TOGETHER = 40


def schedule(found: Sequence[Example], stage: Stage, seed: int) -> list[list[Example]]:
    """All batches of a stage in order, each of one head and of texts of similar length.

    Args:
        found: What is learnt from.
        stage: How often, and in batches of which size.
        seed: What draws.
    """
    rng = random.Random(seed)
    learnt = [each for each in found if each.split == "train"]
    contexts = sorted({each.context for each in learnt if each.dataset in ("ibm", "perspectrum")})
    batches: list[list[Example]] = []
    for _ in range(stage.epochs):
        epoch: list[list[Example]] = []
        for shares in stage.shares.items():
            drawn = list(_drawn(found, *shares, rng))
            if shares[0] == "stance":
                drawn = [augmented(each, contexts, rng) for each in drawn]
            elif shares[0] == "comparison":
                drawn = [_maybe_swapped(each, rng) for each in drawn]
            epoch += _of_one_length(drawn, stage.batch, rng)
        rng.shuffle(epoch)
        batches += epoch
    return batches


def _drawn(
    found: Sequence[Example], head: str, shares: dict[str, float], rng: random.Random
) -> Iterator[Example]:
    by_dataset: dict[str, list[Example]] = defaultdict(list)
    for each in found:
        if each.head == head and each.split == "train":
            by_dataset[each.dataset].append(each)
            if head == "comparison" and each.label in (0, 1):
                by_dataset[f"{each.dataset}-sided"].append(each)
    for dataset, share in shares.items():
        whole, part = divmod(share, 1.0)
        yield from by_dataset[dataset] * int(whole)
        yield from rng.sample(by_dataset[dataset], round(part * len(by_dataset[dataset])))


def _maybe_swapped(example: Example, rng: random.Random) -> Example:
    if rng.random() < 0.5:
        return example
    return replace(turned_round(example), first=example.second, second=example.first)


def _of_one_length(drawn: list[Example], size: int, rng: random.Random) -> Iterator[list[Example]]:
    rng.shuffle(drawn)
    for start in range(0, len(drawn), size * _SORTED_TOGETHER):
        together = sorted(drawn[start : start + size * _SORTED_TOGETHER], key=_length)
        for place in range(0, len(together), size):
            yield together[place : place + size]


def _length(example: Example) -> int:
    return len(example.text) + len(example.context)


def tokens(
    batch: Sequence[Example],
    length: int,
    rng: random.Random | None = None,
    pieces: Pieces | None = None,
) -> dict[str, Tensor]:
    """The inputs of the encoder for a batch: three arrays [batch, tokens].

    Args:
        batch: Examples of one head.
        length: Tokens of a text that are read.
        rng: Draws the part of a longer text; without it, the beginning is read.
        pieces: The tokens of the encoder; the original's when left out.
    """
    pieces = pieces or original_pieces()
    rows = []
    for each in batch:
        text, context = _texts(each)
        ids = pieces.ids(text)
        if len(ids) > length:
            start = rng.randrange(len(ids) - length + 1) if rng else 0
            ids = ids[start : start + length]
        rows.append(pieces.framed(ids, pieces.ids(context)[:64]))
    return arrays_of(rows)


def arrays_of(rows: Sequence[tuple[Ids, Ids]]) -> dict[str, Tensor]:
    """The inputs of the encoder for pairs of token ids: three arrays [batch, tokens]."""
    longest = max(len(first) + len(second) for first, second in rows)
    arrays = {
        name: torch.zeros((len(rows), longest), dtype=torch.long)
        for name in ("input_ids", "attention_mask", "token_type_ids")
    }
    for number, (first, second) in enumerate(rows):
        both = first + second
        arrays["input_ids"][number, : len(both)] = torch.tensor(both)
        arrays["attention_mask"][number, : len(both)] = 1
        arrays["token_type_ids"][number, len(first) : len(both)] = 1
    return arrays


def _texts(example: Example) -> tuple[str, str]:
    if example.head == "comparison":
        objects = example.first, example.second
        return marked_text(example.text, *objects), marked_objects(*objects)
    return unmarked(example.text), unmarked(example.context)


def labels(batch: Sequence[Example]) -> Tensor:
    """The labels [batch] of a batch."""
    return torch.tensor([each.label for each in batch], dtype=torch.float32)


def class_shares(batch: Sequence[Example]) -> Tensor:
    """The shares of the classes [batch, classes] in a batch of stances or comparisons."""
    found = torch.zeros(
        len(batch), len(TOPIC_STANCES if batch[0].head == "stance" else COMPARISONS)
    )
    for row, each in zip(found, batch, strict=True):
        if each.votes:
            row[: len(each.votes)] = torch.tensor(each.votes)
        else:
            row[int(each.label)] = 1.0
    return found


def separates_neutral_and_no(batch: Sequence[Example]) -> Tensor:
    """A mask [batch] of the examples with a label; votes do not separate NEUTRAL from NO."""
    return torch.tensor([not each.votes for each in batch])
