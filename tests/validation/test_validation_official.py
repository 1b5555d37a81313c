"""The faults that the official runs have, and the contracts that they are held against."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sicetnon.contracts import CONTRACTS
from sicetnon.validation import validate

DATA = Path(os.environ.get("SICETNON_DATA", Path(__file__).parents[2] / "../shared/data"))
RUNS = DATA / "runs"
needs_data = pytest.mark.skipif(not RUNS.is_dir(), reason=f"there are no official runs in {RUNS}")

TIES, CLOSE, RANKS = "tied-scores", "scores-too-close", "rank-order"
OFFICIAL_FAULTS: dict[str, dict[str, int]] = {
    "touche-2020-task-1/elrond/ElrondKRun": {RANKS: 49, "separators": 49000, TIES: 5739},
    "touche-2020-task-1/elrond/ElrondOpenNlpRun": {RANKS: 49, "separators": 49000, TIES: 3474},
    "touche-2020-task-1/elrond/ElrondSimpleRun": {RANKS: 49, "separators": 49000, TIES: 7457},
    "touche-2020-task-1/elrond/ElrondTaskBodyRun": {RANKS: 49, "separators": 49000, TIES: 7874},
    "touche-2021-task-1/elrond/ElrondKRun": {RANKS: 50, "separators": 50000, TIES: 9738},
    "touche-2021-task-1/elrond/ElrondOpenNlpRun": {RANKS: 50, "separators": 50000, TIES: 6293},
    "touche-2021-task-1/elrond/ElrondSimpleRun": {RANKS: 50, "separators": 50000, TIES: 10322},
    "touche-2021-task-1/elrond/ElrondTaskBodyRun": {RANKS: 50, "separators": 50000, TIES: 11406},
    "touche-2022-task-1/lgtm/seupd2122-lgtm_QE_NRR": {TIES: 25971},
    "touche-2022-task-1/lgtm/seupd2122-lgtm_QE_NRR_ONLY_TITLE": {TIES: 28376},
    "touche-2022-task-2/Aldo-Nadi/run3": {TIES: 95},
    "touche-2022-task-2/Aldo-Nadi/run4": {TIES: 1789},
    "touche-2022-task-2/Aldo-Nadi/run5": {TIES: 2425},
    "touche-2022-task-2/Asuna/run1": {RANKS: 7, TIES: 18},
    "touche-2022-task-2/Captain-Levi/run1": {TIES: 100},
    "touche-2022-task-2/Captain-Levi/run5": {TIES: 37, CLOSE: 4},
    "touche-2022-task-2/Captain-Tempesta/run1": {TIES: 171, CLOSE: 5},
    "touche-2022-task-2/Captain-Tempesta/run2": {TIES: 171, CLOSE: 7},
    "touche-2022-task-2/Captain-Tempesta/run3": {TIES: 171, CLOSE: 6},
    "touche-2022-task-2/Captain-Tempesta/run4": {TIES: 172, CLOSE: 7},
    "touche-2022-task-2/Captain-Tempesta/run5": {TIES: 15501},
    "touche-2022-task-2/Grimjack/run1": {TIES: 2, CLOSE: 1},
    "touche-2022-task-2/Grimjack/run2": {TIES: 2},
    "touche-2022-task-2/Grimjack/run3": {TIES: 2},
    "touche-2022-task-2/Grimjack/run4": {TIES: 77},
    "touche-2022-task-2/Grimjack/run5": {TIES: 113},
    "touche-2022-task-2/Katana/run1": {"tag-white-space": 5000},
    "touche-2022-task-2/Katana/run2": {"tag-white-space": 5000},
    "touche-2022-task-2/Katana/run3": {"tag-white-space": 5000},
    "touche-2022-task-2/Olivier-Armstrong/run1": {TIES: 268, CLOSE: 16},
    "touche-2022-task-2/Puss-in-Boots/run1": {TIES: 1},
}


@needs_data
@pytest.mark.parametrize("name", OFFICIAL_FAULTS)
def test_official_runs_have_these_faults_and_no_others(name: str) -> None:
    validation = validate(RUNS / f"{name}.txt.gz", name.split("/")[0])
    assert {finding.rule: finding.count for finding in validation.findings} == OFFICIAL_FAULTS[name]
    broken = {RANKS, "tag-white-space"} & set(OFFICIAL_FAULTS[name])
    assert validation.ok is not bool(broken)


@needs_data
def test_every_official_run_is_tested() -> None:
    found = {str(path.relative_to(RUNS)).removesuffix(".txt.gz") for path in RUNS.rglob("*.txt.gz")}
    assert found == set(OFFICIAL_FAULTS)


def test_contracts() -> None:
    assert len(CONTRACTS) == 6
    assert {task: len(contract.topics) for task, contract in CONTRACTS.items()} == {
        "touche-2020-task-1": 49,
        "touche-2021-task-1": 50,
        "touche-2022-task-1": 50,
        "touche-2020-task-2": 50,
        "touche-2021-task-2": 50,
        "touche-2022-task-2": 50,
    }
    assert {task for task in CONTRACTS if CONTRACTS[task].minimum} == {"touche-2022-task-1"}
    assert {contract.maximum for contract in CONTRACTS.values()} == {1000}


@needs_data
def test_contracts_know_the_topics_of_the_files() -> None:
    from sicetnon.formats.topics import read_topics

    for path in (DATA / "topics").glob("*.xml"):
        numbers = tuple(topic.number for topic in read_topics(path))
        assert numbers == CONTRACTS[path.stem].topics
