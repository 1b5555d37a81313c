"""One call from systems to a table of scores."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from sicetnon.argument_checks import abbreviated, check_number, check_retrieved, check_texts
from sicetnon.errors import UsageError, counted, needing
from sicetnon.evaluation.inputs import (
    Source,
    Sources,
    TopicSource,
    each_source,
    load_qrels,
    load_run,
    load_topics,
)
from sicetnon.evaluation.scores import Score, as_html, evaluate, plain_text
from sicetnon.evaluation.significance import SAMPLES, SEED
from sicetnon.records import Retriever, Run, Topic

if TYPE_CHECKING:
    from sicetnon.evaluation.scores import SomeMeasure


SystemOrRun = Retriever | Source
Systems = SystemOrRun | Sequence[SystemOrRun] | Mapping[str, SystemOrRun]


class TopicScore(NamedTuple):
    """The value of a measure for one topic of one run."""

    run: str
    qrels: str
    measure: str
    topic: str
    value: float


@dataclass(frozen=True, repr=False)
class Experiment:
    """The scores of some systems: a table that prints itself, also in a notebook.

    Attributes:
        scores: A score for each file of judgments, measure and system, the highest first; with its
            95% interval, its per-topic values, and its comparison with the baseline.
        runs: The runs by name, where `keep_rankings` asked for them; else empty.
    """

    scores: tuple[Score, ...]
    runs: Mapping[str, Run]

    def per_topic(self) -> list[TopicScore]:
        """The value of every measure for every topic that counts, in the order of the scores."""
        return [
            TopicScore(score.run, score.qrels, score.measure, topic, value)
            for score in self.scores
            for topic, value in score.values.items()
        ]

    def to_pandas(self, per_topic: bool = False) -> Any:
        """The scores as a data frame of pandas, one row per score.

        Args:
            per_topic: Whether a row is the value of one topic, as in `per_topic`.

        Raises:
            MissingExtraError: pandas is not installed.
        """
        with needing("a data frame of pandas", "pandas"):
            import pandas
        if per_topic:
            return pandas.DataFrame(self.per_topic(), columns=list(TopicScore._fields))
        return pandas.DataFrame([score.row() for score in self.scores])

    def __repr__(self) -> str:
        return plain_text(self.scores).strip("\n")

    def _repr_html_(self) -> str:
        return as_html(self.scores)


def experiment(
    systems: Systems,
    topics: TopicSource | None = None,
    qrels: Sources | None = None,
    measures: SomeMeasure | Sequence[SomeMeasure] = "nDCG@5",
    *,
    baseline: int | str | None = None,
    names: Sequence[str] = (),
    k: int = 1000,
    rule: str = "official",
    keep_rankings: bool = False,
    samples: int = SAMPLES,
    seed: int = SEED,
) -> Experiment:
    """Score systems and runs side by side.

    Args:
        systems: One system, several, or a mapping from names. A system is anything with
            `retrieve(topics, k)`, or a run in any form that `load_run` takes.
        topics: In any form that `load_topics` takes; runs need none. If they are given, only they
            are scored, whatever else is judged.
        qrels: Judgments in any form that `load_qrels` takes; one, several, or a mapping from names.
            Those of the dataset that gives the topics when left out.
        measures: In the notation of ir_measures (`nDCG@5`, `Judged@5`), or its objects.
        baseline: The place or the name of the system that the others are compared with, by
            randomisation test and paired t test, corrected for their number (Holm).
        names: Names of the systems in the table; the systems' own when left out.
        k: Number of documents per topic that systems are asked for.
        rule: `official`, `trec` or `condensed`, for measures that name none.
        keep_rankings: Whether the result keeps what was found.
        samples: Number of samples of the bootstrap.
        seed: Seed of the random numbers.

    Raises:
        DataError: A file cannot be used.
        UsageError: Topics or judgments are missing, no topic is judged, or another argument is not
            known.

    Warns:
        EvaluationWarning: A run leaves judged topics unanswered, or repeats documents.
    """
    judgments = _judgments(topics, qrels)
    asked = None if topics is None else load_topics(topics)
    if asked is not None:
        numbers = {topic.number for topic in asked}
        judgments = [load_qrels(each, name).of(numbers) for name, each in each_source(judgments)]
    runs = _runs(systems, names, asked, k)
    chosen = None if baseline is None else _chosen(runs, baseline)
    scores = evaluate(
        runs, judgments, measures, rule=rule, baseline=chosen, samples=samples, seed=seed
    )
    return Experiment(tuple(scores), {run.name: run for run in runs} if keep_rankings else {})


def _judgments(topics: TopicSource | None, qrels: Sources | None) -> Any:
    if qrels is None and not isinstance(topics, str) and not hasattr(topics, "qrels_iter"):
        raise UsageError("found no judgments; give qrels")
    return topics if qrels is None else qrels


def _runs(
    systems: Systems, names: Sequence[str], topics: Sequence[Topic] | None, k: int
) -> list[Run]:
    """The runs of the systems, with distinct names."""
    check_number(k, "k", 1)
    each: list[tuple[str | None, SystemOrRun]] = (
        [(None, systems)] if isinstance(systems, Retriever) else list(each_source(systems))
    )
    check_texts(names, "names")
    if names and len(names) != len(each):
        found = f"{counted(len(names), 'name')} for {counted(len(each), 'system')}"
        raise UsageError(f"found {found}; give one for each")
    runs: dict[str, Run] = {}
    for place, (given, system) in enumerate(each):
        run = _run(system, names[place] if names else given, topics, k)
        numbered = (f"{run.name} ({number})" for number in itertools.count(2))
        name = run.name if run.name not in runs else next(n for n in numbered if n not in runs)
        runs[name] = dataclasses.replace(run, name=name)
    return list(runs.values())


def _run(system: SystemOrRun, name: str | None, topics: Sequence[Topic] | None, k: int) -> Run:
    if not isinstance(system, Retriever):
        return load_run(system, name)
    name = name or str(getattr(system, "name", "")) or type(system).__name__
    if topics is None:
        raise UsageError(f"found the system {name} and no topics; give topics")
    found = check_retrieved(system.retrieve(topics, k), topics, name, may_repeat=True)
    return load_run(found, name)


def _chosen(runs: Sequence[Run], baseline: int | str) -> Run:
    """The baseline, by its place or its name."""
    for place, run in enumerate(runs):
        if baseline in (place, run.name, place - len(runs)):
            return run
    raise UsageError(
        f"found the baseline {abbreviated(baseline)}; expected a place below {len(runs)}, or one "
        f"of {', '.join(run.name for run in runs)}"
    )
