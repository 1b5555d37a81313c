"""The commands `run` and `fuse`: runs are written."""

from __future__ import annotations

import argparse
from pathlib import Path

from sicetnon.commands.values import Commands, add_stance, numbers, positive
from sicetnon.errors import UsageError


def add_run(commands: Commands) -> None:
    """Add `run`: a task done."""
    command = commands.add_parser(
        "run",
        help="do a task: an input directory in, run.txt out",
        description="Do a Touché task: read an input directory, write run.txt and ir-metadata.yml.",
    )
    command.add_argument("task", help="such as touche-2020-task-1")
    command.add_argument("-i", "--input", type=Path, metavar="DIR", required=True)
    command.add_argument("-o", "--output", type=Path, metavar="DIR", required=True)
    command.add_argument("--system", default="default", metavar="NAME", help="how it is done")
    add_stance(command)
    command.add_argument("--index", type=Path, metavar="DIR", help="where the index is or goes")
    command.add_argument(
        "--cache", type=Path, metavar="FILE", help="where ChatNoir's answers are kept"
    )
    command.add_argument("--tag", metavar="TAG", help="the name of the run")
    command.add_argument(
        "-k", type=positive, default=1000, help="results a topic (default and most: 1000)"
    )
    command.set_defaults(command=_run)


def add_fuse(commands: Commands) -> None:
    """Add `fuse`: one run made of several."""
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
        "--weights", type=numbers, metavar="W,W", help="a number from 0 for each run (default: 1)"
    )
    command.add_argument("--tag", metavar="TAG", help="the name of the run")
    command.add_argument("--task", metavar="TASK", help="write only what this task would accept")
    command.add_argument("-k", type=positive, default=1000, help="results a topic (default: 1000)")
    command.set_defaults(command=_fuse)


def _run(options: argparse.Namespace) -> None:
    from sicetnon.folders import cache_folder
    from sicetnon.index.annotation_writer import AnnotationProgress
    from sicetnon.tasks.running import MAX_RESULTS, RUN, Listener, RunOptions, run_task
    from sicetnon.terminal import answers as terminal

    if options.k > MAX_RESULTS:
        raise UsageError(f"-k {options.k}: the tasks take at most {MAX_RESULTS} results a topic")
    screen = terminal.console(stderr=True)

    def say(line: str) -> None:
        screen.print(terminal.printable(line), soft_wrap=True, markup=False)

    cache = options.cache or cache_folder() / "chatnoir.sqlite"
    with terminal.indexing(screen) as (show, show_read), terminal.fetching(screen) as show_fetched:

        def show_labelled(done: int, total: int) -> None:
            show_read(AnnotationProgress(("stance",), done, total))

        listener = Listener(say, show, show_fetched, show_labelled)
        system, stance = options.system, options.stance
        told = RunOptions(system, options.index, cache, options.tag, options.k, listener, stance)
        rankings = run_task(options.task, options.input, options.output, told)
    results = sum(len(ranking) for ranking in rankings)
    say(f"{options.output / RUN}: {results:,} results for {len(rankings)} topics")


def _fuse(options: argparse.Namespace) -> None:
    from sicetnon.commands.fusing import write_fused

    write_fused(options)
