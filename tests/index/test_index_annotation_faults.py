"""Annotations when things go wrong: an index is never lost, long work goes on."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sicetnon.errors import BrokenIndexError, SicetnonError
from sicetnon.index.annotations import Annotator
from sicetnon.index.manifest import annotation_file, read_manifest
from sicetnon.index.reader import IndexReader, verify_index
from sicetnon.index.writing import (
    BuildOptions,
    add_documents,
    annotate_index,
    build_index,
    delete_documents,
)
from support.annotation_cases import (
    BOTH,
    EMBEDDING,
    MORE,
    OPTIONS,
    QUALITY,
    SMALL,
    annotator,
    check,
)
from support.index_cases import PORTER, check_tidy, compact_index, entries
from support.index_faults import at_moment, count_moments, die, environment, forked
from support.stand_ins import strengths

TESTS = Path(__file__).parents[1]
FILE = annotation_file("quality", QUALITY.entry)
ALL = {**SMALL, **MORE}


class Stop(Exception):
    """What a failing annotator raises."""


def failing(after: int, error: BaseException, read: list[str] | None = None) -> Annotator:
    """An annotator that raises an error after so many texts; what it reads goes on a list."""
    left = after
    texts_read = [] if read is None else read

    def compute(texts: Sequence[str]) -> NDArray[np.float64]:
        nonlocal left
        left -= len(texts)
        if left < 0:
            raise error
        texts_read.extend(texts)
        return strengths(texts)

    return annotator(compute=compute, batch_documents=2)


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """An index of two segments without annotations."""
    folder = tmp_path / "index"
    build_index(entries(SMALL), folder, BuildOptions(PORTER))
    add_documents(entries(MORE), folder, BuildOptions(PORTER))
    return folder


@pytest.fixture
def annotated(plain: Path) -> Path:
    """The same with annotations."""
    annotate_index(plain, BOTH)
    return plain


def unfinished(folder: Path) -> list[str]:
    """Files of annotations that do not count, and their notes."""
    counted = {f"{e.name}/{name}" for e in read_manifest(folder).segments for name in e.files}
    found = {str(path.relative_to(folder)) for path in folder.rglob("*annotation-*")}
    return sorted(found - counted)


# --- interruptions ---


@pytest.mark.parametrize("error", [KeyboardInterrupt(), Stop(), OSError(5, "broken")])
@pytest.mark.parametrize(("after", "done"), [(6, 4), (13, 12), (16, 14)])
def test_an_interrupted_annotation_goes_on_where_it_was(
    plain: Path, error: BaseException, after: int, done: int
) -> None:
    """A text is read for the form of all, in each of two segments; then two at a time."""
    with pytest.raises(type(error)):
        annotate_index(plain, [failing(after, error)])
    with IndexReader.open(plain) as index:
        assert index.annotation("quality") is None
        index.verify()
    assert unfinished(plain)
    read: list[str] = []
    annotate_index(plain, [failing(99, Stop(), read)])
    assert len([text for text in read if text != "a"]) == len(ALL) - done
    check(plain, ALL, QUALITY)


def test_what_was_interrupted_at_once_leaves_nothing(plain: Path) -> None:
    with pytest.raises(Stop):
        annotate_index(plain, [failing(1, Stop())])
    assert not unfinished(plain)
    check(plain, ALL)


def test_annotations_that_stand_at_different_places_go_on_together(plain: Path) -> None:
    with pytest.raises(Stop):
        annotate_index(plain, [failing(6, Stop())])
    annotate_index(plain, [annotator(), EMBEDDING])
    check(plain, ALL, *BOTH)


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: add_documents(entries({"n": ("new",)}), folder, BuildOptions(PORTER)),
        lambda folder: delete_documents(folder, ["d1", "d9"]),
        compact_index,
    ],
)
def test_an_index_may_change_meanwhile(plain: Path, change: Callable[[Path], Any]) -> None:
    with pytest.raises(Stop):
        annotate_index(plain, [failing(6, Stop())])
    change(plain)
    with IndexReader.open(plain) as index:
        ids = [i for i in (*ALL, "n") if index.number(i) is not None]
    annotate_index(plain, [QUALITY])
    check(plain, {i: {**ALL, "n": ("new",)}[i] for i in ids}, QUALITY)


def test_what_another_model_left_unfinished_is_removed(plain: Path) -> None:
    with pytest.raises(Stop):
        annotate_index(plain, [failing(6, Stop())])
    later = annotator(model="stand-in 2")
    annotate_index(plain, [later])
    assert not unfinished(plain)
    check(plain, ALL, later)


@pytest.mark.parametrize(
    "damage",
    [
        lambda file, note: file.write_bytes(b"x" + file.read_bytes()[1:]),
        lambda file, note: file.write_bytes(file.read_bytes()[:5]),
        lambda file, note: file.unlink(),
        lambda file, note: note.write_bytes(b""),
        lambda file, note: note.write_bytes(b'{"size": 8}'),
        lambda file, note: note.write_text('{"size": 0, "crc32": 0, "dtype": "float32"}'),
        lambda file, note: note.write_bytes(note.read_bytes().replace(b":4,", b":40,")),
    ],
)
def test_an_unfinished_file_that_is_damaged_is_made_anew(
    plain: Path, damage: Callable[[Path, Path], Any]
) -> None:
    with pytest.raises(Stop):
        annotate_index(plain, [failing(6, Stop())])
    file = plain / "segment-000001" / FILE
    note = file.with_name(f"{FILE}.unfinished")
    assert b'"items":4,' in note.read_bytes()
    damage(file, note)
    read: list[str] = []
    annotate_index(plain, [failing(99, Stop(), read)])
    assert len([text for text in read if text != "a"]) == len(ALL)
    check(plain, ALL, QUALITY)


def test_an_annotator_that_changes_its_mind(plain: Path) -> None:
    def compute(texts: Sequence[str]) -> NDArray[np.float64]:
        return np.ones((len(texts), len(texts)))

    with pytest.raises(SicetnonError, match=r"gave rows of shape \(2,\) .*, after .* \(1,\)"):
        annotate_index(plain, [annotator("embedding", compute=compute, batch_documents=2)])
    check(plain, ALL)


def test_an_addition_that_is_interrupted_adds_nothing(annotated: Path) -> None:
    added = {"n": ("new",), "o": ("newer",), "p": ("newest",)}
    for error in (Stop(), KeyboardInterrupt(), OSError(28, "full")):
        options = BuildOptions(PORTER, annotators=[failing(3, error), EMBEDDING])
        with pytest.raises(type(error)):
            add_documents(entries(added), annotated, options)
        check(annotated, ALL, *BOTH)


# --- kills ---


def renew(folder: Path) -> None:
    annotators = [annotator(model="stand-in 2", batch_documents=2), EMBEDDING]
    annotate_index(folder, annotators, save_seconds=0)


def add_more(folder: Path) -> None:
    add_documents(entries({"n": ("new",), "d1": ("anew",)}), folder, OPTIONS, replace=True)


CHANGES: dict[str, tuple[Callable[[Path], Any], dict[str, tuple[str, ...]]]] = {
    "annotate": (renew, ALL),
    "add": (add_more, {**ALL, "n": ("new",), "d1": ("anew",)}),
    "compact": (compact_index, ALL),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_kill_at_any_moment_leaves_the_old_index_or_the_new(
    annotated: Path, tmp_path: Path, name: str
) -> None:
    change, after = CHANGES[name]
    old = read_manifest(annotated)
    template = tmp_path / "template"
    shutil.copytree(annotated, template)
    moments = count_moments(partial(change, annotated), tmp_path)
    assert moments > 20
    done = []
    for moment in range(1, moments + 1, 9):
        shutil.rmtree(annotated)
        shutil.copytree(template, annotated)
        work = partial(at_moment, moment, die, partial(change, annotated))
        assert forked(work, tmp_path / "errors") == -signal.SIGKILL
        found = read_manifest(annotated)
        done.append(found != old)
        with IndexReader.open(annotated) as index:
            index.verify()
            assert set(index.manifest.annotations) == {"quality", "embedding"}
        change(annotated)
        wanted = [annotator(model="stand-in 2"), EMBEDDING] if change is renew else BOTH
        check(annotated, after, *wanted)
    assert done == sorted(done)


PROGRAM = """
import signal, sys
from itertools import count
from pathlib import Path
from sicetnon.index.writing import annotate_index
from support.annotation_cases import annotator
from support.stand_ins import strengths

batches = count(1)

def compute(texts):
    print(len(texts), flush=True)
    if next(batches) == 4:
        signal.pause()
    return strengths(texts)

annotators = [annotator(compute=compute, batch_documents=2)]
annotate_index(Path(sys.argv[1]), annotators, save_seconds=0)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_process_that_is_killed_in_the_middle(plain: Path, number: signal.Signals) -> None:
    paths = f"{environment()['PYTHONPATH']}:{TESTS}"
    running = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(plain)],
        env=environment(PYTHONPATH=paths),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert running.stdout is not None
    for _ in range(4):
        assert running.stdout.readline()
    running.send_signal(number)
    running.communicate()
    assert running.returncode != 0
    with IndexReader.open(plain) as index:
        assert index.annotation("quality") is None
        index.verify()
    read: list[str] = []
    annotate_index(plain, [failing(99, Stop(), read)])
    # the model was tried, two batches of two were kept, and the third was under way
    assert len([text for text in read if text != "a"]) == len(ALL) - 4
    check(plain, ALL, QUALITY)


# --- disks ---


def test_a_full_disk_is_known_before_anything_is_read(small_disk: Path) -> None:
    folder = small_disk / "index"
    many = {f"d{n}": (f"school {n}",) for n in range(2000)}
    build_index(entries(many), folder, BuildOptions(PORTER))
    filler = small_disk / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        while file.write(b"x" * 4096):
            pass
    read: list[str] = []
    with pytest.raises(OSError, match="No space left"):
        annotate_index(folder, [failing(9999, Stop(), read)])
    assert read == ["a"]
    check(folder, many)
    filler.unlink()
    annotate_index(folder, [QUALITY])
    check(folder, many, QUALITY)


def test_files_that_cannot_grow(plain: Path, tmp_path: Path) -> None:
    def work() -> None:
        sys.dont_write_bytecode = True  # Python would leave modules that are cut short
        resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))
        try:
            annotate_index(plain, BOTH)
        except OSError:
            os._exit(7)

    assert forked(work, tmp_path / "errors") == 7
    check(plain, ALL)


# --- damage, and others at work ---


@pytest.mark.parametrize("each", BOTH)
def test_damage_is_found(annotated: Path, each: Annotator) -> None:
    path = annotated / "segment-000001" / annotation_file(each.name, each.entry)
    data = path.read_bytes()
    for damaged in (data[:-1], data + b"x", b"", None):
        path.unlink()
        if damaged is not None:
            path.write_bytes(damaged)
        with pytest.raises(BrokenIndexError, match=f"^{path}: "):
            IndexReader.open(annotated)
    path.write_bytes(bytes([data[0] ^ 1]) + data[1:])
    for act in (IndexReader.open, verify_index):
        with pytest.raises(BrokenIndexError, match=f"^{path}: the ch"):
            act(annotated)
    path.write_bytes(data)
    check(annotated, ALL, *BOTH)


def test_readers_keep_the_annotations_that_they_opened(annotated: Path) -> None:
    with IndexReader.open(annotated) as index:
        annotation = index.annotation("embedding")
        before = np.asarray(annotation)
        renew(annotated)
        compact_index(annotated)
        shutil.rmtree(annotated)
        np.testing.assert_array_equal(np.asarray(annotation), before)


def test_a_second_writer_is_refused_while_a_model_reads(plain: Path) -> None:
    refused = []

    def compute(texts: Sequence[str]) -> NDArray[np.float64]:
        with pytest.raises(SicetnonError, match="another process is changing this index"):
            delete_documents(plain, ["d1"])
        with IndexReader.open(plain) as index:
            refused.append(index.document_count)
        return strengths(texts)

    annotate_index(plain, [annotator(compute=compute)])
    assert set(refused) == {len(ALL)}
    check_tidy(plain)
