"""Runs: `qid column2 doc rank score tag`, written strictly and read tolerantly."""

from __future__ import annotations

import gzip
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sicetnon.argument_checks import check_path, check_text, check_writable
from sicetnon.contracts import CONTRACTS
from sicetnon.errors import DataError, UsageError, counted
from sicetnon.formats.entries import is_number
from sicetnon.formats.files import CARRIAGE_RETURN, read_lines, write_atomic
from sicetnon.formats.identifiers import check_printable, one_order
from sicetnon.records import Ranking, Run, RunLine

EXPECTED = "qid Q0 doc rank score tag"
MOST = 10**9
_SECOND_COLUMNS = {word for each in CONTRACTS.values() for word in each.second_columns}


def read_run(path: Path | str) -> Iterator[RunLine]:
    """Stream the lines of a run. Tabs, several spaces, and tags with spaces are accepted.

    Raises:
        DataError: A line has fewer than six columns, its rank or score is no number, an id holds
            characters that do not print, or two lines are joined.
    """
    for number, line in read_lines(path):
        columns = line.split(maxsplit=5)
        if not columns:
            continue
        if len(columns) < 6:
            found = counted(len(columns), "column")
            raise DataError(f"found {found}; expected 6: {EXPECTED}", path, number)
        topic, stance, document, rank, score, tag = columns
        # most tags are one word
        if ("\r" in line or len(tag.split(None, 1)) > 1) and (fault := fault_of_line(line, tag)):
            raise DataError(fault, path, number)
        if not line.isprintable():  # most often for tabs
            check_printable({"topic": topic, "document": document}, path, number)
        try:
            yield RunLine(topic, stance, document, whole_rank(rank), _number(score), tag.rstrip())
        except ValueError:
            raise DataError(
                f"found rank {rank!r} and score {score!r}; expected a whole number and a number",
                path,
                number,
            ) from None


def fault_of_line(line: str, tag: str) -> str:
    """The reason why a line hides another one in its tag, with the cure, or an empty text.

    A tag may hold spaces, so a line that follows without a line end is read as a part of it: after
    `cat` of a file whose last line has no end, or in a file whose lines end in carriage returns.

    Args:
        line: The line, without its line end.
        tag: What follows the fifth column.
    """
    if "\r" in line.rstrip("\r"):
        return CARRIAGE_RETURN
    words = tag.split()
    # topic, second column and document stand before a rank; the topic may be glued to the tag
    # before it, or to a score without a tag
    starts = range(3 if words[:1] and words[0] not in _SECOND_COLUMNS else 2, len(words) - 2)
    is_joined = any(words[at].isdecimal() and is_number(words[at + 1]) for at in starts)
    # a second line that is a fault of its own: without a tag, or with a rank that is none
    is_joined |= any(
        words[at - 2] in _SECOND_COLUMNS and is_number(words[at]) and is_number(words[at + 1])
        for at in range(2, len(words) - 1)
    )
    if is_joined:
        return (
            f"found two lines in one, with the tag {tag.strip()[:80]!r}; expected a line end after "
            f"each: {EXPECTED}; awk 1 FILE FILE joins files whose last line has none"
        )
    return ""


def whole_rank(value: str | float) -> int:
    """A rank as a whole number.

    Raises:
        ValueError: It is none, or beyond all files.
    """
    rank = int(value)
    if abs(rank) > MOST or (not isinstance(value, str) and rank != value):
        raise ValueError(value)
    return rank


def _number(text: str) -> float:
    value = float(text)
    if math.isnan(value):
        raise ValueError(text)
    return value


def falling_scores(scores: NDArray[np.float64]) -> NDArray[np.float32]:
    """Scores that fall strictly, as near to the given ones as single precision can hold.

    trec_eval reads scores in single precision and breaks ties its own way, so a score that does
    not fall below the one before it is set to the next lower number.

    Args:
        scores: Shape (n,), never rising.

    Returns:
        Shape (n,), every value finite and below the one before it.
    """
    single = np.finfo(np.float32)
    limit = float(single.max)
    # so that there is room for as many falling values as there are scores above minus infinity
    lowest = (len(scores) * float(single.eps) - 1) * limit
    falling = np.clip(scores, lowest, limit).astype(np.float32)
    if (falling[1:] < falling[:-1]).all():
        return falling
    for position in range(1, len(falling)):
        if falling[position] >= falling[position - 1]:
            falling[position] = np.nextafter(falling[position - 1], np.float32(-np.inf))
    return falling


def run_text(rankings: Iterable[Ranking], tag: str) -> str:
    """The text of a run: ranks from 1, no ties, single spaces."""
    return "".join(line for ranking in rankings for line in _lines(ranking, tag))


def write_run(rankings: Run | Iterable[Ranking], path: Path | str, tag: str | None = None) -> None:
    """Write a run, atomically; gzipped if the name ends in `.gz`.

    Args:
        rankings: A run, or rankings, one per topic.
        path: The file.
        tag: The name in the last column; that of the run when left out.

    Raises:
        UsageError: The tag is missing, empty or holds white space, a ranking is not sound, two are
            of one topic, a topic, a stance or an id is not one word, or there is no result.
        OSError: The file cannot be written; it has not changed then.
    """
    if isinstance(rankings, Run):
        tag, rankings = tag or rankings.tag, rankings.rankings.values()
    if tag is None:
        raise UsageError("found rankings and no tag; give a tag")
    check_text(tag, "the tag")
    check_tag(tag)
    check_path(path, "the file")
    if not isinstance(rankings, Iterable):
        raise UsageError(f"found {type(rankings).__name__}; expected a run, or rankings")
    path = Path(path)
    text = run_text(check_writable(rankings, "the caller"), tag)
    if not text:
        raise UsageError("found no result; a run has one line at least")
    zipped = path.suffix == ".gz"
    write_atomic({path: gzip.compress(text.encode("utf-8"), mtime=0) if zipped else text})


def _lines(ranking: Ranking, tag: str) -> Iterator[str]:
    topic = ranking.topic.number
    scores = falling_scores(ranking.scores).astype(str).tolist()
    rows = zip(ranking.second_column, ranking.ids, scores, strict=True)
    for rank, (stance, document, score) in enumerate(rows, start=1):
        yield f"{topic} {stance} {document} {rank} {score} {tag}\n"


def unordered(run: Run) -> Run:
    """The run with every pair `a,b` written in one order, for judgments of pairs."""
    rankings = {
        number: distinct(replace(each, ids=tuple(map(one_order, each.ids))))
        for number, each in run.rankings.items()
    }
    lost = sum(map(len, run.rankings.values())) - sum(map(len, rankings.values()))
    return Run(run.name, run.tag, rankings, run.repeated + lost)


def distinct(ranking: Ranking) -> Ranking:
    """The ranking without repeated documents."""
    if len(set(ranking.ids)) == len(ranking):
        return ranking
    firsts: dict[str, int] = {}
    for position, document in enumerate(ranking.ids):
        firsts.setdefault(document, position)
    positions = np.array(list(firsts.values()), dtype=np.int64)
    return ranking.taken(positions, ranking.scores[positions])


def check_tag(tag: str) -> str:
    """The tag, if a run can hold it.

    Raises:
        UsageError: It is empty or holds white space.
    """
    if tag.split() != [tag]:
        raise UsageError(f"the tag {tag!r} is empty or holds white space; use one word")
    if not tag.isprintable():
        raise UsageError(f"the tag {tag!r} holds characters that do not print; leave them out")
    return tag
