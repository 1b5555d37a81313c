"""Fusing files: several runs in, one run out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from sicetnon.errors import SicetnonError, counted
from sicetnon.evaluation.inputs import load_run
from sicetnon.formats.runs import check_tag, run_text, write_run
from sicetnon.ranking.fusion import Fusion, are_usable, fuse
from sicetnon.records import Run
from sicetnon.validation import validate


def fuse_files(
    runs: Sequence[Path | str],
    output: Path,
    fusion: Fusion,
    k: int,
    tag: str,
    task: str | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Run:
    """Fuse runs and write the result; it is first checked by the rules of a task, if one is named.

    The file is gzipped where its name ends in `.gz`.

    Raises:
        DataError: A run cannot be read.
        SicetnonError: The result would break a rule of the task; nothing is written then.
        UsageError: The weights do not fit the runs, or there is no such task.
        OSError: The result cannot be written; nothing has changed then.
    """
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
