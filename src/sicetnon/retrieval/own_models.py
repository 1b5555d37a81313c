"""Scoring by a weighting model of a user's own: one Python function, compiled where numba can."""

from __future__ import annotations

import dataclasses
import functools
import logging
from collections import namedtuple
from collections.abc import Callable
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sicetnon.compiled import importing_numba
from sicetnon.errors import UsageError
from sicetnon.retrieval.formulas import UNSEEN, Accumulate, WindowPostings
from sicetnon.retrieval.plain import weighted
from sicetnon.retrieval.statistics import CollectionStatistics, TermStatistics

Reals: TypeAlias = NDArray[np.float64]

_log = logging.getLogger("sicetnon.retrieval")


class OwnModel(Protocol):
    """A model: one function, and the number of postings from which it is compiled."""

    compile_from: ClassVar[int]

    def score(
        self, tf: Reals, length: Reals, term: TermStatistics, collection: CollectionStatistics
    ) -> Reals:
        """See `WeightingModel.score`."""


def own_accumulate(model: OwnModel) -> Accumulate:
    """The loop that adds a term's scores by a model's function to those of its documents."""

    def accumulate(
        postings: WindowPostings,
        first: int,
        norms: Reals,
        scores: Reals,
        query_weight: float,
        *statistics: float,
    ) -> bool:
        documents, frequencies, field_weights = postings
        places = documents.astype(np.int64) - first
        if places.min(initial=0) < 0 or places.max(initial=-1) >= len(scores):
            return False
        tf = weighted(frequencies, field_weights)
        is_there = tf > 0
        places, tf = places[is_there], tf[is_there]
        term = TermStatistics(int(statistics[0]), statistics[1])
        collection = CollectionStatistics(int(statistics[2]), *statistics[3:])
        found = _scores(model, tf, norms[places], term, collection)
        known = scores[places]
        scores[places] = np.where(known == UNSEEN, 0.0, known) + query_weight * found
        return True

    return accumulate


def _scores(
    model: OwnModel,
    tf: Reals,
    lengths: Reals,
    term: TermStatistics,
    collection: CollectionStatistics,
) -> Reals:
    fields = _fields(model)
    loop = _compiled(type(model)) if len(tf) >= model.compile_from and fields is not None else None
    if loop is not None:
        from numba.core.errors import NumbaError, UnsupportedBytecodeError

        try:
            return _checked(loop(fields, tf, lengths, term, collection), model, len(tf))
        except (NumbaError, UnsupportedBytecodeError) as error:
            _cannot_compile.add(type(model))
            _log.info("%s stays uncompiled: %s", type(model).__name__, str(error).split("\n")[0])
    return _checked(model.score(tf, lengths, term, collection), model, len(tf))


def _checked(scores: Any, model: OwnModel, count: int) -> Reals:
    """The scores that a model gave.

    Raises:
        UsageError: They are not one finite number for each document.
    """
    try:
        found = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != (count,):
        raise UsageError(
            f"the weighting model {type(model).__name__} gives {type(scores).__name__} of shape "
            f"{np.shape(scores)} for {count} documents; expected an array with a score for each"
        )
    if not np.isfinite(found).all():
        raise UsageError(
            f"the weighting model {type(model).__name__} gives a score that is no finite number"
        )
    return found


_cannot_compile: set[type] = set()


def _fields(model: OwnModel) -> Any:
    """The model's parameters as a tuple with names, which compiled code can read; None without."""
    if type(model) in _cannot_compile or not dataclasses.is_dataclass(type(model)):
        return None
    parameters: Any = model
    names = [field.name for field in dataclasses.fields(parameters)]
    return _tuple_type(type(model), tuple(names))(*(getattr(model, name) for name in names))


@functools.cache
def _tuple_type(kind: type, names: tuple[str, ...]) -> Any:
    return namedtuple(kind.__name__, names)


@functools.cache
def _compiled(kind: type[OwnModel]) -> Callable[..., Reals]:
    """The model's function in a compiled loop over documents."""
    # it takes half a second to load
    with importing_numba():
        from numba import njit

    score: Any = njit(nogil=True, error_model="numpy")(kind.score)

    @njit(nogil=True, error_model="numpy")
    def loop(
        fields: Any, tf: Reals, lengths: Reals, term: Any, collection: Any
    ) -> Reals:  # pragma: no cover (compiled)
        found = np.empty(tf.size)
        for place in range(tf.size):
            found[place] = score(fields, tf[place], lengths[place], term, collection)
        return found

    return loop
