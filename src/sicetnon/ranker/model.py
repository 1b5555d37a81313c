"""The ranker's two linear models, on topic and strength, and the stage that ranks by them."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from sicetnon.argument_checks import check_path
from sicetnon.arrays import Reals
from sicetnon.errors import DataError
from sicetnon.formats.files import read_all
from sicetnon.formats.json_records import decode
from sicetnon.index.reader import IndexReader
from sicetnon.ranker.features import DEPTH, NAMES, FeatureReader, Table
from sicetnon.ranking.system import System
from sicetnon.records import Ranking, Topic

SHIPPED = Path(__file__).parents[1] / "models" / "ranker"
FILE = "ranker.json"
STRONGEST = 3.0
_LEAST_STRENGTH = 0.1


class Weight(msgspec.Struct, frozen=True):
    """The weight of a feature in a linear model.

    The change of its output per standard deviation of the feature from the mean, both in training.
    """

    mean: float
    deviation: float
    weight: float


class Linear(msgspec.Struct, frozen=True):
    """A linear model; its intercept is the output where all features have their mean."""

    intercept: float
    weights: Mapping[str, Weight]

    def output(self, table: Table) -> Reals:
        """The output for each row of a table, shape (rows,)."""
        found = np.full(len(table), self.intercept)
        for name, each in self.weights.items():
            found += (table[:, NAMES.index(name)] - each.mean) / each.deviation * each.weight
        return found


class Judged(NamedTuple):
    """The ranker's outputs for the arguments of a ranking, shape (arguments,) each.

    Attributes:
        on_topic: Probability that it is squarely about the question.
        strength: Its strength, from 0 to 1.
        scores: The scores that order them.
    """

    on_topic: Reals
    strength: Reals
    scores: Reals


class RankerModel(msgspec.Struct, frozen=True):
    """The content of `ranker.json`.

    Attributes:
        on_topic: Log odds that an argument is squarely about the question.
        strength: Its strength as an argument, from 0 to 3.
        lexical: The weight of the lexical score, beside strength.
        enough: Probability of being on topic from which more of it gains nothing.
    """

    on_topic: Linear
    strength: Linear
    lexical: float
    enough: float

    def judge(self, table: Table) -> Judged:
        """Judge the arguments of a table.

        The score is min(p, enough) / enough · (strength + lexical weight · lexical score), divided
        by its greatest value: an argument on another subject is worth nothing, however strong it
        is or however many of the question's words it has.
        """
        on_topic = 1 / (1 + np.exp(-np.clip(self.on_topic.output(table), -30, 30)))
        strength = np.clip(self.strength.output(table), _LEAST_STRENGTH, STRONGEST)
        worth = strength + self.lexical * table[:, NAMES.index("lexical")]
        scores = np.minimum(on_topic / self.enough, 1) * worth / (STRONGEST + self.lexical)
        return Judged(on_topic, strength / STRONGEST, scores)


_MODEL = msgspec.json.Decoder(RankerModel)


@functools.cache
def shipped_model() -> RankerModel:
    """The ranker that is part of the package."""
    return read_model(SHIPPED)


def read_model(folder: Path | str) -> RankerModel:
    """The ranker of a folder, as `sicetnon train ranker` writes it."""
    check_path(folder, "the folder of a ranker")
    path = Path(folder) / FILE
    try:
        model = decode(_MODEL, read_all(path))
    except DataError as error:
        raise _damaged(path, error.message) from None
    except ValueError as error:
        raise _damaged(path, str(error)) from None
    weights = {**model.on_topic.weights, **model.strength.weights}
    if unknown := sorted(set(weights) - set(NAMES)):
        raise _damaged(path, f"it names {', '.join(unknown)}, which is no feature")
    if min((each.deviation for each in weights.values()), default=1.0) <= 0 or model.enough <= 0:
        raise _damaged(path, "a deviation or `enough` is not above 0")
    return model


def _damaged(path: Path, found: str) -> DataError:
    advice = "name another folder, or train one: sicetnon train ranker"
    return DataError(f"is no usable ranker ({found}); {advice}", path)


_DIGITS = 4


class LearnedRanker:
    """A stage: reorders the best arguments by whether they are on topic and how strong they are.

    Results explain their rank in `Ranking.reasons`: `on_topic` (probability that
    an argument is squarely about the question), `strength` and `lexical`, each from 0 to 1. The
    other arguments keep their order after the best.
    """

    def __init__(self, index: IndexReader, model: RankerModel | None = None, depth: int = DEPTH):
        self._index, self._depth = index, depth
        self._model = model or shipped_model()
        self._features = FeatureReader(index)
        self._features.load_ahead()

    def learned_from(self, model: RankerModel) -> LearnedRanker:
        """The same stage with another model."""
        return LearnedRanker(self._index, model, self._depth)

    def apply(self, topic: Topic, ranking: Ranking) -> Ranking:
        """The reordered ranking, with reasons."""
        top = ranking.best(self._depth)
        if not len(top):
            return ranking
        table = self._features.read(topic, top, self._index.records_of(top))
        judged = self._model.judge(table)
        rest = ranking.scores[len(top) :]
        # what was not judged stands below, in its order
        below = rest - rest.max(initial=0.0) - 1.0
        scores = np.concatenate((judged.scores, below))
        order = np.argsort(-scores, kind="stable")
        lexical = table[:, NAMES.index("lexical")]
        columns = (judged.on_topic, judged.strength, lexical)
        reasons = [
            dict(zip(("on_topic", "strength", "lexical"), row, strict=True))
            for row in np.round(np.stack(columns, axis=1), _DIGITS).tolist()
        ]
        reasons += [{}] * len(rest)
        placed = replace(ranking.taken(order, scores[order]))
        return replace(placed, reasons=tuple(reasons[place] for place in order.tolist()))


def with_ranker(system: System, model: RankerModel) -> System:
    """A system with another model in the place of the shipped one, where it ranks by one."""
    stages = [
        stage.learned_from(model) if isinstance(stage, LearnedRanker) else stage
        for stage in system.stages
    ]
    return replace(system, stages=stages)
