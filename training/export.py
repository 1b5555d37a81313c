"""The export: from a trained network to one file for ONNX Runtime, with weights of eight bits."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from sicetnon.arguments.marking import MARKS
from training.batches import tokenizer
from training.examples import COMPARISONS, STANCES
from training.network import Network, mean_of

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
OUTPUTS = ("embedding", "quality", "argumentativeness", "stance", "comparison")
WINDOW, OVERLAP, CONTEXT = 256, 64, 64


class Rows(nn.Module):
    """Word vectors with eight bits a number, and one scale a vector."""

    def __init__(self, vectors: Tensor):
        super().__init__()
        scales = vectors.abs().amax(dim=1, keepdim=True).clamp(min=1e-8) / 127
        self.register_buffer("scales", scales)
        self.register_buffer("numbers", torch.round(vectors / scales).to(torch.int8))

    def forward(self, ids: Tensor) -> Tensor:
        """The vectors [batch, tokens, width] of the words [batch, tokens]."""
        return self.numbers[ids].float() * self.scales[ids]


class Layer(nn.Module):
    """A layer of the encoder, its three projections for attention in one."""

    def __init__(self, layer: nn.Module, heads: int):
        super().__init__()
        own, self.heads = layer.attention.self, heads
        self.projections = nn.Linear(own.query.in_features, 3 * own.query.out_features)
        with torch.no_grad():
            parts = own.query, own.key, own.value
            self.projections.weight.copy_(torch.cat([part.weight for part in parts]))
            self.projections.bias.copy_(torch.cat([part.bias for part in parts]))
        self.attended, self.attended_norm = (
            layer.attention.output.dense,
            layer.attention.output.LayerNorm,
        )
        self.wide, self.narrow = layer.intermediate.dense, layer.output.dense
        self.norm = layer.output.LayerNorm

    def forward(self, states: Tensor, bias: Tensor) -> Tensor:
        """The next states [batch, tokens, width]; the bias hides what is padding."""
        batch, length, width = states.shape
        parts = self.projections(states).reshape(batch, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4).unbind(0)
        scores = query @ key.transpose(-1, -2) * (width // self.heads) ** -0.5 + bias
        mixed = (scores.softmax(-1) @ value).permute(0, 2, 1, 3).reshape(batch, length, width)
        states = self.attended_norm(self.attended(mixed) + states)
        return self.norm(self.narrow(functional.gelu(self.wide(states))) + states)


class Exported(nn.Module):
    """The network as it is run: all answers of one reading, as chances where they are classes."""

    def __init__(self, network: Network):
        super().__init__()
        encoder = network.encoder
        self.words = Rows(encoder.embeddings.word_embeddings.weight.detach())
        self.places = encoder.embeddings.position_embeddings
        self.kinds = encoder.embeddings.token_type_embeddings
        self.norm = encoder.embeddings.LayerNorm
        heads = encoder.config.num_attention_heads
        self.layers = nn.ModuleList(Layer(layer, heads) for layer in encoder.encoder.layer)
        self.network_heads, self.projection = network.heads, network.projection

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor
    ) -> tuple[Tensor, ...]:
        """The outputs named in `OUTPUTS`."""
        places = torch.arange(input_ids.shape[1], device=input_ids.device)
        states = self.norm(self.words(input_ids) + self.places(places) + self.kinds(token_type_ids))
        bias = (1.0 - attention_mask[:, None, None, :].float()) * -1e9
        for layer in self.layers:
            states = layer(states, bias)
        first = states[:, 0]
        embedding = functional.normalize(self.projection(mean_of(states, attention_mask)), dim=-1)
        heads = self.network_heads
        return (
            embedding,
            heads["quality"](first)[:, 0].sigmoid(),
            heads["argumentativeness"](first)[:, 0].sigmoid(),
            heads["stance"](first).softmax(-1),
            heads["comparison"](first).softmax(-1),
        )


def export(network: Network, folder: Path, version: str) -> None:
    """Writes the files of a model.

    Args:
        network: A trained network.
        folder: Where to; made where it is missing.
        version: What tells the model from others of its name.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        whole = Path(scratch) / "whole.onnx"
        _write_graph(Exported(network).eval(), whole)
        _quantize(whole, Path(scratch) / "model.onnx")
        shutil.copyfile(Path(scratch) / "model.onnx", folder / "model.onnx")
    tokenizer().save(str(folder / "tokenizer.json"))
    description = {
        "name": "debate",
        "version": version,
        "window": WINDOW,
        "overlap": OVERLAP,
        "context": CONTEXT,
        "stances": list(STANCES),
        "comparisons": list(COMPARISONS),
        "marks": list(MARKS),
    }
    (folder / "model.json").write_text(json.dumps(description, indent=1) + "\n", encoding="utf-8")


def _write_graph(exported: Exported, path: Path) -> None:
    example = tuple(torch.ones((2, 7), dtype=torch.long) for _ in INPUTS)
    batch, length = torch.export.Dim("batch", min=1), torch.export.Dim("tokens", min=2, max=512)
    with torch.no_grad():
        torch.onnx.export(
            exported,
            example,
            str(path),
            input_names=list(INPUTS),
            output_names=[f"answer_{name}" for name in OUTPUTS],
            dynamic_shapes=tuple({0: batch, 1: length} for _ in INPUTS),
            dynamo=True,
            external_data=False,
            verbose=False,
        )


def _quantize(path: Path, target: Path) -> None:
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    model = onnx.load(path)
    # shapes that the exporter noted and the quantizer would infer otherwise
    del model.graph.value_info[:]
    _name_outputs(model.graph)
    onnx.save(model, path)
    quantize_dynamic(
        path,
        target,
        weight_type=QuantType.QInt8,
        per_channel=True,
        op_types_to_quantize=["MatMul", "Gemm"],
    )


def _name_outputs(graph: Any) -> None:
    """Gives the outputs their names; the exporter's own names of inner values may be the same."""
    names = {output.name: name for output, name in zip(graph.output, OUTPUTS, strict=True)}
    names |= {name: f"inner_{name}" for name in OUTPUTS}
    for node in graph.node:
        for values in (node.input, node.output):
            for place, value in enumerate(values):
                values[place] = names.get(value, value)
    for output, name in zip(graph.output, OUTPUTS, strict=True):
        output.name = name
