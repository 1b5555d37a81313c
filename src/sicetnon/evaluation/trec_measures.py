"""The plain measures by the definitions of trec_eval, each computed for one topic.

Values are those of ir_measures to 1e-9: the names, parameters and defaults are its own. Sources:
trec_eval's help (Buckley and Voorhees, Retrieval System Evaluation, 2005); nDCG: Järvelin and
Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 2002, with linear gains and the
discount of Burges et al., Learning to rank using gradient descent, ICML 2005; Bpref: Buckley and
Voorhees, Retrieval evaluation with incomplete information, SIGIR 2004.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

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
