"""The published tables as data of the package, and a user's runs among them."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from sicetnon.contracts import CONTRACTS
from sicetnon.errors import UsageError
from sicetnon.evaluation import evaluate
from sicetnon.evaluation.inputs import load_qrels
from sicetnon.evaluation.leaderboard import (
    Leaderboard,
    RankedRow,
    judgments_checksum,
    leaderboard_of,
    official_of,
    published,
)
from sicetnon.evaluation.scores import Score
from sicetnon.formats.qrels import read_qrels
from sicetnon.records import Judgment

DATA = Path(os.environ.get("SICETNON_DATA", Path(__file__).parents[2] / "../shared/data"))
QRELS, RUNS = DATA / "qrels", DATA / "runs"
needs_data = pytest.mark.skipif(
    not QRELS.is_dir(), reason=f"there are no official judgments in {QRELS}"
)
PASSAGES = "touche-2022-task-2"


def score(**fields: object) -> Score:
    """A score of a made-up run on official-looking judgments."""
    made = Score(
        *("mine.txt", "mine", "q.qrels", "relevance", "official", "nDCG@5"),
        *(0.7, 0.6, 0.8, 50, 1.0, {}),
    )
    return replace(made, **fields)  # type: ignore[arg-type]


def own(board: Leaderboard) -> dict[str, list[RankedRow]]:
    """The places of the user's runs, by dimension and corpus."""
    return {
        f"{table.dimension} {table.corpus}".strip(): [
            place for place in table.places if place.run is not None
        ]
        for table in board.tables
    }


def test_every_task_has_a_table_for_each_dimension() -> None:
    counts = {
        (table.dimension, table.corpus): len(table.places)
        for task in CONTRACTS
        for table in leaderboard_of(task).tables
        if task == "touche-2020-task-1"
    }
    assert counts == {("relevance", "args.me 1.0"): 20, ("relevance", "args.me 2020-04-01"): 12}
    rows = {
        (task, table.dimension): len(table.places)
        for task in CONTRACTS
        for table in leaderboard_of(task).tables
        if task != "touche-2020-task-1"
    }
    assert rows == {
        ("touche-2021-task-1", "relevance"): 71,
        ("touche-2021-task-1", "quality"): 71,
        ("touche-2022-task-1", "relevance"): 41,
        ("touche-2022-task-1", "quality"): 41,
        ("touche-2022-task-1", "coherence"): 41,
        ("touche-2020-task-2", "relevance"): 12,
        ("touche-2021-task-2", "relevance"): 20,
        ("touche-2021-task-2", "quality"): 20,
        (PASSAGES, "relevance"): 26,
        (PASSAGES, "quality"): 26,
        (PASSAGES, "stance"): 16,
    }
    for task, contract in CONTRACTS.items():
        assert {row.dimension for row in published(task)} == set(contract.dimensions)


def test_published_rows_are_typed_and_sane() -> None:
    for task in CONTRACTS:
        for row in published(task):
            assert row.team
            assert row.tag == row.tag.strip() != ""
            assert 0 <= row.mean < 1
            assert (row.low is None) is (row.high is None)
            if row.low is not None and row.high is not None:
                assert row.low <= row.mean <= row.high
            else:
                assert task.startswith("touche-2020") or row.dimension == "stance"
            assert (row.measure == "MacroF1") is (row.lines is not None)


def test_published_scores_by_example() -> None:
    best = published("touche-2021-task-1")[0]
    assert (best.team, best.tag, best.mean) == ("Elrond", "ElrondKRun", 0.720)
    assert (best.low, best.high) == (0.654, 0.782)
    stance = next(row for row in published(PASSAGES) if row.dimension == "stance")
    assert (stance.team, stance.mean, stance.lines) == ("Grimjack", 0.313, 1208)
    assert (stance.team_mean, stance.team_lines) == (0.235, 1386)
    last = published("touche-2020-task-1")[-1]
    assert (last.team, last.tag, last.mean) == ("Aragorn", "cedr_knrm", 0.319)


def test_unknown_task() -> None:
    for call in (published, leaderboard_of):
        with pytest.raises(UsageError, match="found the task 'x'; expected one of"):
            call("x")


def test_tables_are_best_first_and_equal_scores_share_a_place() -> None:
    for task in CONTRACTS:
        for table in leaderboard_of(task).tables:
            assert table.places[0].place == 1
            for number, (before, after) in enumerate(
                zip(table.places, table.places[1:], strict=False), start=2
            ):
                assert before.row.mean >= after.row.mean
                same = before.row.mean == after.row.mean
                assert after.place == (before.place if same else number)


def test_other_judgments_place_no_run() -> None:
    judgments = [Judgment(topic, "d", 1) for topic in CONTRACTS[PASSAGES].topics]
    board = leaderboard_of(PASSAGES, [score()], {"q.qrels": judgments})
    assert not any(own(board).values())
    assert board.notes == (
        "mine.txt is not placed by its nDCG@5 of 0.700 on q.qrels: these are not the official "
        "judgments.",
    )
    board = leaderboard_of(PASSAGES, [score()], {"q.qrels": judgments[:20]})
    assert board.notes[0].endswith("they leave out 30 of the task's 50 topics.")


@needs_data
@pytest.mark.parametrize(
    ("name", "task", "dimension"),
    [
        ("touche-2021-task-1-relevance", "touche-2021-task-1", "relevance"),
        ("touche-2022-task-2-relevance", PASSAGES, "relevance"),
        ("touche-2022-task-2-quality", PASSAGES, "quality"),
        ("touche-2022-task-2-stance", PASSAGES, "stance"),
    ],
)
def test_official_judgments_are_known_whatever_their_name_and_order(
    name: str, task: str, dimension: str
) -> None:
    judgments = list(read_qrels(QRELS / f"{name}.qrels"))
    for given in (judgments, judgments[::-1]):
        found = official_of(load_qrels(given, "x"))
        assert found is not None
        assert (found.task, found.dimension, found.part) == (task, dimension, "whole")
    assert official_of(load_qrels(judgments[1:])) is None
    first = judgments[0]
    label = "SECOND" if dimension == "stance" else 2 - int(first.label == 2)
    assert (
        official_of(load_qrels([Judgment(first.topic, first.document, label), *judgments[1:]]))
        is None
    )


@needs_data
def test_parts_of_official_judgments_are_not_official() -> None:
    files = [path for path in QRELS.glob("*.qrels") if ".odd-topics" in path.name]
    assert len(files) > 10
    for path in files:
        assert official_of(load_qrels(path)) is None, path.name


@needs_data
def test_whole_judgments_are_known_by_their_odd_topics() -> None:
    for path in QRELS.glob("*[!t].odd-topics.qrels"):
        task = path.name[: len(PASSAGES)]
        judgments = list(read_qrels(path))
        rest = [
            Judgment(topic, "x,y", 0) for topic in CONTRACTS[task].topics if int(topic) % 2 == 0
        ]
        found = official_of(load_qrels([*judgments, *rest], path.name))
        assert found is not None, path.name
        assert (found.task, found.part) == (task, "odd")
        assert f"{task}-{found.dimension}" in path.name
        assert official_of(load_qrels([*judgments, *rest[1:]], path.name)) is None


@needs_data
def test_held_text_is_never_official() -> None:
    for path in QRELS.glob("*held-text*"):
        task = path.name[: len(PASSAGES)]
        rest = [
            Judgment(topic, "x,y", 0) for topic in CONTRACTS[task].topics if int(topic) % 2 == 0
        ]
        assert official_of(load_qrels([*read_qrels(path), *rest], path.name)) is None


@needs_data
def test_official_runs_stand_where_they_were_published() -> None:
    runs = [RUNS / PASSAGES / "Katana/run3.txt.gz", RUNS / PASSAGES / "Asuna/run1.txt.gz"]
    judgments = [QRELS / f"{PASSAGES}-{kind}.qrels" for kind in ("relevance", "quality", "stance")]
    board = leaderboard_of(PASSAGES, evaluate(runs, judgments))
    assert board.notes == ()
    for table in board.tables:
        assert sum(place.run is not None for place in table.places) == 2
        for place in table.places:
            if place.run is None:
                continue
            twin = next(
                other
                for other in table.places
                if other.run is None and other.row.tag == place.row.tag.strip('"')
            )
            assert twin.place == place.place
            assert place.row.team == ""
            assert f"{place.row.mean:.3f}" == f"{twin.row.mean:.3f}"
            assert place.row.lines == twin.row.lines


@needs_data
def test_a_run_on_other_judgments_is_left_out_with_the_reason() -> None:
    run = RUNS / "touche-2022-task-1/lgtm/seupd2122-lgtm_QE_NRR.txt.gz"
    path = QRELS / "touche-2022-task-1-relevance.odd-topics.qrels"
    board = leaderboard_of("touche-2022-task-1", evaluate(run, path))
    assert not any(own(board).values())
    assert "these are not the official judgments, since they leave out 25" in board.notes[0]


@needs_data
def test_scores_that_mean_another_thing_are_left_out() -> None:
    path = QRELS / f"{PASSAGES}-relevance.qrels"
    name = str(path)
    for made, reason in (
        (score(qrels=name, rule="trec"), "follow the official rule, this one the rule 'trec'"),
        (score(qrels=name, measure="nDCG@10"), "the published scores are nDCG@5"),
        (score(qrels=name, mean=float("nan")), "it has no judged result"),
        (score(qrels=name, topics=1), "it stands on 1 of the task's 50 topics"),
        (score(qrels=name, topics=42), "it stands on 42 of the task's 50 topics"),
        (score(qrels=name, judged=0.008), "0.8% of its first results are judged, expected"),
    ):
        board = leaderboard_of(PASSAGES, [made])
        assert not any(own(board).values())
        assert reason in board.notes[0]
    board = leaderboard_of("touche-2021-task-1", [score(qrels=name)])
    assert f"these are the official judgments of {PASSAGES}" in board.notes[0]
    board = leaderboard_of(PASSAGES, [score(qrels=name, mean=0.7549)])
    place = own(board)["relevance"][0]
    assert (place.place, place.run, place.row.tag) == (2, "mine.txt", "mine")
    assert (place.row.topics, place.row.judged) == (50, 1.0)


@needs_data
def test_the_tables_of_2020_come_with_a_word_of_caution() -> None:
    task = "touche-2020-task-1"
    rest = [Judgment(topic, "x", 0) for topic in CONTRACTS[task].topics if int(topic) % 2 == 0]

    def whole(kind: str) -> list[Judgment]:
        return [*read_qrels(QRELS / f"{task}-relevance-args-me-{kind}.odd-topics.qrels"), *rest]

    board = leaderboard_of(task, [score()], {"q.qrels": whole("1.0")})
    assert [len(places) for places in own(board).values()] == [1, 0]
    assert "not known how the scores of 2020 were computed" in board.notes[0]
    board = leaderboard_of(task, [score()], {"q.qrels": whole("2020-04-01-uncorrected")})
    assert [len(places) for places in own(board).values()] == [0, 1]
    board = leaderboard_of(task, [score()], {"q.qrels": whole("2020-04-01-corrected")})
    assert not any(own(board).values())
    assert "corrected after the task" in board.notes[0]


def test_checksum_is_over_sorted_judgments() -> None:
    judgments = [Judgment("1", "b", 1), Judgment("1", "a", 0), Judgment("2", "a", 2)]
    qrels = load_qrels(judgments)
    whole, odd = judgments_checksum(qrels, "whole"), judgments_checksum(qrels, "odd")
    assert whole == judgments_checksum(load_qrels(judgments[::-1]), "whole")
    assert odd == judgments_checksum(load_qrels(judgments[:2]), "whole")
    assert odd != whole
