"""The command line: arguments in, calls out. What is heavy is imported by the command itself."""

from __future__ import annotations

import argparse
import contextlib
import errno
import io
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sicetnon._version import VERSION
from sicetnon.errors import SicetnonError, UsageError

if TYPE_CHECKING:
    # argparse has no public name for what add_subparsers gives
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

_MOST_DIGITS = 10
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
    _add_search(commands)
    _add_index(commands)
    _add_run(commands)
    _add_parse(commands)
    _add_fuse(commands)
    _add_evaluate(commands)
    _add_validate(commands)
    _add_leaderboard(commands)
    _add_train(commands)
    return root


def _add_search(commands: Commands) -> None:
    command = commands.add_parser("search", help="answer a question in the terminal")
    command.add_argument("question", nargs="+", help="any text")
    command.add_argument("--index", type=Path, metavar="DIR", help="an index (default: the sample)")
    command.add_argument(
        "--source",
        choices=("argsme", "chatnoir"),
        help="ask a service on the network instead (chatnoir: key in CHATNOIR_API_KEY)",
    )
    command.add_argument("-k", type=_positive, default=10, help="answers wanted (default: 10)")
    command.add_argument("--system", default="default", metavar="NAME", help="who answers")
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(command=_search)


def _search(options: argparse.Namespace) -> None:
    if options.source:
        _search_service(options)
        return
    from sicetnon.index.index import Index
    from sicetnon.sample import sample_index
    from sicetnon.search import as_json, search

    question = " ".join(options.question)
    with (
        # what other systems have learned may have to be read with scipy
        _without_scipy() if options.system == "default" else contextlib.nullcontext(),
        Index.open(options.index) if options.index else sample_index() as index,
    ):
        found = search(index, question, options.k, options.system)
    if options.json:
        print(json.dumps(as_json(question, found), ensure_ascii=False, indent=1))  # noqa: T201
        return
    from sicetnon import terminal

    terminal.show_answers(question, found, terminal.console())


def _search_service(options: argparse.Namespace) -> None:
    from sicetnon import services

    if options.index or options.system != "default":
        raise UsageError("--source asks a service, which takes neither --index nor --system")
    services.show(" ".join(options.question), options.source, options.k, options.json)


@contextlib.contextmanager
def _without_scipy() -> Iterator[None]:
    """Keep numba from importing scipy where it is installed.

    It looks for a BLAS that a search never uses, and that takes a tenth of the time of one.
    """
    absent = "scipy" not in sys.modules
    if absent:
        sys.modules["scipy"] = None  # type: ignore[assignment]  # as if it were not installed
    try:
        yield
    finally:
        if absent:
            del sys.modules["scipy"]


def _add_index(commands: Commands) -> None:
    command = commands.add_parser(
        "index",
        help="build an index, add to it, delete from it",
        description="Build an index from a directory or files in any format of the Touché tasks, "
        "from JSON Lines or CSV with named fields, from web pages (WARC, HTML), or from an id of "
        "ir_datasets.",
    )
    command.add_argument("source", nargs="*", help="what to index")
    command.add_argument(
        "-o", "--output", type=Path, metavar="DIR", required=True, help="the index"
    )
    command.add_argument("--analysis", metavar="NAME", help="how texts become terms")
    command.add_argument("--fields", metavar="A,B", help="fields to index (JSON Lines, CSV)")
    command.add_argument("--id-field", metavar="NAME", help="the field with the id")
    command.add_argument(
        "--page-ranks", type=Path, metavar="FILE", help="ids and PageRanks of web pages"
    )
    command.add_argument(
        "--spam-ranks", type=Path, metavar="FILE", help="ids and spam ranks of web pages"
    )
    command.add_argument("--memory", type=_positive, metavar="MB", help="for postings (400)")
    command.add_argument(
        "--skip-invalid", action="store_true", help="leave out documents that can't be used"
    )
    change = command.add_argument_group("changing an index")
    change.add_argument("--add", action="store_true", help="add to the index that is there")
    change.add_argument("--replace", action="store_true", help="with --add: replace known ids")
    change.add_argument("--delete", nargs="+", metavar="ID", help="delete documents by id")
    change.add_argument("--verify", action="store_true", help="compare all checksums")
    command.set_defaults(command=_index)


def _index(options: argparse.Namespace) -> None:
    from sicetnon import indexing

    if options.verify or options.delete:
        if options.verify and options.delete:
            raise UsageError("--verify and --delete are two commands; choose one")
        if options.source:
            raise UsageError("--verify and --delete take no SOURCE")
        (indexing.verify if options.verify else indexing.delete)(options)
    elif not options.source:
        raise UsageError("name a SOURCE to index, or one of --delete and --verify")
    else:
        indexing.build(options)


def _add_run(commands: Commands) -> None:
    command = commands.add_parser(
        "run",
        help="do a task: an input directory in, run.txt out",
        description="Do a Touché task: read an input directory, write run.txt and ir-metadata.yml.",
    )
    command.add_argument("task", help="such as touche-2020-task-1")
    command.add_argument("-i", "--input", type=Path, metavar="DIR", required=True)
    command.add_argument("-o", "--output", type=Path, metavar="DIR", required=True)
    command.add_argument("--system", default="default", metavar="NAME", help="how it is done")
    command.add_argument("--index", type=Path, metavar="DIR", help="where the index is or goes")
    command.add_argument(
        "--cache", type=Path, metavar="FILE", help="where ChatNoir's answers are kept"
    )
    command.add_argument("--tag", metavar="TAG", help="the name of the run")
    command.add_argument(
        "-k", type=_positive, default=1000, help="results a topic (default and most: 1000)"
    )
    command.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> None:
    from sicetnon import terminal
    from sicetnon.sample import cache_folder
    from sicetnon.tasks.running import MAX_RESULTS, RUN, Listener, RunOptions, run_task

    if options.k > MAX_RESULTS:
        raise UsageError(f"-k {options.k}: the tasks take at most {MAX_RESULTS} results a topic")
    screen = terminal.console(stderr=True)

    def say(line: str) -> None:
        screen.print(terminal.printable(line), soft_wrap=True, markup=False)

    cache = options.cache or cache_folder() / "chatnoir.sqlite"
    with terminal.building(screen) as show, terminal.fetching(screen) as show_fetched:
        listener = Listener(say, show, show_fetched)
        rankings = run_task(
            options.task,
            options.input,
            options.output,
            RunOptions(options.system, options.index, cache, options.tag, options.k, listener),
        )
    results = sum(len(ranking) for ranking in rankings)
    say(f"{options.output / RUN}: {results:,} results for {len(rankings)} topics")


def _add_parse(commands: Commands) -> None:
    command = commands.add_parser(
        "parse", help="what a question asks: its kind, objects and aspects, as JSON"
    )
    command.add_argument("question", nargs="+", help="any text")
    command.set_defaults(command=_parse)


def _parse(options: argparse.Namespace) -> None:
    from sicetnon.arguments.questions import parse_question

    question = parse_question(" ".join(options.question))
    print(json.dumps(question.as_json(), ensure_ascii=False))  # noqa: T201


def _add_fuse(commands: Commands) -> None:
    command = commands.add_parser(
        "fuse",
        help="make one run of several",
        description="Fuse runs: by ranks (rrf, reciprocal rank fusion) or by normalised scores "
        "(sum, CombSUM; mnz, CombMNZ). Stances are voted on. Files may be gzipped; - is standard "
        "input.",
    )
    command.add_argument("runs", nargs="+", metavar="RUN")
    command.add_argument(
        "-o", "--output", type=Path, metavar="RUN", required=True, help="the run (.gz: gzipped)"
    )
    command.add_argument(
        "--method", choices=("rrf", "sum", "mnz"), default="rrf", help="(default: rrf)"
    )
    command.add_argument(
        "--normalise",
        choices=("min-max", "sum", "z-score", "rank"),
        help="how scores become comparable, for sum and mnz (default: min-max)",
    )
    command.add_argument(
        "--weights", type=_numbers, metavar="W,W", help="a number from 0 for each run (default: 1)"
    )
    command.add_argument("--tag", metavar="TAG", help="the name of the run")
    command.add_argument("--task", metavar="TASK", help="write only what this task would accept")
    command.add_argument("-k", type=_positive, default=1000, help="results a topic (default: 1000)")
    command.set_defaults(command=_fuse)


def _fuse(options: argparse.Namespace) -> None:
    from sicetnon.fusing import write_fused

    write_fused(options)


def _add_evaluate(commands: Commands) -> None:
    command = commands.add_parser(
        "evaluate",
        help="score runs",
        description="Score runs by the organisers' rule (or trec_eval's, or on condensed lists), "
        "with 95% intervals over topics. Files may be gzipped; - is standard input.",
    )
    command.add_argument("runs", nargs="+", metavar="RUN")
    command.add_argument("--qrels", nargs="+", required=True, metavar="FILE", help="judgments")
    command.add_argument(
        "--rule",
        choices=("official", "trec", "condensed"),
        default="official",
        help="how a run is read (default: official)",
    )
    command.add_argument(
        "--measure", nargs="+", metavar="NAME", help="as ir-measures writes them (nDCG@5)"
    )
    command.add_argument("--baseline", metavar="RUN", help="compare all others with this one")
    command.add_argument(
        "--seed", type=_natural, default=2022, help="of intervals and tests (2022)"
    )
    command.add_argument("--index", type=Path, metavar="DIR", help="the corpus that was searched")
    command.add_argument("--topics", type=Path, metavar="FILE", help="topics.xml, for the report")
    command.add_argument("--report", type=Path, metavar="DIR", help="write a page to look at")
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(command=_judge("evaluate"))


def _add_validate(commands: Commands) -> None:
    command = commands.add_parser(
        "validate",
        help="hold a run against the rules of its task",
        description="Check a run: columns, ranks, scores, ties, ids, topics. Exit status 0 only "
        "without errors.",
    )
    command.add_argument("run", metavar="RUN")
    command.add_argument("--task", required=True, metavar="TASK")
    command.add_argument("--topics", type=Path, metavar="FILE", help="topics.xml")
    command.add_argument("--index", type=Path, metavar="DIR", help="check that documents exist")
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(command=_judge("validate"))


def _add_leaderboard(commands: Commands) -> None:
    command = commands.add_parser(
        "leaderboard", help="the published scores of a task, and where your runs stand"
    )
    command.add_argument("task", metavar="TASK")
    command.add_argument("runs", nargs="*", metavar="RUN")
    command.add_argument("--qrels", nargs="+", default=[], metavar="FILE", help="judgments")
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(command=_judge("leaderboard"))


def _add_train(commands: Commands) -> None:
    command = commands.add_parser(
        "train",
        help="train the learned parts of the systems named uva",
        description="Train a part of the University of Amsterdam's systems: the quality "
        "classifier and the ranker from Dagstuhl-15512 or Webis-ArgQuality-20, the classifier of "
        "argumentative pages from a corpus of arguments and one of other texts. Train uva-quality "
        "before uva-ranker.",
    )
    parts = ("uva-quality", "uva-ranker", "uva-argumentativeness")
    command.add_argument("part", choices=parts)
    command.add_argument("files", nargs="+", metavar="FILE", help="what is learned from")
    command.add_argument(
        "--others", nargs="+", default=[], metavar="FILE", help="texts that do not argue"
    )
    command.add_argument(
        "--encoder",
        metavar="NAME",
        help="how texts become vectors: words-first, words-averaged (over windows of 512), "
        "minilm-first, minilm-averaged (default: words-first)",
    )
    command.add_argument(
        "--no-entities", dest="entities", action="store_false", help="leave named entities out"
    )
    command.add_argument(
        "-o", "--output", type=Path, metavar="DIR", help="where parameters go (default: the user's)"
    )
    command.set_defaults(command=_train)


def _train(options: argparse.Namespace) -> None:
    from sicetnon import training

    training.command(options)


def _judge(name: str) -> Callable[[argparse.Namespace], None]:
    def call(options: argparse.Namespace) -> None:
        from sicetnon import judging

        getattr(judging, name)(options)

    return call


def _natural(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < _MOST_DIGITS):
        raise argparse.ArgumentTypeError(f"found {text[:40]!r}; expected a whole number")
    return int(text)


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        message = f"found {text[:40]!r}; expected numbers with commas between them, like 2,1,0.5"
        raise argparse.ArgumentTypeError(message) from None


def _positive(text: str) -> int:
    if text.strip("0") == "" or not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"found {text[:40]!r}; expected a whole number above 0")
    return _natural(text)
