# PYTHON_ARGCOMPLETE_OK
"""The command line: it names the commands, and loads the module of the one that is called."""

from __future__ import annotations

import argparse
import atexit
import contextlib
import difflib
import errno
import gc
import io
import os
import re
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from sicetnon._version import VERSION
from sicetnon.commands import add_output_options
from sicetnon.errors import SicetnonError, TerminatedError
from sicetnon.text.unicode import one_line, printable

COMMANDS = {
    "search": "answer a question in the terminal",
    "brief": "sum up a question on one page: the strongest reasons for and against",
    "reply": "find the strongest arguments against a text",
    "serve": "open pages for a browser, and an HTTP API",
    "mcp": "answer assistants (Model Context Protocol)",
    "index": "build an index, change it, look at it",
    "run": "do a task: an input directory in, run.txt out",
    "parse": "parse a question: its kind, objects and aspects, as JSON",
    "fuse": "make one run of several",
    "evaluate": "score runs",
    "validate": "check a run by the rules of its task",
    "leaderboard": "show the published scores of a task, and where your runs stand",
    "judge": "make pools of runs, and judgments of votes",
    "annotate": "label texts: quality, argumentativeness, stance, comparison, side",
    "train": "train the learned parts of the systems named uva",
}
"""Each is a module of `sicetnon.commands` with a function `add_arguments(parser)`."""

FAULT = "a fault of sicetnon itself"
"""Begins the message for an error that is not the user's."""
_EPILOG = """\
Every command shows an example with --help. Documentation: README.md and docs/.
Completion in bash and zsh: eval "$(register-python-argcomplete sicetnon)"
"""
_INVALID_CHOICE = re.compile(r"[^']*invalid choice: '(.*)' \(choose from (.*)\)$", re.DOTALL)
_COUNTED_PACKAGES = ("numpy", "numba", "PyStemmer", "msgspec", "onnxruntime")


# modules make some 60,000 objects that stay: to look for garbage among them takes 4% of a search
_OBJECTS_BEFORE_COLLECTION = 100_000
# a thread of a build leaves the interpreter's lock for each compiled call, and would wait 5 ms each
# time to get it back
_SWITCH_SECONDS = 2e-4
# numpy takes arrays of 4 MB and more in pages of 2 MB: to find those took a build a twelfth of its
# time where memory was fragmented
ENVIRONMENT: Mapping[str, str] = {"NUMPY_MADVISE_HUGEPAGE": "0"}
"""The environment variables that this program sets, unless the user has set them."""


def program() -> NoReturn:
    """Run the command of this process, and end the process.

    Python would free all objects one by one, which takes an eighth of a search; the operating
    system frees them at once. Files are closed by then, and what is registered to run at the end
    runs. Where other threads are left, or a profiler, Python ends as always.
    """
    tune_process()
    status = main()
    if threading.active_count() == 1 and not _is_profiled():
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(status)
    sys.exit(status)


def tune_process() -> None:
    """Set the process for this program, before numpy is imported: few searches for garbage, short
    waits of threads, small pages.

    These settings hold for the whole process, so that the library leaves them alone.
    """
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    gc.set_threshold(_OBJECTS_BEFORE_COLLECTION)
    sys.setswitchinterval(_SWITCH_SECONDS)


def _is_profiled() -> bool:
    """Whether a profiler runs, which writes its file when the process ends in the usual way.

    From Python 3.12 on it may be one of `sys.monitoring`.
    """
    monitoring: Any = getattr(sys, "monitoring", None)
    if monitoring is not None and monitoring.get_tool(monitoring.PROFILER_ID) is not None:
        return True
    return sys.getprofile() is not None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Returns:
        The exit status: 0, 1 for bad data, 2 for wrong usage, 130 when interrupted, 143 when
        terminated.
    """
    _ready_streams()
    words = list(sys.argv[1:] if arguments is None else arguments) or _words_for_tira()
    if "_ARGCOMPLETE" in os.environ:
        import argcomplete

        argcomplete.autocomplete(parser())
    options: argparse.Namespace | None = None
    try:
        command = next((word for word in words if not word.startswith("-")), "")
        options = parser(command).parse_args(words)
        with _shown_log(options.quiet, options.verbose), _ended_by_sigterm():
            if not options.quiet:
                _warn_of_cache()
            options.command(options)
        sys.stdout.flush()
    except SicetnonError as error:
        return _fail(str(error), error.exit_status) if str(error) else error.exit_status
    except BrokenPipeError:
        _drop_output()  # whoever read it has seen enough
    except TerminatedError as stop:
        return _fail("terminated", stop.exit_status)
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    except Exception as error:
        return _fail(_described(error, stack=options is not None and options.verbose), 1)
    return 0


def _words_for_tira() -> list[str]:
    """The command of an image that TIRA runs by its entry point: the variables name directories."""
    pairs = (("TIRA_INPUT_DATASET", "TIRA_OUTPUT_DIR"), ("inputDataset", "outputDir"))
    if not any(all(map(os.environ.get, pair)) for pair in pairs):
        return []
    return ["run", os.environ.get("SICETNON_TASK", "touche-2020-task-1")]


def parser(wanted: str | None = None) -> argparse.ArgumentParser:
    """The parser of the command line.

    Args:
        wanted: The command whose arguments are needed, since loading all takes longer; all when
            left out.
    """
    root = _Parser(
        prog="sicetnon",
        description="Argument retrieval: strong arguments for and against, offline.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    root.add_argument(
        "--version", action=_ShowVersions, nargs=0, help="show versions that matter for scores"
    )
    root.set_defaults(quiet=False, verbose=0)
    add_output_options(root)
    commands = root.add_subparsers(
        title="commands", metavar="COMMAND", required=True, parser_class=_CommandParser
    )
    for name, line in COMMANDS.items():
        command = commands.add_parser(name, help=line)
        if wanted in (None, name):
            import_module(f"sicetnon.commands.{name}").add_arguments(command)
    return root


class _Parser(argparse.ArgumentParser):
    """A parser that quotes wrong arguments without letting them steer the terminal.

    It knows no option by its first letters: `--field` given twice was read as one `--fields`.
    """

    def __init__(self, **settings: Any):
        super().__init__(allow_abbrev=False, **settings)

    def print_help(self, file: Any = None) -> None:
        """Print the help; argparse would pass over a full disk."""
        print(self.format_help(), end="", file=file, flush=True)

    def error(self, message: str) -> NoReturn:
        """Print usage and message, and leave with status 2."""
        if found := _INVALID_CHOICE.match(message):
            message += _nearest(found[1], re.findall(r"'([^']+)'", found[2]))
        elif message.endswith(("required: COMMAND", "required: VERB")):
            message += f" ({self.prog} --help lists them)"
        super().error(one_line(message))


class _CommandParser(_Parser):
    """The parser of a command, which prints its own usage beside an error."""

    _words: Sequence[str] = ()

    def parse_known_args(  # type: ignore[override]  # the overloads of typeshed
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse arguments; argparse would leave those that are not known to the parser above."""
        self._words = args or ()
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:
            names = [name for action in self._actions for name in action.option_strings]
            near = _nearest(unknown[0].partition("=")[0], names)
            self.error(f"unrecognized arguments: {' '.join(unknown)}{near}")
        return options, unknown

    def error(self, message: str) -> NoReturn:
        """Print usage and message, and leave with status 2."""
        several = [each.option_strings[-1] for each in self._actions if _takes_several(each)]
        greedy = [name for name in several if name in self._words]
        if greedy and "arguments are required" in message:
            message += f" (an option such as {greedy[0]} takes all words after it: name it last)"
        super().error(message)


def _nearest(word: str, names: Sequence[str]) -> str:
    """The question whether another name was meant; empty where none is like the word."""
    near = difflib.get_close_matches(word, names, 1, cutoff=0.75)
    return f"; did you mean {near[0]}?" if near else ""


def _takes_several(action: argparse.Action) -> bool:
    return bool(action.option_strings) and action.nargs == "+"


class _ShowVersions(argparse.Action):
    """Prints this package's version and those of what scores may depend on."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import PackageNotFoundError, version

        lines = [f"sicetnon {VERSION}", f"Python {sys.version.split()[0]}"]
        for name in _COUNTED_PACKAGES:
            try:
                lines.append(f"{name} {version(name)}")
            except PackageNotFoundError:
                lines.append(f"{name} is not installed")
        print("\n".join(lines), flush=True)  # noqa: T201
        parser.exit()


@contextlib.contextmanager
def _shown_log(quiet: bool, verbosity: int) -> Iterator[None]:
    """Show the log where it is asked for; why a first call takes seconds to whoever waits."""
    if quiet or not (verbosity or sys.stderr.isatty()):
        yield
        return
    from sicetnon.terminal.console import shown_log

    with shown_log("sicetnon" if verbosity else "sicetnon.jit", verbosity or 1):
        yield


def _warn_of_cache() -> None:
    """Say once where the user's choice of a cache cannot be kept to."""
    if "SICETNON_CACHE" in os.environ:
        from sicetnon.operating_system import cache_warning

        if found := cache_warning():
            print(f"sicetnon: warning: {one_line(found)}", file=sys.stderr)  # noqa: T201


@contextlib.contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM end a command as Ctrl-C does: cleaned up, with nothing half-written."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return

    def terminate(*_: object) -> NoReturn:
        # a second one must not stop the cleaning up
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise TerminatedError

    signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _ready_streams() -> None:
    """Let output go nowhere where it was closed, and show `?` for what its encoding lacks."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _described(error: Exception, stack: bool) -> str:
    """An error that no check foresaw as one line; its stack is printed for a fault of ours."""
    if isinstance(error, MemoryError):
        return "out of memory; `index build` takes less with a lower --memory"
    if isinstance(error, OSError):
        return _described_system_error(error)
    if stack:
        print(printable(traceback.format_exc()), file=sys.stderr)  # noqa: T201
    place = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"{FAULT}: {type(error).__name__} in {Path(place.filename).name}, line {place.lineno}: "
        f"{error}; please report it with the command (--verbose shows the stack)"
    )


def _described_system_error(error: OSError) -> str:
    """An error of the operating system as one line: what was found, and what to do."""
    where = f"{error.filename}: " if error.filename else ""
    advice = {
        errno.ENOSPC: "; free some space, nothing was changed",
        errno.EFBIG: "; allow larger files (ulimit -f), nothing was changed",
        errno.EEXIST: "; expected a folder, or a path where one can be made; name another",
        errno.ENOTDIR: "; a part of this path is a file, expected a folder; name another path",
    }.get(error.errno or 0, "")
    return f"{where}{error.strerror or error}{advice}"


def _fail(message: str, status: int) -> int:
    # messages may quote anything, and must not steer the terminal
    print(f"sicetnon: {one_line(message)}", file=sys.stderr)  # noqa: T201
    _drop_output()
    return status


def _drop_output() -> None:
    """Forget what standard output does not take, which Python would try again when it ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
