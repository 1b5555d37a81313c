"""The data folder, an index of a task's corpus and the scores of systems, for all benchmarks."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from sicetnon.evaluation import Measure, Qrels, Score, experiment
from sicetnon.formats.corpora import open_corpus
from sicetnon.index.reader import IndexReader
from sicetnon.index.writing import BuildOptions, build_index
from sicetnon.operating_system import cache_folder
from sicetnon.records import Ranking, Retriever, Topic
from sicetnon.text.analysis import named_analysis

DATA = Path(os.environ.get("SICETNON_DATA", "../shared/data"))


class Bench:
    """Topics and judgments, and the scores of systems on them.

    Args:
        topics: The topics.
        qrels: Judgments.
        measures: The measures, each with its rule.
        k: Number of results per topic.
        judged_as: Gives the ids in the judgments of the results of a ranking; an id may come twice.
    """

    def __init__(
        self,
        topics: Sequence[Topic],
        qrels: Sequence[Qrels],
        measures: Sequence[str | Measure],
        k: int = 1000,
        judged_as: Callable[[Ranking], Sequence[str]] = lambda ranking: ranking.ids,
    ):
        self.topics, self.qrels, self.measures = topics, qrels, measures
        self.k, self.judged_as = k, judged_as

    def scores(self, system: Retriever) -> Sequence[Score]:
        """A score for each file of judgments and measure."""
        rankings = system.retrieve(self.topics, self.k)
        return self.run_scores([self._as_written(ranking) for ranking in rankings])

    def run_scores(self, run: Any) -> Sequence[Score]:
        """The same for a run."""
        return experiment([run], None, self.qrels, self.measures).scores

    def order_scores(self, orders: Mapping[str, Sequence[str]]) -> Sequence[Score]:
        """The same for the ids of each topic, best first."""
        return self.run_scores([in_order(Topic(topic, ""), ids) for topic, ids in orders.items()])

    def _as_written(self, ranking: Ranking) -> Ranking:
        return in_order(ranking.topic, self.judged_as(ranking))


def in_order(topic: Topic, ids: Sequence[str]) -> Ranking:
    """A ranking without ties, as one that was written: no rule can change its order."""
    distinct = tuple(dict.fromkeys(ids))
    return Ranking(topic, distinct, -np.arange(1.0, len(distinct) + 1))


@contextmanager
def opened(task: Any) -> Iterator[IndexReader]:
    """An index of the corpus of a task, kept in the cache.

    Raises:
        SystemExit: The corpus is not at hand.
    """
    source = DATA / task.id / "input"
    if not source.is_dir():
        sys.exit(f"{source} is not there; set SICETNON_DATA")
    folder = cache_folder() / f"benchmark-{task.id}"
    build_index(open_corpus([source]), folder, BuildOptions(named_analysis(task.analysis)))
    with IndexReader.open(folder) as index:
        yield index
