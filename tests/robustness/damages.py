"""Damaged and crafted indexes: commands read them or refuse them, and never pass damage on."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

from robustness.commands import command, contents
from robustness.trials import Lost, Trial
from sicetnon.errors import SicetnonError
from sicetnon.index.compaction import MAX_SEGMENTS
from sicetnon.index.reader import verify_index
from sicetnon.jit import NUMPY_SECONDS, announce_work
from support.command_line import ROOT, TASK
from support.corpus_files import lines, put
from support.index_cases import Content, content_of
from support.index_faults import forked

SAMPLE = ROOT / "examples" / "touche-2020-task-1" / "input"
FULL, OF_SAMPLE = "full", "sample"
"""An index to which nothing can be added without merging, and one that runs use."""
Change = Callable[[Path, Random], str]


def prepare(change: Change, is_sealed: bool, folder: Path, is_compiled: bool = False) -> Trial:
    """Indexes, and what is done to a copy of one after it was changed.

    Args:
        change: Damages or crafts an index.
        is_sealed: Whether all checksums fit after the change, so that it need not be noticed.
        folder: The place of the indexes.
        is_compiled: Whether kernels are compiled, however small the work is.
    """
    words = Random(1).choices(
        ["school", "uniform", "tenure", "teacher", "zoo", "tea", "milk", "why"], k=900
    )
    for part in range(MAX_SEGMENTS):
        rows = [{"id": f"d{part}-{n}", "text": " ".join(words[n : n + 30])} for n in range(40)]
        source = put(folder, f"{part}.jsonl", lines(*rows))
        _well("index", "add" if part else "build", source, "-o", folder / FULL)
    _well("index", "delete", "d0-1", "d3-5", "-o", folder / FULL)
    more = put(folder, "more.jsonl", lines({"id": "more", "text": "one more school"}))
    _well("run", TASK, "-i", SAMPLE, "-o", folder / "run", "--index", folder / OF_SAMPLE, "-k", 5)
    shutil.copytree(folder / FULL, folder / "expected")
    _well("index", "add", more, "-o", folder / "expected")
    if is_compiled:
        # a trial has no time to compile; and this process stays as it is
        forked(functools.partial(_compile, folder), folder / "errors")
    expected = functools.cache(lambda name: content_of(folder / name))

    def trial(seed: int, own: Path) -> None:
        rng = Random(seed)
        if is_compiled:
            announce_work(2 * NUMPY_SECONDS)
        name = rng.choice((FULL, FULL, OF_SAMPLE))
        place = own / "around" / "index"
        shutil.copytree(folder / name, place)
        (place.parent / "neighbour").write_text("x")
        told = change(place, rng)
        command("index", "info", place)
        command("search", "Should teachers get tenure?", "--index", place, "-k", 3)
        if not command("index", "verify", place).status and not is_sealed:
            _check_content(place, expected(name), f"verified after: {told}")
        if name == OF_SAMPLE:
            copy = own / "copy"
            command("run", TASK, "-i", SAMPLE, "-o", copy, "--index", place, "-k", 5)
        else:
            _check_adding(place, more, None if is_sealed else expected("expected"), told)
        if contents(place.parent).get("neighbour") != b"x":
            raise Lost(f"a file beside the index has changed after: {told}")

    return trial


def _compile(folder: Path) -> None:
    """Compile what the commands of a trial need."""
    announce_work(2 * NUMPY_SECONDS)
    for name in (FULL, OF_SAMPLE):
        _well("search", "Should teachers get tenure?", "--index", folder / name, "-k", 3)
    shutil.copytree(folder / FULL, folder / "compiled")
    more = folder / "more.jsonl"
    _well("index", "add", more, "-o", folder / "compiled")
    out = folder / "compiled run"
    _well("run", TASK, "-i", SAMPLE, "-o", out, "--index", folder / OF_SAMPLE, "-k", 5)


def _well(*arguments: object) -> None:
    done = command(*arguments)
    if done.status:
        raise AssertionError(f"{arguments}: {done.error}")


def _check_adding(place: Path, more: Path, after: Content | None, told: str) -> None:
    """Add, which merges: done as it should be, or refused with everything as it was.

    Args:
        place: The index.
        more: What is added.
        after: The content of the index then, None where it may be any.
        told: What was done to the index.
    """
    before = contents(place)
    done = command("index", "add", more, "-o", place)
    if done.status:
        if contents(place) != before:
            raise Lost(f"adding was refused, and has changed files, after: {told}")
        return
    if after is None:
        return
    try:
        verify_index(place)
    except SicetnonError:
        return
    _check_content(place, after, f"added to and verified after: {told}")


def _check_content(place: Path, content: Content, told: str) -> None:
    try:
        found = content_of(place)
    except SicetnonError as error:
        raise Lost(f"not readable ({error}), but {told}") from None
    if found != content:
        raise Lost(f"another content, but {told}")
