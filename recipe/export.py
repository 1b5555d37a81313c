"""Export trained networks as graphs for ONNX Runtime and one file of weights."""

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

from recipe.adapters import Adapted, joined
from recipe.network import Network, mean_of, original_words, tokenizer, unit
from recipe.words import GROUP, packed
from sicetnon.arguments.models.classifiers import COMPARISONS, TOPIC_STANCES
from sicetnon.arguments.models.onnx_model import MARKS

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
OUTPUTS = {
    "judge": ("argumentativeness", "stance", "comparison"),
    "quality": ("quality",),
    "embedding": ("embedding",),
}
"""The outputs of each graph; the last two share one encoder, with adapters and without."""
ADDED = {
    "deep-conclusions": ("sides", ("side",)),
    "reader": ("sides", ("side", "about", "carries")),
    "arguing": ("argumentativeness", ("argumentativeness",)),
}
"""The graphs that are added to a model one by one, with their outputs, by their stage."""
_HEADS = {"side": "stance"}
"""The heads of outputs with another name."""
WEIGHTS, TOKENIZER = "weights.bin", "tokenizer.json.gz"
_LEAST_SHARED, _ALIGNED = 1024, 64
WINDOW, OVERLAP, CONTEXT = 256, 64, 64
# learnt from texts of one to three sentences: on 260 whole arguments of debate.org the side is
# right in 65% with these windows, in 57% with those of 256 tokens
NARROW = {"stance": (48, 16)}
_PLACES = WINDOW + CONTEXT + 3


class Words(nn.Module):
    """Packed word vectors with four bits per number."""

    def __init__(self, vectors: Tensor):
        super().__init__()
        found = packed(vectors)
        self.register_buffer("numbers", found.numbers)
        self.register_buffer("scales", found.scales)
        self.register_buffer("unit", found.unit)

    def forward(self, ids: Tensor) -> Tensor:
        """The vectors [batch, tokens, width] of the words [batch, tokens]."""
        rows = self.numbers[ids].to(torch.int32)
        high = torch.div(rows, 16, rounding_mode="floor")
        numbers = torch.cat([rows - 16 * high, high], dim=-1).float() - 8.0
        scales = (self.scales[ids].float() * self.unit).unsqueeze(-1)
        return (numbers.unflatten(-1, (-1, GROUP)) * scales).flatten(-2)


class Rows(nn.Module):
    """Vectors with eight bits per number, and one scale each."""

    def __init__(self, vectors: Tensor):
        super().__init__()
        scales = vectors.abs().amax(dim=1, keepdim=True).clamp(min=1e-8) / 127
        self.register_buffer("scales", scales)
        self.register_buffer("numbers", torch.round(vectors / scales).to(torch.int8))

    def forward(self, places: Tensor) -> Tensor:
        """The vectors [places, width]."""
        return self.numbers[places].float() * self.scales[places]


class Layer(nn.Module):
    """A layer of the encoder with the three projections of attention in one."""

    def __init__(self, layer: nn.Module, heads: int):
        super().__init__()
        own, self.heads = layer.attention.self, heads
        parts = [own.query, own.key, own.value]
        self.projections = joined(parts)
        self.corrections = nn.ModuleList(part for part in parts if isinstance(part, Adapted))
        self.attended = layer.attention.output.dense
        self.attended_norm = layer.attention.output.LayerNorm
        self.wide = layer.intermediate.dense
        self.narrow = layer.output.dense
        self.norm = layer.output.LayerNorm

    def forward(self, states: Tensor, bias: Tensor) -> Tensor:
        """The next states [batch, tokens, width]; the bias masks padding."""
        batch, length, width = states.shape
        parts = self.projections(states)
        if self.corrections:
            parts = parts + torch.cat([each.correction(states) for each in self.corrections], -1)
        parts = parts.reshape(batch, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4).unbind(0)
        scores = query @ key.transpose(-1, -2) * (width // self.heads) ** -0.5 + bias
        mixed = (scores.softmax(-1) @ value).permute(0, 2, 1, 3).reshape(batch, length, width)
        states = self.attended_norm(self.attended(mixed) + states)
        return self.norm(self.narrow(functional.gelu(self.wide(states))) + states)


class Exported(nn.Module):
    """A network with its outputs; classes as probabilities."""

    def __init__(self, network: Network, outputs: Sequence[str]):
        super().__init__()
        encoder, self.outputs = network.encoder, outputs
        kept = _kept_words()
        self.words = Words(original_words()[kept])
        self.places = Rows(encoder.embeddings.position_embeddings.weight.detach()[:_PLACES])
        self.kinds = encoder.embeddings.token_type_embeddings
        self.norm = encoder.embeddings.LayerNorm
        heads = encoder.config.num_attention_heads
        self.layers = nn.ModuleList(Layer(layer, heads) for layer in encoder.encoder.layer)
        self.network, self.has_projection = network, network.has_projection
        self.marks = [kept.index(tokenizer().get_vocab()[mark]) for mark in MARKS]

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor
    ) -> tuple[Tensor, ...]:
        """The outputs."""
        places = torch.arange(input_ids.shape[1], device=input_ids.device)
        states = self.norm(self.words(input_ids) + self.places(places) + self.kinds(token_type_ids))
        bias = (1.0 - attention_mask[:, None, None, :].float()) * -1e9
        for layer in self.layers:
            states = layer(states, bias)
        marked = [input_ids == mark for mark in self.marks]
        return tuple(self._answer(name, states, attention_mask, marked) for name in self.outputs)

    def _answer(
        self, output: str, states: Tensor, mask: Tensor, marked: Sequence[Tensor]
    ) -> Tensor:
        if output == "embedding":
            turned = self.has_projection
            return self.network.embedding(states, mask) if turned else unit(mean_of(states, mask))
        logits = self.network.logits(_HEADS.get(output, output), states, mask, marked)
        return logits[:, 0].sigmoid() if logits.shape[1] == 1 else logits.softmax(-1)


def add_graph(network: Network, stage: str, folder: Path, version: str) -> None:
    """Write a graph of its own into the folder of a model, or replace it there.

    The other graphs stay as they are; the vectors of words are shared with them.

    Args:
        network: The trained network.
        stage: Its stage, one of `ADDED`.
        folder: The folder of the model.
        version: The version of the model.
    """
    name, outputs = ADDED[stage]
    graph = folder / f"{name}.onnx"
    weights = Weights.of([path for path in sorted(folder.glob("*.onnx")) if path != graph])
    with tempfile.TemporaryDirectory() as scratch:
        whole, small = Path(scratch) / "whole.onnx", Path(scratch) / "small.onnx"
        _write_graph(Exported(network, outputs).eval(), outputs, whole)
        _quantize(whole, small)
        weights.take_from(small, graph)
    (folder / WEIGHTS).write_bytes(weights.content)
    path = folder / "model.json"
    description = json.loads(path.read_text(encoding="utf-8"))
    description["version"] = version
    for changed in (*(each.name for each in sorted(folder.glob("*.onnx"))), WEIGHTS):
        description["checksums"][changed] = f"{zlib.crc32((folder / changed).read_bytes()):08x}"
    path.write_text(json.dumps(description, indent=1) + "\n", encoding="utf-8")


def export(networks: Mapping[str, Network], folder: Path, version: str) -> None:
    """Write the files of a model.

    Args:
        networks: Trained networks by the graphs of `OUTPUTS` that are wanted.
        folder: Where to; made where it is missing.
        version: The version of the model.
    """
    folder.mkdir(parents=True, exist_ok=True)
    weights = Weights()
    for name, network in networks.items():
        with tempfile.TemporaryDirectory() as scratch:
            whole, small = Path(scratch) / "whole.onnx", Path(scratch) / "small.onnx"
            _write_graph(Exported(network, OUTPUTS[name]).eval(), OUTPUTS[name], whole)
            _quantize(whole, small)
            weights.take_from(small, folder / f"{name}.onnx")
    (folder / WEIGHTS).write_bytes(weights.content)
    (folder / TOKENIZER).write_bytes(gzip.compress(_tokenizer_of_kept().encode(), 9, mtime=0))
    description = {
        "name": "debate",
        "version": version,
        "window": WINDOW,
        "overlap": OVERLAP,
        "context": CONTEXT,
        "narrow": NARROW,
        "stances": list(TOPIC_STANCES),
        "comparisons": list(COMPARISONS),
        "checksums": {
            name: f"{zlib.crc32((folder / name).read_bytes()):08x}"
            for name in (*(f"{name}.onnx" for name in networks), WEIGHTS, TOKENIZER)
        },
    }
    (folder / "model.json").write_text(json.dumps(description, indent=1) + "\n", encoding="utf-8")


def _kept_words() -> list[int]:
    """All words but the unused ones of BERT: no text has them, and each costs 216 bytes."""
    return [
        place
        for word, place in sorted(tokenizer().get_vocab().items(), key=lambda item: item[1])
        if word in MARKS or not word.startswith("[unused")
    ]


def _tokenizer_of_kept() -> str:
    """The tokenizer with the numbers of the kept words."""
    described = json.loads(tokenizer().to_str())
    words = {place: word for word, place in tokenizer().get_vocab().items()}
    places = {words[old]: new for new, old in enumerate(_kept_words())}
    described["model"]["vocab"] = places
    for each in described["added_tokens"]:
        each["id"] = places[each["content"]]
    # it would add [CLS] and [SEP] by their old numbers; windows are framed by whoever cuts them
    described["post_processor"] = None
    return json.dumps(described, ensure_ascii=False)


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
        # with all eight bits, sums overflow on processors without instructions for them
        reduce_range=True,
        op_types_to_quantize=["MatMul", "Gemm"],
    )


def _name_outputs(graph: Any, outputs: Sequence[str]) -> None:
    """Name the outputs; the exporter may have used these names for inner values."""
    names = {output.name: name for output, name in zip(graph.output, outputs, strict=True)}
    names |= {name: f"inner_{name}" for name in outputs}
    for node in graph.node:
        for values in (node.input, node.output):
            for place, value in enumerate(values):
                values[place] = names.get(value, value)
    for output, name in zip(graph.output, outputs, strict=True):
        output.name = name


class Weights:
    """The weights of several graphs; weights that graphs share are stored once.

    Attributes:
        content: What the file of weights holds.
    """

    def __init__(self) -> None:
        self.content = b""
        self._places: dict[bytes, int] = {}

    @classmethod
    def of(cls, graphs: Sequence[Path]) -> Weights:
        """The weights of graphs that stay, without what none of them uses.

        The graphs are written again, since their weights may stand elsewhere now.
        """
        import onnx
        from onnx.external_data_helper import ExternalDataInfo, set_external_data

        found = cls()
        content = (graphs[0].parent / WEIGHTS).read_bytes()
        for path in graphs:
            model = onnx.load(path, load_external_data=False)
            for each in model.graph.initializer:
                if each.external_data:
                    place = ExternalDataInfo(each)
                    start, length = int(place.offset or 0), int(place.length or 0)
                    offset = found._place(content[start : start + length])
                    # it refuses a tensor without content
                    each.raw_data = b""
                    set_external_data(each, WEIGHTS, offset=offset, length=length)
                    each.ClearField("raw_data")
            onnx.save(model, path)
        return found

    def take_from(self, path: Path, target: Path) -> None:
        """Write a graph that refers to the file of weights.

        Args:
            path: A graph that holds its weights.
            target: Where the other is written.
        """
        import onnx
        from onnx.external_data_helper import set_external_data

        model = onnx.load(path)
        for each in model.graph.initializer:
            content = onnx.numpy_helper.to_array(each).tobytes()
            if len(content) < _LEAST_SHARED:
                continue
            for field in ("int32_data", "int64_data", "float_data"):
                each.ClearField(field)
            each.raw_data = content
            set_external_data(each, WEIGHTS, offset=self._place(content), length=len(content))
            each.ClearField("raw_data")
        # the exporter notes of every node which line of which file it is from
        for noted in (model, model.graph, *model.graph.node, *model.graph.initializer):
            noted.ClearField("metadata_props")
            noted.ClearField("doc_string")
        onnx.save(model, target)

    def _place(self, content: bytes) -> int:
        found = self._places.get(content)
        if found is None:
            self.content += bytes(-len(self.content) % _ALIGNED)
            found = self._places[content] = len(self.content)
            self.content += content
        return found
