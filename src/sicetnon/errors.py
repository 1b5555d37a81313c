"""Errors that a user can act on. Each is one line of plain English, never a stack trace."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

LONGEST_MESSAGE = 1000


def cut(message: str, most: int = LONGEST_MESSAGE) -> str:
    """A message of at most 1,000 characters: its begin and its end, which holds the advice."""
    if len(message) <= most:
        return message
    end = most * 3 // 10
    return f"{message[: most - end - 1]}…{message[-end:]}"


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun: `1 topic`, `2,000 topics`.

    The plural is `many`, or the singular and an s.
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


class SicetnonError(Exception):
    """A call, a command or an input cannot be used; the message says why and what to do."""

    exit_status = 1

    def __str__(self) -> str:
        return cut(super().__str__())


class EndedError(SicetnonError):
    """Work was ended before it was done; its exit status says how."""

    def __init__(self, message: str, exit_status: int):
        super().__init__(message)
        self.exit_status = exit_status


class UsageError(SicetnonError):
    """The command or call itself is wrong (exit status 2)."""

    exit_status = 2


class DataError(SicetnonError):
    """A file holds something that it must not hold.

    Args:
        message: What was found, what was expected, and what to do.
        file: The file, where one is to blame.
        line: The line in it, counted from 1.
    """

    def __init__(self, message: str, file: Path | str | None = None, line: int | None = None):
        place = "" if file is None else f"{file}: " if line is None else f"{file}, line {line}: "
        super().__init__(place + message)
        self.message, self.file, self.line = message, file, line


class BrokenIndexError(SicetnonError):
    """An index is missing, unfinished, damaged, or made with another analysis."""


class ServiceError(SicetnonError):
    """A service on the network gave no usable answer."""


class StoppedError(SicetnonError):
    """Work was stopped: its time is up, or nobody waits for it any more."""


class TerminatedError(KeyboardInterrupt):
    """The process was asked to end (SIGTERM). What cleans up after Ctrl-C cleans up after this."""

    exit_status = 143


class MissingExtraError(SicetnonError):
    """An optional part is not installed.

    Args:
        what: What was asked for, as the subject of the sentence.
        extra: The name of the extra that brings it.
    """

    def __init__(self, what: str, extra: str):
        install = f'pip install "sicetnon[{extra}]" (in a checkout: ".[{extra}]")'
        super().__init__(f"{what} needs an extra: {install}")


@contextlib.contextmanager
def needing(what: str, extra: str) -> Iterator[None]:
    """Import the libraries of an extra, or raise a `MissingExtraError`."""
    try:
        yield
    except ImportError:
        raise MissingExtraError(what, extra) from None
