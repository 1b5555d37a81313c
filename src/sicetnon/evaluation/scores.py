"""Scores of runs: intervals, comparisons with a baseline, tables, and coverage of a corpus."""

from __future__ import annotations

import dataclasses
import html
import io
import math
import warnings
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from sicetnon.argument_checks import check_number
from sicetnon.contracts import Dimension
from sicetnon.errors import UsageError, counted
from sicetnon.evaluation import stance
from sicetnon.evaluation.inputs import Qrels, Source, Sources, each_source, load_qrels, load_run
from sicetnon.evaluation.measures import Measure, parse_measure, read_notation
from sicetnon.evaluation.significance import (
    SAMPLES,
    SEED,
    PairedComparison,
    compare,
    correct,
    mean_interval,
)
from sicetnon.evaluation.unjudged import ScoringRule, check_rule
from sicetnon.formats.identifiers import argument_of, halves
from sicetnon.formats.runs import unordered
from sicetnon.records import Run
from sicetnon.text.unicode import PLAIN_WIDTH, BreakableName, decimals, print_paragraph, printable

if TYPE_CHECKING:
    from rich.console import Console


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
        return stance.compare_stances(run.confusions, baseline.confusions, name, seed)
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


_LEAST_COVERAGE = 0.5
"""Below this share of judged ids present, the corpus is likely another version."""

Lookup = Container[str] | Callable[[str], object]


@dataclass(frozen=True)
class JudgedCoverage:
    """The number of judged documents that a corpus holds, and five at most that it lacks."""

    judged: int
    present: int
    absent: tuple[str, ...]

    @property
    def share(self) -> float:
        """The share present, from 0 to 1."""
        return self.present / self.judged if self.judged else 1.0


def check_corpus(qrels: Qrels, corpus: Lookup) -> JudgedCoverage:
    """Count the judged documents that a corpus holds, and warn where most are absent.

    Args:
        qrels: The judgments.
        corpus: Anything with `in` for ids, or a function of an id that returns None or False
            for an absent one, as `Index.number` does. For pairs it is asked for either half:
            for the sentence, then for its argument (`S…-A…` of `S…-A…__PREMISE__3`).

    Warns:
        EvaluationWarning: Fewer than half are present.
    """
    holds = _holds(corpus)
    labels = qrels.grades or qrels.stances
    judged = {document for topic in labels.values() for document in topic}
    absent = sorted(document for document in judged if not _present(document, holds))
    coverage = JudgedCoverage(len(judged), len(judged) - len(absent), tuple(absent[:5]))
    if coverage.share < _LEAST_COVERAGE:
        warnings.warn(
            f"{qrels.name}: the corpus holds only {coverage.present} of the {coverage.judged} "
            f"judged documents ({coverage.share:.0%}; absent is {absent[0]}); is it another "
            "version of the corpus than the one that was judged?",
            EvaluationWarning,
            stacklevel=2,
        )
    return coverage


def _holds(corpus: Lookup) -> Callable[[str], bool]:
    if isinstance(corpus, Container):
        return lambda identifier: identifier in corpus
    # not "if corpus(id)": the first document has the number 0
    return lambda identifier: (found := corpus(identifier)) is not None and found is not False


def _present(document: str, holds: Callable[[str], bool]) -> bool:
    # a comma may be part of the id, outside of the tasks with pairs
    pair = halves(document)
    return holds(document) or (
        pair is not None and all(holds(half) or _argument_held(half, holds) for half in pair)
    )


def _argument_held(sentence: str, holds: Callable[[str], bool]) -> bool:
    argument = argument_of(sentence)
    return argument not in ("", sentence) and holds(argument)


_TABLE_STYLE = """<style>
.sicetnon-scores { overflow-x: auto; }
.sicetnon-scores p { margin: 1.4em 0 0.3em; text-align: left; white-space: pre-wrap; }
.sicetnon-scores table { border-collapse: collapse; margin: 0 0 0.6em; }
.sicetnon-scores thead { border-bottom: 1px solid; }
.sicetnon-scores th, .sicetnon-scores td {
  padding: 0.2em 0.5em; text-align: right; white-space: nowrap;
  font-variant-numeric: tabular-nums;
}
.sicetnon-scores :is(th, td):first-child {
  padding-left: 0; min-width: 6em; text-align: left; white-space: normal; overflow-wrap: anywhere;
}
</style>"""
"""Colours are those of the notebook, be it light or dark."""
P_VALUES = (
    "p: randomisation test; p (t): paired t test; two-sided, corrected for the number of runs "
    "compared (Holm)"
)


@dataclass(frozen=True)
class ScoreTable:
    """A table of scores, with formatted cells.

    Attributes:
        title: The measure and what was judged; empty where the table goes with the one before.
        subtitle: The rule and the judgments.
        columns: The heads of the columns. The first column names runs, the others are numbers.
        rows: One per run, best first.
        note: An explanation of the columns.
    """

    title: str
    subtitle: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def score_tables(scores: Sequence[Score]) -> Iterator[ScoreTable]:
    """A table for each measure and file of judgments; a second one where there is a baseline."""
    names = short_names(score.run for score in scores)
    for (qrels, rule, measure), group in groupby(
        scores, key=lambda score: (score.qrels, score.rule, score.measure)
    ):
        rows = list(group)
        title = f"{measure}, {rows[0].dimension}"
        yield _score_table(rows, names, title, f"rule: {rule}  judgments: {Path(qrels).name}")
        if any(score.comparison for score in rows):
            yield _comparison_table(rows, names)


def _score_table(
    scores: Sequence[Score], names: dict[str, str], title: str, subtitle: str
) -> ScoreTable:
    stances = any(score.lines is not None for score in scores)
    judged = _judged_name(scores[0])
    total = parse_measure(scores[0].measure).is_count if not stances else False
    columns = (
        "run",
        "total" if total else "mean",
        "95% interval",
        "topics",
        *[judged] * bool(judged),
        *["N"] * stances,
    )
    rows = [
        (
            names[score.run],
            decimals(score.mean),
            "–" if math.isnan(score.low) else f"{decimals(score.low)} – {decimals(score.high)}",
            str(score.topics),
            *[decimals(score.judged)] * bool(judged),
            *[f"{score.lines or 0:,}"] * stances,
        )
        for score in scores
    ]
    return ScoreTable(title, subtitle, columns, tuple(rows))


def _judged_name(score: Score) -> str:
    """The head of the share of judged documents: `judged@5`.

    Empty where the share says nothing of the score: without a depth, most documents of a run are
    unjudged, and `Judged` is that share itself.
    """
    if score.dimension == "stance":
        return "judged"
    notation = read_notation(score.measure)
    has_depth = isinstance(notation.at, int) and notation.name != "Judged"
    return f"judged@{notation.at}" if has_depth else ""


def _comparison_table(scores: Sequence[Score], names: dict[str, str]) -> ScoreTable:
    compared = [(score.run, score.comparison) for score in scores if score.comparison]
    baseline = compared[0][1].baseline
    columns = (
        f"against {names.get(baseline, baseline)}",
        *("difference", "p", "p (t)", "win/tie/loss"),
    )
    rows = [
        (
            names[run],
            f"{found.difference:+.3f}",
            _p_value(found.p_randomisation_corrected),
            _p_value(found.p_t_corrected),
            f"{found.wins}/{found.ties}/{found.losses}",
        )
        for run, found in compared
    ]
    return ScoreTable("", "", columns, tuple(rows), P_VALUES)


def print_scores(scores: Sequence[Score], screen: Console) -> None:
    """Print the tables of scores in a terminal."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    tables = list(score_tables(scores))
    for table in tables:
        if table.title:
            screen.print()
            subtitle = (f"  {printable(table.subtitle)}", "dim")
            print_paragraph(Text.assemble((printable(table.title), "bold"), subtitle), screen)
        shown = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
        shown.add_column(BreakableName(table.columns[0]), min_width=12)
        for column in table.columns[1:]:
            shown.add_column(column, justify="right", no_wrap=True)
        for name, *numbers in table.rows:
            shown.add_row(BreakableName(name), *numbers)
        screen.print(shown)
    for note in _notes(tables):
        print_paragraph(Text(note, style="dim"), screen)


def plain_text(scores: Sequence[Score]) -> str:
    """The table of `sicetnon evaluate` for a pipe: 80 columns, no colour."""
    from rich.console import Console

    text = io.StringIO()
    screen = Console(
        file=text,
        width=PLAIN_WIDTH,
        highlight=False,
        emoji=False,
        markup=False,
        # a notebook would get the table in its cell, and pretends to be a terminal
        force_jupyter=False,
        force_terminal=False,
    )
    print_scores(scores, screen)
    return text.getvalue()


def as_html(scores: Sequence[Score]) -> str:
    """The same tables as HTML, for notebooks."""
    tables = list(score_tables(scores))
    parts = ['<div class="sicetnon-scores">', _TABLE_STYLE]
    for table in tables:
        if table.title:
            title, subtitle = _escaped(table.title), _escaped(table.subtitle)
            parts.append(f"<p><b>{title}</b> <small>{subtitle}</small></p>")
        heads = "".join(f"<th>{_escaped(column)}</th>" for column in table.columns)
        rows = ("".join(f"<td>{_escaped(cell)}</td>" for cell in row) for row in table.rows)
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        parts.append(f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>")
    parts += [f"<p><small>{_escaped(note)}</small></p>" for note in _notes(tables)]
    return "\n".join([*parts, "</div>"])


def _notes(tables: Iterable[ScoreTable]) -> Iterable[str]:
    """The notes of the tables, each once."""
    return dict.fromkeys(table.note for table in tables if table.note)


def _escaped(text: str) -> str:
    return html.escape(printable(text))


def _p_value(value: float) -> str:
    return "<0.001" if value < 0.001 else decimals(value)


def short_names(runs: Iterable[str]) -> dict[str, str]:
    """Names of runs without the folders that all have in common."""
    paths = {run: Path(run).parts for run in dict.fromkeys(runs)}
    shared = 0
    if len(paths) > 1:
        for parts in zip(*paths.values(), strict=False):
            if len(set(parts)) > 1:
                break
            shared += 1
    longest = min((len(parts) for parts in paths.values()), default=1) - 1
    return {run: str(Path(*parts[min(shared, longest) :])) for run, parts in paths.items()}
