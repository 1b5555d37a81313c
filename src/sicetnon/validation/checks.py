"""Check the rows of a run by the rules, one after the other, with a small state per topic."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Collection, Container, Sequence, Set
from ctypes import c_float
from dataclasses import dataclass, field

from sicetnon.contracts import Contract
from sicetnon.errors import counted
from sicetnon.formats.identifiers import SEPARATOR, form_of, halves
from sicetnon.validation import rules
from sicetnon.validation.rows import Row
from sicetnon.validation.rules import Log, either, listed, shown

# The known ids, or a function that takes ids and returns the known ones among them.
Known = Container[str] | Callable[[Sequence[str]], Collection[str]]

# About the lines of one topic. Each question to a corpus costs time, so ids are asked together.
_IDS_ASKED_TOGETHER = 1000
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
        self._unasked: list[tuple[int, str]] = []
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

    def finish(self, is_whole: bool) -> None:
        """Check what can be checked at the end of the run alone.

        Args:
            is_whole: Whether the run was read to its end, so that what is missing can be told.
        """
        self._check_known()
        if not self._topics or not is_whole:
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
        rank = _number(text, int)
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
        score, before = _number(text, float), topic.score
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
            self._unasked.append((line, document))
            if len(self._unasked) == _IDS_ASKED_TOGETHER:
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
        """Ask the corpus for the ids that wait."""
        if self._known is None or not self._unasked:
            return
        split = [
            (line, document.split(SEPARATOR) if self._pairs else [document])
            for line, document in self._unasked
        ]
        self._unasked = []
        asked = {name for _, names in split for name in names}
        unknown = asked - _known_of(asked, self._known)
        expected = f"the id of {'a sentence' if self._pairs else 'a document'} of the corpus"
        for line, names in split:
            if wrong := [name for name in names if name in unknown]:
                found = f"the id {shown(wrong[0])}"
                self._log.note(rules.UNKNOWN_DOCUMENT, line, found, expected)


def _known_of(asked: set[str], known: Known) -> set[str]:
    if isinstance(known, Container):
        return {identifier for identifier in asked if identifier in known}
    return set(known(list(asked)))


def _number(text: str, parse: type[int] | type[float]) -> float:
    """A text as a finite number; NaN for other texts."""
    # Python alone reads 1_000 and the digits of other scripts as numbers
    if not text.isascii() or "_" in text:
        return math.nan
    try:
        value = float(parse(text))
    except (ValueError, OverflowError):
        return math.nan
    return value if math.isfinite(value) else math.nan
