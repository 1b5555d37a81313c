"""Quantisation-aware training of linear layers (Jacob et al. 2018, section 3).

A network loses a little when its weights are rounded for the shipped graphs, less if its last pass
is trained with rounded weights. The rounding here differs slightly from that of the graphs, which
have no padding and also round the vectors of positions.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

_OF_WEIGHTS, _OF_STATES = 64, 255


class Rounded(nn.Linear):
    """A linear layer that rounds its weights to seven bits and its input to eight.

    Weights have one scale per output, inputs one per text. Gradients ignore the rounding.
    """

    @classmethod
    def of(cls, layer: nn.Linear) -> Rounded:
        """A layer with the parameters of another."""
        own = cls(layer.in_features, layer.out_features, layer.bias is not None, device="meta")
        own.weight, own.bias = layer.weight, layer.bias
        return own

    def forward(self, states: Tensor) -> Tensor:
        """The output [batch, ..., out] for states [batch, ..., in]."""
        return functional.linear(rounded_states(states), rounded_weights(self.weight), self.bias)


def rounded_weights(weights: Tensor) -> Tensor:
    """Weights [out, in], rounded to 129 steps per output."""
    steps = weights.detach().abs().amax(1, keepdim=True).clamp(min=1e-9) / _OF_WEIGHTS
    return _straight_through(weights, torch.round(weights / steps) * steps)


def rounded_states(states: Tensor) -> Tensor:
    """States [batch, ..., width], rounded to 256 steps per text; 0 is one of them."""
    inner = tuple(range(1, states.dim()))
    whole = states.detach().float()
    most = whole.amax(inner, keepdim=True).clamp(min=0)
    least = whole.amin(inner, keepdim=True).clamp(max=0)
    steps = ((most - least) / _OF_STATES).clamp(min=1e-9)
    return _straight_through(states, (torch.round(whole / steps) * steps).to(states.dtype))


def round_layers(network: nn.Module) -> None:
    """Replace every linear layer of a network by a rounded one, in place."""
    for module in list(network.modules()):
        for name, child in list(module.named_children()):
            if type(child) is nn.Linear:
                setattr(module, name, Rounded.of(child))


def _straight_through(values: Tensor, rounded: Tensor) -> Tensor:
    """The rounded values; gradients pass them straight through (Bengio et al. 2013)."""
    return values + (rounded - values).detach()
