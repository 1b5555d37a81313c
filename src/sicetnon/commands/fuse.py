"""`fuse`: make one run of several."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sicetnon.commands.arguments import describe, notices, numbers, positive
from sicetnon.errors import SicetnonError, UsageError, counted

if TYPE_CHECKING:
    from sicetnon.ranking.fusion import Fusion
    from sicetnon.records import Run


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
    from sicetnon.ranking.fusion import Fusion

    if options.normalise and options.method == "rrf":
        raise UsageError("--normalise is for --method sum and mnz; rrf looks at ranks alone")
    weights = None if options.weights is None else tuple(options.weights)
    say = notices(options)
    fused = _fuse_files(
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


def _fuse_files(
    runs: Sequence[Path | str],
    output: Path,
    fusion: Fusion,
    k: int,
    tag: str,
    task: str | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Run:
    """Fuse runs, check the result by the rules of the task if one is named, and write it."""
    from sicetnon.evaluation.inputs import load_run
    from sicetnon.formats.runs import check_tag, run_text, write_run
    from sicetnon.ranking.fusion import fuse
    from sicetnon.validation import validate

    fusion.shares(len(runs))  # refuses a wrong number of weights before anything is read
    check_tag(tag)
    loaded = [load_run(path) for path in runs]
    for line in _notices(loaded, fusion):
        say(f"warning: {line}")
    fused = fuse(loaded, fusion, k, tag, task=task)
    rankings = list(fused.rankings.values())
    if task:
        lines = run_text(rankings, tag).splitlines(keepends=True)
        report = validate(lines, task, name=str(output))
        for finding in report.findings:
            say(f"{finding.severity}: {finding}")
        if not report.ok:
            raise SicetnonError(
                f"{output} was not written: the result breaks {len(report.errors)} of the rules "
                f"of {task}"
            )
    write_run(rankings, output, tag)
    return fused


def _notices(runs: Sequence[Run], fusion: Fusion) -> list[str]:
    """Notices on the runs: repeated documents, missing topics, unusable scores."""
    from sicetnon.ranking.fusion import are_usable

    topics = {topic for run in runs for topic in run.rankings}
    by_score = fusion.method != "rrf" and fusion.normalise != "rank"
    lines = []
    for run in runs:
        if run.repeated:
            repeated = counted(run.repeated, "line repeats", "lines repeat")
            lines.append(f"{run.name}: {repeated} a document; the first counts")
        if missing := len(topics) - len(run.rankings):
            lines.append(f"{run.name}: leaves out {missing} of {counted(len(topics), 'topic')}")
        odd = sum(not are_usable(each.scores) for each in run.rankings.values()) if by_score else 0
        if odd:
            where = f"{odd} of {counted(len(run.rankings), 'topic')}"
            lines.append(
                f"{run.name}: ranks stand in for scores in {where}, where scores rise with the "
                "ranks, are all the same, or infinite"
            )
    return lines
