"""Pairs of sentences: turn a ranking of arguments into a ranking of pairs of their sentences.

The steps: choose sentences of each argument (`Pairing.represent`), pair them (`Pairing.pair`),
refuse contradictions, score the pairs (`Worth`), and spread the results over the arguments.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sicetnon.arguments.sides import WORDS
from sicetnon.formats.identifiers import SEPARATOR
from sicetnon.pairs.candidates import Bools, CandidateReader, Candidates, Numbers, Reals
from sicetnon.pairs.coherence import cohesion, contradicts, on_one_side
from sicetnon.pairs.diversity import NEARLY_THE_SAME, fold, spread
from sicetnon.records import Ranking, Topic


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
    # within an argument as it is written; across arguments the better one first
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
