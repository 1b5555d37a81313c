"""Adapters: low-rank corrections of an encoder for one task; its own weights stay unchanged.

Low-rank corrections of every layer (Hu et al. 2022, LoRA): one encoder's weights serve two
purposes, and the second costs a sixteenth of them.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from transformers import BertModel


class Adapted(nn.Module):
    """A frozen linear layer with a trained correction of low rank.

    Args:
        base: The layer; it is not trained.
        rank: The rank of the correction.
    """

    def __init__(self, base: nn.Linear, rank: int):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Linear(base.in_features, rank, bias=False)
        self.up = nn.Linear(rank, base.out_features, bias=False)
        nn.init.normal_(self.down.weight, std=base.in_features**-0.5)
        nn.init.zeros_(self.up.weight)

    def forward(self, states: Tensor) -> Tensor:
        """The output [..., out] for states [..., in], with the correction."""
        corrected: Tensor = self.base(states) + self.correction(states)
        return corrected

    def correction(self, states: Tensor) -> Tensor:
        """The correction alone."""
        found: Tensor = self.up(self.down(states))
        return found


def adapt(encoder: BertModel, rank: int) -> None:
    """Add corrections to every layer of an encoder; only these and the norms are trained.

    Args:
        encoder: The encoder, changed in place.
        rank: The rank of the corrections.
    """
    encoder.requires_grad_(False)
    for layer in encoder.encoder.layer:
        own = layer.attention.self
        own.query, own.key, own.value = (Adapted(e, rank) for e in (own.query, own.key, own.value))
        for part in (layer.attention.output, layer.intermediate, layer.output):
            part.dense = Adapted(part.dense, rank)
        for part in (layer.attention.output, layer.output):
            part.LayerNorm.requires_grad_(True)


def plain(layer: nn.Module) -> nn.Linear:
    """The layer below the correction, or the layer."""
    found = layer.base if isinstance(layer, Adapted) else layer
    assert isinstance(found, nn.Linear)
    return found


def joined(layers: list[nn.Module]) -> nn.Linear:
    """Layers with the same input as one layer [in, all outputs], without corrections."""
    parts = [plain(layer) for layer in layers]
    one = nn.Linear(parts[0].in_features, sum(part.out_features for part in parts))
    with torch.no_grad():
        one.weight.copy_(torch.cat([part.weight for part in parts]))
        one.bias.copy_(torch.cat([part.bias for part in parts]))
    return one
