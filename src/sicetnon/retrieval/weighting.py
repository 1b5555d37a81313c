"""Weighting models: a formula each, with its citation; its parameters are its fields.

A model's score of a document is the sum over the question's terms of

    query weight · formula(term frequency, norm of the document, constants of the term)

The norms of all documents are computed once per index, the constants once per term and query. The
formulas are in the module `formulas`.
"""

from __future__ import annotations

import dataclasses
import functools
import logging
import math
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, get_args

import numpy as np

from sicetnon.argument_checks import check_real
from sicetnon.arrays import Reals
from sicetnon.errors import UsageError
from sicetnon.jit import importing_numba
from sicetnon.retrieval import formulas
from sicetnon.retrieval.formulas import (
    UNSEEN,
    Accumulate,
    Formula,
    WindowPostings,
    weighted_frequencies,
)
from sicetnon.retrieval.postings import TermPostings
from sicetnon.retrieval.query_plan import OwnLoop
from sicetnon.retrieval.statistics import CollectionStatistics, TermStatistics

_log = logging.getLogger("sicetnon.retrieval")


_cannot_compile: set[type] = set()


Constants = tuple[float, float]
BM25Variant = Literal["lucene", "robertson", "atire", "plus"]
DirichletVariant = Literal["full", "matched", "clipped"]


class WeightingModel:
    """A weighting model: the score that a term adds to a document in which it occurs.

    To add a model, write a subclass with `score`, and with a field for each parameter::

        @dataclass(frozen=True)
        class LogLogistic(sicetnon.WeightingModel):
            c: float = 1.0

            def score(self, tf, length, term, collection):
                tf = tf * np.log(1 + self.c * collection.average_length / length)
                share = term.documents / collection.documents
                return np.log((share + tf) / share)

    The models of this package compile a formula instead, and compute once what depends on the
    document or the term alone.

    Attributes:
        compile_from: Postings of a term from which `score` is compiled, which takes about a second
            once per process.
    """

    compile_from: ClassVar[int] = 100_000

    def score(
        self, tf: Reals, length: Reals, term: TermStatistics, collection: CollectionStatistics
    ) -> Reals:
        """The score that a term adds to each document in which it occurs.

        Long lists of postings are scored by machine code where numba can compile the function, one
        document at a time; otherwise numpy calls it once per term, which is slower. It should
        therefore use numpy's functions (`np.log`, `np.maximum`) and no branches.

        Args:
            tf: Frequency of the term in each document, above 0, float64, shape (n,).
            length: Terms of each document, float64, shape (n,).
            term: Statistics of the term.
            collection: Statistics of the collection.

        Returns:
            Float64, shape (n,).
        """
        raise UsageError(
            f"the weighting model {type(self).__name__} has no function `score`; define "
            "score(self, tf, length, term, collection)"
        )

    @property
    def formula(self) -> Formula | OwnLoop:
        """The formula that is applied to each posting, or the loop that calls `score`."""
        return OwnLoop(custom_accumulate(self))

    def norms(self, lengths: Reals, collection: CollectionStatistics) -> Reals:
        """The part of the formula that depends on the document alone, shape (documents,)."""
        return lengths

    def constants(self, term: TermPostings, collection: CollectionStatistics) -> tuple[float, ...]:
        """The parts of the formula that depend on the term alone."""
        return (term.documents, term.occurrences, *collection)

    @property
    def document_scores(self) -> Callable[[Reals], Reals] | None:
        """For a model that also scores the terms that a document lacks: the score of such a term,
        as a function of document lengths; else None.
        """
        return None


def _check(legal: bool, name: str, value: object) -> None:
    if not legal:
        raise UsageError(f"{name} = {value!r} is not legal for this weighting model")


def _take(model: WeightingModel, name: str, is_legal: Callable[[float], bool]) -> None:
    """Check a parameter; a number of numpy becomes one of Python, which overflows later."""
    value = getattr(model, name)
    check_real(value, name)
    _check(is_legal(value), name, value)
    is_whole = isinstance(value, int) and abs(value) < 1 << 53
    object.__setattr__(model, name, value if is_whole else float(value))


@dataclass(frozen=True)
class BM25(WeightingModel):
    """Okapi BM25 (Robertson, Walker, Jones, Hancock-Beaulieu and Gatford, TREC-3, 1994).

    Attributes:
        k1: Saturation of repeated terms, from 0; the higher, the slower.
        b: Normalisation of length, from 0 (none) to 1.
        variant: The inverse document frequency and the shape of the formula:
            `lucene`: ln(1 + (N − n + ½)/(n + ½)), without the factor k1 + 1 (Lucene 8 on);
            `robertson`: max(ε, ln((N − n + ½)/(n + ½))), with the factor k1 + 1;
            `atire`: ln(N/n), with the factor k1 + 1 (Trotman, Jia and Crane, OSIR 2012);
            `plus`: ln((N + 1)/n), with the factor, and δ added for each term that occurs (Lv and
            Zhai, CIKM 2011).
        delta: The δ of `plus`.
    """

    k1: float = 1.2
    b: float = 0.75
    variant: BM25Variant = "lucene"
    delta: float = 1.0

    def __post_init__(self) -> None:
        _check(self.variant in get_args(BM25Variant), "variant", self.variant)
        _take(self, "k1", lambda value: 0 <= value < math.inf)
        _take(self, "b", lambda value: 0 <= value <= 1)
        _take(self, "delta", lambda value: 0 <= value < math.inf)

    @property
    def formula(self) -> Formula | OwnLoop:
        return formulas.saturation

    def norms(self, lengths: Reals, collection: CollectionStatistics) -> Reals:
        share = lengths / (collection.average_length or 1.0)
        return self.k1 * (1 - self.b + self.b * share)

    def constants(self, term: TermPostings, collection: CollectionStatistics) -> Constants:
        weight = inverse_document_frequency(self.variant, term, collection)
        gain = weight if self.variant == "lucene" else weight * (self.k1 + 1)
        bonus = weight * self.delta if self.variant == "plus" else 0.0
        return gain, bonus


def inverse_document_frequency(
    variant: str, term: TermPostings, collection: CollectionStatistics
) -> float:
    """The inverse document frequency of a variant of `BM25`."""
    total, having = collection.documents, term.documents
    if variant == "atire":
        return math.log(total / having)
    if variant == "plus":
        return math.log((total + 1) / having)
    odds = (total - having + 0.5) / (having + 0.5)
    return math.log1p(odds) if variant == "lucene" else max(1e-6, math.log(odds))


@dataclass(frozen=True)
class DirichletLM(WeightingModel):
    """Query likelihood with Dirichlet smoothing (Zhai and Lafferty, TOIS 2004, table I).

    Attributes:
        mu: Number of terms of the collection that are added to each document.
        variant: The terms of the query for which long documents lose:
            `full`: all, as in the paper, equation 6. In a sum of several scores, only documents
            with a score of this part lose;
            `matched`: those that occur in the document (Terrier);
            `clipped`: as `matched`, but no term scores less than 0 (Lucene, PISA).
    """

    mu: float = 2000.0
    variant: DirichletVariant = "clipped"

    def __post_init__(self) -> None:
        _check(self.variant in get_args(DirichletVariant), "variant", self.variant)
        _take(self, "mu", lambda value: 0 < value < math.inf)

    @property
    def formula(self) -> Formula | OwnLoop:
        full = self.variant == "full"
        return formulas.log_ratio if full else formulas.log_ratio_matched

    def norms(self, lengths: Reals, collection: CollectionStatistics) -> Reals:
        if self.variant == "full":
            return np.ones(len(lengths))
        return self._log_share(lengths)

    def constants(self, term: TermPostings, collection: CollectionStatistics) -> Constants:
        ratio = collection.occurrences / (self.mu * term.occurrences)
        return ratio, 0.0 if self.variant == "clipped" else -math.inf

    @property
    def document_scores(self) -> Callable[[Reals], Reals] | None:
        return self._log_share if self.variant == "full" else None

    def _log_share(self, lengths: Reals) -> Reals:
        """ln(µ / (µ + length))."""
        return np.log(self.mu / (self.mu + lengths))


@dataclass(frozen=True)
class JelinekMercer(WeightingModel):
    """Query likelihood with linear smoothing (Zhai and Lafferty, TOIS 2004, table I).

    Attributes:
        lambda_: The share of the collection in the mixture, above 0 and below 1.
    """

    lambda_: float = 0.4

    def __post_init__(self) -> None:
        _take(self, "lambda_", lambda value: 0 < value < 1)

    @property
    def formula(self) -> Formula | OwnLoop:
        return formulas.log_ratio

    def constants(self, term: TermPostings, collection: CollectionStatistics) -> Constants:
        odds = (1 - self.lambda_) / self.lambda_
        return odds * collection.occurrences / term.occurrences, 0.0


@dataclass(frozen=True)
class DPH(WeightingModel):
    """Divergence from randomness, hypergeometric, Popper's normalisation; no parameter.

    Amati, Ambrosi, Bianchi, Gaibisso and Gambosi, TREC 2007. A document of nothing but the term
    scores 0, the limit of the formula.
    """

    @property
    def formula(self) -> Formula | OwnLoop:
        return formulas.hypergeometric_popper

    def constants(self, term: TermPostings, collection: CollectionStatistics) -> Constants:
        return collection.average_length * collection.documents / term.occurrences, 0.0


@dataclass(frozen=True)
class DLH(WeightingModel):
    """Divergence from randomness, hypergeometric, Laplace's normalisation; no parameter.

    Amati, "Frequentist and Bayesian approach to information retrieval", ECIR 2006.
    """

    @property
    def formula(self) -> Formula | OwnLoop:
        return formulas.hypergeometric_laplace

    def constants(self, term: TermPostings, collection: CollectionStatistics) -> Constants:
        return collection.average_length * collection.documents / term.occurrences, 0.0


@dataclass(frozen=True)
class PL2(WeightingModel):
    """Divergence from randomness, Poisson, Laplace, normalisation 2.

    Amati and van Rijsbergen, TOIS 2002, equations 11, 26 and 34.

    Attributes:
        c: Normalisation of length, above 0; the higher, the less.
    """

    c: float = 1.0

    def __post_init__(self) -> None:
        _take(self, "c", lambda value: 0 < value < math.inf)

    @property
    def formula(self) -> Formula | OwnLoop:
        return formulas.poisson_laplace

    def norms(self, lengths: Reals, collection: CollectionStatistics) -> Reals:
        return np.log2(1 + self.c * collection.average_length / np.maximum(lengths, 1e-9))

    def constants(self, term: TermPostings, collection: CollectionStatistics) -> Constants:
        return term.occurrences / collection.documents, 0.0


@dataclass(frozen=True)
class TFIDF(WeightingModel):
    """TF-IDF with pivoted length (Singhal, Buckley and Mitra, SIGIR 1996; Singhal, 2001, table 1).

    Attributes:
        slope: Normalisation of length, from 0 (none) to 1.
    """

    slope: float = 0.2

    def __post_init__(self) -> None:
        _take(self, "slope", lambda value: 0 <= value <= 1)

    @property
    def formula(self) -> Formula | OwnLoop:
        return formulas.pivoted

    def norms(self, lengths: Reals, collection: CollectionStatistics) -> Reals:
        return 1 - self.slope + self.slope * lengths / (collection.average_length or 1.0)

    def constants(self, term: TermPostings, collection: CollectionStatistics) -> Constants:
        return math.log((collection.documents + 1) / term.documents), 0.0


class CustomModel(Protocol):
    """A model: one function, and the number of postings from which it is compiled."""

    compile_from: ClassVar[int]

    def score(
        self, tf: Reals, length: Reals, term: TermStatistics, collection: CollectionStatistics
    ) -> Reals:
        """The scores of a term for some documents, shape as `tf`."""


def custom_accumulate(model: CustomModel) -> Accumulate:
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
        tf = weighted_frequencies(frequencies, field_weights)
        is_there = tf > 0
        places, tf = places[is_there], tf[is_there]
        term = TermStatistics(int(statistics[0]), statistics[1])
        collection = CollectionStatistics(int(statistics[2]), *statistics[3:])
        found = _custom_scores(model, tf, norms[places], term, collection)
        known = scores[places]
        scores[places] = np.where(known == UNSEEN, 0.0, known) + query_weight * found
        return True

    return accumulate


def _custom_scores(
    model: CustomModel,
    tf: Reals,
    lengths: Reals,
    term: TermStatistics,
    collection: CollectionStatistics,
) -> Reals:
    fields = _parameters(model)
    loop = (
        _compiled_loop(type(model))
        if len(tf) >= model.compile_from and fields is not None
        else None
    )
    if loop is not None:
        from numba.core.errors import NumbaError, UnsupportedBytecodeError

        try:
            return _checked(loop(fields, tf, lengths, term, collection), model, len(tf))
        except (NumbaError, UnsupportedBytecodeError) as error:
            _cannot_compile.add(type(model))
            _log.info("%s stays uncompiled: %s", type(model).__name__, str(error).split("\n")[0])
    return _checked(model.score(tf, lengths, term, collection), model, len(tf))


def _checked(scores: Any, model: CustomModel, count: int) -> Reals:
    """The scores that a model gave."""
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


def _parameters(model: CustomModel) -> Any:
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
def _compiled_loop(kind: type[CustomModel]) -> Callable[..., Reals]:
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
