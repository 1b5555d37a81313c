"""Select results to show: arguments, on topic, each case once, both sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sicetnon.app.answers import Answer, answers_of
from sicetnon.arguments.text_quality import is_housekeeping, is_spam
from sicetnon.cancellation import check_cancelled
from sicetnon.ranking.stages import Shingles, shared, shingles
from sicetnon.ranking.system import Labelling
from sicetnon.records import Argument, ProcessedArgument, QuestionSide, Ranking, Record, said

# probabilities of being on topic: enough, and enough for one of the few that there are
_ON_TOPIC, _NEAR_TOPIC, _FEW = 0.5, 0.3, 3
_SAME_CASE = 0.6
_SIDES: tuple[QuestionSide, ...] = ("FOR", "AGAINST")
_LEAST_SHINGLES = 8
_DIGITS = 4


class Shown(NamedTuple):
    """The results of a ranking that are shown.

    Attributes:
        similar: The near duplicates of each result that stood after it.
    """

    ranking: Ranking
    records: list[Record]
    similar: list[tuple[str, ...]]

    def best(self, k: int) -> Shown:
        """The first k results."""
        return Shown(self.ranking.best(k), self.records[:k], self.similar[:k])

    def on_topic(self) -> Shown:
        """The results that are about the question, where the system says which are.

        Where there are fewer than three, others that come near it fill up to three.
        """
        reasons = self.ranking.reasons
        if reasons is None:
            return self
        chances = [each.get("on_topic", 0.0) for each in reasons]
        third = sorted([0.0] * _FEW + chances)[-_FEW]
        enough = min(max(third, _NEAR_TOPIC), _ON_TOPIC)
        return self._taken([at for at, chance in enumerate(chances) if chance >= enough])

    def arguing(self) -> Shown:
        """The results without arguments that are none: spam, and housekeeping of a debate."""
        return self._taken([at for at, each in enumerate(self.records) if argues(each)])

    def labelled(self, labelling: Labelling) -> Shown:
        """The results with their stances."""
        return self._replace(ranking=labelling.apply(self.ranking.topic, self.ranking))

    def answers(self) -> list[Answer]:
        """The results as answers without snippets; see `answers_of`."""
        found = answers_of(self.ranking, self.records)
        return [
            replace(answer, similar=ids) for answer, ids in zip(found, self.similar, strict=True)
        ]

    def _taken(self, places: list[int]) -> Shown:
        at = np.array(places, dtype=np.int64)
        return Shown(
            self.ranking.taken(at, self.ranking.scores[at]),
            [self.records[place] for place in places],
            [self.similar[place] for place in places],
        )


def argues(record: Record) -> bool:
    """Whether a document is no spam and no housekeeping; only arguments are checked."""
    if not isinstance(record, Argument | ProcessedArgument):
        return True
    text = said(record)
    return not (is_spam(text) or is_housekeeping(text))


def folded(ranking: Ranking, records: Sequence[Record]) -> Shown:
    """The results without near duplicates: the first of them stands for all.

    Two texts are near duplicates where they share 60% of the shorter one's sequences of three
    words. Where results have reasons, `repeated` is added: the greatest share that a result before
    it holds as well.
    """
    parts = [shingles(said(record)) for record in records]
    similar: dict[int, list[str]] = {}
    repeated: list[float] = []
    for place, own in enumerate(parts):
        check_cancelled()
        known = similar if len(own) >= _LEAST_SHINGLES else ()
        closest, share = _closest(own, {first: parts[first] for first in known})
        if share >= _SAME_CASE:
            similar[closest].append(ranking.ids[place])
        else:
            similar[place] = []
            repeated.append(round(share, _DIGITS))
    places = np.array(list(similar), dtype=np.int64)
    kept = ranking.taken(places, ranking.scores[places])
    if kept.reasons is not None:
        rows = zip(kept.reasons, repeated, strict=True)
        kept = replace(kept, reasons=tuple({**each, "repeated": share} for each, share in rows))
    left = [records[place] for place in similar]
    return Shown(kept, left, [tuple(ids) for ids in similar.values()])


def _closest(own: Shingles, others: Mapping[int, Shingles]) -> tuple[int, float]:
    """The text that shares most with one, and the share; 0 where there is none."""
    shares = {place: shared(own, other) for place, other in others.items()}
    closest = max(shares, key=lambda place: shares[place], default=0)
    return closest, shares.get(closest, 0.0)


def is_one_sided(answers: Sequence[Answer], k: int) -> bool:
    """Whether fewer than a third of k answers are of one side."""
    return any(_missing(answers, side, k) for side in _SIDES)


def balanced(answers: Sequence[Answer], k: int) -> list[Answer]:
    """The k best answers, a third of them of the weaker side where there are as many.

    Answers of the other side stand back, the last ones first; the order is kept. Ranks are counted
    anew.
    """
    chosen, rest = list(answers[:k]), list(answers[k:])
    for side in _SIDES:
        others = [answer for answer in rest if answer.side == side][: _missing(chosen, side, k)]
        for answer in others:
            last = next((each for each in reversed(chosen) if each.side != side), None)
            if last is not None:
                chosen[chosen.index(last)] = answer
    chosen.sort(key=lambda answer: answer.rank)
    return [replace(answer, rank=rank) for rank, answer in enumerate(chosen, start=1)]


def _missing(answers: Sequence[Answer], side: QuestionSide, k: int) -> int:
    """The number of answers that a side lacks to a third of k."""
    return max(k // 3 - sum(answer.side == side for answer in answers), 0)
