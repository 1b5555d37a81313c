"""The side of arguments towards a question, from all that is known of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from sicetnon.arguments.comparative.questions import parse_question
from sicetnon.arguments.model.classifiers import Comparison, Floats, Model, Stance
from sicetnon.errors import UsageError, counted
from sicetnon.records import PremiseStance, QuestionSide

SIDES: tuple[QuestionSide, ...] = get_args(QuestionSide)
_FOR, _AGAINST, _BOTH, _NONE = range(4)
_OTHER_WAY = [_AGAINST, _FOR, _BOTH, _NONE]
_READ_WORDS = 60


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
    """The side of texts towards questions.

    Where the conclusion of a text and its stance towards it are known, the side of the conclusion
    decides. Otherwise the text is judged alone, which is right less often.

    Args:
        model: The shipped model when left out, or a folder of its kind.
        threads: Processor cores to use at most; all when left out.
    """

    def __init__(self, model: Model = None, *, threads: int | None = None):
        self._stance = Stance(model, threads=threads)
        self._comparison = Comparison(model, threads=threads)

    def identity(self) -> str:
        """Name and version of the model, for files that must not mix models."""
        return self._stance.identity()

    def probabilities(
        self,
        texts: Sequence[str],
        questions: Sequence[str] | str,
        conclusions: Sequence[str | None] | None = None,
        stances: Sequence[PremiseStance | None] | None = None,
    ) -> Floats:
        """Probabilities of FOR, AGAINST, BOTH and NONE, shape (texts, 4).

        Args:
            texts: Any texts.
            questions: A question for each, or one for all.
            conclusions: What each text argues about, where it is known.
            stances: The stance of each text towards its conclusion, where it is known.
        """
        count = len(texts)
        asked = _column(questions, count)
        concluded = _column(conclusions, count)
        tags = _column(stances, count)
        found = np.zeros((count, len(SIDES)), dtype=np.float32)
        known = [i for i in range(count) if concluded[i] and tags[i] in ("PRO", "CON")]
        if known:
            sides = self.conclusion_probabilities(
                [concluded[i] or "" for i in known], [asked[i] or "" for i in known]
            )
            denied = np.array([tags[i] == "CON" for i in known])
            found[known] = np.where(denied[:, None], sides[:, _OTHER_WAY], sides)
        rest = sorted(set(range(count)) - set(known))
        if rest:
            parts = [_ends(texts[i]) for i in rest]
            found[rest] = self.conclusion_probabilities(parts, [asked[i] or "" for i in rest])
        return found

    def classify(
        self,
        texts: Sequence[str],
        questions: Sequence[str] | str,
        conclusions: Sequence[str | None] | None = None,
        stances: Sequence[PremiseStance | None] | None = None,
    ) -> list[SideAnswer]:
        """The most probable side of each text; the arguments are those of `probabilities`."""
        rows = self.probabilities(texts, questions, conclusions, stances).tolist()
        return [SideAnswer(SIDES[row.index(max(row))], tuple(row)) for row in rows]

    def conclusion_probabilities(
        self, conclusions: Sequence[str], questions: Sequence[str] | str
    ) -> Floats:
        """Probabilities of the side that a conclusion alone takes, shape (conclusions, 4).

        Args:
            conclusions: Any short texts.
            questions: A question for each, or one for all.
        """
        asked = [question or "" for question in _column(questions, len(conclusions))]
        found = np.zeros((len(conclusions), len(SIDES)), dtype=np.float32)
        found[:, [_FOR, _AGAINST, _NONE]] = self._stance.probabilities(conclusions, asked)
        parsed = {question: parse_question(question) for question in dict.fromkeys(asked)}
        compared = [i for i, question in enumerate(asked) if parsed[question].first]
        if compared:
            pairs = [
                (parsed[asked[i]].first or "", parsed[asked[i]].second or "") for i in compared
            ]
            firsts, seconds = map(list, zip(*pairs, strict=True))
            found[compared] = self._comparison.probabilities(
                [conclusions[i] for i in compared], firsts, seconds
            )
        return found


def _ends(text: str) -> str:
    """The first and the last words of a text."""
    words = text.split()
    if len(words) <= 2 * _READ_WORDS:
        return text
    return " ".join([*words[:_READ_WORDS], *words[-_READ_WORDS:]])


def _column(values: Sequence[str | None] | str | None, count: int) -> Sequence[str | None]:
    """One value per text, from as many values, from one for all, or from none."""
    if values is None or isinstance(values, str):
        return [values] * count
    if len(values) != count:
        found = f"{counted(len(values), 'value')} for {counted(count, 'text')}"
        raise UsageError(f"found {found}; expected as many, or one")
    return values
