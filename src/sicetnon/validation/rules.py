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
    """One rule; the comment above it says why it is one."""

    name: str
    severity: Severity
    advice: str


@dataclass(frozen=True)
class Finding:
    """A rule that a run breaks.

    Attributes:
        rule: The name of the rule.
        severity: `error` or `warning`.
        file: The name of the file.
        line: The first line that breaks the rule, from 1, or None if no line is to blame.
        found: A description of the fault.
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


# there is nothing to score
UNREADABLE = Rule("unreadable-file", "error", "Check the path and the permissions.")
# results are lost, and other programs refuse the file
DAMAGED_GZIP = Rule(
    "damaged-gzip",
    "error",
    "Write, copy or download the file again; only the lines before the damage were checked.",
)
# ids that were written in another encoding match no judgment
NOT_UTF8 = Rule("not-utf-8", "error", "Save the file as UTF-8.")
# most scorers take the mark for a part of the first topic's number, and lose that line
BYTE_ORDER_MARK = Rule(
    "byte-order-mark", "error", "Save the file as UTF-8 without a byte order mark."
)
# nobody sees that such an id matches no judgment
UNPRINTABLE = Rule(
    "unprintable-id",
    "error",
    "Remove the character, such as a byte order mark inside a file of several.",
)
# a tolerant reader takes the second line for the tag of the first, and its result is lost
JOINED_LINES = Rule(
    "joined-lines",
    "error",
    "End each line by a line feed, also the last line of a file that is joined with another.",
)
# there is nothing to score
EMPTY = Rule(
    "empty-file", "error", "Look for an error message of the program that should have written it."
)
# the task: "it is important to include all columns". TIRA refuses the file
COLUMNS = Rule(
    "column-count",
    "error",
    "Write six columns with a space between them; such lines were left out of the other checks.",
)
# white space parts columns, so the line has more than six. TIRA refuses the file
TAG_SPACE = Rule("tag-white-space", "error", "Use one word for the tag, with hyphens for spaces.")
# the task lists the allowed words; a stance scorer counts others as wrong
SECOND_COLUMN = Rule(
    "second-column", "error", "Write Q0 where there is nothing to say about the stance."
)
# no judgment can exist for such a topic. A warning where no topics were given and the run answers
# some of the task's, since the others may be its user's own
UNKNOWN_TOPIC = Rule(
    "unknown-topic",
    "error",
    "Check that the run belongs to this task; for topics of your own, name their file.",
)
# the task wants ids of its corpus; others match no judgment
UNKNOWN_DOCUMENT = Rule(
    "unknown-document", "error", "Check that the run was made from this version of the corpus."
)
# the tasks have different corpora; ids of another corpus match no judgment
OTHER_FORM = Rule("id-of-another-task", "error", "Name the task that the run was made for.")
# the official scorer orders by rank. TIRA refuses the file
RANK_NUMBER = Rule("rank-number", "error", "Write ranks as whole numbers.")
# no scorer can order by such a score
SCORE_NUMBER = Rule(
    "score-number",
    "error",
    "Look for a division by zero or a logarithm of zero in the system that wrote it.",
)
# the official scorer orders and cuts by rank, so another numbering may be another ranking
RANK_ORDER = Rule(
    "rank-order", "error", "Number each topic's results from 1 in the order of the lines."
)
# the task: "must be in descending (non-increasing) order". trec_eval would reorder the lines
SCORE_RISING = Rule(
    "score-rising", "error", "Sort each topic's results by falling score before numbering them."
)
# the task asks for care but allows scores that do not rise, and its own scorer goes by rank;
# trec_eval orders tied documents by id, whatever their ranks
TIES = Rule(
    "tied-scores",
    "warning",
    "Break ties before writing, so that every scorer reads the same order.",
)
# as for ties: trec_eval sees no difference and orders these documents by id
CLOSE_SCORES = Rule(
    "scores-too-close", "warning", "Spread the scores; trec_eval reads them in single precision."
)
# the task's results are pairs; nothing else matches a judgment
PAIR_FORM = Rule(
    "pair-form", "error", "Join the ids of two different sentences by one comma, without a space."
)
# scorers count the document twice, or refuse the file, as TIRA does
DUPLICATE = Rule("duplicate-document", "error", "Keep the better placed of the two.")
# both are judged as one pair, which would count twice
REVERSED_PAIR = Rule(
    "reversed-pair", "error", "Pairs have no order; keep the better placed of the two."
)
# the task: "include up to 1,000"
TOO_MANY = Rule("too-many-results", "error", "Cut each topic's results to that length.")
# the task: "include a minimum of 100"
TOO_FEW = Rule(
    "too-few-results", "error", "Retrieve deeper, or combine the sentences of more arguments."
)
# the task: "for each topic". A topic without results may drop out of the mean unseen. A warning
# where no topics were given and the run answers some of the task's
MISSING_TOPICS = Rule(
    "missing-topics",
    "error",
    "Retrieve documents for every topic. If the run is for some topics alone, check it with a file "
    "of these topics (--topics).",
)
# scorers gather a topic's lines from anywhere, but some tools read one topic at a time
SPLIT_TOPICS = Rule("split-topics", "warning", "Write all lines of a topic together.")
# scores do not depend on it, but leaderboards show one
SEVERAL_TAGS = Rule("several-tags", "warning", "Use one tag in a file, since it names the run.")
# the task wants "a whitespace", so tabs are legal; but some scripts split at single spaces
SEPARATORS = Rule(
    "separators",
    "warning",
    "Part the columns by single spaces, and end lines by a line feed alone.",
)
# tolerant readers skip them, but TIRA refuses the file
BLANK_LINES = Rule("blank-lines", "error", "Leave them out.")
# the file itself is sound, but TIRA refuses a directory with both
TWO_FILES = Rule("two-runs", "warning", "Keep one of the two.")


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
