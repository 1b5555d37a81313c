"""Scoring rules: which documents of a ranking count, and in which order.

The rules differ in three things: what orders the documents, whether a document without judgment
is dropped (and when), and whether a topic without a judged document counts.

| rule | order | unjudged document | topic with nothing judged |
|---|---|---|---|
| official | rank | dropped after the cut | left out of the mean |
| trec | score, then id, both falling | stays, with gain 0 | 0 |
| condensed | score, then id, both falling | dropped before the cut | 0 |

`official` is the script of the organisers of Touché (2021 and 2022), `trec` is trec_eval,
`condensed` is Sakai's condensed list (Alternatives to Bpref, SIGIR 2007). trec_eval's `-J` is the
same but for the label -2, which it takes for "unjudged"; here such a document is judged, gain 0.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

from sicetnon.cancellation import check_cancelled
from sicetnon.errors import UsageError
from sicetnon.evaluation.inputs import Qrels, order_by_score
from sicetnon.formats.runs import unordered
from sicetnon.records import Ranking, Run

ScoringRule = Literal["official", "trec", "condensed"]
SCORING_RULES: tuple[ScoringRule, ...] = get_args(ScoringRule)


class Shortened(NamedTuple):
    """The documents of a topic that a rule leaves, best first."""

    documents: Sequence[str]
    judged: float
    """The share of judged documents at the measure's depth, before any was dropped."""


def check_rule(rule: str) -> ScoringRule:
    """The rule of this name."""
    for known in SCORING_RULES:
        if rule == known:
            return known
    raise UsageError(f"found the rule {rule!r}; expected {', '.join(SCORING_RULES)}")


def shorten(
    ranking: Ranking,
    judged: Collection[str],
    rule: ScoringRule,
    depth: int | None,
    keep_unjudged: bool = False,
) -> Shortened:
    """Apply a rule to the ranking of one topic.

    Args:
        ranking: The topic's ranking.
        judged: The documents of the topic that have a judgment.
        rule: The rule.
        depth: The measure's cut; None for none.
        keep_unjudged: Let the rule decide the order only, for measures of what was retrieved.

    Returns:
        At most `depth` documents, and judged@depth (of all lines where there is no depth).
    """
    check_cancelled()
    order: Sequence[str] = ranking.ids
    if rule != "official":
        order = [ranking.ids[place] for place in order_by_score(ranking).tolist()]
    top = order[:depth]
    share = sum(document in judged for document in top) / len(top)
    if rule == "trec" or keep_unjudged:
        return Shortened(top, share)
    if rule == "official":
        return Shortened([document for document in top if document in judged], share)
    return Shortened([document for document in order if document in judged][:depth], share)


def shorten_all(
    run: Run, qrels: Qrels, rule: ScoringRule, depth: int | None, keep_unjudged: bool = False
) -> dict[str, Shortened]:
    """Apply a rule to every judged topic that a run answers.

    Pairs of a run are brought into one order where the judgments are of pairs.
    """
    run = unordered(run) if qrels.pairs else run
    labels: Mapping[str, Mapping[str, int]] = qrels.grades
    return {
        topic: shorten(ranking, labels[topic], rule, depth, keep_unjudged)
        for topic in labels
        if (ranking := run.rankings.get(topic))
    }
