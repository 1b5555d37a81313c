"""Pools: the documents that some runs found first, for judging."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sicetnon.argument_checks import check_number
from sicetnon.contracts import has_pairs
from sicetnon.errors import DataError, UsageError
from sicetnon.evaluation.inputs import Sources, TopicSource, each_source, load_run, load_topics
from sicetnon.formats.identifiers import all_pairs, check_identifier
from sicetnon.formats.json_records import name_of, valid_text
from sicetnon.formats.runs import unordered
from sicetnon.judging.scales import scales_of
from sicetnon.judging.schema import Plan, create
from sicetnon.records import Run, Topic

DEPTH = 5
"""The depth of the pools of Touché."""


@dataclass(frozen=True)
class PoolSize:
    """The size of a pool.

    Attributes:
        topics: Topics with at least one document.
        documents: Documents over all topics.
    """

    topics: int
    documents: int


def make_pool(
    path: Path | str,
    runs: Sources,
    topics: TopicSource,
    *,
    task: str = "",
    dimensions: Sequence[str] = (),
    depth: int = DEPTH,
    votes: int = 1,
    quota: int | None = None,
    seed: int = 0,
) -> PoolSize:
    """Make a judging file of the first documents of runs.

    Args:
        path: The file to make.
        runs: The runs, in any form that `evaluate` takes. Ranks count, not scores.
        topics: The questions, in any form that `load_topics` takes.
        task: The task-year whose dimensions and labels are used.
        dimensions: Dimensions of `DIMENSIONS`; those of the task when left out.
        depth: The first documents of each topic that a run gives.
        votes: How many assessors judge a document.
        quota: How many documents an assessor judges at most; no limit when left out.
        seed: The seed of the orders in which assessors see documents.

    Raises:
        UsageError: A number is too small, or the file is there already.
        DataError: A file cannot be used, or a run holds a topic that is not among the topics.
        OSError: The file cannot be written.
    """
    check_number(depth, "depth", 1)
    check_number(votes, "votes", 1)
    if quota is not None:
        check_number(quota, "quota", 1)
    check_number(seed, "seed")
    scales = scales_of(task, dimensions)
    asked = load_topics(topics)
    names, pool = _gathered(runs, asked, depth, task)
    shuffled = {number: _shuffled(found, seed, number) for number, found in pool.items() if found}
    if not shuffled:
        raise UsageError("found no document in the runs; expected at least one")
    judged = tuple(scale.dimension for scale in scales)
    numbers = int(depth), names, int(seed), int(votes), None if quota is None else int(quota)
    plan = Plan(task, judged, *numbers)
    create(Path(path), plan, asked, shuffled)
    return PoolSize(len(shuffled), sum(map(len, shuffled.values())))


def _gathered(
    runs: Sources, topics: Sequence[Topic], depth: int, task: str
) -> tuple[tuple[str, ...], dict[str, set[str]]]:
    """The names of runs, and their first documents by topic."""
    pool: dict[str, set[str]] = {topic.number: set() for topic in topics}
    names = []
    for name, source in each_source(runs):
        run = load_run(source, name)
        names.append(valid_text(str(name)) if name else name_of(run.name))
        for number, documents in pooled(run, depth, task).items():
            if number not in pool:
                message = f"found the topic {number}, which is not among the topics; give its file"
                raise DataError(message, run.name)
            try:
                for each in (number, *documents):
                    check_identifier(each)
            except ValueError as error:
                # its judgments could not be exported
                raise DataError(str(error), run.name) from None
            pool[number].update(documents)
    return tuple(names), pool


def pooled(run: Run, depth: int, task: str) -> Mapping[str, tuple[str, ...]]:
    """The first documents of each topic of a run of a task; a pair is written in one order."""
    documents = (document for ranking in run.rankings.values() for document in ranking.ids)
    if all_pairs(documents, has_pairs(task)):
        run = unordered(run)
    return {number: ranking.ids[:depth] for number, ranking in run.rankings.items()}


def _shuffled(documents: set[str], seed: int, topic: str) -> list[str]:
    """Documents in an order that reveals neither ranks nor runs."""
    return sorted(documents, key=lambda each: place_of(seed, topic, each))


def place_of(*parts: object) -> bytes:
    """The place of something in a shuffled order: the same on every machine for one seed."""
    return hashlib.sha256("\n".join(map(str, parts)).encode()).digest()
