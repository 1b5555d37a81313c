"""The commands `evaluate`, `validate` and `leaderboard`: options into calls, results into words."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from sicetnon.errors import SicetnonError, UsageError
from sicetnon.evaluation import EvaluationWarning, Qrels, Score, check_corpus, load_qrels
from sicetnon.evaluation import evaluate as evaluate_runs
from sicetnon.evaluation.leaderboard import placed
from sicetnon.formats.identifiers import argument_of
from sicetnon.formats.topics import read_topics
from sicetnon.index.reader import IndexReader
from sicetnon.records import ProcessedArgument
from sicetnon.terminal import tables
from sicetnon.terminal.answers import console, printable
from sicetnon.validation import validate as validate_run

_SHOWN_WARNINGS = 10


class _FaultyRunError(SicetnonError):
    """The run that was validated has errors, which have been printed already."""


def evaluate(options: argparse.Namespace) -> None:
    """Score runs, and print a table for each file of judgments, or JSON, or write a report."""
    if [*map(str, options.runs), *map(str, options.qrels)].count("-") > 1:
        raise UsageError("standard input (-) can be named only once")
    with _warnings_as_lines(), contextlib.ExitStack() as stack:
        qrels = [load_qrels(file) for file in options.qrels]
        index = stack.enter_context(IndexReader.open(options.index)) if options.index else None
        if index is not None:
            for judgments in qrels:
                check_corpus(judgments, index.number)
        scores = _scores(options, qrels)
        if options.report:
            page = _report(options, scores, qrels, index)
            console(stderr=True).print(f"report: {page}", soft_wrap=True)
    if options.json:
        print(json.dumps([score.row() for score in scores], ensure_ascii=False, indent=1))  # noqa: T201
    else:
        tables.show_scores(scores, console())


def _scores(options: argparse.Namespace, qrels: Sequence[Qrels]) -> list[Score]:
    scores = evaluate_runs(
        options.runs,
        qrels,
        options.measure or ["nDCG@5"],
        rule=options.rule,
        baseline=options.baseline,
        seed=options.seed,
    )
    for score in scores:
        if not score.judged:
            warnings.warn(
                f"{score.run}: none of its documents is judged in {score.qrels}; are these the "
                "judgments of this task, topics and corpus?",
                EvaluationWarning,
                stacklevel=1,
            )
    return scores


def _report(
    options: argparse.Namespace,
    scores: Sequence[Score],
    qrels: Sequence[Qrels],
    index: IndexReader | None,
) -> Path:
    from sicetnon.report import write_report

    return write_report(
        options.report,
        scores,
        runs=options.runs,
        qrels=qrels,
        baseline=options.baseline,
        topics=read_topics(options.topics) if options.topics else None,
        texts=index,
    )


def validate(options: argparse.Namespace) -> None:
    """Hold a run against the rules of its task, and print every fault.

    Raises:
        SicetnonError: It has errors.
    """
    with contextlib.ExitStack() as stack:
        known = None
        if options.index:
            known = _known_to(stack.enter_context(IndexReader.open(options.index)))
        report = validate_run(options.run, options.task, options.topics, known)
    if options.json:
        print(json.dumps(report.as_json(), ensure_ascii=False, indent=1))  # noqa: T201
    else:
        for line in str(report).splitlines():
            console().print(printable(line), soft_wrap=True, markup=False)
    if not report.ok:
        raise _FaultyRunError("")


def _known_to(index: IndexReader) -> Callable[[Sequence[str]], list[str]]:
    """Which ids an index knows: of its documents, or of the sentences that it holds."""

    def documents(identifiers: Sequence[str]) -> list[str]:
        return [name for name in identifiers if index.number(name) is not None]

    def sentences(identifiers: Sequence[str]) -> list[str]:
        numbers = {index.number(argument_of(name)) for name in identifiers} - {None}
        records = index.records_at([number for number in numbers if number is not None])
        held = {
            sentence.id
            for record in records
            if isinstance(record, ProcessedArgument)
            for sentence in record.sentences
        }
        return [name for name in identifiers if name in held]

    return sentences if index.manifest.records == "processed" else documents


def leaderboard(options: argparse.Namespace) -> None:
    """Print the published tables of a task, the user's runs among them."""
    if bool(options.runs) != bool(options.qrels):
        raise UsageError("RUN goes with --qrels: name the runs and the judgments to score them by")
    scores: list[Score] = []
    with _warnings_as_lines():
        judgments = {str(file): load_qrels(file) for file in options.qrels}
        if options.runs:
            scores = evaluate_runs(options.runs, list(judgments.values()))
        board = placed(options.task, scores, judgments)
    if options.json:
        print(json.dumps(board.as_json(), ensure_ascii=False, indent=1))  # noqa: T201
    else:
        tables.show_leaderboard(board, console())


@contextlib.contextmanager
def _warnings_as_lines() -> Iterator[None]:
    """Print what the evaluation warns of as lines for people, repeated ones once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", EvaluationWarning)
        yield
    lines = list(dict.fromkeys(str(warning.message) for warning in caught))
    for line in lines[:_SHOWN_WARNINGS]:
        print(f"sicetnon: warning: {line}", file=sys.stderr)  # noqa: T201
    if len(lines) > _SHOWN_WARNINGS:
        print(f"sicetnon: {len(lines) - _SHOWN_WARNINGS} more warnings", file=sys.stderr)  # noqa: T201
