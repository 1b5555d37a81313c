"""The rules of a run, and the findings where it breaks one.

An error breaks the text of the task, or makes a scorer refuse the file or read another ranking
than the one meant. A warning harms no scorer, but the task advises against it, or it is likely to
be an oversight.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

Severity = Literal["error", "warning"]

_LONGEST_SHOWN = 60


@dataclass(frozen=True)
class Rule:
    """One rule."""

    name: str
    severity: Severity
    advice: str
    why: str


@dataclass(frozen=True)
class Finding:
    """A rule that a run breaks.

    Attributes:
        rule: The name of the rule.
        severity: `error` or `warning`.
        file: The name of the file.
        line: The first line that breaks the rule, from 1; None where no line is to blame.
        found: What was found.
        expected: What was expected.
        count: How often the rule is broken.
        advice: What to do.
    """

    rule: str
    severity: Severity
    file: str
    line: int | None
    found: str
    expected: str
    count: int
    advice: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}, line {self.line}"
        times = {1: "once", 2: "twice"}.get(self.count, f"{self.count:,} times")
        return f"{place}: found {self.found}; expected {self.expected} ({times}). {self.advice}"


RULES: dict[str, Rule] = {}


def _rule(name: str, severity: Severity, advice: str, why: str) -> Rule:
    RULES[name] = Rule(name, severity, advice, why)
    return RULES[name]


UNREADABLE = _rule(
    "unreadable-file",
    "error",
    "Check the path and the permissions.",
    "There is nothing to score.",
)
DAMAGED_GZIP = _rule(
    "damaged-gzip",
    "error",
    "Write, copy or download the file again; only the lines before the damage were checked.",
    "Results are lost, and other programs refuse the file.",
)
NOT_UTF8 = _rule(
    "not-utf-8",
    "error",
    "Save the file as UTF-8.",
    "Ids that were written in another encoding match no judgment.",
)
BYTE_ORDER_MARK = _rule(
    "byte-order-mark",
    "error",
    "Save the file as UTF-8 without a byte order mark.",
    "Most scorers take the mark for a part of the first topic's number, and lose that line.",
)
EMPTY = _rule(
    "empty-file",
    "error",
    "Look for an error message of the program that should have written it.",
    "There is nothing to score.",
)
COLUMNS = _rule(
    "column-count",
    "error",
    "Write six columns with a space between them; such lines were left out of the other checks.",
    'The task: "it is important to include all columns". TIRA refuses the file.',
)
TAG_SPACE = _rule(
    "tag-white-space",
    "error",
    "Use one word for the tag, with hyphens for spaces.",
    "White space parts columns, so the line has more than six. TIRA refuses the file.",
)
SECOND_COLUMN = _rule(
    "second-column",
    "error",
    "Write Q0 where there is nothing to say about the stance.",
    "The task lists the allowed words; a stance scorer counts others as wrong.",
)
UNKNOWN_TOPIC = _rule(
    "unknown-topic",
    "error",
    "Check that the run belongs to this task; for topics of your own, name their file.",
    "No judgment can exist for it. A warning where no topics were given and the run answers some "
    "of the task's, since the others may be its user's own.",
)
UNKNOWN_DOCUMENT = _rule(
    "unknown-document",
    "error",
    "Check that the run was made from this version of the corpus.",
    "The task wants ids of its corpus; others match no judgment.",
)
OTHER_FORM = _rule(
    "id-of-another-task",
    "error",
    "Name the task that the run was made for.",
    "The tasks have different corpora; ids of another corpus match no judgment.",
)
RANK_NUMBER = _rule(
    "rank-number",
    "error",
    "Write ranks as whole numbers.",
    "The official scorer orders by rank. TIRA refuses the file.",
)
SCORE_NUMBER = _rule(
    "score-number",
    "error",
    "Look for a division by zero or a logarithm of zero in the system that wrote it.",
    "No scorer can order by it.",
)
RANK_ORDER = _rule(
    "rank-order",
    "error",
    "Number each topic's results from 1 in the order of the lines.",
    "The official scorer orders and cuts by rank, so another numbering may be another ranking.",
)
SCORE_RISING = _rule(
    "score-rising",
    "error",
    "Sort each topic's results by falling score before numbering them.",
    'The task: "must be in descending (non-increasing) order". trec_eval would reorder the lines.',
)
TIES = _rule(
    "tied-scores",
    "warning",
    "Break ties before writing, so that every scorer reads the same order.",
    "The task asks for care but allows scores that do not rise, and its own scorer goes by rank; "
    "trec_eval orders tied documents by id, whatever their ranks.",
)
CLOSE_SCORES = _rule(
    "scores-too-close",
    "warning",
    "Spread the scores; trec_eval reads them in single precision.",
    "As for ties: trec_eval sees no difference and orders these documents by id.",
)
PAIR_FORM = _rule(
    "pair-form",
    "error",
    "Join the ids of two different sentences by one comma, without a space.",
    "The task's results are pairs; nothing else matches a judgment.",
)
DUPLICATE = _rule(
    "duplicate-document",
    "error",
    "Keep the better placed of the two.",
    "Scorers count it twice, or refuse the file, as TIRA does.",
)
REVERSED_PAIR = _rule(
    "reversed-pair",
    "error",
    "Pairs have no order; keep the better placed of the two.",
    "Both are judged as one pair, which would count twice.",
)
TOO_MANY = _rule(
    "too-many-results",
    "error",
    "Cut each topic's results to that length.",
    'The task: "include up to 1,000".',
)
TOO_FEW = _rule(
    "too-few-results",
    "error",
    "Retrieve deeper, or combine the sentences of more arguments.",
    'The task: "include a minimum of 100".',
)
MISSING_TOPICS = _rule(
    "missing-topics",
    "error",
    "Retrieve something for every topic; to check a part of the topics, name a file with those.",
    'The task: "for each topic". A topic without results may drop out of the mean unseen. A '
    "warning where no topics were given and the run answers some of the task's.",
)
SPLIT_TOPICS = _rule(
    "split-topics",
    "warning",
    "Write all lines of a topic together.",
    "Scorers gather a topic's lines from anywhere, but some tools read one topic at a time.",
)
SEVERAL_TAGS = _rule(
    "several-tags",
    "warning",
    "Use one tag in a file, since it names the run.",
    "Scores do not depend on it, but leaderboards show one.",
)
SEPARATORS = _rule(
    "separators",
    "warning",
    "Part the columns by single spaces, and end lines by a line feed alone.",
    'The task wants "a whitespace", so tabs are legal; but some scripts split at single spaces.',
)
BLANK_LINES = _rule(
    "blank-lines",
    "error",
    "Leave them out.",
    "Tolerant readers skip them, but TIRA refuses the file.",
)
TWO_FILES = _rule(
    "two-runs",
    "warning",
    "Keep one of the two.",
    "The file itself is sound, but TIRA refuses a directory with both.",
)


class Log:
    """Gathers findings, one per rule: the first line, and the count."""

    def __init__(self, file: str):
        self.file = file
        self._findings: dict[str, Finding] = {}
        self._counts: Counter[str] = Counter()

    def note(self, rule: Rule, line: int | None, found: str, expected: str, count: int = 1) -> None:
        """Record that a rule is broken, `count` times from `line` on."""
        self._counts[rule.name] += count
        if rule.name not in self._findings:
            self._findings[rule.name] = Finding(
                rule.name, rule.severity, self.file, line, found, expected, 0, rule.advice
            )

    def findings(self, lenient: Collection[Rule] = ()) -> tuple[Finding, ...]:
        """All findings: errors first, then by line."""
        mild = {rule.name for rule in lenient}
        counted = (
            replace(
                finding,
                count=self._counts[name],
                severity="warning" if name in mild else finding.severity,
            )
            for name, finding in self._findings.items()
        )
        return tuple(sorted(counted, key=lambda item: (item.severity != "error", item.line or 0)))


def shown(text: str) -> str:
    """A text of the file, quoted for a message: escaped, and cut where it is long."""
    cut = text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"
    return repr(cut)


def either(items: Sequence[str]) -> str:
    """Alternatives in a sentence: `a, b or c`."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} or {items[-1]}"


def listed(items: Sequence[str], most: int = 8) -> str:
    """Items in a sentence, cut where they are many: `a, b and 7 more`."""
    if len(items) > most:
        return f"{', '.join(items[:most])} and {len(items) - most:,} more"
    return ", ".join(items)
