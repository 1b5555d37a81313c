"""Runs: `qid column2 doc rank score tag`, written strictly and read tolerantly."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import DataError, UsageError
from sicetnon.formats.files import read_lines
from sicetnon.records import RunLine

EXPECTED = "qid Q0 doc rank score tag"
UNSTANCED = "Q0"
MOST = 10**9


def read_run(path: Path | str) -> Iterator[RunLine]:
    """Stream the lines of a run, forgiving tabs, several spaces, and tags with spaces.

    Raises:
        DataError: A line has fewer than six columns, or its rank or score is no number.
    """
    for number, line in read_lines(path):
        columns = line.split(maxsplit=5)
        if not columns:
            continue
        if len(columns) < 6:
            raise DataError(f"found {len(columns)} columns; expected 6: {EXPECTED}", path, number)
        topic, stance, document, rank, score, tag = columns
        try:
            yield RunLine(topic, stance, document, _whole(rank), _number(score), tag.rstrip())
        except ValueError:
            raise DataError(
                f"found rank {rank!r} and score {score!r}; expected a whole number and a number",
                path,
                number,
            ) from None


def _whole(text: str) -> int:
    value = int(text)
    if abs(value) > MOST:
        raise ValueError(text)
    return value


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
    for place in range(1, len(falling)):
        if falling[place] >= falling[place - 1]:
            falling[place] = np.nextafter(falling[place - 1], np.float32(-np.inf))
    return falling


def run_lines(
    topic: str,
    documents: Sequence[str],
    scores: NDArray[np.float64],
    tag: str,
    stances: Sequence[str] | None = None,
) -> str:
    """The lines of a run for one topic: ranks from 1, no ties, single spaces.

    Args:
        topic: The topic's number.
        documents: Ids, best first.
        scores: Shape (n,), never rising.
        tag: The name of the run.
        stances: The second column; `Q0` throughout when left out.
    """
    columns = stances if stances is not None else [UNSTANCED] * len(documents)
    rows = zip(columns, documents, falling_scores(scores).astype(str).tolist(), strict=True)
    return "".join(
        f"{topic} {stance} {document} {rank} {score} {tag}\n"
        for rank, (stance, document, score) in enumerate(rows, start=1)
    )


def check_tag(tag: str) -> str:
    """The tag, if it can stand in a run.

    Raises:
        UsageError: It is empty or holds white space.
    """
    if tag.split() != [tag]:
        raise UsageError(f"the tag {tag!r} is empty or holds white space; use one word")
    if not tag.isprintable():
        raise UsageError(f"the tag {tag!r} holds characters that do not print; leave them out")
    return tag
