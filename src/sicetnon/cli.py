"""The command line: arguments in, calls out. Commands are described in `sicetnon.commands`."""

from __future__ import annotations

import argparse
import errno
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from sicetnon._version import VERSION
from sicetnon.commands import indexes, judgments, learning, questions, runs, texts
from sicetnon.errors import SicetnonError

EPILOG = "Documentation: README.md and docs/. Every command explains itself with --help."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Returns:
        The exit status: 0, 1 for bad data, 2 for wrong usage, 130 when interrupted.
    """
    _ready_streams()
    options = parser().parse_args(arguments)
    try:
        options.command(options)
        sys.stdout.flush()
    except SicetnonError as error:
        return _fail(str(error), error.exit_status) if str(error) else error.exit_status
    except BrokenPipeError:
        # whoever read our output has seen enough; Python must not complain when it closes it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    except MemoryError:
        return _fail("out of memory; see --memory", 1)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        advice = "; free some space, nothing was changed" if error.errno == errno.ENOSPC else ""
        return _fail(f"{where}{error.strerror or error}{advice}", 1)
    return 0


def _ready_streams() -> None:
    """Let output go nowhere where it was closed, and show `?` for what its encoding lacks."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _fail(message: str, status: int) -> int:
    print(f"sicetnon: {_shown(message)}", file=sys.stderr)  # noqa: T201
    return status


def _shown(message: str) -> str:
    """A message as one line that cannot steer the terminal, whatever it quotes."""
    words = " ".join(message.split())
    return "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in words
    )


def parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    root = argparse.ArgumentParser(
        prog="sicetnon",
        description="Argument retrieval: strong arguments for and against, offline.",
        epilog=EPILOG,
    )
    root.add_argument("--version", action="version", version=f"sicetnon {VERSION}")
    commands = root.add_subparsers(title="commands", metavar="COMMAND", required=True)
    questions.add_search(commands)
    indexes.add_index(commands)
    runs.add_run(commands)
    questions.add_parse(commands)
    runs.add_fuse(commands)
    judgments.add_evaluate(commands)
    judgments.add_validate(commands)
    judgments.add_leaderboard(commands)
    texts.add_annotate(commands)
    learning.add_train(commands)
    return root
