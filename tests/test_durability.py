"""Acknowledged results survive a power cut: files and their folders are flushed."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sicetnon import cli
from sicetnon.formats.files import ResumableOutput
from sicetnon.uva.parameters import LearnedParameters, ModelCard, write_parameters
from support.command_line import TASK
from support.corpus_files import lines, put

Flushed = Callable[[Path], bool]


@pytest.fixture
def is_flushed(monkeypatch: pytest.MonkeyPatch) -> Flushed:
    """Whether a path's folder was flushed to the disk while the path was in it."""
    entries: dict[int, set[str]] = {}
    fsync = os.fsync

    def flush(handle: int) -> None:
        fsync(handle)
        found = os.fstat(handle)
        if stat.S_ISDIR(found.st_mode):
            entries[found.st_ino] = set(os.listdir(handle))

    monkeypatch.setattr(os, "fsync", flush)
    return lambda path: path.name in entries.get(path.parent.stat().st_ino, set())


def test_a_first_index_and_the_new_folders_above_it(tmp_path: Path, is_flushed: Flushed) -> None:
    source = put(tmp_path, "two.jsonl", lines({"id": "a", "text": "b"}, {"id": "c", "text": "d"}))
    folder = tmp_path / "new" / "deep" / "index"
    assert cli.main(["index", "build", str(source), "-o", str(folder)]) == 0
    assert is_flushed(folder / "manifest.json")
    for path in (folder, folder.parent, folder.parents[1]):
        assert is_flushed(path), path


def test_a_run_and_its_new_folders(
    sample: Path, index: Path, tmp_path: Path, is_flushed: Flushed
) -> None:
    out = tmp_path / "new" / "out"
    arguments = ["run", TASK, "-i", sample / "input", "-o", out, "--index", index, "-k", 3]
    assert cli.main([str(argument) for argument in arguments]) == 0
    for path in (out / "run.txt", out / "ir-metadata.yml", out, out.parent):
        assert is_flushed(path), path
    fused, report = tmp_path / "fused.txt", tmp_path / "pages"
    assert cli.main(["fuse", str(out / "run.txt"), str(out / "run.txt"), "-o", str(fused)]) == 0
    assert is_flushed(fused)
    judgments = str(sample / "relevance.qrels")
    run = str(out / "run.txt")
    assert cli.main(["evaluate", run, "--qrels", judgments, "--report", str(report)]) == 0
    assert is_flushed(report / "index.html")
    assert is_flushed(report)


def test_learned_parameters(tmp_path: Path, is_flushed: Flushed) -> None:
    card = ModelCard("weights", "none", "none", "none", "none")
    path = write_parameters(tmp_path / "new", LearnedParameters(card, {"a": np.zeros(2)}))
    assert is_flushed(path)
    assert is_flushed(path.parent)


def test_an_unfinished_output_and_the_output(tmp_path: Path, is_flushed: Flushed) -> None:
    place = tmp_path / "annotated.jsonl"
    output = ResumableOutput(place, {"task": "x"})
    output.write(b"one\n", 1, "")
    assert is_flushed(tmp_path / "annotated.jsonl.part")
    assert is_flushed(tmp_path / "annotated.jsonl.part-log")
    output.publish()
    output.close()
    assert is_flushed(place)
