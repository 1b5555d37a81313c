"""The command `fuse`: several runs in, one out."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from sicetnon.errors import SicetnonError, UsageError
from sicetnon.evaluation.runs import load_run
from sicetnon.formats.runs import check_tag, run_text, write_run
from sicetnon.ranking.fusion import Fusion, are_usable, fuse
from sicetnon.records import Run
from sicetnon.terminal.answers import console, printable
from sicetnon.validation import validate


def write_fused(options: argparse.Namespace) -> None:
    """Fuse runs and write the result, checked first against a task where one is named.

    Raises:
        DataError: A run cannot be read.
        SicetnonError: The result would break a rule of the task; nothing is written then.
        UsageError: Options do not fit each other.
        OSError: The result cannot be written; nothing has changed then.
    """
    if options.normalise and options.method == "rrf":
        raise UsageError("--normalise is for --method sum and mnz; rrf looks at ranks alone")
    weights = None if options.weights is None else tuple(options.weights)
    fusion = Fusion(options.method, options.normalise or "min-max", weights)
    fusion.shares(len(options.runs))  # refuses a wrong number of weights before anything is read
    tag = check_tag(options.tag or f"sicetnon-{options.method}")
    runs = [load_run(path) for path in options.runs]
    screen = console(stderr=True)

    def say(line: str) -> None:
        screen.print(printable(line), soft_wrap=True, markup=False)

    for line in notices(runs, fusion):
        say(f"warning: {line}")
    fused = fuse(runs, fusion, options.k, tag)
    rankings = list(fused.rankings.values())
    text = run_text(rankings, tag)
    if options.task:
        report = validate(text.splitlines(keepends=True), options.task, name=str(options.output))
        for finding in report.findings:
            say(f"{finding.severity}: {finding}")
        if not report.ok:
            raise SicetnonError(
                f"{options.output} was not written: the result breaks {len(report.errors)} "
                f"of the rules of {options.task}"
            )
    write_run(rankings, options.output, tag)
    results = sum(map(len, rankings))
    say(f"{options.output}: {results:,} results for {len(rankings)} topics from {len(runs)} "
        f"run{'s' * (len(runs) != 1)}")  # fmt: skip


def notices(runs: Sequence[Run], fusion: Fusion) -> list[str]:
    """What somebody who fuses these runs may want to know about them, a line each.

    Args:
        runs: As they were read.
        fusion: How they will be fused.
    """
    topics = {topic for run in runs for topic in run.rankings}
    by_score = fusion.method != "rrf" and fusion.normalise != "rank"
    lines = []
    for run in runs:
        if run.repeated:
            lines.append(f"{run.name}: {run.repeated:,} lines repeat a document; the first counts")
        if missing := len(topics) - len(run.rankings):
            lines.append(f"{run.name}: leaves out {missing} of {len(topics)} topics")
        odd = sum(not are_usable(each.scores) for each in run.rankings.values()) if by_score else 0
        if odd:
            lines.append(
                f"{run.name}: ranks stand in for scores in {odd} of {len(run.rankings)} topics, "
                "where scores rise with the ranks, are all the same, or infinite"
            )
    return lines
