"""Measures: formulas, their notation, and the rule under which they are computed.

`nDCG@5` is what trec_eval computes; `nDCG(rule='official')@5` is the figure that the organisers
of Touché publish. The rule is an argument of any measure: `P(rel=2,rule='condensed')@10`. The
notation is that of ir_measures.

Common measures are computed here, by the definitions of trec_eval, for one topic at a time: values
are those of ir_measures to 1e-9, and names, parameters and defaults are its own. Rare ones are
computed by ir_measures on the list that the rule leaves.

Sources: trec_eval's help (Buckley and Voorhees, Retrieval System Evaluation, 2005); nDCG: Järvelin
and Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 2002, with linear gains and
the discount of Burges et al., Learning to rank using gradient descent, ICML 2005; Bpref: Buckley
and Voorhees, Retrieval evaluation with incomplete information, SIGIR 2004.
"""

from __future__ import annotations

import ast
import difflib
import functools
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from sicetnon.errors import DataError, MissingExtraError, SicetnonError, UsageError, needing
from sicetnon.evaluation.inputs import Qrels
from sicetnon.evaluation.unjudged import ScoringRule, Shortened, check_rule, shorten_all
from sicetnon.formats.runs import unordered
from sicetnon.records import Run
from sicetnon.text.unicode import shortened

if TYPE_CHECKING:
    import ir_measures


UNJUDGED = -1
"""Stands for the label of a document without judgment."""


@dataclass(frozen=True)
class Parameters:
    """The parameters of a measure.

    Attributes:
        cutoff: How many documents it sees; None for all.
        rel: The lowest label that is relevant, at least 1. None is 1, and for NumRet any label.
        judged_only: Whether unjudged documents are dropped before the cut.
        beta: Of SetF, the weight of recall.
        recall: Of IPrec, the level of recall.
        gains: Of nDCG, the gains of labels; a label that is not named is its own gain.
        dcg: Of nDCG, `log2`, or `exp-log2` for gains of 2^label - 1 (Burges et al., 2005).
        trec_eval: Of IPrec, the version whose rounding it follows, 9 or 10.
    """

    cutoff: int | None = None
    rel: int | None = None
    judged_only: bool = False
    beta: float = 1.0
    recall: float | None = None
    gains: Mapping[int, int] = field(default_factory=dict)
    dcg: str = "log2"
    trec_eval: int = 9

    def gain(self, label: int) -> int:
        """The gain of a document with a label."""
        if self.dcg == "exp-log2":
            return (1 << label) - 1 if label > 0 else 0
        return self.gains.get(label, label)


@dataclass(frozen=True)
class JudgedRanking:
    """The labels of a topic's ranking, in place of its documents.

    Attributes:
        found: The labels of the documents found, best first. A label below 0 counts as no
            judgment, as in trec_eval, but for Judged.
        judged: The labels of all judged documents of the topic.
    """

    found: Sequence[int]
    judged: Sequence[int]

    def hits(self, parameters: Parameters) -> list[bool]:
        """For each document found, down to the cut, whether it is relevant."""
        return [label >= (parameters.rel or 1) for label in self.found[: parameters.cutoff]]

    def relevant(self, parameters: Parameters) -> int:
        """The number of relevant documents of the topic."""
        return sum(label >= (parameters.rel or 1) for label in self.judged)


Formula = Callable[[JudgedRanking, Parameters], float]


def ndcg(ranking: JudgedRanking, parameters: Parameters) -> float:
    """Discounted gain, log2(rank + 1), as a share of that of the best order of the judged."""
    ideal = sorted(map(parameters.gain, ranking.judged), reverse=True)
    found = map(parameters.gain, ranking.found[: parameters.cutoff])
    return _ratio(_discounted(found), _discounted(ideal[: parameters.cutoff]))


def average_precision(ranking: JudgedRanking, parameters: Parameters) -> float:
    """The mean over all relevant documents of the precision at their rank; 0 if not found."""
    hits = ranking.hits(parameters)
    ranks = [rank for rank, hit in enumerate(hits, start=1) if hit]
    precisions = (found / rank for found, rank in enumerate(ranks, start=1))
    return _ratio(math.fsum(precisions), ranking.relevant(parameters))


def reciprocal_rank(ranking: JudgedRanking, parameters: Parameters) -> float:
    """1 / the rank of the first relevant document; 0 without one."""
    hits = ranking.hits(parameters)
    return 1 / (hits.index(True) + 1) if True in hits else 0.0


def precision(ranking: JudgedRanking, parameters: Parameters) -> float:
    """The share of relevant documents among `cutoff`, even where fewer were found."""
    return sum(ranking.hits(parameters)) / (parameters.cutoff or 1)


def recall(ranking: JudgedRanking, parameters: Parameters) -> float:
    """The share of the relevant documents that was found."""
    return _ratio(sum(ranking.hits(parameters)), ranking.relevant(parameters))


def r_precision(ranking: JudgedRanking, parameters: Parameters) -> float:
    """The precision at the rank that equals the number of relevant documents."""
    relevant = ranking.relevant(parameters)
    return _ratio(sum(ranking.hits(parameters)[:relevant]), relevant)


def success(ranking: JudgedRanking, parameters: Parameters) -> float:
    """1 where a relevant document was found, else 0."""
    return float(any(ranking.hits(parameters)))


def binary_preference(ranking: JudgedRanking, parameters: Parameters) -> float:
    """The share of pairs, relevant before non-relevant, that the ranking keeps; judged only."""
    relevant = ranking.relevant(parameters)
    others = sum(label >= 0 for label in ranking.judged) - relevant
    above, kept = 0, 0.0
    for label, hit in zip(ranking.found, ranking.hits(parameters), strict=True):
        if hit:
            kept += 1 - min(above, relevant) / min(others, relevant) if above else 1
        elif label >= 0:
            above += 1
    return _ratio(kept, relevant)


def set_precision(ranking: JudgedRanking, parameters: Parameters) -> float:
    """The share of relevant documents among all that were found."""
    return _ratio(sum(ranking.hits(parameters)), len(ranking.found))


def set_f(ranking: JudgedRanking, parameters: Parameters) -> float:
    """The harmonic mean of set precision and recall, the recall weighted by `beta`."""
    p, r = set_precision(ranking, parameters), recall(ranking, parameters)
    return _ratio((parameters.beta + 1) * p * r, parameters.beta * p + r)


def set_average_precision(ranking: JudgedRanking, parameters: Parameters) -> float:
    """The product of set precision and recall."""
    return set_precision(ranking, parameters) * recall(ranking, parameters)


def interpolated_precision(ranking: JudgedRanking, parameters: Parameters) -> float:
    """The best precision at any rank from where the recall is at least `recall`.

    The number of relevant documents that this takes is rounded up from a tenth by trec_eval 9 and
    before, and to the nearest number by trec_eval 10.
    """
    up = 0.9 if parameters.trec_eval == 9 else 0.5
    wanted = int(round(parameters.recall or 0, 2) * ranking.relevant(parameters) + up)
    best, found = 0.0, 0
    for rank, hit in enumerate(ranking.hits(parameters), start=1):
        found += hit
        if found >= wanted:
            best = max(best, found / rank)
    return best


def accuracy(ranking: JudgedRanking, parameters: Parameters) -> float:
    """The share of pairs of a relevant and another document found, the relevant one first.

    NaN where there is no such pair.
    """
    above, ordered, hits = 0, 0, ranking.hits(parameters)
    for hit in hits:
        ordered += 0 if hit else above
        above += hit
    pairs = above * (len(hits) - above)
    return ordered / pairs if pairs else math.nan


def judged(ranking: JudgedRanking, parameters: Parameters) -> float:
    """The share of documents with a judgment among those found, down to the cut."""
    seen = ranking.found[: parameters.cutoff]
    return _ratio(sum(label != UNJUDGED for label in seen), len(seen))


def retrieved(ranking: JudgedRanking, parameters: Parameters) -> float:
    """The number of documents found; with `rel`, of relevant ones."""
    return len(ranking.found) if parameters.rel is None else sum(ranking.hits(parameters))


def relevant(ranking: JudgedRanking, parameters: Parameters) -> float:
    """The number of relevant documents."""
    return ranking.relevant(parameters)


def queries(ranking: JudgedRanking, parameters: Parameters) -> float:
    """1 for each topic."""
    return 1.0


def _discounted(gains: Iterable[int]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1) if gain > 0)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


class Definition(NamedTuple):
    """A measure by its name.

    Attributes:
        formula: Its value for a topic.
        takes: The parameters that it knows, that after `@` first.
        needs: Whether the parameter after `@` must be given.
        unanswered: Its value for a topic without results.
        is_count: Whether its values are added up over topics, instead of averaged.
    """

    formula: Formula
    takes: tuple[str, ...]
    needs: bool = False
    unanswered: float = 0.0
    is_count: bool = False


_CUT = ("cutoff", "rel", "judged_only")
_SET = ("rel", "judged_only")
MEASURES = {
    "Accuracy": Definition(accuracy, ("cutoff", "rel"), unanswered=math.nan),
    "AP": Definition(average_precision, _CUT),
    "Bpref": Definition(binary_preference, ("rel",)),
    "IPrec": Definition(interpolated_precision, ("recall", *_SET, "trec_eval"), needs=True),
    "Judged": Definition(judged, ("cutoff",)),
    "nDCG": Definition(ndcg, ("cutoff", "gains", "judged_only", "dcg")),
    "NumQ": Definition(queries, (), is_count=True),
    "NumRel": Definition(relevant, ("rel",), is_count=True),
    "NumRet": Definition(retrieved, ("rel",), is_count=True),
    "P": Definition(precision, _CUT, needs=True),
    "R": Definition(recall, _CUT, needs=True),
    "Rprec": Definition(r_precision, _SET),
    "RR": Definition(reciprocal_rank, _CUT),
    "SetAP": Definition(set_average_precision, _SET),
    "SetF": Definition(set_f, ("rel", "beta", "judged_only")),
    "SetP": Definition(set_precision, _SET),
    "SetR": Definition(recall, ("rel",)),
    "Success": Definition(success, _CUT, needs=True),
}


EXAMPLES = "nDCG@5, P(rel=2)@10, AP, RR"
_NAMES = {name.lower(): name for name in MEASURES}
_NAMES |= {"map": "AP", "mrr": "RR", "precision": "P", "recall": "R"}
_AT = {"IPrec": "recall"}
"""The parameter after `@`, unless it is the cutoff."""
RARE = (
    *("AP_IA", "alpha_DCG", "alpha_nDCG", "BPM", "Compat", "ERR", "ERR_IA", "infAP"),
    *("INSQ", "INST", "NERR10", "NERR11", "NERR8", "NERR9", "nERR_IA", "nNRBP", "NRBP", "P_IA"),
    *("RBP", "SDCG", "SetRelP", "StRecall"),
)
"""The other measures of ir_measures."""
_OTHER_NAMES = {"map_ia": "AP_IA", "α_dcg": "alpha_DCG", "α_ndcg": "alpha_nDCG"}
_LONGEST = 1000
_OF_TREC_EVAL = re.compile(r"(\w+?)(?:_cut)?_([1-9]\d*)")


@dataclass(frozen=True)
class Notation:
    """A parsed measure.

    Attributes:
        name: Its name; of those computed here in the letter case of ir_measures.
        given: The parameters in brackets.
        at: The parameter after `@`, or None.
    """

    name: str
    given: Mapping[str, Any]
    at: Any = None

    def __str__(self) -> str:
        given = ",".join(f"{key}={value!r}" for key, value in self.given.items())
        at = "" if self.at is None else f"@{self.at}"
        return f"{self.name}({given}){at}" if given else f"{self.name}{at}"


def read_notation(text: str) -> Notation:
    """Parse a measure."""
    try:
        if len(text) > _LONGEST:
            raise ValueError
        node: ast.expr = ast.parse(text.strip(), mode="eval").body
        at = None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            at = ast.literal_eval(node.right)
            node = node.left
        given = {}
        if isinstance(node, ast.Call) and not node.args:
            given = {str(each.arg): _value(each.value) for each in node.keywords}
            node = node.func
        if isinstance(node, ast.Name):
            if node.id.lower() == "numrelret":
                return Notation("NumRet", {"rel": 1})
            return Notation(_NAMES.get(node.id.lower(), node.id), given, at)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        pass  # the parser says with the last that brackets are nested too deeply
    raise UsageError(f"found the measure {shortened(repr(text), 80)}; expected one like {EXAMPLES}")


def _value(node: ast.expr) -> Any:
    # rule=official may stand without quotes
    return node.id if isinstance(node, ast.Name) else ast.literal_eval(node)


def is_known(notation: Notation) -> bool:
    """Whether this package or ir_measures has the measure."""
    return notation.name in (*MEASURES, *RARE) or notation.name.lower() in _OTHER_NAMES


def unknown_measure(notation: Notation) -> UsageError:
    """The error for a measure of a name that is not known; it names the nearest known ones."""
    name, at = notation.name.lower(), notation.at
    if found := _OF_TREC_EVAL.fullmatch(name):
        name, at = found[1], int(found[2])
    names = {each.lower(): each for each in RARE} | _NAMES | {"recip_rank": "RR"}
    near = [name] if name in names else difflib.get_close_matches(name, names)
    nearest = dict.fromkeys(_with_depth(names[each], at) for each in near)
    expected = " or ".join(nearest) or f"one like {EXAMPLES}"
    return UsageError(
        f"found the measure {str(notation)!r}, which is not known; expected {expected}"
    )


def _with_depth(name: str, depth: Any) -> str:
    """A measure at a depth, if it has one; at 5 where it needs one and there is none."""
    definition = MEASURES.get(name)
    if definition and "cutoff" not in definition.takes:
        return name
    return str(Notation(name, {}, depth or (5 if definition and definition.needs else None)))


@dataclass(frozen=True)
class FormulaMeasure:
    """A measure that is computed here."""

    name: str
    parameters: Parameters

    def __call__(self, found: Sequence[int], judged: Sequence[int]) -> float:
        """Its value for a topic.

        Args:
            found: The labels of the documents found, best first, `UNJUDGED` for none.
            judged: The labels of all judged documents of the topic.
        """
        if self.parameters.judged_only:
            found = [label for label in found if label >= 0]
        return MEASURES[self.name].formula(JudgedRanking(found, judged), self.parameters)

    @property
    def rising_ties(self) -> bool:
        """Whether ir_measures orders documents of one score by rising ids, not by falling ones."""
        return self.name == "Judged" or (self.name == "RR" and self.parameters.cutoff is not None)

    def __str__(self) -> str:
        given = {
            each.name: getattr(self.parameters, each.name)
            for each in fields(Parameters)
            if getattr(self.parameters, each.name) != getattr(Parameters(), each.name)
        }
        at = given.pop(_AT.get(self.name, "cutoff"), None)
        return str(Notation(self.name, given, at))


def formula_measure(notation: Notation) -> FormulaMeasure | None:
    """The measure of this notation that is computed here, or None for ir_measures' own."""
    definition = MEASURES.get(notation.name)
    if definition is None:
        return None
    given = dict(notation.given)
    if notation.at is not None:
        given[_AT.get(notation.name, "cutoff")] = notation.at
    if not given.keys() <= set(definition.takes):
        return None
    for key, value in given.items():
        expected, fits = _EXPECTED[key]
        if isinstance(value, bool) != (key == "judged_only") or not fits(value):
            raise UsageError(
                f"found the measure {str(notation)!r} with {key} = {value!r}; expected {expected}"
            )
    if definition.needs and definition.takes[0] not in given:
        raise UsageError(f"found the measure {str(notation)!r}; expected one like {EXAMPLES}")
    if given.get("gains") and given.get("dcg") == "exp-log2":
        raise UsageError(f"found the measure {str(notation)!r}; give gains or exp-log2, not both")
    if given.get("rel") == 1 and notation.name != "NumRet":
        del given["rel"]
    return FormulaMeasure(notation.name, Parameters(**given))


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and value >= 1


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and value >= 0


def _are_gains(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(number, int) and number >= 0 for pair in value.items() for number in pair
    )


_EXPECTED: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "cutoff": ("a whole number of at least 1", _is_count),
    "rel": ("a whole number of at least 1", _is_count),
    "judged_only": ("True or False", lambda value: isinstance(value, bool)),
    "beta": ("a number of at least 0", _is_number),
    "recall": ("a number from 0 to 1", lambda value: _is_number(value) and value <= 1),
    "dcg": ("'log2' or 'exp-log2'", lambda value: value in ("log2", "exp-log2")),
    "trec_eval": ("9 or 10", lambda value: value in (9, 10)),
    "gains": ("a gain of at least 0 for each label, like {1: 1, 2: 3}", _are_gains),
}
"""For each parameter what it may be."""


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
        if formula := _formula_of(self.text):
            return formula.parameters.cutoff
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
        """Compute it."""
        lists = shorten_all(run, qrels, self.rule, self.depth, self.of_the_retrieved)
        left_out: set[str] = set()
        if self.rule == "official" and not self.of_the_retrieved:
            left_out = {topic for topic in qrels.grades if not _any(lists, topic)}
        if formula := _formula_of(self.text):
            values = self._by_formula(formula, run, qrels, lists)
        else:
            values = self._by_library(run, qrels, lists)
        counted = {
            topic: values[topic]
            for topic in qrels.grades
            if topic not in left_out and not math.isnan(values[topic])
        }
        judged = _mean([shortened.judged for shortened in lists.values()])
        return MeasureValues(counted, judged, self.is_count)

    def _by_formula(
        self, formula: FormulaMeasure, run: Run, qrels: Qrels, lists: Mapping[str, Shortened]
    ) -> dict[str, float]:
        if self.rule == "trec" and formula.parameters.judged_only:
            # what is dropped first must not count towards the depth
            lists = shorten_all(run, qrels, self.rule, None)
        elif self.rule == "trec" and formula.rising_ties:
            lists = _rising_ties(unordered(run) if qrels.pairs else run, lists)
        values = dict.fromkeys(qrels.grades, MEASURES[formula.name].unanswered)
        for topic, left in lists.items():
            if left.documents:
                labels = _labels(qrels.grades[topic], unchanged=self.rule == "trec")
                found = [_label(document, labels) for document in left.documents]
                values[topic] = formula(found, list(labels.values()))
        return values

    def _by_library(
        self, run: Run, qrels: Qrels, lists: Mapping[str, Shortened]
    ) -> dict[str, float]:
        if self.rule == "trec":
            # unchanged scores: the library breaks ties its own way
            run = unordered(run) if qrels.pairs else run
            scored = {topic: dict(ranking) for topic, ranking in run.rankings.items()}
        else:
            scored = {
                topic: {document: float(-place) for place, document in enumerate(left.documents)}
                for topic, left in lists.items()
                if left.documents
            }
        labels = {
            topic: _labels(judged, unchanged=self.rule == "trec")
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
    formula = formula_measure(bare)
    if formula is None and not is_known(bare):
        raise unknown_measure(bare)
    return Measure(str(formula or _library_measure(str(bare))), rule)


@functools.cache
def _formula_of(text: str) -> FormulaMeasure | None:
    return formula_measure(read_notation(text))


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


def _labels(judged: Mapping[str, int], unchanged: bool) -> Mapping[str, int]:
    # trec_eval makes much of some negative labels (-1 is "not in the pool"), so it gets them; but
    # pytrec_eval writes past its memory, and may crash, where a topic has no other label
    if unchanged and max(judged.values()) >= 0:
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
