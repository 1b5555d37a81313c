"""A deeper network that begins as a shallower one: its upper layers stand twice.

The copies change little at first: what they would add is zero, and their normalisation keeps the
mean and the spread that most states have there. So training begins near where the other network
ended (Chen, Goodfellow and Shlens, "Net2Net", ICLR 2016, section 2).
"""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn
from transformers import BertModel


def deepen(encoder: BertModel, layers: int) -> None:
    """Give an encoder more layers, copies of its last one, for the numbers of a deeper network.

    Args:
        encoder: The encoder, changed in place.
        layers: The number of its layers afterwards.
    """
    own = list(encoder.encoder.layer)
    own += [copy.deepcopy(own[-1]) for _ in range(layers - len(own))]
    _replace(encoder, own)


def grow(encoder: BertModel, layers: int, batch: dict[str, Tensor]) -> None:
    """Double the upper layers of an encoder, with little change of what it answers.

    Args:
        encoder: The encoder, changed in place.
        layers: The number of its layers afterwards, at most twice the number before.
        batch: Texts, whose states tell what the copies must keep.

    Raises:
        ValueError: So many layers cannot be made.
    """
    own = list(encoder.encoder.layer)
    if not len(own) <= layers <= 2 * len(own):
        raise ValueError(f"{len(own)} layers cannot grow to {layers}: at most each stands twice")
    means, spreads = _states(encoder, batch)
    grown: list[nn.Module] = []
    for place, layer in enumerate(own):
        grown.append(layer)
        if place >= 2 * len(own) - layers:
            grown.append(_idle(layer, means[place], spreads[place]))
    _replace(encoder, grown)


def _states(encoder: BertModel, batch: dict[str, Tensor]) -> tuple[list[float], list[float]]:
    """The mean and the spread over the width of the states after each layer."""
    was_training = encoder.training
    with torch.no_grad():
        found = encoder.eval()(**batch, output_hidden_states=True).hidden_states[1:]
    encoder.train(was_training)
    states = [each[batch["attention_mask"].bool()] for each in found]
    return (
        [float(each.mean()) for each in states],
        [float(each.std(-1, unbiased=False).mean()) for each in states],
    )


def _idle(layer: Any, mean: float, spread: float) -> nn.Module:
    """A copy of a layer that keeps states of this mean and spread as they are."""
    found = copy.deepcopy(layer)
    for part in (found.attention.output, found.output):
        for parameter in (part.dense.weight, part.dense.bias):
            nn.init.zeros_(parameter)
        nn.init.constant_(part.LayerNorm.weight, spread)
        nn.init.constant_(part.LayerNorm.bias, mean)
    return found


def _replace(encoder: BertModel, layers: list[Any]) -> None:
    encoder.encoder.layer = nn.ModuleList(layers)
    encoder.config.num_hidden_layers = len(layers)
