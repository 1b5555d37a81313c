"""The process that parses HTML: a page that takes too much time or memory ends it, and no more.

The process is started with the first page, and again after a page has ended it. Requests and
answers are MessagePack behind their length.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import subprocess
import sys
import threading
import weakref
from typing import IO

import msgspec

from sicetnon.errors import SicetnonError
from sicetnon.formats.html import Html, Parsed, parse
from sicetnon.formats.limits import Limits
from sicetnon.platforms import is_cpu_limit, limit_cpu, limit_memory

_LENGTH_BYTES = 8
# the search path of modules comes as arguments, since a program may have changed it
_PROGRAM = (
    "import sys; sys.path[:] = sys.argv[3:]; "
    "from sicetnon.formats.html_process import serve; serve(int(sys.argv[1]), int(sys.argv[2]))"
)


def parse_guarded(html: Html, limits: Limits) -> Parsed:
    """Parse HTML within limits on time and memory.

    Raises:
        ValueError: It takes more than the limits to parse.
        SicetnonError: The process cannot be started.
    """
    # a process that has forked starts its own
    return _parser(limits, os.getpid()).parse(html)


@functools.cache
def _parser(limits: Limits, process_id: int) -> _HtmlProcess:
    return _HtmlProcess(limits)


class _HtmlProcess:
    """A process that parses HTML, for one page after the other."""

    def __init__(self, limits: Limits):
        self._limits = limits
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def parse(self, html: Html) -> Parsed:
        """As `parse_guarded`."""
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._process = _start(self._limits)
                self._stop = weakref.finalize(self, _stop, self._process)
            answer = None
            try:
                answer = _exchange(self._process, html)
            finally:
                # an answer that comes after Ctrl-C would be taken for the next one
                status = self._stop() if answer is None else 0
            if answer is None:
                raise ValueError(f"it {self._limits.beyond_page(is_cpu_limit(status or 0))}")
        return answer


def _start(limits: Limits) -> subprocess.Popen[bytes]:
    arguments = [str(limits.page_seconds), str(limits.page_memory), *sys.path]
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    if _receive(process.stdout) is None:
        _stop(process)
        raise SicetnonError(
            "the process that parses HTML does not start; check the memory that is free"
        )
    return process


def _stop(process: subprocess.Popen[bytes]) -> int:
    process.kill()
    with process, contextlib.suppress(BrokenPipeError):
        return process.wait()
    return process.returncode


def _exchange(process: subprocess.Popen[bytes], html: Html) -> Parsed | None:
    """The answer of the process; None where the page has ended it."""
    with contextlib.suppress(BrokenPipeError):
        _send(process.stdin, msgspec.msgpack.encode(html))
        data = _receive(process.stdout)
        return None if data is None else msgspec.msgpack.decode(data, type=Parsed)
    return None


def _send(pipe: IO[bytes] | None, data: bytes) -> None:
    assert pipe is not None
    pipe.write(len(data).to_bytes(_LENGTH_BYTES) + data)
    pipe.flush()


def _receive(pipe: IO[bytes] | None) -> bytes | None:
    """The next message; None where the other side has ended."""
    assert pipe is not None
    head = pipe.read(_LENGTH_BYTES)
    size = int.from_bytes(head)
    data = pipe.read(size) if len(head) == _LENGTH_BYTES else b""
    return data if head and len(data) == size else None


def serve(seconds: int, memory: int) -> None:
    """Parse what comes through standard input, until it ends.

    Args:
        seconds: Seconds of processor time for one page.
        memory: Bytes of memory for all.
    """
    # Ctrl-C is for the program that started this one
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limit_memory(memory)
    _send(sys.stdout.buffer, b"ready")
    while (data := _receive(sys.stdin.buffer)) is not None:
        limit_cpu(seconds)
        # any HTML has a tree: where the parser fails, or there is no memory, the process ends
        parsed = parse(msgspec.msgpack.decode(data, type=Html))
        limit_cpu(0)
        _send(sys.stdout.buffer, msgspec.msgpack.encode(parsed))
