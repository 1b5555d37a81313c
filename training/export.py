"""The export: from a trained network to one file for ONNX Runtime, with weights of eight bits."""

from __future__ import annotations

import gzip
import json
import tempfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.examples import COMPARISONS, STANCES
from training.network import Network, original_words, tokenizer
from training.words import GROUP, packed

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
OUTPUTS = {
    "texts": ("embedding", "quality", "argumentativeness"),
    "pairs": ("stance", "comparison"),
}
"""What each of the two graphs answers."""
WORDS, TOKENIZER = "words.bin", "tokenizer.json.gz"
WINDOW, OVERLAP, CONTEXT = 256, 64, 64
_PLACES = WINDOW + CONTEXT + 3


class Words(nn.Module):
    """Word vectors of four bits a number, as they are packed."""

    def __init__(self, vectors: Tensor):
        super().__init__()
        found = packed(vectors)
        self.register_buffer("numbers", found.numbers)
        self.register_buffer("scales", found.scales)

    def forward(self, ids: Tensor) -> Tensor:
        """The vectors [batch, tokens, width] of the words [batch, tokens]."""
        rows = self.numbers[ids].to(torch.int32)
        high = torch.div(rows, 16, rounding_mode="floor")
        numbers = torch.cat([rows - 16 * high, high], dim=-1).float() - 8.0
        scales = self.scales[ids].float().unsqueeze(-1)
        return (numbers.unflatten(-1, (-1, GROUP)) * scales).flatten(-2)


class Rows(nn.Module):
    """Vectors with eight bits a number, and one scale each."""

    def __init__(self, vectors: Tensor):
        super().__init__()
        scales = vectors.abs().amax(dim=1, keepdim=True).clamp(min=1e-8) / 127
        self.register_buffer("scales", scales)
        self.register_buffer("numbers", torch.round(vectors / scales).to(torch.int8))

    def forward(self, places: Tensor) -> Tensor:
        """The vectors [places, width]."""
        return self.numbers[places].float() * self.scales[places]


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
    """A network as it is run: all answers of one reading, as chances where they are classes."""

    def __init__(self, network: Network, outputs: Sequence[str]):
        super().__init__()
        encoder, self.outputs = network.encoder, outputs
        self.words = Words(original_words())
        self.places = Rows(encoder.embeddings.position_embeddings.weight.detach()[:_PLACES])
        self.kinds = encoder.embeddings.token_type_embeddings
        self.norm = encoder.embeddings.LayerNorm
        heads = encoder.config.num_attention_heads
        self.layers = nn.ModuleList(Layer(layer, heads) for layer in encoder.encoder.layer)
        self.network = network

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor
    ) -> tuple[Tensor, ...]:
        """The outputs."""
        places = torch.arange(input_ids.shape[1], device=input_ids.device)
        states = self.norm(self.words(input_ids) + self.places(places) + self.kinds(token_type_ids))
        bias = (1.0 - attention_mask[:, None, None, :].float()) * -1e9
        for layer in self.layers:
            states = layer(states, bias)
        return tuple(self._answer(name, states, attention_mask) for name in self.outputs)

    def _answer(self, output: str, states: Tensor, mask: Tensor) -> Tensor:
        if output == "embedding":
            return self.network.embedding(states, mask)
        logits = self.network.logits(output, states, mask)
        return logits[:, 0].sigmoid() if logits.shape[1] == 1 else logits.softmax(-1)


def export(networks: Mapping[str, Network], folder: Path, version: str) -> None:
    """Writes the files of a model.

    Args:
        networks: A trained network for each of `OUTPUTS`.
        folder: Where to; made where it is missing.
        version: What tells the model from others of its name.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, network in networks.items():
        with tempfile.TemporaryDirectory() as scratch:
            whole, small = Path(scratch) / "whole.onnx", Path(scratch) / "small.onnx"
            _write_graph(Exported(network, OUTPUTS[name]).eval(), OUTPUTS[name], whole)
            _quantize(whole, small)
            _share_words(small, folder / f"{name}.onnx")
    described = tokenizer().to_str().encode()
    (folder / TOKENIZER).write_bytes(gzip.compress(described, 9, mtime=0))
    description = {
        "name": "debate",
        "version": version,
        "window": WINDOW,
        "overlap": OVERLAP,
        "context": CONTEXT,
        "stances": list(STANCES),
        "comparisons": list(COMPARISONS),
        "checksums": {
            path.name: f"{zlib.crc32(path.read_bytes()):08x}"
            for path in sorted(folder.iterdir())
            if path.name in (*(f"{name}.onnx" for name in networks), WORDS, TOKENIZER)
        },
    }
    (folder / "model.json").write_text(json.dumps(description, indent=1) + "\n", encoding="utf-8")


def _write_graph(exported: Exported, outputs: Sequence[str], path: Path) -> None:
    example = tuple(torch.ones((2, 7), dtype=torch.long) for _ in INPUTS)
    batch, length = torch.export.Dim("batch", min=1), torch.export.Dim("tokens", min=2, max=512)
    with torch.no_grad():
        torch.onnx.export(
            exported,
            example,
            str(path),
            input_names=list(INPUTS),
            output_names=[f"answer_{name}" for name in outputs],
            dynamic_shapes=tuple({0: batch, 1: length} for _ in INPUTS),
            dynamo=True,
            external_data=False,
            verbose=False,
        )
    import onnx

    model = onnx.load(path)
    # shapes that the exporter noted and the quantizer would infer otherwise
    del model.graph.value_info[:]
    _name_outputs(model.graph, outputs)
    onnx.save(model, path)


def _quantize(path: Path, target: Path) -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(
        path,
        target,
        weight_type=QuantType.QInt8,
        per_channel=True,
        op_types_to_quantize=["MatMul", "Gemm"],
    )


def _name_outputs(graph: Any, outputs: Sequence[str]) -> None:
    """Gives the outputs their names; the exporter's own names of inner values may be the same."""
    names = {output.name: name for output, name in zip(graph.output, outputs, strict=True)}
    names |= {name: f"inner_{name}" for name in outputs}
    for node in graph.node:
        for values in (node.input, node.output):
            for place, value in enumerate(values):
                values[place] = names.get(value, value)
    for output, name in zip(graph.output, outputs, strict=True):
        output.name = name


def _share_words(path: Path, target: Path) -> None:
    """Moves the word vectors, the same in both graphs, to a file of their own."""
    import onnx
    from onnx.external_data_helper import set_external_data

    model = onnx.load(path)
    found = [
        each for each in model.graph.initializer if each.dims[:1] == [tokenizer().get_vocab_size()]
    ]
    found.sort(key=lambda each: -each.dims[1])
    contents = [onnx.numpy_helper.to_array(each).tobytes() for each in found]
    offset = 0
    for each, content in zip(found, contents, strict=True):
        each.ClearField("int32_data")
        each.raw_data = content
        set_external_data(each, WORDS, offset=offset, length=len(content))
        each.ClearField("raw_data")
        offset += len(content)
    (target.parent / WORDS).write_bytes(b"".join(contents))
    # the exporter notes of every node which line of which file it is from
    for noted in (model, model.graph, *model.graph.node, *model.graph.initializer):
        noted.ClearField("metadata_props")
        noted.ClearField("doc_string")
    onnx.save(model, target)
