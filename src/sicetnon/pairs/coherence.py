"""Coherence: whether two sentences belong together, and whether they contradict each other."""

from __future__ import annotations

import numpy as np

from sicetnon.pairs.candidates import Bools, Candidates, Numbers, Reals

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
