"""Rounding: quantisation-aware training, of linear layers (Jacob et al. 2018, section 3).

What is learnt with whole numbers loses a little when it is rounded. What is learnt last with
rounded ones has met what it will lose, or nearly: the shipped graphs see no padding, and round
the vectors of positions as well.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

_OF_WEIGHTS, _OF_STATES = 64, 255


class Rounded(nn.Linear):
    """A linear layer whose weights have seven bits an output, and what it reads eight a text.

    The numbers themselves stay whole: what is learnt of them is as if none had been rounded.
    """

    @classmethod
    def of(cls, layer: nn.Linear) -> Rounded:
        """A layer with the parameters of another."""
        own = cls(layer.in_features, layer.out_features, layer.bias is not None, device="meta")
        own.weight, own.bias = layer.weight, layer.bias
        return own

    def forward(self, states: Tensor) -> Tensor:
        """What the layer makes of states [batch, ..., in]: [batch, ..., out]."""
        return functional.linear(rounded_states(states), rounded_weights(self.weight), self.bias)


def rounded_weights(weights: Tensor) -> Tensor:
    """Weights [out, in] on 129 steps an output."""
    steps = weights.detach().abs().amax(1, keepdim=True).clamp(min=1e-9) / _OF_WEIGHTS
    return _straight_through(weights, torch.round(weights / steps) * steps)


def rounded_states(states: Tensor) -> Tensor:
    """States [batch, ..., width] on 256 steps a text, 0 among them."""
    inner = tuple(range(1, states.dim()))
    whole = states.detach().float()
    most = whole.amax(inner, keepdim=True).clamp(min=0)
    least = whole.amin(inner, keepdim=True).clamp(max=0)
    steps = ((most - least) / _OF_STATES).clamp(min=1e-9)
    return _straight_through(states, (torch.round(whole / steps) * steps).to(states.dtype))


def round_layers(network: nn.Module) -> None:
    """Makes every linear layer of a network, in place, one that learns with rounded numbers."""
    for module in list(network.modules()):
        for name, child in list(module.named_children()):
            if type(child) is nn.Linear:
                setattr(module, name, Rounded.of(child))


def _straight_through(values: Tensor, rounded: Tensor) -> Tensor:
    """The rounded values; gradients pass them straight through (Bengio et al. 2013)."""
    return values + (rounded - values).detach()
