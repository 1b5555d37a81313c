"""The side of texts towards questions, from all that is known of them."""

from __future__ import annotations

import functools
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import TypeVar, cast, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from sicetnon.argument_checks import check_path, check_texts
from sicetnon.arguments.claims import LONGEST_CLAIM
from sicetnon.arguments.models.classifiers import Floats, Model
from sicetnon.arguments.side import lexicon
from sicetnon.arguments.side.debates import read_debates
from sicetnon.arguments.side.evidence import (
    UNSIDED,
    Columns,
    Evidence,
    EvidenceReader,
    read_arguments,
)
from sicetnon.arguments.side.question_rewriting import plain
from sicetnon.arrays import Reals
from sicetnon.errors import DataError, UsageError, counted
from sicetnon.formats.files import read_all
from sicetnon.records import PremiseStance, QuestionSide

SHIPPED = Path(__file__).parents[2] / "models" / "sides" / "sides.json"


class Logistic(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A logistic regression."""

    intercept: float
    weights: dict[str, float]

    def probabilities(self, columns: Columns) -> NDArray[np.float64]:
        """The probability of each row, shape (rows,)."""
        sums = self.intercept + sum(weight * columns[name] for name, weight in self.weights.items())
        found: NDArray[np.float64] = 1 / (1 + np.exp(-np.asarray(sums, dtype=np.float64)))
        return found


class Weights(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Two steps: whether a text takes a side, and if it does, the probability of FOR."""

    sided: Logistic
    favours: Logistic


class SideWeights(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `sides.json`.

    Attributes:
        model: The identity of the debate model that they were fitted to.
        conclusion: For conclusions alone.
        tagged: For texts whose stance towards their conclusion is known.
        untagged: For texts whose conclusion is known, but not their stance towards it.
        alone: For texts without a conclusion.
    """

    model: str
    conclusion: Weights
    tagged: Weights
    untagged: Weights
    alone: Weights


# a decoder that is made at import: two threads that are the first to decode a type crash msgspec
_SIDE_WEIGHTS = msgspec.json.Decoder(SideWeights)


@functools.cache
def side_weights(path: Path = SHIPPED) -> SideWeights:
    """The weights of a file; the shipped ones when left out."""
    try:
        return _SIDE_WEIGHTS.decode(read_all(path))
    except ValueError as error:
        message = f"the weights of sides cannot be used: {error}; install sicetnon again"
        raise DataError(message, path) from None


SIDES: tuple[QuestionSide, ...] = get_args(QuestionSide)
_FOR, _AGAINST, _NONE = map(SIDES.index, ("FOR", "AGAINST", "NONE"))
# of 597 labelled arguments three weigh both: too few to learn from, so that words decide
_WEIGHING, _SELDOM = 0.6, 0.01
_LONGEST_STATEMENT = 40
_T = TypeVar("_T")


@dataclass(frozen=True)
class SideAnswer:
    """The side of a text.

    Attributes:
        side: The most probable one.
        probabilities: Of FOR, AGAINST, BOTH and NONE.
    """

    side: QuestionSide
    probabilities: tuple[float, float, float, float]

    @property
    def probability(self) -> float:
        """The probability of the side."""
        return max(self.probabilities)


class Side:
    """The side of texts towards questions: FOR, AGAINST, BOTH or NONE.

    The side of a conclusion is judged by the debate model and by words. The stance of a text
    towards its conclusion is used where it is known; where it is not, the text decides, which is
    right less often, so that its probabilities are lower. Where a conclusion takes no side, the
    texts with that conclusion that are given together tell what PRO stands for. Loaded questions
    ("Isn't it cruel to keep animals in zoos?") are read in plain words: see `plain`.

    Args:
        model: The shipped model when left out, or a folder of its kind.
        threads: Processor cores to use at most; all when left out.
        weights: The file with the weights of all evidence; the shipped one when left out.

    Raises:
        DataError: The model or the weights are damaged.
        UsageError: There is no such folder.
    """

    def __init__(self, model: Model = None, *, threads: int | None = None, weights: Path = SHIPPED):
        check_path(weights, "the weights")
        self._reader = EvidenceReader(model, threads)
        self._path = Path(weights)
        self._weights = side_weights(self._path)

    def identity(self) -> str:
        """Names and versions of model and weights, for files that must not mix them."""
        return f"{self._reader.identity()}, sides {zlib.crc32(self._path.read_bytes()):08x}"

    def probabilities(
        self,
        texts: Sequence[str],
        questions: Sequence[str] | str,
        conclusions: Sequence[str | None] | None = None,
        stances: Sequence[PremiseStance | None] | None = None,
        titles: Sequence[str | None] | None = None,
        resolutions: Sequence[str | None] | None = None,
    ) -> Floats:
        """Probabilities of FOR, AGAINST, BOTH and NONE, shape (texts, 4).

        Texts with the same question and conclusion influence each other: see `Side`.

        Args:
            texts: Any texts.
            questions: A question for each, or one for all.
            conclusions: What each text argues about, where it is known. A short text without a
                conclusion is read as one.
            stances: The stance of each text towards its conclusion, where it is known.
            titles: The title of each text's debate, where it is known.
            resolutions: The statement that each stance is towards; where it is empty, that is the
                conclusion. The titles when left out.
        """
        check_texts(texts, "texts")
        count = len(texts)
        asked, turned = _in_plain_words(_each(questions, count, ""))
        concluded = [_cut(text) for text in _each(conclusions, count, None)]
        tags = np.array(list(map(_tag, _each(stances, count, None))), dtype=np.float64)
        named = [_cut(title) for title in _each(titles, count, None)]
        towards = titles if resolutions is None else resolutions
        resolved = [_cut(text) for text in _each(towards, count, None)]
        found = np.zeros((count, len(SIDES)), np.float32)
        statements = np.array(
            [
                not conclusion.strip() and lexicon.has_at_most(text, _LONGEST_STATEMENT)
                for conclusion, text in zip(concluded, texts, strict=True)
            ],
            dtype=bool,
        )
        if statements.any():
            found[statements] = self._of_statements(
                list(compress(texts, statements)), list(compress(asked, statements))
            )
        arguments = ~statements
        if arguments.any():
            columns = (texts, asked, concluded, named, resolved)
            chosen = (list(compress(column, arguments)) for column in columns)
            found[arguments] = self._of_arguments(tags[arguments], *chosen)
        return _turned(found, turned)

    def classify(
        self,
        texts: Sequence[str],
        questions: Sequence[str] | str,
        conclusions: Sequence[str | None] | None = None,
        stances: Sequence[PremiseStance | None] | None = None,
        titles: Sequence[str | None] | None = None,
        resolutions: Sequence[str | None] | None = None,
    ) -> list[SideAnswer]:
        """The most probable side of each text; the arguments are those of `probabilities`."""
        rows = self.probabilities(
            texts, questions, conclusions, stances, titles, resolutions
        ).tolist()
        return [SideAnswer(SIDES[row.index(max(row))], tuple(row)) for row in rows]

    def _of_statements(self, statements: Sequence[str], questions: Sequence[str]) -> Floats:
        evidence = self._reader.conclusions(statements, questions)
        return self._of_conclusions(evidence, statements, questions).astype(np.float32)

    def _of_conclusions(
        self, evidence: Evidence, conclusions: Sequence[str], questions: Sequence[str]
    ) -> Reals:
        weighing = np.array([lexicon.weighs(text) for text in conclusions], dtype=bool)
        found = sides_of(evidence, self._weights.conclusion, weighing)
        pairs = zip(conclusions, questions, strict=True)
        repeating = np.array([lexicon.repeats(*pair) for pair in pairs], dtype=bool)
        # what says a claim again is for it, however the model reads its subject
        found[repeating, _FOR] += found[repeating, _AGAINST]
        found[repeating, _AGAINST] = 0.0
        return found

    def _of_arguments(
        self,
        tags: Reals,
        texts: Sequence[str],
        questions: Sequence[str],
        conclusions: Sequence[str],
        titles: Sequence[str],
        resolutions: Sequence[str],
    ) -> Reals:
        has_conclusion = np.array([bool(text.strip()) for text in conclusions], dtype=bool)
        # a stance towards an unknown conclusion tells nothing
        tags = np.where(has_conclusion, tags, 0.0)
        read = read_arguments(
            self._reader, texts, questions, conclusions, titles, resolutions, tags
        )
        sides = self._of_conclusions(read.conclusion, conclusions, questions)
        title_sides = self._of_conclusions(read.title, titles, questions)
        towards, is_unsided = tags * (1 - read.points), sides[:, _NONE] >= UNSIDED
        debates = read_debates(self._reader, texts, questions, conclusions, towards, is_unsided)
        evidence = read.combined(sides, title_sides, debates)
        found = np.zeros((len(texts), len(SIDES)))
        for weights, rows in (
            (self._weights.tagged, has_conclusion & (tags != 0)),
            (self._weights.untagged, has_conclusion & (tags == 0)),
            (self._weights.alone, ~has_conclusion),
        ):
            found[rows] = sides_of(evidence, weights, read.weighing)[rows]
        return found


def _cut(statement: str | None) -> str:
    """The part of a statement that is read: a long one would take the model seconds."""
    return (statement or "")[:LONGEST_CLAIM]


_TAGS: dict[str | None, float] = {"PRO": 1.0, "CON": -1.0, "": 0.0, None: 0.0}


def _tag(stance: object) -> float:
    try:
        return _TAGS[cast(str, stance)]
    except KeyError:
        raise UsageError(f"found the stance {stance!r:.40}; expected PRO, CON or None") from None


def sides_of(evidence: Evidence, weights: Weights, weighing: NDArray[np.bool_]) -> Reals:
    """Probabilities of `SIDES`, shape (rows, 4).

    BOTH takes a share of the sided probability, the larger the more evenly FOR and AGAINST divide
    it: most of it where a text says that it weighs both.
    """
    sided = weights.sided.probabilities(evidence.sided)
    favours = weights.favours.probabilities(evidence.favours)
    both = np.where(weighing, _WEIGHING, _SELDOM) * 4 * favours * (1 - favours)
    rest = sided * (1 - both)
    return np.stack([rest * favours, rest * (1 - favours), sided * both, 1 - sided], axis=1)


def _in_plain_words(questions: Sequence[str]) -> tuple[list[str], NDArray[np.bool_]]:
    """Questions in plain words, and which of them a yes to these words denies."""
    found = list(map(plain, questions))
    return [each.text for each in found], np.array([each.turned for each in found], dtype=bool)


def _turned(sides: Floats, turned: NDArray[np.bool_]) -> Floats:
    """Probabilities of `SIDES` with FOR and AGAINST exchanged in some rows."""
    sides[turned, :2] = sides[turned, 1::-1]
    return sides


def _each(values: Sequence[_T] | str | None, count: int, otherwise: _T) -> list[_T]:
    """One value per text, from as many values, from one text for all, or from none."""
    if values is None:
        return [otherwise] * count
    if isinstance(values, str):
        return [cast(_T, values)] * count
    check_texts(values, "values", may_lack=True)
    found = list(values)
    if len(found) != count:
        counts = f"{counted(len(found), 'value')} for {counted(count, 'text')}"
        raise UsageError(f"found {counts}; expected as many, or one")
    return found
