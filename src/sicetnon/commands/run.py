"""`run`: do a task."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from sicetnon.commands.arguments import (
    add_partial,
    add_ranker,
    add_stance,
    describe,
    folder,
    place,
    positive,
)
from sicetnon.errors import UsageError, counted


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `run`."""
    describe(
        command,
        _run,
        "Do a Touché task: read an input directory, write run.txt and ir-metadata.yml.",
        "sicetnon run touche-2020-task-1 -i examples/touche-2020-task-1/input -o out",
        "sicetnon run touche-2022-task-2 -i INPUT_DIR -o out --stance learned --tag my-run",
    )
    command.add_argument("task", help="such as touche-2020-task-1")
    command.add_argument(
        "-i",
        "--input",
        type=Path,
        metavar="DIR",
        help="the input directory (default: TIRA_INPUT_DATASET of the environment)",
    )
    command.add_argument(
        "-o",
        "--output",
        type=folder,
        metavar="DIR",
        help="the output directory (default: TIRA_OUTPUT_DIR of the environment)",
    )
    command.add_argument(
        "--system",
        default="default",
        metavar="NAME",
        help="a system of the task (default: default); an unknown name lists them",
    )
    add_stance(command)
    add_ranker(command)
    command.add_argument(
        "--index",
        type=place,
        metavar="INDEX",
        help="where the index is or goes (default: beside the output, DIR.index)",
    )
    add_partial(command)
    command.add_argument("--cache", type=Path, metavar="FILE", help="keeps ChatNoir's answers")
    command.add_argument("--tag", metavar="TAG", help="the name of the run")
    command.add_argument(
        "-k",
        type=positive,
        metavar="N",
        default=1000,
        help="results per topic (default and most: 1000)",
    )


def _run(options: argparse.Namespace) -> None:
    from sicetnon.operating_system import cache_folder
    from sicetnon.tasks.running import MAX_RESULTS, RUN, Callbacks, RunOptions, run_task
    from sicetnon.terminal.console import ProgressBar, console, line_printer

    source = options.input or _named_by("-i", "TIRA_INPUT_DATASET", "inputDataset")
    target = options.output or folder(str(_named_by("-o", "TIRA_OUTPUT_DIR", "outputDir")))
    if options.k > MAX_RESULTS:
        raise UsageError(f"-k {options.k}: the tasks take at most {MAX_RESULTS} results per topic")
    screen = console(stderr=True, quiet=options.quiet)
    say = line_printer(screen)
    with ProgressBar(screen) as bar:
        settings = RunOptions(
            system=options.system,
            index=options.index,
            cache=options.cache or cache_folder() / "chatnoir.sqlite",
            tag=options.tag,
            k=options.k,
            callbacks=Callbacks(say, bar.indexing, bar.fetching, bar.labelling),
            stance=options.stance,
            partial=options.partial,
            ranker=options.ranker,
        )
        rankings = run_task(options.task, source, target, settings)
    results = counted(sum(map(len, rankings)), "result")
    say(f"{target / RUN}: {results} for {counted(len(rankings), 'topic')}")


def _named_by(option: str, *variables: str) -> Path:
    """The directory that the environment names, as TIRA does for an image."""
    found = next(filter(None, map(os.environ.get, variables)), None)
    if found is None:
        raise UsageError(
            f"found no directory; expected {option} DIR, or the variable {variables[0]}"
        )
    return Path(found)
