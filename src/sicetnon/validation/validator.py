"""Validate a run: check every rule of its task, in one pass over its lines.

    validation = validate("run.txt", "touche-2022-task-2", topics="topics.xml")
    print(validation)
    sys.exit(validation.exit_status)

The rules, with the reason why each is an error or a warning, are in `validation.rules`. All that
TIRA's check refuses about a line (other than six columns, a rank that is no whole number, a score
that is no number, a document twice) is an error here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sicetnon.contracts import contract_of
from sicetnon.errors import counted
from sicetnon.formats.topics import read_topics
from sicetnon.records import Run, Topic
from sicetnon.validation import rules
from sicetnon.validation.checks import Checker, Known
from sicetnon.validation.rows import COLUMNS, NO_NAME, RowReader, RunSource
from sicetnon.validation.rules import Finding, Log

_RUN_FILES = ("run.txt", "run.txt.gz")
_LENIENT = (rules.UNKNOWN_TOPIC, rules.MISSING_TOPICS)
_NO_CORPUS = "whether the documents are in the corpus (--index names its index)"


@dataclass(frozen=True)
class Validation:
    """The findings on a run. As text: one line per finding, and a summary.

    Attributes:
        file: The name of the run.
        task: The id of the task-year.
        lines: Number of lines read.
        topics: Number of topics found.
        findings: The broken rules: errors first, then by line.
        unchecked: The checks that were left out, with the reason.
    """

    file: str
    task: str
    lines: int
    topics: int
    findings: tuple[Finding, ...]
    unchecked: tuple[str, ...] = ()

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that make the run unusable."""
        return tuple(finding for finding in self.findings if finding.severity == "error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The other findings."""
        return tuple(finding for finding in self.findings if finding.severity == "warning")

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not self.errors

    @property
    def exit_status(self) -> int:
        """The exit status of a command: 0 without errors, else 1."""
        return 0 if self.ok else 1

    def as_json(self) -> dict[str, Any]:
        """The validation as a dictionary, ready for JSON."""
        return dataclasses.asdict(self) | {"ok": self.ok}

    def __str__(self) -> str:
        counts = (
            counted(self.lines, "line"),
            counted(self.topics, "topic"),
            counted(len(self.errors), "error"),
            counted(len(self.warnings), "warning"),
        )
        return "\n".join(
            (
                *(f"{finding.severity}: {finding}" for finding in self.findings),
                *(f"not checked: {what}" for what in self.unchecked),
                f"{self.file}: {', '.join(counts)}",
            )
        )


def validate(
    run: RunSource,
    task: str,
    topics: Path | str | Iterable[Topic | str] | None = None,
    known_documents: Known | None = None,
    name: str | None = None,
) -> Validation:
    """Check a run by the rules of its task.

    Args:
        run: A path (gzip is fine, `-` is standard input), a `Run`, a list of rankings, lines of
            text, records with the fields of `RunLine`, or a data frame with such columns. Records
            without a rank, a second column or a tag are checked as if they had a right one.
        task: The id of the task-year.
        topics: The topics that the run should answer: a topics.xml or queries.jsonl, or topics, or
            their numbers. Left out, the official ones are taken; other and missing topics are
            warnings then, if the run answers at least one of them.
        known_documents: The ids of the corpus, as anything that answers `in`, or as a function
            that takes a list of ids and returns those it knows. It is asked for sentence ids
            where the task is about pairs. Left out, ids are not checked.
        name: The name of the run in messages; its path when left out.

    Raises:
        UsageError: There is no such task, the run is none of these, or lacks a column.
        DataError: The topics file cannot be read. Faults of the run are findings, not errors.
    """
    contract = contract_of(task)
    expected = contract.topics if topics is None else _numbers(topics)
    log = Log(name or _name_of(run))
    reader = RowReader(run, contract.unit == "pair", log)
    checker = Checker(contract, dict.fromkeys(expected), known_documents, log)
    for row in reader:
        checker.check(row, reader.lines, reader.unusable)
    checker.finish(reader.is_whole)
    if reader.is_whole:
        _check_file(run, reader, log)
    unchecked = (_NO_CORPUS,) if known_documents is None else ()
    # topics of a user's own may stand beside the official ones, hardly in place of them all
    is_lenient = topics is None and not checker.topics.isdisjoint(expected)
    findings = log.findings(_LENIENT if is_lenient else ())
    return Validation(log.file, task, reader.lines, len(checker.topics), findings, unchecked)


def _numbers(topics: Path | str | Iterable[Topic | str]) -> list[str]:
    given = read_topics(topics) if isinstance(topics, str | Path) else topics
    # most topics are a file or texts
    from sicetnon.evaluation.inputs import identifier

    numbers = (topic.number if isinstance(topic, Topic) else topic for topic in given)
    return [each if isinstance(each, str) else identifier(each, "topics") for each in numbers]


def _name_of(run: RunSource) -> str:
    if isinstance(run, Run):
        return run.name
    if not isinstance(run, str | Path):
        return NO_NAME
    return "standard input" if str(run) == "-" else str(run)


def _check_file(run: RunSource, reader: RowReader, log: Log) -> None:
    if reader.lines == reader.blank:
        found = "no line" if reader.lines == 0 else "no line with text"
        log.note(rules.EMPTY, None, found, f"lines of six columns: {COLUMNS}")
    if isinstance(run, str | Path) and Path(run).name in _RUN_FILES:
        both = [other for other in _RUN_FILES if (Path(run).parent / other).exists()]
        if len(both) > 1:
            log.note(rules.TWO_FILES, None, " beside ".join(both), "one of the two")
