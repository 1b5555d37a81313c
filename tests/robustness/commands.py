"""Running commands in this process, and holding their answers to what commands promise."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import NamedTuple

from sicetnon import cli
from sicetnon.errors import SicetnonError
from sicetnon.text.unicode import one_line

LONGEST_MESSAGE = 4000


class Done(NamedTuple):
    """The result of a command.

    Attributes:
        status: Its exit status.
        error: What it complained of.
    """

    status: int
    error: str


def command(*arguments: object) -> Done:
    """Run a command. Its errors that are no single line are raised."""
    out, err = _stream(), _stream()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = cli.main([str(argument) for argument in arguments])
        except SystemExit as stop:
            status = int(stop.code or 0)
    err.seek(0)
    error = err.read()
    if status not in (0, 1, 2) or cli.FAULT in error:
        raise AssertionError(f"{arguments}: exit status {status}: {error}")
    if status == 1:
        last = error.splitlines()[-1] if error else ""
        if not last.startswith("sicetnon: "):
            raise AssertionError(f"{arguments}: no clear line: {error!r}")
    return Done(status, error)


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), "utf-8", errors="replace", write_through=True)


def check_message(error: SicetnonError | OSError) -> None:
    """Refuse an error whose message is not one line of some length."""
    text = one_line(str(error))
    if "\n" in text or not text.strip() or len(text) > LONGEST_MESSAGE:
        raise AssertionError(f"no clear line: {text[:500]!r}") from error


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a folder but locks."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "lock"
    }
