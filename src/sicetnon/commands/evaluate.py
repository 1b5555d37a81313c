"""`evaluate`: score runs."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sicetnon.commands.arguments import (
    add_index,
    describe,
    folder,
    natural,
    notices,
    print_json,
    warn_of_pairs,
)
from sicetnon.errors import UsageError

if TYPE_CHECKING:
    from sicetnon.evaluation import Qrels, Score
    from sicetnon.index.reader import IndexReader


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `evaluate`."""
    describe(
        command,
        _evaluate,
        "Score runs by the organisers' rule (or trec_eval's, or on condensed lists), with 95% "
        "intervals over topics. Files may be gzipped; - is standard input.",
        "sicetnon evaluate out/run.txt --qrels relevance.qrels quality.qrels",
        "sicetnon evaluate new.txt old.txt --qrels relevance.qrels --baseline old.txt",
        "sicetnon evaluate out/run.txt --qrels relevance.qrels --measure nDCG@10 AP --json",
    )
    command.add_argument("runs", nargs="+", metavar="RUN", help="a file with a run")
    command.add_argument(
        "--qrels", nargs="+", action="extend", required=True, metavar="FILE", help="judgments"
    )
    command.add_argument(
        "--rule",
        choices=("official", "trec", "condensed"),
        default="official",
        help="the rule by which runs are read (default: official)",
    )
    command.add_argument(
        "--measure",
        nargs="+",
        action="extend",
        metavar="NAME",
        help="as ir-measures writes them (default: nDCG@5)",
    )
    command.add_argument(
        "--baseline", metavar="RUN", help="the file of the run that the others are compared with"
    )
    command.add_argument(
        "--seed", type=natural, default=2022, help="the seed of intervals and tests (default: 2022)"
    )
    add_index(command, "the corpus that was searched")
    command.add_argument(
        "--topics", type=Path, metavar="FILE", help="topics.xml or queries.jsonl, for the report"
    )
    command.add_argument("--report", type=folder, metavar="DIR", help="write a page to look at")
    command.add_argument("--json", action="store_true", help="print JSON")


def _evaluate(options: argparse.Namespace) -> None:
    from sicetnon.cluster.location import open_index
    from sicetnon.evaluation import EvaluationWarning, check_corpus, evaluate, load_qrels
    from sicetnon.evaluation.scores import print_scores
    from sicetnon.terminal.console import console, warnings_as_lines

    if [*options.runs, *options.qrels].count("-") > 1:
        raise UsageError("standard input (-) can be named only once")
    say = notices(options)
    with warnings_as_lines(EvaluationWarning, say), contextlib.ExitStack() as stack:
        qrels = [load_qrels(file) for file in options.qrels]
        for each in qrels:
            warn_of_pairs(say, each.name, each.differing)
        index = stack.enter_context(open_index(options.index)) if options.index else None
        if index is not None:
            for judgments in qrels:
                check_corpus(judgments, index.number)
        scores = evaluate(
            options.runs,
            qrels,
            options.measure or "nDCG@5",
            rule=options.rule,
            baseline=options.baseline,
            seed=options.seed,
        )
        _warn_of_unjudged(scores)
        if options.report:
            _write_report(options, scores, qrels, index, say)
    if options.json:
        print_json([score.row() for score in scores])
    else:
        print_scores(scores, console())


def _warn_of_unjudged(scores: Sequence[Score]) -> None:
    import warnings

    from sicetnon.evaluation import EvaluationWarning

    for score in scores:
        if not score.judged:
            warnings.warn(
                f"{score.run}: none of its documents is judged in {score.qrels}; are these the "
                "judgments of this task, topics and corpus?",
                EvaluationWarning,
                stacklevel=1,
            )


def _write_report(
    options: argparse.Namespace,
    scores: Sequence[Score],
    qrels: Sequence[Qrels],
    index: IndexReader | None,
    say: Callable[[str], None],
) -> None:
    from sicetnon.formats.topics import read_topics
    from sicetnon.report import write_report

    page = write_report(
        options.report,
        scores,
        runs=options.runs,
        qrels=qrels,
        baseline=options.baseline,
        topics=read_topics(options.topics) if options.topics else None,
        texts=index,
    )
    say(f"report: {page}")
