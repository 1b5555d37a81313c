from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what these libraries warn of is not ours to mend
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")

from sicetnon.arguments.models.classifiers import Argumentativeness, Comparison, Quality, Stance
from sicetnon.arguments.models.neural import places_of
from sicetnon.cli import main
from sicetnon.errors import DataError, UsageError

pytestmark = pytest.mark.filterwarnings("ignore")
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "uniforms", "are", "good", "bad", "or"]
TEXTS = ["uniforms are good", "", "bad " * 2000, "🙂 \ud83d", "good"]


@pytest.fixture
def classifier(tmp_path: Path) -> Callable[[Sequence[str]], Path]:
    """Makes a tiny classifier with the labels, its weights drawn at random."""

    def make(labels: Sequence[str]) -> Path:
        folder = tmp_path / "tiny"
        torch.manual_seed(0)
        config = transformers.BertConfig(
            vocab_size=len(WORDS),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=16,
            max_position_embeddings=128,
            num_labels=len(labels),
            id2label=dict(enumerate(labels)),
            label2id={label: place for place, label in enumerate(labels)},
        )
        transformers.BertForSequenceClassification(config).save_pretrained(folder)
        (tmp_path / "vocab.txt").write_text("\n".join(WORDS))
        found = transformers.BertTokenizerFast(str(tmp_path / "vocab.txt"), model_max_length=128)
        found.save_pretrained(folder)
        return folder

    return make


def test_stance_by_label_names(classifier: Callable[[Sequence[str]], Path]) -> None:
    model = Stance(classifier(["contradiction", "entailment", "neutral"]))
    found = model.probabilities(TEXTS, "uniforms")
    assert found.shape == (len(TEXTS), 3)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-5)
    alone = np.concatenate([model.probabilities([text], "uniforms") for text in TEXTS])
    np.testing.assert_allclose(found, alone, atol=1e-3)
    assert set(model.classify(TEXTS, "uniforms")) <= {"PRO", "CON", "NONE"}
    assert model.probabilities([], "uniforms").shape == (0, 3)


def test_labels_go_where_they_belong(classifier: Callable[[Sequence[str]], Path]) -> None:
    before = Stance(classifier(["pro", "con", "none"])).probabilities(TEXTS, "good")
    after = Stance(classifier(["con", "none", "pro"])).probabilities(TEXTS, "good")
    np.testing.assert_allclose(before, after[:, [1, 2, 0]], atol=1e-6)


def test_two_sides_are_enough(classifier: Callable[[Sequence[str]], Path]) -> None:
    found = Stance(classifier(["support", "attack"])).probabilities(TEXTS, "good")
    assert not found[:, 2].any()


def test_quality_by_regression_and_by_labels(
    classifier: Callable[[Sequence[str]], Path],
) -> None:
    assert Quality(str(classifier(["LABEL_0"]))).score(TEXTS).shape == (len(TEXTS),)
    scores = Quality(classifier(["low", "high"])).score(TEXTS)
    assert ((scores > 0) & (scores < 1)).all()


def test_argumentativeness(classifier: Callable[[Sequence[str]], Path]) -> None:
    scores = Argumentativeness(
        classifier(["NoArgument", "Argument_against", "Argument_for"])
    ).score(TEXTS)
    assert ((scores > 0) & (scores < 1)).all()


def test_comparison_is_symmetric(classifier: Callable[[Sequence[str]], Path]) -> None:
    model = Comparison(classifier(["BETTER", "WORSE", "NONE"]))
    found = model.probabilities(TEXTS, "good", "bad")
    swapped = model.probabilities(TEXTS, "bad", "good")
    np.testing.assert_allclose(found[:, [1, 0, 2, 3]], swapped, atol=1e-6)
    assert not found[:, 2].any()


def test_other_labels_are_listed(classifier: Callable[[Sequence[str]], Path]) -> None:
    with pytest.raises(UsageError, match="LABEL_0, LABEL_1 cannot be matched"):
        Stance(classifier(["LABEL_0", "LABEL_1"]))


def test_places() -> None:
    assert places_of(["LABEL_0"], "quality", "m") == [[0]]
    assert places_of(["argument_for", "No-Argument", "argument against"], "stance", "m") == [
        [0],
        [2],
        [1],
    ]
    for labels, task in (
        (["LABEL_0"], "stance"),
        (["pro", "none"], "stance"),
        (["a"], "comparison"),
    ):
        with pytest.raises(UsageError, match="choose another model"):
            places_of(labels, task, "m")


def test_identity_follows_the_weights(classifier: Callable[[Sequence[str]], Path]) -> None:
    folder = classifier(["pro", "con"])
    before = Stance(folder).identity()
    assert before.startswith("tiny ")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"id2label": {"0": "con", "1": "pro"}}))
    assert Stance(folder).identity() != before


def test_damaged_and_pickled_weights_are_refused(
    classifier: Callable[[Sequence[str]], Path],
) -> None:
    folder = classifier(["pro", "con"])
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(DataError, match="cannot be loaded"):
        Stance(folder)
    weights.rename(folder / "pytorch_model.bin")
    with pytest.raises(DataError, match="cannot be loaded"):
        Stance(folder)


def test_offline_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(DataError, match="nobody/has-this cannot be loaded"):
        Stance("nobody/has-this")


def test_the_command_takes_it(classifier: Callable[[Sequence[str]], Path], tmp_path: Path) -> None:
    source, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text('{"text": "good", "topic": "uniforms"}\n')
    model = str(classifier(["pro", "con"]))
    command = ["annotate", "stance", str(source), "-o", str(output), "--model", model]
    assert main([*command, "--threads", "1"]) == 0
    assert json.loads(output.read_text())["probabilities"]["NONE"] == 0


def test_the_code_of_a_model_is_not_asked_for(
    classifier: Callable[[Sequence[str]], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = classifier(["contradiction", "entailment", "neutral"])
    mark = folder / "ran"
    (folder / "own.py").write_text(f"open({str(mark)!r}, 'w')\nclass Own:\n    pass\n")
    config = json.loads((folder / "config.json").read_text())
    names = ("AutoConfig", "AutoTokenizer", "AutoModelForSequenceClassification")
    hook = {"auto_map": dict.fromkeys(names, "own.Own"), "model_type": "own"}
    (folder / "config.json").write_text(json.dumps(config | hook))
    # at a terminal, the library asks whether to run it, and someone answers yes
    asked: list[object] = []
    monkeypatch.setattr("builtins.input", lambda *said: asked.append(said) or "y")
    with pytest.raises(DataError, match="cannot be loaded"):
        Stance(folder)
    assert not asked
    assert not mark.exists()
