"""Coherence: whether two sentences belong together, and do not contradict each other."""

from __future__ import annotations

import numpy as np

from sicetnon.pairs.candidates import Bools, Candidates, Numbers, Reals

# by judged pairs: below the first a pair has too little in common, from the second on too much
_ENOUGH, _TOO_MUCH, _THE_SAME = 0.1, 0.5, 0.9
# sharing so much, two sentences of which one is negated say opposite things
_SAME_CLAIM = 0.5
_NEAR = 3


def cohesion(candidates: Candidates, first: Numbers, second: Numbers, similar: Reals) -> Reals:
    """How well pairs hold together, from 0 to 1.5.

    Up to 1 for words in common, neither too few nor too many; a half for standing next to each
    other in their argument, falling with the distance, or being its conclusion and a reason.

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
    """Which pairs contradict themselves.

    Two sentences on different sides of the question, or of one conclusion: so does a reason
    against a conclusion beside that conclusion. And two that say nearly the same, one of them
    negated.

    Args:
        candidates: The sentences.
        first: The first of each pair, shape (pairs,).
        second: The second of each pair, shape (pairs,).
        similar: Their cosine, shape (pairs,).
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
    """Which pairs are known to take one side: of the question, or of one conclusion."""
    own = own_sides(candidates)
    same = (candidates.sides[first] == candidates.sides[second]) & (candidates.sides[first] != 0)
    debate = candidates.debates[first] == candidates.debates[second]
    found: Bools = same | (debate & (own[first] == own[second]) & (own[first] != 0))
    return found


def own_sides(candidates: Candidates) -> Numbers:
    """The side of each sentence towards the conclusion of its argument, shape (sentences,)."""
    return np.where(candidates.conclusions, 1, candidates.premise_sides)
