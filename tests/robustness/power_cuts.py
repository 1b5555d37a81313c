"""Power cuts: what a command has acknowledged is there, whole, in every state that may be left."""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from random import Random

from robustness.commands import command
from robustness.system_calls import Acknowledgement, Operation, Recording, record
from robustness.trials import Lost, Trial
from sicetnon.errors import BrokenIndexError
from sicetnon.index.reader import verify_index
from support.command_line import ROOT, TASK
from support.corpus_files import lines, put
from support.index_cases import Content, content_of

EXAMPLE = ROOT / "examples" / "touche-2020-task-1"
INDEX = Path("new", "deep", "index")
OUTPUTS = ("new/out/run.txt", "new/fused.txt", "new/pages/index.html", "new/index/manifest.json")
# no child process takes part, whose files the recording would mistake for the program's
PROGRAM = """
import os, sys
from sicetnon import cli
os.environ["SICETNON_COMMIT"] = "0" * 40
mark = open(sys.argv[1], "ab", buffering=0)
for line in sys.argv[2:]:
    name, *arguments = line.split("\\n")
    if cli.main(arguments):
        sys.exit(f"{name} has failed")
    mark.write(name.encode())
"""
SYSTEMATIC = ("none", "all", "entries", "data")
"""The pending operations on the disk, in the first states of each moment."""


def prepare(folder: Path) -> Trial:
    """Record a first index, its changes, a run, a fusion and a report."""
    recording = _recorded(folder)
    marks = [n for n, event in enumerate(recording.events) if isinstance(event, Acknowledgement)]
    contents: list[Content | None] = [None]
    outputs: list[dict[str, bytes]] = [{}]
    for number, end in enumerate(marks):
        place = folder / f"after {number}"
        place.mkdir()
        recording.rebuild(place, end, {})
        contents.append(content_of(place / INDEX))
        outputs.append(_outputs(place))
    if _outputs(folder / "place") != outputs[-1] or len(outputs[-1]) < 3:
        raise AssertionError("the recording is not what happened")
    pending = functools.cache(recording.pending)

    def trial(seed: int, own: Path) -> None:
        end, parts = _state(recording, seed, pending)
        done = sum(mark < end for mark in marks)
        recording.rebuild(own, end, parts)
        _check_outputs(_outputs(own), outputs, done)
        _check_index(own / INDEX, contents[done : done + 2])
        if seed % 7 == 0 and done:
            # work goes on
            added = command("index", "add", folder / "last.jsonl", "-o", own / INDEX)
            if added.status:
                raise AssertionError(added.error)
            verify_index(own / INDEX)

    return trial


def _recorded(folder: Path) -> Recording:
    place, mark = folder / "place", folder / "mark"
    place.mkdir()
    words = ["school", "uniform", "tenure", "teacher", "zoo", "tea", "milk", "why"]
    rows = [{"id": f"d{n}", "text": " ".join(words[n % 5 :])} for n in range(12)]
    first = put(folder, "first.jsonl", lines(*rows))
    more = put(folder, "more.jsonl", lines({"id": "more", "text": "a school"}))
    put(folder, "last.jsonl", lines({"id": "last", "text": "a zoo"}))
    index, out = place / INDEX, place / "new" / "out"
    task = ("run", TASK, "-i", EXAMPLE / "input", "-o", out, "-k", 3)
    steps = {
        "build": ("index", "build", first, "-o", index),
        "add": ("index", "add", more, "-o", index),
        "delete": ("index", "delete", "d1", "d2", "-o", index),
        "run": (*task, "--index", folder / "sample"),
        "fuse": ("fuse", out / "run.txt", out / "run.txt", "-o", place / "new" / "fused.txt"),
        "report": (
            "evaluate", out / "run.txt", "--qrels", EXAMPLE / "relevance.qrels",
            "--report", place / "new" / "pages",
        ),
        "replace": ("index", "build", more, "-o", index),
    }  # fmt: skip
    if command(
        "run", *task[1:3], EXAMPLE / "input", "-o", folder / "x", "--index", folder / "sample"
    ).status:
        raise AssertionError("the sample cannot be run")
    told = ["\n".join([name, *map(str, step)]) for name, step in steps.items()]
    program = [sys.executable, "-c", PROGRAM, str(mark), *told]
    return record(program, place, folder / "calls", mark)


def _outputs(place: Path) -> dict[str, bytes]:
    return {name: (place / name).read_bytes() for name in OUTPUTS if (place / name).is_file()}


def _state(recording: Recording, seed: int, pending: object) -> tuple[int, dict[int, float]]:
    """A moment, and the parts of the pending operations that have reached the disk."""
    moments = len(recording.events) + 1
    end, kind = seed % moments, seed // moments
    places = recording.pending(end)
    if kind < len(SYSTEMATIC):
        kept = SYSTEMATIC[kind]
        return end, {
            place: float(
                kept == "all"
                or ((kept == "entries") == recording.events[place].is_entry and kept != "none")  # type: ignore[union-attr]
            )
            for place in places
        }
    rng = Random(seed)
    chances = rng.choice(((0, 1), (0, 0.5, 1), (0, 0, 0, 1), (0, 1, 1, 1)))
    parts = {place: float(rng.choice(chances)) for place in places}
    for place in places:
        event = recording.events[place]
        if isinstance(event, Operation) and event.is_entry:
            parts[place] = float(parts[place] > 0)
    return end, parts


def _check_outputs(found: dict[str, bytes], outputs: list[dict[str, bytes]], done: int) -> None:
    for name in OUTPUTS:
        expected = outputs[done].get(name)
        allowed = [expected, *(each.get(name) for each in outputs[done : done + 2])]
        if found.get(name) not in allowed:
            raise Lost(f"{name} is not what was acknowledged after {done} commands")


def _check_index(place: Path, allowed: list[Content | None]) -> None:
    try:
        found = content_of(place)
        verify_index(place)
    except BrokenIndexError as error:
        if None not in allowed:
            raise Lost(f"an index is broken: {error}") from None
        return
    if found not in allowed:
        raise Lost(f"an index is not what was acknowledged: {place}")
