"""The parameters of the shipped judge, so that a training can go on without its checkpoints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import Tensor

JUDGE = Path(__file__).parents[1] / "src/sicetnon/models/debate/judge.onnx"
_PROJECTED = ("query", "key", "value")
_PER_LAYER = ("projections", "attention.output.dense", "intermediate.dense", "output.dense")


def shipped_judge(path: Path = JUDGE) -> dict[str, Tensor]:
    """The parameters of the shipped judge, by their names in `Network`.

    Linear layers have seven bits per number there, so they are near the trained ones only.

    Args:
        path: The graph; its weights are beside it.
    """
    model = onnx.load(path)
    arrays = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
    found = {
        name.removeprefix("network."): torch.tensor(array)
        for name, array in arrays.items()
        if name.startswith("network.") and name.endswith((".weight", ".bias"))
    }
    rounded = [name for name in _used_in_order(model) if name.startswith("val_")]
    for place, name in enumerate(rounded):
        layer, part = divmod(place, len(_PER_LAYER))
        prefix = f"encoder.encoder.layer.{layer}."
        weights = _whole(arrays, name)
        if part:
            found[f"{prefix}{_PER_LAYER[part]}.weight"] = weights
            continue
        biases = torch.tensor(arrays[f"layers.{layer}.projections.bias"]).chunk(3)
        for own, weight, bias in zip(_PROJECTED, weights.chunk(3), biases, strict=True):
            found[f"{prefix}attention.self.{own}.weight"] = weight
            found[f"{prefix}attention.self.{own}.bias"] = bias
    for name in arrays:
        if name.startswith("network.heads.") and name.endswith("_quantized"):
            own = name.removesuffix("_quantized")
            found[own.removeprefix("network.")] = _whole(arrays, own)
    return found


def _used_in_order(model: onnx.ModelProto) -> list[str]:
    """The names of the rounded weights, in the order of the layers."""
    return [
        node.input[1].removesuffix("_quantized")
        for node in model.graph.node
        if node.op_type == "MatMulInteger"
    ]


def _whole(arrays: dict[str, np.ndarray], name: str) -> Tensor:
    """The weights [out, in] of a rounded layer."""
    numbers = arrays[f"{name}_quantized"].astype(np.float32)
    numbers -= arrays[f"{name}_zero_point"].astype(np.float32)
    return torch.tensor((numbers * arrays[f"{name}_scale"]).T.copy())
