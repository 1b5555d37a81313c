"""Validate a run: check every rule of its task, in one pass over its lines.

    validation = validate("run.txt", "touche-2022-task-2", topics="topics.xml")
    print(validation)
    sys.exit(validation.exit_status)

The rules, with the reason why each is an error or a warning, are in `validation.rules`. All that
TIRA's check refuses about a line (other than six columns, a rank that is no whole number, a score
that is no number, a document twice) is an error here. `is_sound` is a quick look at the columns of
rankings before that, without a line of text.
"""

from __future__ import annotations

import dataclasses
import math
from array import array
from collections.abc import Callable, Collection, Container, Iterable, Sequence, Set
from ctypes import c_float
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sicetnon.contracts import Contract, contract_of
from sicetnon.errors import counted
from sicetnon.formats.identifiers import SEPARATOR, all_of_form, argument_of, form_of, halves
from sicetnon.formats.runs import falling_scores
from sicetnon.formats.topics import read_topics
from sicetnon.records import ProcessedArgument, Ranking, Run, Topic
from sicetnon.validation import rules
from sicetnon.validation.rows import COLUMNS, NO_NAME, Row, RowReader, RunSource
from sicetnon.validation.rules import Finding, Log, either, listed, shown

if TYPE_CHECKING:
    from sicetnon.index.reader import IndexReader

# The known ids, or a function that takes ids and returns the known ones among them.
Known = Container[str] | Callable[[Sequence[str]], Collection[str]]

# About the lines of one topic: each look-up in a corpus takes time.
_BATCH_OF_IDS = 1000
_A = {
    "argument": "an argument",
    "pair": "a pair of sentences",
    "document": "a document",
    "passage": "a passage of a document",
}


@dataclass(slots=True)
class _Topic:
    """The lines of a topic that were checked so far.

    Attributes:
        name: Its number in the run.
        first_line: The number of its first line.
        unusable: Number of unusable lines before its last line, from the start of the run.
        count: Number of its lines.
        rank: The rank of its last line; NaN where that was no number.
        score: The score of its last line, likewise.
        seen: The hashes of its documents: 64 bits, so two documents share one hardly ever.
        packed: The same while lines of other topics are read, in 8 bytes each. A topic that
            returns is unpacked for good, since it is likely to return again.
    """

    name: str
    first_line: int = 0
    unusable: int = 0
    count: int = 0
    rank: float = 0
    score: float = math.nan
    seen: set[int] = field(default_factory=set)
    packed: array[int] | None = None


class Checker:
    """Checks the rows of a run by the rules.

    Args:
        known: The documents of the corpus; for pairs, the sentences. None leaves ids unchecked.
    """

    def __init__(self, contract: Contract, topics: Collection[str], known: Known | None, log: Log):
        self._contract, self._expected_topics, self._log = contract, topics, log
        self._pairs = contract.unit == "pair"
        self._known = frozenset(known) if isinstance(known, list | tuple) else known
        self._pending: list[tuple[int, str]] = []
        self._topics: dict[str, _Topic] = {}
        self._topic = _Topic("")
        self._tag = ""

    @property
    def topics(self) -> Set[str]:
        """The topics found."""
        return self._topics.keys()

    def check(self, row: Row, line: int, unusable: int) -> None:
        """Check a row, before which so many lines gave none."""
        name, second, document, rank, score, tag = row
        if second not in self._contract.second_columns:
            found = f"{shown(second)} in the second column"
            self._log.note(rules.SECOND_COLUMN, line, found, either(self._contract.second_columns))
        self._tag = self._tag or tag
        if tag != self._tag:
            expected = f"{shown(self._tag)}, as before"
            self._log.note(rules.SEVERAL_TAGS, line, f"the tag {shown(tag)}", expected)
        topic = self._topic
        if name != topic.name:
            topic = self._enter(name, line)
        topic.count += 1
        self._check_rank(topic, rank, line, unusable)
        self._check_score(topic, score, line)
        self._check_document(topic, document, line)

    def finish(self, is_complete: bool) -> None:
        """Run the checks of the end of the run.

        Args:
            is_complete: Whether the run was read to its end, so that what is missing can be told.
        """
        self._check_known()
        if not self._topics or not is_complete:
            return
        minimum, expected = self._contract.minimum, self._expected_topics
        few = [topic for topic in self._topics.values() if topic.count < minimum]
        if few:
            found = f"{counted(few[0].count, 'result')} for topic {shown(few[0].name)}"
            line = few[0].first_line
            self._log.note(rules.TOO_FEW, line, found, f"at least {minimum}", len(few))
        missing = [name for name in expected if name not in self._topics]
        if missing:
            found = f"no line for {counted(len(missing), 'topic')}: {listed(missing)}"
            wanted = f"results for all {counted(len(expected), 'topic')}"
            self._log.note(rules.MISSING_TOPICS, None, found, wanted, len(missing))

    def _enter(self, name: str, line: int) -> _Topic:
        """Turn from the lines of one topic to those of another."""
        if self._topic.packed is None:
            self._topic.packed = array("q", self._topic.seen)
            self._topic.seen.clear()
        topic = self._topics.get(name)
        if topic is None:
            topic = self._topics[name] = _Topic(name, line, self._topic.unusable)
            if name not in self._expected_topics:
                expected = f"one of {listed(tuple(self._expected_topics))}"
                self._log.note(rules.UNKNOWN_TOPIC, line, f"the topic {shown(name)}", expected)
        else:
            topic.seen.update(topic.packed or ())
            topic.packed = array("q")
            found, expected = f"topic {shown(name)} again", "each topic's lines together"
            self._log.note(rules.SPLIT_TOPICS, line, found, expected)
        self._topic = topic
        return topic

    def _check_rank(self, topic: _Topic, text: str, line: int, unusable: int) -> None:
        rank = _finite(text, int)
        if math.isnan(rank):
            self._log.note(rules.RANK_NUMBER, line, f"the rank {shown(text)}", "a whole number")
        step = rank - topic.rank
        # lines that could not be used may have left a gap
        most = 1 + unusable - topic.unusable
        if step != 1 and not (1 < step <= most or math.isnan(step)):
            found = f"rank {text} in topic {shown(topic.name)}"
            self._log.note(rules.RANK_ORDER, line, found, f"rank {topic.rank + 1:.0f}")
        topic.rank, topic.unusable = rank, unusable

    def _check_score(self, topic: _Topic, text: str, line: int) -> None:
        score, before = _finite(text, float), topic.score
        topic.score = score
        if math.isnan(score):
            self._log.note(rules.SCORE_NUMBER, line, f"the score {shown(text)}", "a finite number")
            return
        if score > before:
            rule, expected = rules.SCORE_RISING, f"at most {before}, the score before it"
        elif score == before:
            rule, expected = rules.TIES, f"less than {before}, the score before it"
        elif c_float(score).value == c_float(before).value:
            rule = rules.CLOSE_SCORES
            expected = f"less than {before}, the score before it, in single precision too"
        else:
            return
        self._log.note(rule, line, f"score {text} in topic {shown(topic.name)}", expected)

    def _check_form(self, document: str, line: int) -> None:
        """Note ids of another task's form; ids of any other form may be of an own corpus."""
        form, unit = form_of(document), self._contract.unit
        if form is not None and form != unit:
            found = f"the id {shown(document)} of {_A[form]}"
            self._log.note(rules.OTHER_FORM, line, found, f"the id of {_A[unit]}")

    def _check_document(self, topic: _Topic, document: str, line: int) -> None:
        if self._known is not None:
            self._pending.append((line, document))
            if len(self._pending) == _BATCH_OF_IDS:
                self._check_known()
        if self._pairs:
            mirrored = self._mirrored(document, line)
        else:
            mirrored = document
            self._check_form(document, line)
        if hash(document) in topic.seen:
            found = f"{shown(document)} again for topic {shown(topic.name)}"
            self._log.note(rules.DUPLICATE, line, found, "each document once per topic")
        elif hash(mirrored) in topic.seen:
            place = f"for topic {shown(topic.name)}"
            found = f"{shown(document)} {place}, the pair {shown(mirrored)} reversed"
            self._log.note(rules.REVERSED_PAIR, line, found, "each pair in one order only")
        else:
            topic.seen.add(hash(document))
        maximum = self._contract.maximum
        if topic.count == maximum + 1:
            found = f"result number {maximum + 1:,} of topic {shown(topic.name)}"
            self._log.note(rules.TOO_MANY, line, found, f"at most {maximum:,}")

    def _mirrored(self, pair: str, line: int) -> str:
        """Check the form of a pair and give it in the other order; itself where the form is bad."""
        if (both := halves(pair)) and both[0] != both[1]:
            return SEPARATOR.join(reversed(both))
        found, expected = f"the pair {shown(pair)}", "two different ids, one comma between"
        self._log.note(rules.PAIR_FORM, line, found, expected)
        return pair

    def _check_known(self) -> None:
        """Look the pending ids up in the corpus."""
        if self._known is None or not self._pending:
            return
        split = [
            (line, document.split(SEPARATOR) if self._pairs else [document])
            for line, document in self._pending
        ]
        self._pending = []
        queried = {name for _, names in split for name in names}
        unknown = queried - _known_of(queried, self._known)
        expected = f"the id of {'a sentence' if self._pairs else 'a document'} of the corpus"
        for line, names in split:
            if wrong := [name for name in names if name in unknown]:
                found = f"the id {shown(wrong[0])}"
                self._log.note(rules.UNKNOWN_DOCUMENT, line, found, expected)


def _known_of(queried: set[str], known: Known) -> set[str]:
    if isinstance(known, Container):
        return {identifier for identifier in queried if identifier in known}
    return set(known(list(queried)))


def _finite(text: str, parse: type[int] | type[float]) -> float:
    """A text as a finite number; NaN for other texts."""
    # Python alone reads 1_000 and the digits of other scripts as numbers
    if not text.isascii() or "_" in text:
        return math.nan
    try:
        value = float(parse(text))
    except (ValueError, OverflowError):
        return math.nan
    return value if math.isfinite(value) else math.nan


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
            that takes a list of ids and returns those it knows. It is queried for sentence ids
            where the task is about pairs. Left out, ids are not checked.
        name: The name of the run in messages; its path when left out.

    Raises:
        UsageError: There is no such task, the run is none of these, or lacks a column.
        DataError: The topics file cannot be read. Faults of the run are findings, not errors.
    """
    contract = contract_of(task)
    expected = contract.topics if topics is None else _topic_numbers(topics)
    log = Log(name or _name_of(run))
    reader = RowReader(run, contract.unit == "pair", log)
    checker = Checker(contract, dict.fromkeys(expected), known_documents, log)
    for row in reader:
        checker.check(row, reader.lines, reader.unusable)
    checker.finish(reader.is_complete)
    if reader.is_complete:
        _check_file(run, reader, log)
    unchecked = (_NO_CORPUS,) if known_documents is None else ()
    # topics of a user's own may stand beside the official ones, hardly in place of them all
    is_lenient = topics is None and not checker.topics.isdisjoint(expected)
    findings = log.findings(_LENIENT if is_lenient else ())
    return Validation(log.file, task, reader.lines, len(checker.topics), findings, unchecked)


def _topic_numbers(topics: Path | str | Iterable[Topic | str]) -> list[str]:
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


def is_sound(rankings: Sequence[Ranking], task: str, topics: Iterable[str]) -> bool:
    """Whether `validate` finds nothing in the text of a run, as `run_text` writes it.

    It may say no of a sound run, where names are odd, and never yes of another.

    Args:
        rankings: The rankings of the run.
        task: The id of the task-year.
        topics: The numbers of the topics that the run should answer.
    """
    contract = contract_of(task)
    numbers = [ranking.topic.number for ranking in rankings]
    are_plain = all(number.isascii() and number.isalnum() for number in numbers)
    is_complete = len(set(numbers)) == len(numbers) and set(numbers) == set(topics)
    return are_plain and is_complete and all(_is_sound_ranking(each, contract) for each in rankings)


def _is_sound_ranking(ranking: Ranking, contract: Contract) -> bool:
    ids, count = list(ranking.ids), len(ranking)
    if not max(contract.minimum, 1) <= count <= contract.maximum:
        return False
    if not set(ranking.second_column) <= set(contract.second_columns):
        return False
    if len(set(ids)) != count or " ".join(ids).split() != ids:
        return False
    scores = falling_scores(ranking.scores)
    if not (np.isfinite(scores).all() and (scores[1:] < scores[:-1]).all()):
        return False
    return _are_pairs(ids) if contract.unit == "pair" else all_of_form(ids, contract.unit)


def _are_pairs(ids: Sequence[str]) -> bool:
    """Whether all ids are of pairs of different sentences, and no pair is there twice."""
    pairs = {frozenset(both) for each in ids if (both := halves(each))}
    return len(pairs) == len(ids) and all(len(pair) == 2 for pair in pairs)


def known_to(index: IndexReader) -> Callable[[Sequence[str]], list[str]]:
    """A function that picks the ids an index knows: of sentences if it has any, or of documents."""

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
