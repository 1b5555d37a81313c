"""Annotations from the command line, by a stand-in for the model."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import yaml

from sicetnon.arguments.models import classifiers as classifiers
from sicetnon.arguments.models.index_annotators import NAMES, annotators
from sicetnon.cli import main
from sicetnon.errors import UsageError
from sicetnon.formats.runs import read_run
from sicetnon.index.manifest import read_manifest
from sicetnon.index.reader import IndexReader
from support.stand_ins import StandIn, directions, strengths

TASK = "touche-2020-task-1"


@pytest.fixture
def own_index(index: Path, tmp_path: Path) -> Path:
    """An index of the sample without annotations, for one test."""
    return shutil.copytree(index, tmp_path / "index")


def numbers_of(folder: Path, name: str) -> np.ndarray:  # type: ignore[type-arg]
    with IndexReader.open(folder) as opened:
        return np.asarray(opened.annotation(name))


def test_each_annotation_reads_its_own_text_once(own_index: Path, stand_in: StandIn) -> None:
    assert main(["index", "annotate", str(own_index), "--with", ", ".join(NAMES)]) == 0
    assert {names for _, names in stand_in.readings} == {(name,) for name in NAMES}
    with IndexReader.open(own_index) as opened:
        records = opened.records_at(range(opened.size))
        read = sum(len(texts) for texts, _ in stand_in.readings if len(texts) > 1)
        assert read == len(NAMES) * len(records)
    premises = strengths([record.premise for record in records])  # type: ignore[union-attr]
    whole = directions([record.default_text() for record in records])
    np.testing.assert_array_equal(numbers_of(own_index, "quality"), premises)
    np.testing.assert_array_equal(numbers_of(own_index, "argumentativeness"), premises)
    np.testing.assert_allclose(numbers_of(own_index, "embedding"), whole, atol=0.01)


def test_names_that_there_are_not(stand_in: StandIn) -> None:
    with pytest.raises(UsageError, match="unknown annotation 'beauty'; choose of quality, argum"):
        annotators(["quality", "beauty"])
    assert annotators([]) == []
    assert [each.name for each in annotators(["embedding", "quality", "embedding"])] == [
        "embedding",
        "quality",
    ]
    assert classifiers.Embedding().identity() == "stand-in 1"


def test_an_index_is_annotated_in_turns(
    own_index: Path, stand_in: StandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = own_index
    capsys.readouterr()
    assert main(["index", "annotate", str(folder), "--with", "quality"]) == 0
    shown = capsys.readouterr()
    assert "quality    by stand-in 1\n" in shown.out
    assert shown.err == ""
    assert main(["index", "annotate", str(folder), "--with", "embedding,quality"]) == 0
    capsys.readouterr()
    assert main(["index", "info", str(folder)]) == 0
    shown = capsys.readouterr()
    assert "quality    by stand-in 1\nembedding  by stand-in 1\n" in shown.out
    assert main(["index", "verify", str(folder)]) == 0


def test_documents_that_are_added_later(
    own_index: Path, stand_in: StandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argument = '{"id": "S1-A1", "conclusion": "c", "premises": [{"text": "p", "stance": "PRO"}]}'
    more = tmp_path / "more.json"
    more.write_text(f'{{"arguments": [{argument}]}}')
    assert main(["index", "annotate", str(own_index), "--with", "quality"]) == 0
    assert main(["index", "add", str(more), "-o", str(own_index)]) == 0
    assert numbers_of(own_index, "quality")[-1] == strengths(["p"])[0]
    more.write_text(f'{{"arguments": [{argument.replace("A1", "A2")}]}}')
    assert main(["index", "add", str(more), "-o", str(own_index)]) == 0
    assert main(["index", "annotate", str(own_index), "--with", "embedding"]) == 0
    assert numbers_of(own_index, "embedding").shape[0] == numbers_of(own_index, "quality").shape[0]
    before = read_manifest(own_index)
    stand_in.version = "stand-in 2"
    more.write_text(f'{{"arguments": [{argument.replace("A1", "A3")}]}}')
    capsys.readouterr()
    assert main(["index", "add", str(more), "-o", str(own_index)]) == 2
    error = capsys.readouterr().err
    assert "by stand-in 1 from what is argued" in error
    assert "here it is by stand-in 2 from what is argued. To make all anew first: " in error
    assert error.endswith(f"sicetnon index annotate {own_index} --with quality\n")
    assert error.count("\n") == 1
    assert read_manifest(own_index) == before
    assert main(["index", "annotate", str(own_index), "--with", "quality,embedding"]) == 0
    assert main(["index", "add", str(more), "-o", str(own_index)]) == 0


def test_a_model_that_does_not_work_is_found_before_anything_is_read(
    own_index: Path, stand_in: StandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    stand_in.stop_after = 0
    assert main(["index", "annotate", str(own_index), "--with", "quality"]) == 130
    assert capsys.readouterr().err == "sicetnon: interrupted\n"
    assert not read_manifest(own_index).annotations


def test_an_interruption_says_how_to_go_on(
    own_index: Path, stand_in: StandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    stand_in.stop_after = 3
    command = ["index", "annotate", str(own_index), "--with", "quality,embedding"]
    assert main(command) == 130
    assert capsys.readouterr().err == (
        "sicetnon: interrupted; what was read is kept, and the same command resumes: "
        f"sicetnon index annotate {own_index} --with quality,embedding\n"
    )
    assert main(["search", "tenure", "--index", str(own_index)]) == 0
    stand_in.stop_after = 1 << 30
    assert main(command) == 0
    assert set(read_manifest(own_index).annotations) == {"quality", "embedding"}


@pytest.mark.parametrize("names", ["beauty", ",", "quality,beauty"])
def test_annotations_that_there_are_not(
    own_index: Path, stand_in: StandIn, names: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    try:
        status = main(["index", "annotate", str(own_index), "--with", names])
    except SystemExit as stop:
        status = int(stop.code or 0)
    assert status == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith("sicetnon")


@pytest.mark.parametrize("verb", [["annotate", "--with", "quality"], ["info"], ["verify"]])
def test_a_folder_that_is_no_index(
    tmp_path: Path, stand_in: StandIn, verb: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["index", *verb, str(tmp_path / "none")]) == 1
    assert "there is no such folder" in capsys.readouterr().err


# --- systems ---


@pytest.mark.parametrize("system", ["dense", "hybrid"])
@pytest.mark.parametrize("task", [TASK, "touche-2021-task-1"])
def test_systems_on_stored_embeddings(
    sample: Path,
    tmp_path: Path,
    stand_in: StandIn,
    system: str,
    task: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    target, folder = tmp_path / "out", tmp_path / "out.index"
    command = ["run", task, "-i", str(sample / "input"), "-o", str(target), "--system", system]
    capsys.readouterr()
    assert main(command) == 2
    assert capsys.readouterr().err == (
        f"sicetnon: {folder}: its documents have no embedding; give them one with: "
        f"sicetnon index annotate {folder} --with embedding\n"
    )
    assert not target.joinpath("run.txt").exists()
    assert main(["index", "annotate", str(folder), "--with", "embedding"]) == 0
    assert main(command) == 0
    lines = list(read_run(target / "run.txt"))
    assert len({line.topic for line in lines}) == 14
    assert {line.tag for line in lines} == {f"sicetnon-{system}"}
    metadata = yaml.safe_load((target / "ir-metadata.yml").read_text())
    assert metadata["method"]["indexing"]["annotations"] == {"embedding": "stand-in 1"}
    assert main(["search", "tenure", "--index", str(folder), "--system", system]) == 0
    stand_in.version = "stand-in 2"
    capsys.readouterr()
    assert main(command) == 2
    assert "is by stand-in 1, that of questions would be by stand-in 2;" in capsys.readouterr().err
