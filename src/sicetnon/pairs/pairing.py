"""Pairs of sentences: coherence, strength, score, and a spread over sentences and arguments.

The steps: choose sentences of each argument (`Pairing.represent`), pair them (`Pairing.pair`),
refuse contradictions, score the pairs (`Worth`), and spread the results over the arguments.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from sicetnon.arguments.side.classifier import Side
from sicetnon.arguments.side.lexicon import WORDS, is_point
from sicetnon.arrays import Reals
from sicetnon.formats.identifiers import SEPARATOR, argument_of
from sicetnon.index.reader import IndexReader
from sicetnon.pairs.candidates import Bools, CandidateReader, Candidates, Numbers, is_conclusion
from sicetnon.records import UNSTANCED, ProcessedArgument, Ranking, Topic

# chosen by judged pairs: cosines below the first are too low, above the second too high
_ENOUGH, _TOO_MUCH, _THE_SAME = 0.1, 0.5, 0.9
# from this cosine on, two sentences of which one is negated contradict each other
_SAME_CLAIM = 0.5
_NEAR = 3


def cohesion(candidates: Candidates, first: Numbers, second: Numbers, similar: Reals) -> Reals:
    """The coherence of pairs, from 0 to 1.5.

    Words in common give up to 1, if they are neither too few nor too many. Two sentences of one
    argument get up to a half more: the less, the further apart they stand; the whole for its
    conclusion with a reason.

    Args:
        candidates: The sentences.
        first: The first of each pair, shape (pairs,).
        second: The second of each pair, shape (pairs,).
        similar: Their cosine, shape (pairs,).
    """
    shared: Reals = np.interp(similar, [0, _ENOUGH, _TOO_MUCH, _THE_SAME, 1], [0, 1, 1, 0.3, 0])
    one_argument = candidates.arguments[first] == candidates.arguments[second]
    apart = np.abs(candidates.positions[first] - candidates.positions[second])
    follows = np.clip(1 - (apart - 1) / _NEAR, 0, 1)
    reason = candidates.conclusions[first] != candidates.conclusions[second]
    shared += 0.5 * one_argument * np.where(reason, 1.0, follows)
    return shared


def contradicts(candidates: Candidates, first: Numbers, second: Numbers, similar: Reals) -> Bools:
    """Whether the sentences of each pair contradict each other.

    They do on different sides of the question, or of one conclusion (such as a conclusion with a
    reason against it), and where they say nearly the same and one of them is negated.

    The arguments are those of `cohesion`.
    """
    sides = candidates.sides[first] * candidates.sides[second]
    own = own_sides(candidates)
    against = (candidates.debates[first] == candidates.debates[second]) & (
        own[first] * own[second] < 0
    )
    negated = candidates.negated[first] != candidates.negated[second]
    found: Bools = (sides < 0) | against | (negated & (similar > _SAME_CLAIM))
    return found


def on_one_side(candidates: Candidates, first: Numbers, second: Numbers) -> Bools:
    """Whether the sentences of each pair take one side of the question, or of one conclusion."""
    own = own_sides(candidates)
    same = (candidates.sides[first] == candidates.sides[second]) & (candidates.sides[first] != 0)
    debate = candidates.debates[first] == candidates.debates[second]
    found: Bools = same | (debate & (own[first] == own[second]) & (own[first] != 0))
    return found


def own_sides(candidates: Candidates) -> Numbers:
    """The side of each sentence towards the conclusion of its argument, shape (sentences,)."""
    return np.where(candidates.conclusions, 1, candidates.premise_sides)


NEARLY_THE_SAME = 0.85


def fold(
    cosines: NDArray[np.float32],
    worth: NDArray[np.float64],
    threshold: float = NEARLY_THE_SAME,
) -> NDArray[np.int64]:
    """The places of texts that are no near duplicates of better ones, best first.

    Args:
        cosines: The cosine of each two texts, shape (texts, texts).
        worth: The score of each text, shape (texts,). Of equal ones the first is better.
        threshold: The cosine from which two texts are near duplicates.
    """
    order = np.argsort(-worth, kind="stable")
    similar = cosines[np.ix_(order, order)] >= threshold
    kept = np.ones(len(order), dtype=bool)
    for place in range(len(order)):
        if kept[place]:
            kept[place + 1 :] &= ~similar[place, place + 1 :]
    return order[kept]


def spread(
    scores: NDArray[np.float64],
    uses: Sequence[Sequence[Hashable]],
    cost: float,
    count: int,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The best results one by one, with a cost for each use of the same sentence or argument.

    This is maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998), with repeated use in
    place of similarity.

    Args:
        scores: The score of each result, shape (results,).
        uses: The items that each result uses, such as its sentences and arguments.
        cost: The cost of each use of an item by a better result.
        count: Largest number of results.

    Returns:
        The places of the results, and their scores less the costs, which never rise.
    """
    used: Counter[Hashable] = Counter()
    worth_of: list[float] = scores.tolist()
    waiting = [(-score, place) for place, score in enumerate(worth_of)]
    heapq.heapify(waiting)
    places: list[int] = []
    worths: list[float] = []
    while waiting and len(places) < count:
        worth, place = heapq.heappop(waiting)
        paid = cost * sum(map(used.__getitem__, uses[place])) - worth_of[place]
        # costs only grow, so a result that leads after its costs is the best
        if waiting and paid > worth and (paid, place) > waiting[0]:
            heapq.heappush(waiting, (paid, place))
            continue
        used.update(uses[place])
        places.append(place)
        worths.append(-paid)
    return np.array(places, dtype=np.int64), np.array(worths)


@dataclass(frozen=True)
class Pairs:
    """Pairs of sentences, one per row; all arrays have shape (pairs,).

    Attributes:
        first: The place of each pair's first sentence among them.
        second: The place of its second sentence, which is another one.
        similar: The cosine of the two.
    """

    sentences: Candidates
    first: Numbers
    second: Numbers
    similar: Reals

    def __len__(self) -> int:
        return len(self.first)

    def taken(self, places: Numbers) -> Pairs:
        """The pairs at the given places, in that order."""
        return Pairs(self.sentences, self.first[places], self.second[places], self.similar[places])


# more than the score of any pair
_UNFIT = 100.0
# with fewer pairs, sentences that are unfit for a result are paired as well; pairs of a topic
_FEWEST, _MOST = 100, 1000
# of each use of a sentence or an argument by a better pair
_COST = 0.05


@dataclass(frozen=True)
class Worth:
    """The score of a pair: a weighted sum of measures for the dimensions judged in 2022.

    Attributes:
        weakest: Weight of the coverage of the question by the sentence that covers less.
        strongest: Weight of the coverage by the other sentence.
        argument: Weight of the scores of both arguments, relative to the best one.
        strength: Weight of the strength of both sentences.
        coherence: Weight of the coherence of the pair.
        summary: Weight of the salience of both sentences in their arguments.
    """

    weakest: float = 2.0
    strongest: float = 0.4
    argument: float = 0.03
    strength: float = 0.75
    coherence: float = 0.2
    summary: float = 0.1

    def __call__(self, pairs: Pairs) -> Reals:
        """The score of each pair, shape (pairs,)."""
        sentences, first, second = pairs.sentences, pairs.first, pairs.second
        covered = np.stack([sentences.coverage[first], sentences.coverage[second]])
        score: Reals = self.weakest * covered.min(axis=0) + self.strongest * covered.max(axis=0)
        score += self.argument * (sentences.relevance[first] + sentences.relevance[second])
        score += self.strength * (sentences.strength[first] + sentences.strength[second])
        score += self.coherence * cohesion(sentences, first, second, pairs.similar)
        score += self.summary * (sentences.salience[first] + sentences.salience[second])
        return score

    def alone(self, sentences: Candidates) -> Reals:
        """The part that each sentence adds to the score of a pair, shape (sentences,)."""
        score: Reals = (self.weakest + self.strongest) / 2 * sentences.coverage
        score += self.argument * sentences.relevance + self.strength * sentences.strength
        return score + self.summary * sentences.salience


@dataclass(frozen=True)
class Pairing:
    """The choice of sentences, and of pairs of them.

    Attributes:
        per_argument: Number of sentences of an argument that are paired with each other.
        across: Number of best sentences of all arguments; each is paired with the others on its
            side.
        across_per_argument: Largest number of these per argument.
    """

    per_argument: int = 6
    across: int = 80
    across_per_argument: int = 2

    def represent(self, sentences: Candidates, worth: Reals, fit_only: bool) -> Numbers:
        """The places of the best sentences of each argument, best first."""
        order = np.argsort(-worth, kind="stable")
        if fit_only:
            order = order[sentences.fit[order]]
        return order[_places_within(sentences.arguments[order]) < self.per_argument]

    def pair(self, sentences: Candidates, unlike: Bools) -> tuple[Numbers, Numbers]:
        """Pairs within arguments and across them.

        Args:
            sentences: The sentences, best first.
            unlike: Whether each is no near duplicate of a better one; near duplicates are paired
                within their argument only.
        """
        first, second = np.triu_indices(len(sentences), 1)
        within = sentences.arguments[first] == sentences.arguments[second]
        leading = unlike & (_places_within(sentences.arguments) < self.across_per_argument)
        leading &= np.cumsum(leading) <= self.across
        across = leading[first] & leading[second] & on_one_side(sentences, first, second)
        # a conclusion that several arguments share is paired with their reasons within each
        shared = sentences.debates[first] == sentences.debates[second]
        shared &= sentences.conclusions[first] | sentences.conclusions[second]
        chosen = within | (across & ~shared)
        return first[chosen], second[chosen]


class SentencePairs:
    """A stage: turns a ranking of arguments into a ranking of pairs of their sentences.

    Args:
        reader: Reads the sentences of arguments.
        depth: Number of the best arguments that are read.
    """

    def __init__(self, reader: CandidateReader, depth: int = 100):
        self._reader, self._depth = reader, depth
        self._worth, self._pairing = Worth(), Pairing()

    def apply(self, topic: Topic, ranking: Ranking) -> Ranking:
        """The pairs, best first, with their sides. An id is two ids of sentences and a comma."""
        places = np.arange(min(len(ranking), self._depth))
        sentences = self._reader.read(topic, ranking.taken(places, ranking.scores[places]))
        pairs = self.pairs(sentences, fit_only=True)
        if len(pairs) < _FEWEST:
            pairs = self.pairs(sentences, fit_only=False)
        unfit = ~pairs.sentences.fit
        scores = self._worth(pairs) - _UNFIT * unfit[pairs.first] - _UNFIT * unfit[pairs.second]
        chosen, worths = spread(scores, _uses(pairs), _COST, _MOST)
        return _ranking(topic, pairs.taken(chosen), worths)

    def pairs(self, sentences: Candidates, fit_only: bool) -> Pairs:
        """All pairs that may be results, without contradictions and near duplicates."""
        worth = self._worth.alone(sentences)
        chosen = sentences.taken(self._pairing.represent(sentences, worth, fit_only))
        cosines, alone = chosen.cosines(), self._worth.alone(chosen)
        unlike = np.zeros(len(chosen), dtype=bool)
        unlike[fold(cosines, alone)] = True
        kept = np.argsort(-alone, kind="stable")
        kept = kept[(unlike | chosen.conclusions)[kept]]
        chosen, cosines = chosen.taken(kept), cosines[np.ix_(kept, kept)]
        first, second = self._pairing.pair(chosen, unlike[kept])
        pairs = Pairs(chosen, first, second, cosines[first, second].astype(np.float64))
        bad = contradicts(chosen, first, second, pairs.similar) | (pairs.similar > NEARLY_THE_SAME)
        return pairs.taken(np.flatnonzero(~bad))


def _places_within(arguments: Numbers) -> Numbers:
    """The number of sentences of the same argument before each."""
    order = np.argsort(arguments, kind="stable")
    starts = np.flatnonzero(np.diff(arguments[order], prepend=-1))
    lengths = np.diff(np.append(starts, len(order)))
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order)) - np.repeat(starts, lengths)
    return places


def _uses(pairs: Pairs) -> list[tuple[int, ...]]:
    """The sentences of each pair, and their arguments (as negative numbers)."""
    arguments = -1 - pairs.sentences.arguments
    columns = pairs.first, pairs.second, arguments[pairs.first], arguments[pairs.second]
    return [tuple(dict.fromkeys(row)) for row in np.stack(columns, axis=1).tolist()]


def _ranking(topic: Topic, pairs: Pairs, scores: Reals) -> Ranking:
    sentences = pairs.sentences
    # within an argument in order of the text; across arguments the better one first
    swap = sentences.arguments[pairs.first] == sentences.arguments[pairs.second]
    swap &= sentences.positions[pairs.first] > sentences.positions[pairs.second]
    first = np.where(swap, pairs.second, pairs.first)
    second = np.where(swap, pairs.first, pairs.second)
    sides = np.where(sentences.sides[first] != 0, sentences.sides[first], sentences.sides[second])
    names = [
        f"{sentences.ids[a]}{SEPARATOR}{sentences.ids[b]}"
        for a, b in zip(first.tolist(), second.tolist(), strict=True)
    ]
    return Ranking(
        topic,
        tuple(names),
        scores,
        tuple(WORDS[side] for side in sides.tolist()),
    )


_STANCES = ("PRO", "CON", UNSTANCED, UNSTANCED)
_OTHER_SIDE = [1, 0, 2, 3]


class RuleSides:
    """A stage: leaves the stances that the pairs have by rules."""

    method = "rules"

    def apply(self, topic: Topic, ranking: Ranking) -> Ranking:
        """The same ranking."""
        return ranking


class LearnedSides:
    """A stage: labels pairs with the side of their arguments on the question.

    A pair has the side that is most probable for both sentences together. BOTH and NONE are `Q0`.
    Each argument is read once per topic, however many pairs it is in.

    Args:
        index: An index of processed arguments.
        side: Judges the sides of arguments.
    """

    def __init__(self, index: IndexReader, side: Side):
        self._index, self._side = index, side

    @property
    def method(self) -> str:
        """`learned`, and the identity of the model."""
        return f"learned ({self._side.identity()})"

    def apply(self, topic: Topic, ranking: Ranking) -> Ranking:
        """The same ranking, with stances."""
        pairs = [identifier.split(SEPARATOR) for identifier in ranking.ids]
        sentences = list(dict.fromkeys(sentence for pair in pairs for sentence in pair))
        arguments = list(dict.fromkeys(map(self._argument, sentences)))
        records = cast("list[ProcessedArgument]", self._index.records(arguments))
        if not records:
            return ranking
        given = [record.argument for record in records]
        found = self._side.probabilities(
            [argument.premise for argument in given],
            topic.title,
            [argument.conclusion for argument in given],
            [argument.stance for argument in given],
            [argument.title for argument in given],
            [argument.resolution for argument in given],
        )
        rows: dict[str, NDArray[np.float32]] = {}
        for record, row in zip(records, found, strict=True):
            rows |= {each.id: _row(each.id, each.text, record, row) for each in record.sentences}
        sides = [
            int(np.sum([rows[sentence] for sentence in pair], axis=0).argmax()) for pair in pairs
        ]
        return replace(ranking, stances=tuple(_STANCES[side] for side in sides))

    def _argument(self, sentence: str) -> str:
        """The id of a sentence's argument; ids of 2021 end in `_sent` and a number."""
        found = argument_of(sentence)
        return found if self._index.number(found) is not None else sentence.rpartition("_")[0]


def ready_side() -> Side:
    """The classifier of sides with the shipped model, after a first reading."""
    side = Side()
    # the model is loaded with the first text; damage must be known before other work
    side.classify(["ready"], "ready?")
    return side


def _row(
    identifier: str, text: str, record: ProcessedArgument, row: NDArray[np.float32]
) -> NDArray[np.float32]:
    """The probabilities of a sentence: its argument's, but a conclusion may be what that denies."""
    argument = record.argument
    denied = argument.stance == "CON" and not is_point(argument.conclusion, argument.resolution)
    return row[_OTHER_SIDE] if denied and is_conclusion(identifier, text, record) else row
