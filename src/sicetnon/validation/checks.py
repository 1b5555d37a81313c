"""Check the columns of a run by the rules, block by block.

Ranks and scores are compared as arrays over all topics of a block at once; documents need a set
per topic. The state of each topic is kept from block to block.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Collection, Container, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sicetnon.contracts import Contract
from sicetnon.formats.identifiers import SEPARATOR, is_pair, one_order
from sicetnon.validation import rules
from sicetnon.validation.lines import Rows
from sicetnon.validation.rules import Log, Rule, either, listed, shown

# The known ids, or a function that takes ids and returns the known ones among them.
Known = Container[str] | Callable[[Sequence[str]], Collection[str]]


@dataclass(slots=True)
class _TopicState:
    """The lines of a topic that were checked so far.

    Attributes:
        first_line: The number of its first line.
        dropped: As in `Rows`, at its last line.
        rank: The rank of its last line; NaN where that was no number.
        score: The score of its last line, likewise.
        count: Number of its lines.
        documents: Its documents as in the run; for pairs, by the pair in one order.
    """

    first_line: int
    dropped: int
    rank: float = 0
    score: float = math.nan
    count: int = 0
    documents: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Groups:
    """The rows of each topic in a block.

    Attributes:
        topics: Their states.
        names: Their numbers.
        starts: The first row of each, shape (topics,).
        ends: The row behind the last of each.
    """

    topics: list[_TopicState]
    names: list[str]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]


class Checker:
    """Checks the rows of a run by the rules.

    Args:
        contract: The contract of the task.
        topics: The numbers of the topics.
        known: The documents of the corpus; for pairs, the sentences. None leaves ids unchecked.
        log: Takes the findings.
    """

    def __init__(self, contract: Contract, topics: Collection[str], known: Known | None, log: Log):
        self._contract, self._expected_topics, self._log = contract, topics, log
        self._known = frozenset(known) if isinstance(known, list | tuple) else known
        self._topics: dict[str, _TopicState] = {}
        self._last_topic = ""
        self._last_dropped = 0
        self._tag = ""

    @property
    def topics(self) -> int:
        """Number of topics found."""
        return len(self._topics)

    def check(self, rows: Rows) -> None:
        """Check a block."""
        if not len(rows):
            return
        self._check_seconds(rows)
        self._check_tags(rows)
        if self._known is not None:
            self._check_known(rows, self._known)
        rows, groups = self._group(rows)
        self._check_numbers(rows, groups)
        self._check_documents(rows, groups)

    def finish(self) -> None:
        """Check that nothing is missing, at the end of the run."""
        if not self._topics:
            return
        few = [
            (topic.first_line, name, topic.count)
            for name, topic in self._topics.items()
            if topic.count < self._contract.minimum
        ]
        if few:
            line, name, count = few[0]
            found = f"{count} results for topic {shown(name)}"
            expected = f"at least {self._contract.minimum}"
            self._log.note(rules.TOO_FEW, line, found, expected, len(few))
        missing = [name for name in self._expected_topics if name not in self._topics]
        if missing:
            found = f"no line for topic {listed(missing)}"
            expected = f"results for all {len(self._expected_topics)} topics"
            self._log.note(rules.MISSING_TOPICS, None, found, expected, len(missing))

    def _check_seconds(self, rows: Rows) -> None:
        legal = self._contract.second_columns
        if set(rows.seconds).issubset(legal):
            return
        wrong = [place for place, second in enumerate(rows.seconds) if second not in legal]
        found = f"{shown(rows.seconds[wrong[0]])} in the second column"
        self._note(rules.SECOND_COLUMN, rows, wrong, found, either(legal))

    def _check_tags(self, rows: Rows) -> None:
        self._tag = self._tag or rows.tags[0]
        if rows.tags.count(self._tag) < len(rows):
            wrong = [place for place, tag in enumerate(rows.tags) if tag != self._tag]
            found = f"the tag {shown(rows.tags[wrong[0]])}"
            self._note(rules.SEVERAL_TAGS, rows, wrong, found, f"{shown(self._tag)}, as before")

    def _check_known(self, rows: Rows, known: Known) -> None:
        pairs = self._contract.unit == "pair"
        asked = set(rows.documents)
        if pairs:
            asked = {half for pair in asked for half in pair.split(SEPARATOR)}
        unknown = asked - _known_of(asked, known)
        if not unknown:
            return

        def strange(document: str) -> str | None:
            halves = document.split(SEPARATOR) if pairs else [document]
            return next((half for half in halves if half in unknown), None)

        wrong = [place for place, one in enumerate(rows.documents) if strange(one) is not None]
        found = f"the id {shown(strange(rows.documents[wrong[0]]) or '')}"
        expected = f"the id of {'a sentence' if pairs else 'a document'} of the corpus"
        self._note(rules.UNKNOWN_DOCUMENT, rows, wrong, found, expected)

    def _group(self, rows: Rows) -> tuple[Rows, _Groups]:
        """Bring the rows of each topic together; note topics that are unknown or split."""
        starts = _starts(rows.topics)
        names = [rows.topics[start] for start in starts]
        self._meet(rows, starts, names)
        if len(set(names)) < len(names):
            codes = {name: code for code, name in enumerate(dict.fromkeys(names))}
            of_rows = np.fromiter(map(codes.__getitem__, rows.topics), np.int64, len(rows))
            rows = rows.take(np.argsort(of_rows, kind="stable"))
            starts = _starts(rows.topics)
            names = [rows.topics[start] for start in starts]
        states = [self._topics[name] for name in names]
        ends = np.array([*starts[1:], len(rows)], np.int64)
        return rows, _Groups(states, names, np.array(starts, np.int64), ends)

    def _meet(self, rows: Rows, starts: list[int], names: list[str]) -> None:
        last = self._last_topic
        for start, name in zip(starts, names, strict=True):
            if name not in self._topics:
                before = int(rows.dropped[start - 1]) if start else self._last_dropped
                self._topics[name] = _TopicState(int(rows.lines[start]), before)
                if name not in self._expected_topics:
                    self._note_unknown_topic(name, int(rows.lines[start]))
            elif name != last and not self._log.again(rules.SPLIT_TOPICS):
                found, expected = f"topic {shown(name)} again", "each topic's lines together"
                self._log.note(rules.SPLIT_TOPICS, int(rows.lines[start]), found, expected)
            last = name
        self._last_topic, self._last_dropped = last, int(rows.dropped[-1])

    def _note_unknown_topic(self, name: str, line: int) -> None:
        if not self._log.again(rules.UNKNOWN_TOPIC):
            expected = f"one of {listed(tuple(self._expected_topics))}"
            self._log.note(rules.UNKNOWN_TOPIC, line, f"the topic {shown(name)}", expected)

    def _check_numbers(self, rows: Rows, groups: _Groups) -> None:
        ranks = self._numbers(rows, rows.ranks, rules.RANK_NUMBER)
        scores = self._numbers(rows, rows.scores, rules.SCORE_NUMBER)
        ranks_before = _before(ranks, groups, [topic.rank for topic in groups.topics])
        scores_before = _before(scores, groups, [topic.score for topic in groups.topics])
        dropped = rows.dropped.astype(np.float64)
        lost = dropped - _before(dropped, groups, [topic.dropped for topic in groups.topics])
        self._check_ranks(rows, ranks, ranks_before, lost)
        self._check_scores(rows, scores, scores_before)
        for topic, end in zip(groups.topics, groups.ends.tolist(), strict=True):
            topic.rank, topic.score = float(ranks[end - 1]), float(scores[end - 1])
            topic.dropped = int(rows.dropped[end - 1])

    def _numbers(
        self, rows: Rows, column: Sequence[str] | NDArray[Any], rule: Rule
    ) -> NDArray[np.float64]:
        """A column as numbers, with NaN for other texts."""
        whole = rule is rules.RANK_NUMBER
        values = _numbers(column, whole)
        wrong = np.flatnonzero(~np.isfinite(values))
        if len(wrong):
            name, kind = ("rank", "a whole number") if whole else ("score", "a finite number")
            found = f"the {name} {shown(str(column[_earliest(rows, wrong)]))}"
            self._note(rule, rows, wrong, found, kind)
            values[wrong] = math.nan
        return values

    def _check_ranks(
        self,
        rows: Rows,
        ranks: NDArray[np.float64],
        before: NDArray[np.float64],
        lost: NDArray[np.float64],
    ) -> None:
        steps = ranks - before
        # lines that could not be used may have left a gap
        fine = (steps == 1) | ((steps > 1) & (steps <= 1 + lost)) | np.isnan(steps)
        wrong = np.flatnonzero(~fine)
        if len(wrong):
            place = _earliest(rows, wrong)
            found = f"rank {rows.ranks[place]} in topic {shown(rows.topics[place])}"
            self._note(rules.RANK_ORDER, rows, wrong, found, f"rank {before[place] + 1:.0f}")

    def _check_scores(
        self, rows: Rows, scores: NDArray[np.float64], before: NDArray[np.float64]
    ) -> None:
        with np.errstate(over="ignore"):
            close = scores.astype(np.float32) == before.astype(np.float32)
        cases = (
            (rules.SCORE_RISING, scores > before, "at most {}, the score before it"),
            (rules.TIES, scores == before, "less than {}, the score before it"),
            (
                rules.CLOSE_SCORES,
                close & (scores < before),
                "less than {}, the score before it, in single precision too",
            ),
        )
        for rule, broken, expected in cases:
            wrong = np.flatnonzero(broken)
            if len(wrong):
                place = _earliest(rows, wrong)
                found = f"score {rows.scores[place]} in topic {shown(rows.topics[place])}"
                self._note(rule, rows, wrong, found, expected.format(float(before[place])))

    def _note(
        self,
        rule: Rule,
        rows: Rows,
        wrong: Sequence[int] | NDArray[np.int64],
        found: str,
        expected: str,
    ) -> None:
        """Note the rows that break a rule, at the first of their lines."""
        self._log.note(rule, int(rows.lines[wrong].min()), found, expected, len(wrong))

    def _check_documents(self, rows: Rows, groups: _Groups) -> None:
        documents: Sequence[str] = rows.documents
        if self._contract.unit == "pair":
            self._check_pairs(rows)
            documents = [one_order(document) for document in documents]
        maximum = self._contract.maximum
        bounds = zip(groups.starts.tolist(), groups.ends.tolist(), strict=True)
        for name, topic, (start, end) in zip(groups.names, groups.topics, bounds, strict=True):
            new = dict(zip(documents[start:end], rows.documents[start:end], strict=True))
            if len(new) < end - start or not topic.documents.keys().isdisjoint(new):
                self._check_repeated(rows, documents, topic, range(start, end))
            if topic.documents:
                topic.documents.update(new)
            else:
                topic.documents = new
            before, topic.count = topic.count, topic.count + end - start
            if before <= maximum < topic.count:
                line = int(rows.lines[start + maximum - before])
                found = f"result number {maximum + 1:,} of topic {shown(name)}"
                self._log.note(rules.TOO_MANY, line, found, f"at most {maximum:,}")

    def _check_pairs(self, rows: Rows) -> None:
        wrong = [place for place, pair in enumerate(rows.documents) if not _is_good(pair)]
        if wrong:
            found = f"the pair {shown(rows.documents[_earliest(rows, wrong)])}"
            self._note(rules.PAIR_FORM, rows, wrong, found, "two different ids, one comma between")

    def _check_repeated(
        self, rows: Rows, documents: Sequence[str], topic: _TopicState, places: range
    ) -> None:
        here: dict[str, str] = {}
        for place in places:
            document, key = rows.documents[place], documents[place]
            before = topic.documents.get(key) or here.get(key)
            if before is None:
                here[key] = document
                continue
            where = f"for topic {shown(rows.topics[place])}"
            line = int(rows.lines[place])
            if before == document:
                found = f"{shown(document)} again {where}"
                self._log.note(rules.DUPLICATE, line, found, "each document once per topic")
            else:
                found = f"{shown(document)} {where}, the pair {shown(before)} reversed"
                self._log.note(rules.REVERSED_PAIR, line, found, "each pair in one order only")


def _is_good(pair: str) -> bool:
    first, _, second = pair.partition(SEPARATOR)
    return first != second and is_pair(pair)


def _known_of(asked: set[str], known: Known) -> set[str]:
    if isinstance(known, Container):
        return {identifier for identifier in asked if identifier in known}
    return set(known(list(asked)))


def _starts(topics: Sequence[str]) -> list[int]:
    """The rows whose topic differs from that of the row before."""
    others = map(operator.ne, topics, itertools.islice(topics, 1, None))
    changes = np.flatnonzero(np.fromiter(others, np.bool_, len(topics) - 1))
    return [0, *(changes + 1).tolist()]


def _before(
    values: NDArray[np.float64], groups: _Groups, kept: Sequence[float]
) -> NDArray[np.float64]:
    """For each row the value of the previous row of its topic, maybe of an earlier block."""
    before = np.empty_like(values)
    before[1:] = values[:-1]
    before[groups.starts] = kept
    return before


def _earliest(rows: Rows, places: Sequence[int] | NDArray[np.int64]) -> int:
    return int(places[int(np.argmin(rows.lines[places]))])


def _numbers(texts: Sequence[str] | NDArray[Any], whole: bool) -> NDArray[np.float64]:
    if isinstance(texts, np.ndarray):
        return texts.astype(np.float64)
    parse: type[int] | type[float] = int if whole else float
    together = "".join(texts)
    # Python alone reads 1_000 and the digits of other scripts as numbers
    if together.isascii() and "_" not in together:
        try:
            return np.fromiter(map(parse, texts), np.float64, len(texts))
        except (ValueError, OverflowError):
            pass
    return np.fromiter((_number(text, parse) for text in texts), np.float64, len(texts))


def _number(text: str, parse: type[int] | type[float]) -> float:
    if not text.isascii() or "_" in text:
        return math.nan
    try:
        return float(parse(text))
    except (ValueError, OverflowError):
        return math.nan
