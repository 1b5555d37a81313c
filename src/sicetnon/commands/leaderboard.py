"""`leaderboard`: show the published scores of a task, and where a user's runs stand."""

from __future__ import annotations

import argparse

from sicetnon.commands.arguments import describe, notices, print_json
from sicetnon.errors import UsageError


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `leaderboard`."""
    describe(
        command,
        _leaderboard,
        "Show the published tables of a task. Your own runs are placed in them where their scores "
        "mean the same: the official judgments, all topics, and enough of the run judged.",
        "sicetnon leaderboard touche-2021-task-1",
        "sicetnon leaderboard touche-2021-task-1 out/run.txt --qrels relevance.qrels",
    )
    command.add_argument("task", metavar="TASK", help="such as touche-2020-task-1")
    command.add_argument("runs", nargs="*", default=[], metavar="RUN", help="a file with a run")
    command.add_argument(
        "--qrels", nargs="+", action="extend", default=[], metavar="FILE", help="judgments"
    )
    command.add_argument("--json", action="store_true", help="print JSON")


def _leaderboard(options: argparse.Namespace) -> None:
    from sicetnon.evaluation import EvaluationWarning, evaluate, load_qrels
    from sicetnon.evaluation.leaderboard import leaderboard_of
    from sicetnon.terminal.console import console, warnings_as_lines
    from sicetnon.terminal.results import show_leaderboard

    if bool(options.runs) != bool(options.qrels):
        raise UsageError("RUN goes with --qrels: name the runs first, then the judgments")
    say = notices(options)
    with warnings_as_lines(EvaluationWarning, say):
        qrels = {file: load_qrels(file) for file in options.qrels}
        scores = evaluate(options.runs, list(qrels.values())) if options.runs else []
        board = leaderboard_of(options.task, scores, qrels)
    if options.json:
        print_json(board.as_json())
    else:
        show_leaderboard(board, console())
