"""Scores of runs, with intervals, and compared with a baseline."""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from sicetnon.checks import check_number
from sicetnon.contracts import Dimension
from sicetnon.errors import UsageError, counted
from sicetnon.evaluation import stance
from sicetnon.evaluation.baseline import PairedComparison, compare, compare_stances, correct
from sicetnon.evaluation.intervals import SAMPLES, SEED, mean_interval
from sicetnon.evaluation.measures import Measure, parse_measure
from sicetnon.evaluation.qrels import Qrels, load_qrels
from sicetnon.evaluation.rules import ScoringRule, check_rule
from sicetnon.evaluation.runs import load_run
from sicetnon.evaluation.sources import Source, Sources, each_source
from sicetnon.formats.runs import unordered
from sicetnon.records import Run

if TYPE_CHECKING:
    import ir_measures

    SomeMeasure = str | Measure | ir_measures.Measure

# each keeps a number, and the draws of some topics take seconds
_MOST_SAMPLES, _MOST_SEEDS = 10_000_000, 1 << 128


class EvaluationWarning(UserWarning):
    """A score that can be computed, but that may mislead."""


@dataclass(frozen=True)
class Score:
    """The score of a run by one measure and one file of judgments.

    Attributes:
        run: The name of the run: its path, or what the caller calls it.
        tag: The tag in the run.
        qrels: The name of the judgments, likewise.
        dimension: The dimension of the judgments.
        rule: The rule of the measure; `official` for stances, which have no other.
        measure: The measure without its rule, as ir_measures prints it; `MacroF1` for stances.
        mean: The mean over the topics that count; NaN where there is none. Of the counts NumQ,
            NumRel and NumRet it is the sum.
        low: The lower bound of its 95% interval.
        high: The upper bound.
        topics: Number of topics that count.
        judged: The share of judged documents among those that the measure sees of a topic (of
            all lines for a measure without a depth, and for stances).
        values: The measure's value for each topic that counts. For stances, the share of
            the topic's labelled lines with the judged stance (macro-F1 is no mean over topics).
        lines: For stances: the number of lines of the run whose document has a label (N).
        confusion: For stances: counts of judged stances (rows) by the run's stances (columns).
        comparison: The comparison with the baseline, where there is one.
    """

    run: str
    tag: str
    qrels: str
    dimension: Dimension
    rule: ScoringRule
    measure: str
    mean: float
    low: float
    high: float
    topics: int
    judged: float
    values: Mapping[str, float]
    lines: int | None = None
    confusion: tuple[tuple[int, ...], ...] | None = None
    comparison: PairedComparison | None = None

    def row(self) -> dict[str, str | int | float | None]:
        """The score as one flat row, ready for JSON: None stands for what cannot be computed.

        Per-topic values and the confusion matrix are left out.
        """
        row: dict[str, str | int | float | None] = {}
        for field in dataclasses.fields(self):
            if field.name not in ("values", "lines", "confusion", "comparison"):
                row[field.name] = getattr(self, field.name)
        if self.lines is not None:
            row["lines"] = self.lines
        if self.comparison is not None:
            row |= dataclasses.asdict(self.comparison)
        return {
            key: None if isinstance(value, float) and math.isnan(value) else value
            for key, value in row.items()
        }


@dataclass(frozen=True)
class _Scored:
    """A score with the values per topic that a comparison needs."""

    score: Score
    confusions: dict[str, NDArray[np.int64]] | None = None


@dataclass(frozen=True)
class _Settings:
    measures: tuple[Measure, ...]
    samples: int
    seed: int


def evaluate(
    runs: Sources,
    qrels: Sources,
    measures: SomeMeasure | Sequence[SomeMeasure] = "nDCG@5",
    *,
    rule: str = "official",
    baseline: Source | None = None,
    samples: int = SAMPLES,
    seed: int = SEED,
) -> list[Score]:
    """Score runs.

    Args:
        runs: One run, several, or a mapping from names; each in any form that `load_run` takes.
        qrels: Likewise, in any form that `load_qrels` takes.
        measures: In the notation of ir_measures, or its objects. Judgments of stance have their
            own measure.
        rule: `official`, `trec` or `condensed`, for measures that name none.
        baseline: The run that the others are compared with, or its name; it need not be one of
            them.
        samples: Number of samples of the bootstrap.
        seed: Seed of the random numbers.

    Returns:
        A score for each file of judgments, measure and run: in the order of files, then of
        measures, then by falling score. The baseline's own score is among them.

    Raises:
        DataError: A file cannot be used.
        UsageError: A measure, rule or column is not known.

    Warns:
        EvaluationWarning: A run leaves judged topics unanswered, or repeats documents.
    """
    check_rule(rule)
    settings = _settings(measures, rule, samples, seed)
    judgments = [load_qrels(source, name) for name, source in each_source(qrels)]
    named = each_source(runs)
    place = _placed(baseline, named)
    tables: list[list[_Scored]] = []
    for name, source in named:
        run = load_run(source, name)
        _warn_of(run, judgments)
        tables.append([scored for each in judgments for scored in _scores(run, each, settings)])
    return _ordered(tables, place, settings.seed)


def _settings(
    measures: SomeMeasure | Sequence[SomeMeasure], rule: str, samples: int, seed: int
) -> _Settings:
    is_one = isinstance(measures, str) or not isinstance(measures, Iterable)
    several = (
        [cast("SomeMeasure", measures)] if is_one else list(cast("Iterable[SomeMeasure]", measures))
    )
    if not several:
        raise UsageError("found no measure; give at least one, such as nDCG@5")
    check_number(samples, "samples", 1, _MOST_SAMPLES)
    check_number(seed, "seed", 0, _MOST_SEEDS)
    return _Settings(tuple(parse_measure(each, rule) for each in several), samples, seed)


def _ordered(tables: Sequence[Sequence[_Scored]], place: int | None, seed: int) -> list[Score]:
    """The scores of each run's table, by judgments and measure, the highest first."""
    scores: list[Score] = []
    for column in zip(*tables, strict=True):
        compared = _compared(column, place, seed)
        scores += sorted(compared, key=lambda score: -_or_least(score.mean))
    return scores


def _placed(baseline: Source | None, named: list[tuple[str | None, Source]]) -> int | None:
    """The place of the baseline among the runs; it is added to them where it is not one."""
    if baseline is None:
        return None
    for place, (name, source) in enumerate(named):
        if source is baseline:
            return place
        names = {name, str(source)} if isinstance(source, str | Path) else {name}
        if isinstance(baseline, str | Path) and str(baseline) in names:
            return place
    named.append((None, baseline))
    return len(named) - 1


def _scores(run: Run, qrels: Qrels, settings: _Settings) -> list[_Scored]:
    if qrels.dimension == "stance":
        return [_stance_score(run, qrels, settings)]
    return [_Scored(_graded_score(run, qrels, each, settings)) for each in settings.measures]


def _graded_score(run: Run, qrels: Qrels, measure: Measure, settings: _Settings) -> Score:
    values = measure(run, qrels)
    low, high = mean_interval(list(values.topics.values()), settings.samples, settings.seed)
    if values.is_count:
        low, high = low * len(values.topics), high * len(values.topics)
    return Score(
        run.name,
        run.tag,
        qrels.name,
        qrels.dimension,
        measure.rule,
        measure.text,
        values.mean,
        low,
        high,
        len(values.topics),
        values.judged,
        values.topics,
    )


def _stance_score(run: Run, qrels: Qrels, settings: _Settings) -> _Scored:
    found = stance.score_stances(run, qrels)
    low, high = found.interval(settings.samples, settings.seed)
    score = Score(
        run.name,
        run.tag,
        qrels.name,
        qrels.dimension,
        "official",
        stance.MEASURE,
        found.f1,
        low,
        high,
        len(found.topics),
        found.share,
        found.correct(),
        found.lines,
        tuple(map(tuple, found.confusion.tolist())),
    )
    return _Scored(score, found.topics)


def _compared(column: Sequence[_Scored], place: int | None, seed: int) -> list[Score]:
    """The scores of all runs by one measure, compared with the one at a place."""
    scores = [scored.score for scored in column]
    if place is None:
        return scores
    baseline = column[place]
    others = [scored for scored in column if scored is not baseline]
    comparisons = correct([_compare(scored, baseline, seed) for scored in others])
    return [baseline.score] + [
        dataclasses.replace(scored.score, comparison=comparison)
        for scored, comparison in zip(others, comparisons, strict=True)
    ]


def _compare(run: _Scored, baseline: _Scored, seed: int) -> PairedComparison:
    name = baseline.score.run
    if run.confusions is not None and baseline.confusions is not None:
        return compare_stances(run.confusions, baseline.confusions, name, seed)
    found = compare(run.score.values, baseline.score.values, name, seed)
    if parse_measure(run.score.measure).is_count:
        found = dataclasses.replace(found, difference=found.difference * found.common)
    return found


def _warn_of(run: Run, judgments: Sequence[Qrels]) -> None:
    if repeated := max((unordered(run) if each.pairs else run).repeated for each in judgments):
        lines = counted(repeated, "line repeats", "lines repeat")
        _warn(f"{run.name}: {lines} a document of the same topic; the first counts")
    said = set()
    for each in judgments:
        topics = frozenset(each.topics)
        missing = {topic for topic in topics if not run.rankings.get(topic)}
        if missing and topics not in said:
            said.add(topics)
            answered = f"{len(topics) - len(missing)} of the {counted(len(topics), 'topic')}"
            _warn(f"{run.name}: answers {answered} that {each.name} judges")


def _warn(message: str) -> None:
    warnings.warn(message, EvaluationWarning, stacklevel=4)


def _or_least(mean: float) -> float:
    return -math.inf if math.isnan(mean) else mean
