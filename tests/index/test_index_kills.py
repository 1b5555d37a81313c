"""Kills and interrupts: an index is as it was, or as it should be."""

from __future__ import annotations

import multiprocessing
import os
import random
import re
import shutil
import signal
import subprocess
import time
from functools import partial
from pathlib import Path

import pytest

from sicetnon import cli
from sicetnon.errors import BrokenIndexError
from sicetnon.index.reader import IndexReader
from sicetnon.index.writing import BuildOptions, build_index
from support.index_cases import (
    PORTER,
    Documents,
    check_tidy,
    content_of,
    counted,
    entries,
    write_lines,
)
from support.index_faults import (
    CHANGES,
    NEW,
    NEW_CONTENT,
    OLD,
    OLD_CONTENT,
    at_moment,
    big_source,
    command,
    count_moments,
    die,
    environment,
    forked,
    rebuild,
    replace_some,
    told,
)
from support.patience import HANGS


def check_whole(folder: Path, after: Documents) -> bool:
    """An index is as it was before a change, or as it should be after; whether the latter."""
    found = content_of(folder)
    assert found in (OLD_CONTENT, counted(after, PORTER))
    return found != OLD_CONTENT


@pytest.mark.parametrize("name", CHANGES)
def test_a_kill_at_any_moment_leaves_the_old_index_or_the_new(
    template: Path, tmp_path: Path, name: str
) -> None:
    change, after = CHANGES[name]
    folder = tmp_path / "index"
    for _ in range(2):  # the first may compile modules and kernels, and write them
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(template, folder)
        moments = count_moments(partial(change, folder), tmp_path)
    assert moments > 20
    done = []
    for moment in range(1, moments + 1, 5):
        shutil.rmtree(folder)
        shutil.copytree(template, folder)
        work = partial(at_moment, moment, die, partial(change, folder))
        assert forked(work, tmp_path / "errors") == -signal.SIGKILL
        done.append(check_whole(folder, after))
        if moment % 2 == 0:
            replace_some(folder)
        else:
            rebuild(folder)
            assert content_of(folder) == NEW_CONTENT
        check_tidy(folder)
    assert done == sorted(done)
    assert any(done) or name == "compact"


def test_a_kill_at_any_moment_of_a_first_build_leaves_none_or_all(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "index"
    moments = count_moments(partial(rebuild, folder), tmp_path)
    finished = []
    for moment in range(1, moments + 1, 5):
        shutil.rmtree(folder.parent, ignore_errors=True)
        work = partial(at_moment, moment, die, partial(rebuild, folder))
        assert forked(work, tmp_path / "errors") == -signal.SIGKILL
        try:
            assert content_of(folder) == NEW_CONTENT
            finished.append(True)
        except BrokenIndexError as error:
            assert re.search("no such folder|holds no finished index", str(error))  # noqa: PT017
            finished.append(False)
        build_index(entries(OLD), folder, BuildOptions(PORTER))
        check_tidy(folder)
    assert finished == sorted(finished)
    assert {False, True} == set(finished)


def test_kills_at_random_times(template: Path, tmp_path: Path) -> None:
    chance = random.Random(7)
    folder = tmp_path / "index"
    shutil.copytree(template, folder)
    source = big_source(tmp_path)
    killed = 0
    for _ in range(12):
        child = multiprocessing.get_context("fork").Process(
            target=cli.main, args=(["index", "build", str(source), "-o", str(folder)],)
        )
        child.start()
        time.sleep(chance.uniform(0, 0.15))
        child.kill()
        child.join()
        killed += child.exitcode == -signal.SIGKILL
        with IndexReader.open(folder) as index:
            index.verify()
            assert index.document_count in (len(OLD), 2000)
    assert killed
    rebuild(folder)
    check_tidy(folder)
    assert content_of(folder) == NEW_CONTENT


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_command_killed_or_interrupted(old: Path, tmp_path: Path, number: signal.Signals) -> None:
    source = big_source(tmp_path, 40_000)
    running = subprocess.Popen(
        command("build", source, "-o", old), env=environment(), stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + HANGS
    while not list(old.glob("building-*")) and time.monotonic() < deadline:
        assert running.poll() is None
        time.sleep(0.002)
    running.send_signal(number)
    error = running.communicate()[1]
    # the first build on a machine also says that it compiles
    if number == signal.SIGKILL:
        assert running.returncode == -number
    else:
        assert running.returncode == 130
        assert error.endswith("sicetnon: interrupted\n")
    assert content_of(old) == OLD_CONTENT
    if number == signal.SIGKILL:
        rebuild(old)
    check_tidy(old)


def test_an_interrupt_at_any_moment_is_clean(template: Path, tmp_path: Path) -> None:
    folder, errors = tmp_path / "index", tmp_path / "errors"
    source = write_lines(tmp_path / "new.jsonl", *({"id": i, "text": t} for i, (t,) in NEW.items()))
    arguments = ["index", "build", str(source), "-o", str(folder)]
    shutil.copytree(template, folder)
    moments = count_moments(partial(cli.main, arguments), tmp_path)

    def interrupted(moment: int) -> int:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        status = 0

        def work() -> None:
            nonlocal status
            status = cli.main(arguments)

        at_moment(moment, partial(os.kill, os.getpid(), signal.SIGINT), work)
        return status

    for moment in range(1, moments + 1, 5):
        shutil.rmtree(folder)
        shutil.copytree(template, folder)
        status = forked(partial(interrupted, moment), errors)
        assert status in (0, 130), errors.read_text()
        if status:
            assert told(errors) == "sicetnon: interrupted\n"
        check_whole(folder, NEW)
        rebuild(folder)
        check_tidy(folder)
