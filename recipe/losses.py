"""The loss of each head."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from recipe.batches import class_shares, labels, separates_neutral_and_no
from recipe.examples import Example
from recipe.network import DATASETS_OF_QUALITY, Network, marked


def loss_of(
    network: Network, batch: Sequence[Example], states: Tensor, arrays: dict[str, Tensor]
) -> Tensor:
    """The loss of a batch of one head, given the encoder's states of its arrays."""
    head = batch[0].head
    places = arrays["attention_mask"], marked(arrays["input_ids"])
    logits = network.logits(head, states, *places).float()
    if head in ("stance", "comparison"):
        wanted = class_shares(batch).to(logits.device)
        if head == "stance":
            return functional.cross_entropy(logits, wanted, label_smoothing=0.05)
        return comparison_loss(logits, wanted, separates_neutral_and_no(batch).to(logits.device))
    wanted = labels(batch).to(logits.device)
    if head == "quality":
        own = torch.tensor([each.dataset == "ukp" for each in batch], device=logits.device)
        slope, offset = network.scales[DATASETS_OF_QUALITY.index("ukp")]
        slope, offset = torch.where(own, slope, 1.0), torch.where(own, offset, 0.0)
        scaled = slope * logits[:, 0] + offset
        # squares are what a correlation is about
        cross = functional.binary_cross_entropy_with_logits(scaled, wanted)
        return 0.1 * cross + 2 * functional.mse_loss(torch.sigmoid(scaled), wanted)
    return functional.binary_cross_entropy_with_logits(logits[:, 0], wanted)


def comparison_loss(logits: Tensor, wanted: Tensor, told: Tensor) -> Tensor:
    """Cross entropy with shares of the classes, where one may stand for two of them.

    Args:
        logits: What the head answers [batch, classes].
        wanted: The share of each class [batch, classes].
        told: Where NEUTRAL has a share of its own; else it is that of NEUTRAL and NO [batch].
    """
    chances = functional.log_softmax(logits, dim=-1)
    neither = torch.logsumexp(chances[:, 2:], dim=-1)
    third = torch.where(told, chances[:, 2], neither)
    found = torch.stack([chances[:, 0], chances[:, 1], third, chances[:, 3]], dim=-1)
    return -(wanted * found).sum(-1).mean()


def distillation_loss(
    embedding: Tensor, original: Tensor, angle: float, similarities: float
) -> Tensor:
    """The distance of embeddings [batch, width], and of their similarities, from the original's."""
    cosines = 1.0 - (embedding * original).sum(-1)
    differences = embedding @ embedding.T - original @ original.T
    return angle * cosines.mean() + similarities * differences.square().mean()
