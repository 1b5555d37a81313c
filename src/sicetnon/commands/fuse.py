"""`fuse`: make one run of several."""

from __future__ import annotations

import argparse
from pathlib import Path

from sicetnon.commands.arguments import describe, notices, numbers, positive
from sicetnon.errors import UsageError, counted


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `fuse`."""
    describe(
        command,
        _fuse,
        "Fuse runs: by ranks (rrf, reciprocal rank fusion) or by normalised scores (sum, CombSUM; "
        "mnz, CombMNZ). Stances are voted on. Files may be gzipped; - is standard input.",
        "sicetnon fuse a.txt b.txt.gz -o fused.txt",
        "sicetnon fuse a.txt b.txt -o fused.txt --method sum --weights 2,1",
    )
    command.add_argument("runs", nargs="+", metavar="RUN", help="a file with a run")
    command.add_argument(
        "-o", "--output", type=Path, metavar="RUN", required=True, help="the run (.gz: gzipped)"
    )
    command.add_argument(
        "--method",
        choices=("rrf", "sum", "mnz"),
        default="rrf",
        help="the method of fusion (default: rrf)",
    )
    command.add_argument(
        "--normalise",
        choices=("min-max", "sum", "z-score", "rank"),
        help="how scores become comparable, for sum and mnz (default: min-max)",
    )
    command.add_argument(
        "--weights",
        type=numbers,
        metavar="W,W",
        help="a weight of 0 or more for each run (default: 1)",
    )
    command.add_argument("--tag", metavar="TAG", help="the name of the run")
    command.add_argument(
        "--task",
        metavar="TASK",
        help="write only what this task accepts; tells whether ids are pairs",
    )
    command.add_argument(
        "-k", type=positive, metavar="N", default=1000, help="results per topic (default: 1000)"
    )


def _fuse(options: argparse.Namespace) -> None:
    from sicetnon.library.fusing import fuse_files
    from sicetnon.ranking.fusion import Fusion

    if options.normalise and options.method == "rrf":
        raise UsageError("--normalise is for --method sum and mnz; rrf looks at ranks alone")
    weights = None if options.weights is None else tuple(options.weights)
    say = notices(options)
    fused = fuse_files(
        options.runs,
        options.output,
        Fusion(options.method, options.normalise or "min-max", weights),
        options.k,
        options.tag or f"sicetnon-{options.method}",
        options.task,
        say,
    )
    results = counted(sum(map(len, fused.rankings.values())), "result")
    topics, runs = counted(len(fused.rankings), "topic"), counted(len(options.runs), "run")
    say(f"{options.output}: {results} for {topics} from {runs}")
