"""Doing things to an index in processes that fail, and what is left of it."""

from __future__ import annotations

import faulthandler
import os
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import sicetnon
from sicetnon.index.writing import (
    BuildOptions,
    add_documents,
    build_index,
    delete_documents,
)
from support.index_cases import PORTER, Documents, compact_index, counted, entries, write_lines
from support.patience import HANGS

OLD: Documents = {f"old{n}": (f"schools of old, number {n}",) for n in range(30)}
NEW: Documents = {f"new{n}": (f"new teachers, year {n}",) for n in range(40)}
CHANGED: Documents = {"new": ("new teachers",), "old3": ("written anew",)}
OLD_CONTENT, NEW_CONTENT = counted(OLD, PORTER), counted(NEW, PORTER)
NOBODY = 65534
SOURCES = Path(sicetnon.__file__).parents[1]

MOMENTS = ("open", "os.", "shutil.", "fcntl.", "tempfile.")
Work = Callable[[], Any]
Change = Callable[[Path], Any]


def rebuild(folder: Path) -> None:
    build_index(entries(NEW), folder, BuildOptions(PORTER))


def replace_some(folder: Path) -> None:
    add_documents(entries(CHANGED), folder, BuildOptions(PORTER), replace=True)


def delete_some(folder: Path) -> None:
    delete_documents(folder, ["old1", "old2"])


CHANGES: dict[str, tuple[Change, Documents]] = {
    "build": (rebuild, NEW),
    "add": (replace_some, {**OLD, **CHANGED}),
    "delete": (delete_some, {i: t for i, t in OLD.items() if i not in ("old1", "old2")}),
    "compact": (compact_index, OLD),
}


def forked(work: Work, errors: Path) -> int:
    """Do something in a child process; its exit status, or the negative signal that ended it.

    Raises:
        AssertionError: The child does not end; the message shows where its threads are.
    """
    with tempfile.TemporaryFile("w+") as hung:
        child = os.fork()
        if child == 0:
            status = 99
            try:
                _leave_coverage()
                faulthandler.dump_traceback_later(HANGS, exit=True, file=hung)
                with errors.open("w") as sys.stderr, Path(os.devnull).open("w") as sys.stdout:
                    try:
                        status = work() or 0
                    except BaseException:
                        traceback.print_exc()
            finally:
                os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        hung.seek(0)
        where = hung.read()
    assert not where, where
    return status


def _leave_coverage() -> None:
    """Measure no coverage in this process, which would be lost at its end.

    coverage takes a lock as it traces; a signal may interrupt it there, and then no thread goes on.
    """
    sys.settrace(None)
    threading.settrace(None)


def told(errors: Path) -> str:
    """The one line that a failed command has to say."""
    text = errors.read_text()
    assert text.count("\n") == 1, text
    assert text.startswith("sicetnon: "), text
    return text


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "sicetnon", "index", *map(str, arguments)]


def environment(**changes: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(SOURCES), **changes}


def fails(*arguments: object, status: int = 1, **options: Any) -> str:
    """Run a command that has to fail, with one line; the line."""
    options.setdefault("env", environment())
    done = subprocess.run(command(*arguments), capture_output=True, text=True, **options)
    error: str = done.stderr
    assert (done.returncode, done.stdout, error.count("\n")) == (status, "", 1), done
    return error


def big_source(folder: Path, documents: int = 2000) -> Path:
    # no compression makes random letters much shorter; words that long are not indexed
    rng = Random(1)
    texts = (f"school {n} words {rng.randbytes(200).hex()} w{n}" for n in range(documents))
    return write_lines(
        folder / "big.jsonl", *({"id": f"b{n}", "text": t} for n, t in enumerate(texts))
    )


def at_moment(number: int, act: Callable[[], object], work: Work) -> int:
    """Do something, and something else before its n-th touch of the file system; all touches."""
    seen = 0

    def hook(event: str, _: object) -> None:
        nonlocal seen
        if event.startswith(MOMENTS):
            seen += 1
            if seen == number:
                act()

    sys.addaudithook(hook)
    work()
    return seen


def die() -> None:
    """End this process at once."""
    os.kill(os.getpid(), signal.SIGKILL)


def count_moments(work: Work, tmp_path: Path) -> int:
    """How often something touches the file system, found in a child process."""

    def count() -> None:
        (tmp_path / "count").write_text(str(at_moment(0, die, work)))

    assert forked(count, tmp_path / "errors") == 0, (tmp_path / "errors").read_text()
    return int((tmp_path / "count").read_text())
