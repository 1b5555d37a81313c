"""Measures: a name in the notation of ir_measures, and the rule under which it is computed.

`nDCG@5` is what trec_eval computes; `nDCG(rule='official')@5` is the figure that the organisers
of Touché publish. The rule is an argument of any measure: `P(rel=2,rule='condensed')@10`.
The plain measures are computed here, rare ones by ir_measures on the list that the rule leaves.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sicetnon.errors import DataError, MissingExtraError, SicetnonError, UsageError, needing
from sicetnon.evaluation.notation import (
    EXAMPLES,
    PlainMeasure,
    is_known,
    plain_measure,
    read_notation,
    unknown_measure,
)
from sicetnon.evaluation.qrels import Qrels
from sicetnon.evaluation.rules import ScoringRule, Shortened, check_rule, shorten_all
from sicetnon.evaluation.trec_measures import MEASURES, UNJUDGED
from sicetnon.formats.runs import unordered
from sicetnon.records import Run

if TYPE_CHECKING:
    import ir_measures

# These count what was retrieved: without the unjudged documents they would say nothing.
_OF_THE_RETRIEVED = ("Judged", "NumRet")
_OF_GDEVAL = ("ERR",)
_HIGHEST_OF_GDEVAL = 4
# libraries count in 32 bits
_MOST = (1 << 31) - 1
_NOT_GIVEN = re.compile("<object object at [^>]*>")


@dataclass(frozen=True)
class Measure:
    """A measure under a rule. `str` gives its notation, which `parse_measure` reads.

    Attributes:
        text: The notation of ir_measures, without the rule: `nDCG@5`.
    """

    text: str
    rule: ScoringRule = "trec"

    def __str__(self) -> str:
        if self.rule == "trec":
            return self.text
        notation = read_notation(self.text)
        return str(replace(notation, given={**notation.given, "rule": self.rule}))

    def __matmul__(self, depth: int) -> Measure:
        """The same measure at another depth, as in `OFFICIAL_NDCG @ 10`."""
        return parse_measure(str(replace(read_notation(self.text), at=depth)), self.rule)

    @property
    def of_library(self) -> ir_measures.Measure:
        """The measure as an object of ir_measures, without the rule."""
        return _library_measure(self.text)

    @property
    def depth(self) -> int | None:
        """Largest number of documents per topic that count; None for all."""
        if plain := _plain(self.text):
            return plain.parameters.cutoff
        depth = self.of_library.params.get("cutoff")
        return depth if isinstance(depth, int) else None

    @property
    def of_the_retrieved(self) -> bool:
        """Whether it counts the retrieved documents, judged or unjudged."""
        return read_notation(self.text).name in _OF_THE_RETRIEVED

    @property
    def is_count(self) -> bool:
        """Whether its values are added up over topics, as of NumQ, NumRel and NumRet."""
        definition = MEASURES.get(read_notation(self.text).name)
        return definition is not None and definition.is_count

    def __call__(self, run: Run, qrels: Qrels) -> MeasureValues:
        """Compute it.

        Raises:
            DataError: The library that computes it refuses the labels.
        """
        lists = shorten_all(run, qrels, self.rule, self.depth, self.of_the_retrieved)
        left_out: set[str] = set()
        if self.rule == "official" and not self.of_the_retrieved:
            left_out = {topic for topic in qrels.grades if not _any(lists, topic)}
        if plain := _plain(self.text):
            values = self._plainly(plain, run, qrels, lists)
        else:
            values = self._by_library(run, qrels, lists)
        counted = {
            topic: values[topic]
            for topic in qrels.grades
            if topic not in left_out and not math.isnan(values[topic])
        }
        judged = _mean([shortened.judged for shortened in lists.values()])
        return MeasureValues(counted, judged, self.is_count)

    def _plainly(
        self, plain: PlainMeasure, run: Run, qrels: Qrels, lists: Mapping[str, Shortened]
    ) -> dict[str, float]:
        if self.rule == "trec" and plain.parameters.judged_only:
            # what is dropped first must not count towards the depth
            lists = shorten_all(run, qrels, self.rule, None)
        elif self.rule == "trec" and plain.rising_ties:
            lists = _rising_ties(unordered(run) if qrels.pairs else run, lists)
        values = dict.fromkeys(qrels.grades, MEASURES[plain.name].unanswered)
        for topic, left in lists.items():
            if left.documents:
                labels = _labels(qrels.grades[topic], as_they_are=self.rule == "trec")
                found = [_label(document, labels) for document in left.documents]
                values[topic] = plain(found, list(labels.values()))
        return values

    def _by_library(
        self, run: Run, qrels: Qrels, lists: Mapping[str, Shortened]
    ) -> dict[str, float]:
        if self.rule == "trec":
            # the scores as they are: how a tie is broken is the library's own affair
            run = unordered(run) if qrels.pairs else run
            scored = {topic: dict(ranking) for topic, ranking in run.rankings.items()}
        else:
            scored = {
                topic: {document: float(-place) for place, document in enumerate(left.documents)}
                for topic, left in lists.items()
                if left.documents
            }
        labels = {
            topic: _labels(judged, as_they_are=self.rule == "trec")
            for topic, judged in qrels.grades.items()
        }
        if read_notation(self.text).name in _OF_GDEVAL:
            _check_grades(labels, self.text, qrels.name)
        measure = self.of_library
        values = dict.fromkeys(qrels.grades, float(measure.DEFAULT))
        try:
            for metric in measure.evaluator(labels).iter_calc(scored):
                if metric.query_id in values:
                    values[metric.query_id] = float(metric.value)
        except SicetnonError:
            raise
        except Exception as error:  # what a provider of the library raises, whatever it is
            message = f"{self} cannot be computed: {str(error) or type(error).__name__}"
            raise DataError(message, run.name) from None
        return values


OFFICIAL_NDCG = Measure("nDCG@5", "official")


@dataclass(frozen=True)
class MeasureValues:
    """The values of a measure for a run.

    Attributes:
        topics: Its value for each topic that counts.
        judged: The share of judged documents among those that it sees of a topic, as a mean over
            the judged topics that the run answers.
        is_count: Whether the values are added up.
    """

    topics: dict[str, float]
    judged: float
    is_count: bool = False

    @property
    def mean(self) -> float:
        """The mean over the topics that count, of counts the sum; NaN where there is none."""
        mean = _mean(list(self.topics.values()))
        return mean * len(self.topics) if self.is_count else mean


def parse_measure(text: str | Measure | ir_measures.Measure, rule: str = "trec") -> Measure:
    """Read a measure.

    Args:
        text: The notation of ir_measures, with or without a rule, or a measure itself.
        rule: The rule where the text names none.

    Raises:
        UsageError: There is no such measure, argument or rule.
        MissingExtraError: It takes a library that is not installed.
    """
    if isinstance(text, Measure):
        return text
    notation = read_notation(str(text))
    given = dict(notation.given)
    rule = check_rule(str(given.pop("rule", rule)))
    bare = replace(notation, given=given)
    plain = plain_measure(bare)
    if plain is None and not is_known(bare):
        raise unknown_measure(bare)
    return Measure(str(plain or _library_measure(str(bare))), rule)


@functools.cache
def _plain(text: str) -> PlainMeasure | None:
    return plain_measure(read_notation(text))


@functools.cache
def _library_measure(text: str) -> ir_measures.Measure:
    with needing(f"the measure {text}", "measures"):
        import ir_measures  # imports pytrec_eval, and more for some measures
    try:
        measure = ir_measures.parse_measure(text)
        measure.validate_params()  # type: ignore[no-untyped-call]
        str(measure)
    except (NameError, ValueError, AssertionError, TypeError, KeyError, AttributeError) as error:
        reason = _NOT_GIVEN.sub("missing", str(error))
        raise UsageError(
            f"found the measure {text!r} ({reason}); expected one of ir_measures', like {EXAMPLES}"
        ) from None
    depth = measure.params.get("cutoff", 1)
    if isinstance(depth, bool) or depth < 1:
        raise UsageError(f"found the measure {text!r}; expected a depth of at least 1")
    if any(isinstance(each, int) and abs(each) > _MOST for each in measure.params.values()):
        raise UsageError(f"found the measure {text!r}; expected numbers up to {_MOST:,}")
    _check_provider(measure)
    return measure


def _check_provider(measure: ir_measures.Measure) -> None:
    """Refuse a measure that nothing installed computes."""
    import ir_measures

    pipeline: Any = ir_measures.DefaultPipeline  # its methods have no types
    if pipeline.supports(measure):
        return
    if any(provider.supports(measure) for provider in pipeline.providers):
        raise MissingExtraError(f"the measure {measure}", "measures")
    raise UsageError(
        f"ir_measures has nothing that computes {measure} with these arguments; "
        "https://ir-measur.es lists what each measure takes"
    )


def _labels(judged: Mapping[str, int], as_they_are: bool) -> Mapping[str, int]:
    # trec_eval makes much of some negative labels (-1 is "not in the pool"), so it gets them; but
    # pytrec_eval writes past its memory, and may crash, where a topic has no other label
    if as_they_are and max(judged.values()) >= 0:
        return judged
    return {document: max(label, 0) for document, label in judged.items()}


def _check_grades(labels: Mapping[str, Mapping[str, int]], text: str, name: str) -> None:
    """Refuse labels that gdeval, which computes ERR, has no probability for."""
    highest = max(max(judged.values()) for judged in labels.values())
    if highest > _HIGHEST_OF_GDEVAL:
        raise DataError(
            f"found the label {highest}; {text} takes labels up to {_HIGHEST_OF_GDEVAL}: map the "
            "others to lower ones",
            name,
        )


def _label(document: str, labels: Mapping[str, int]) -> int:
    label = labels.get(document, UNJUDGED)
    # a judged label below 0 is another thing than no judgment
    return label if label >= 0 or document not in labels else UNJUDGED - 1


def _rising_ties(run: Run, lists: Mapping[str, Shortened]) -> dict[str, Shortened]:
    """The lists in the order in which ir_measures computes RR@k and Judged."""
    found = {}
    for topic, left in lists.items():
        ranking = run.rankings[topic]
        pairs = sorted(zip((-ranking.scores).tolist(), ranking.ids, strict=True))
        found[topic] = left._replace(documents=[document for _, document in pairs])
    return found


def _any(lists: dict[str, Shortened], topic: str) -> bool:
    return topic in lists and bool(lists[topic].documents)


def _mean(values: Iterable[float]) -> float:
    values = list(values)
    return math.fsum(values) / len(values) if values else math.nan
