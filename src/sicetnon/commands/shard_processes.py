"""The processes of `index build --shards`: each builds a shard as the command line does."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from sicetnon.errors import EndedError

_WAITING_SECONDS = 0.05
# by `-m` a module of the working directory would come first; a program may have changed the path
_PROGRAM = (
    "import sys; end = 2 + int(sys.argv[1]); sys.path[:] = sys.argv[2:end]; "
    "from sicetnon.commands.shard_processes import end_with_parent; end_with_parent(); "
    "from sicetnon.cli import main, tune_process; tune_process(); sys.exit(main(sys.argv[end:]))"
)


def build_in_processes(options: argparse.Namespace) -> None:
    """Build each shard in a process of its own, and make one index of them.

    Raises:
        EndedError: A process has failed; the others are ended, and nothing has changed.
    """
    from sicetnon.index.shards import build_shards

    command = [sys.executable, "-c", _PROGRAM, str(len(sys.path)), *sys.path, "index", "build"]
    same = _same(options)

    def build(folders: Sequence[Path]) -> None:
        with ExitStack() as started:
            processes = [
                started.enter_context(
                    _ShardProcess(
                        [*command, f"--shard={n}/{len(folders)}", f"--output={folder}", *same]
                    )
                )
                for n, folder in enumerate(folders, start=1)
            ]
            while processes:
                time.sleep(_WAITING_SECONDS)
                processes = [process for process in processes if process.is_running()]

    build_shards(options.output, options.shards, build, link=not options.merge)


def end_with_parent() -> None:
    """Let this process end when the other end of its standard input is closed.

    The system closes that even where the parent was killed and could not end this process.
    """

    def wait() -> None:
        os.read(sys.stdin.fileno(), 1)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()


def _same(options: argparse.Namespace) -> list[str]:
    """The options and sources that each process is given as they are."""
    given = {
        "--analysis": options.analysis,
        "--fields": ",".join(options.fields),
        "--id-field": options.id_field,
        "--stance-field": options.stance_field,
        "--claim-field": options.claim_field,
        "--page-ranks": options.page_ranks,
        "--spam-ranks": options.spam_ranks,
        "--memory": max(options.memory // options.shards, 1),
    }
    skip = ["--skip-invalid"] if options.skip_invalid else []
    return [
        *(f"{name}={value}" for name, value in given.items() if value),
        *skip,
        *(["--quiet"] if options.quiet else []),
        "--",
        *map(str, options.sources),
    ]


class _ShardProcess:
    """A process that builds a shard. It is ended with the block that it is the context of."""

    def __init__(self, command: Sequence[str]):
        self._told: IO[str] = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self._told,
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        )

    def __enter__(self) -> _ShardProcess:
        return self

    def __exit__(self, *_: object) -> None:
        with self._process:
            self._process.terminate()
        self._told.close()

    def is_running(self) -> bool:
        """Whether the process still runs; its messages are printed when it has ended.

        Raises:
            EndedError: It has failed.
        """
        status = self._process.poll()
        if status is None:
            return True
        self._told.seek(0)
        lines = self._told.read().splitlines()
        failure = lines.pop() if status and lines else ""
        for line in lines:
            print(line, file=sys.stderr)  # noqa: T201
        if status:
            message = failure.removeprefix("sicetnon: ") or f"ended with {status}"
            raise EndedError(message, status if status > 0 else 1)
        return False
