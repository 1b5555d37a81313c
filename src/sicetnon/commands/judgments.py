"""The commands `evaluate`, `validate` and `leaderboard`: runs are judged."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from sicetnon.commands.values import Commands, natural


def add_evaluate(commands: Commands) -> None:
    """Add `evaluate`: runs scored."""
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
    command.add_argument("--seed", type=natural, default=2022, help="of intervals and tests (2022)")
    command.add_argument("--index", type=Path, metavar="DIR", help="the corpus that was searched")
    command.add_argument("--topics", type=Path, metavar="FILE", help="topics.xml, for the report")
    command.add_argument("--report", type=Path, metavar="DIR", help="write a page to look at")
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(command=_judge("evaluate"))


def add_validate(commands: Commands) -> None:
    """Add `validate`: a run held against the rules of its task."""
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


def add_leaderboard(commands: Commands) -> None:
    """Add `leaderboard`: the published scores of a task."""
    command = commands.add_parser(
        "leaderboard", help="the published scores of a task, and where your runs stand"
    )
    command.add_argument("task", metavar="TASK")
    command.add_argument("runs", nargs="*", metavar="RUN")
    command.add_argument("--qrels", nargs="+", default=[], metavar="FILE", help="judgments")
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(command=_judge("leaderboard"))


def _judge(name: str) -> Callable[[argparse.Namespace], None]:
    def call(options: argparse.Namespace) -> None:
        from sicetnon.commands import judging

        getattr(judging, name)(options)

    return call
