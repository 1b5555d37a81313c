"""Features of conclusions and texts, by the model and by their words, as named columns.

All columns have shape (rows,). What favours a side is positive for FOR and negative for AGAINST.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sicetnon.arguments.comparative.questions import parse_question
from sicetnon.arguments.model.classifiers import (
    Comparison,
    ConclusionStance,
    Embedding,
    Model,
    Stance,
)
from sicetnon.arguments.side import words
from sicetnon.arguments.side.statements import is_name
from sicetnon.arguments.side.weights import Columns
from sicetnon.arrays import Reals
from sicetnon.records import Question

_PRO, _CON, _NO_STANCE = range(3)
_FIRST, _SECOND, _, _NO = range(4)
_SMALL = 1e-3
_SMALL_COMPARISON = 1e-2
_EDGE_WORDS = 30


@dataclass(frozen=True)
class Evidence:
    """Features of the two steps of a judgment.

    Attributes:
        favours: Features of the side, which change their sign with it.
        sided: Features of whether there is a side at all.
    """

    favours: Columns
    sided: Columns

    def rows(self, part: slice | NDArray[np.int64] | NDArray[np.bool_]) -> Evidence:
        """Some of the rows."""
        return Evidence(
            {name: column[part] for name, column in self.favours.items()},
            {name: column[part] for name, column in self.sided.items()},
        )


class EvidenceReader:
    """Reads conclusions and texts with the debate model; equal pairs are read once.

    Args:
        model: The shipped model when left out, or a folder of its kind.
        threads: Processor cores to use at most; all when left out.
    """

    def __init__(self, model: Model = None, threads: int | None = None):
        # it refuses models of other kinds before they are loaded
        self._embedding = Embedding(model, threads=threads)
        self._stance = Stance(model, threads=threads)
        self._conclusion_stance = ConclusionStance(model, threads=threads)
        self._comparison = Comparison(model, threads=threads)

    def identity(self) -> str:
        """Name and version of the model."""
        return self._stance.identity()

    def conclusions(self, conclusions: Sequence[str], questions: Sequence[str]) -> Evidence:
        """Evidence of the side that each conclusion takes on its question."""
        stances = _distinct(self._stance, conclusions, questions)
        read = _distinct(self._conclusion_stance, conclusions, questions)
        similar = self._similarity(conclusions, questions)
        parsed = _parsed(questions)
        named, compared, claimed, unfavoured = self._comparisons(conclusions, parsed)
        is_choice = np.array([float(each.first is not None) for each in parsed])
        stance, no_stance = log_odds(stances), log_odds_of_none(stances)
        concluding, inconclusive = log_odds(read), log_odds_of_none(read)
        favours = {
            "stance of conclusion": concluding,
            "stance of conclusion, choice": concluding * is_choice,
            "stance": stance,
            "stance, choice": stance * is_choice,
        }
        sided = {
            "no stance of conclusion": inconclusive,
            "strength of stance of conclusion": np.abs(concluding),
            "no stance": no_stance,
            "strength of stance": np.abs(stance),
            "similarity": similar,
            "similarity²": similar**2,
            **_words_of(conclusions, questions),
            "choice": is_choice,
            "objects named": named,
            "no comparison": unfavoured,
            "strength of comparison": np.abs(compared),
            "strength of claim": np.abs(claimed),
        }
        return Evidence(favours, sided)

    def last_words(self, texts: Sequence[str], questions: Sequence[str]) -> tuple[Reals, Reals]:
        """The log odds of stance and of no stance of the last words of each text on its question.

        Args:
            texts: Any texts.
            questions: A question for each.
        """
        found = _distinct(self._stance, [_edges(text)[1] for text in texts], questions)
        return log_odds(found), log_odds_of_none(found)

    def statements(
        self, statements: Sequence[str], questions: Sequence[str]
    ) -> tuple[Reals, Reals]:
        """The log odds of the side of each statement on its question, and of its taking none.

        Args:
            statements: Any short texts.
            questions: A question for each.
        """
        if not statements:
            return np.zeros(0), np.zeros(0)
        found = _distinct(self._conclusion_stance, statements, questions)
        return log_odds(found), log_odds_of_none(found)

    def similarity(
        self, texts: Sequence[str], questions: Sequence[str], wanted: NDArray[np.bool_]
    ) -> Reals:
        """The cosine of the embeddings of each text's first words and its question.

        Args:
            texts: Any texts.
            questions: A question for each.
            wanted: Mask of the texts to read, shape (texts,); the others get 0.
        """
        found = np.zeros(len(texts))
        places = np.flatnonzero(wanted)
        if len(places):
            at = places.tolist()
            firsts = [_edges(texts[place])[0] for place in at]
            found[places] = self._similarity(firsts, [questions[place] for place in at])
        return found

    def _similarity(self, texts: Sequence[str], questions: Sequence[str]) -> Reals:
        distinct = list(dict.fromkeys([*texts, *questions]))
        places = {text: place for place, text in enumerate(distinct)}
        vectors = self._embedding.encode(distinct)
        rows = vectors[[places[text] for text in texts]]
        found: Reals = (rows * vectors[[places[text] for text in questions]]).sum(axis=1)
        return found.astype(np.float64)

    def _comparisons(
        self, conclusions: Sequence[str], parsed: Sequence[Question]
    ) -> tuple[Reals, Reals, Reals, Reals]:
        """Evidence of "X or Y", 0 for other questions.

        Returns:
            Whether a conclusion names both objects; the log odds of the comparison; those of "X is
            better than Y" against its reverse; and the logarithm of the probability of no
            comparison.
        """
        found = np.zeros((4, len(conclusions)))
        places = [place for place, each in enumerate(parsed) if each.first and each.second]
        if not places:
            return tuple(found)  # type: ignore[return-value]  # four rows
        firsts = [str(parsed[place].first) for place in places]
        seconds = [str(parsed[place].second) for place in places]
        texts = [conclusions[place] for place in places]
        compared = self._comparison.probabilities(texts, firsts, seconds).astype(np.float64)
        better = [f"{a} is better than {b}" for a, b in zip(firsts, seconds, strict=True)]
        worse = [f"{b} is better than {a}" for a, b in zip(firsts, seconds, strict=True)]
        claims = log_odds(_distinct(self._stance, texts * 2, better + worse))
        found[0, places] = [
            _names(text, first) and _names(text, second)
            for text, first, second in zip(texts, firsts, seconds, strict=True)
        ]
        found[1, places] = np.log(
            (compared[:, _FIRST] + _SMALL_COMPARISON) / (compared[:, _SECOND] + _SMALL_COMPARISON)
        )
        found[2, places] = claims[: len(texts)] - claims[len(texts) :]
        found[3, places] = np.log(compared[:, _NO] + _SMALL_COMPARISON)
        return tuple(found)  # type: ignore[return-value]  # four rows


def _distinct(model: Stance, texts: Sequence[str], questions: Sequence[str]) -> Reals:
    """Probabilities of stances, shape (texts, 3); equal pairs are read once."""
    pairs = list(zip(texts, questions, strict=True))
    places = {pair: place for place, pair in enumerate(dict.fromkeys(pairs))}
    read = model.probabilities(*map(list, zip(*places, strict=True)))
    return read[[places[pair] for pair in pairs]].astype(np.float64)


def log_odds(stances: Reals) -> Reals:
    """The log odds of PRO against CON."""
    found: Reals = np.log((stances[:, _PRO] + _SMALL) / (stances[:, _CON] + _SMALL))
    return found


def log_odds_of_none(stances: Reals) -> Reals:
    """The log odds of no stance."""
    return logit(stances[:, _NO_STANCE])


def logit(probabilities: Reals) -> Reals:
    """The log odds of probabilities, which may be 0 and 1."""
    found: Reals = np.log((probabilities + _SMALL) / (1 - probabilities + _SMALL))
    return found


def _parsed(questions: Sequence[str]) -> list[Question]:
    known = {question: parse_question(question) for question in dict.fromkeys(questions)}
    return [known[question] for question in questions]


def _column(measure: Callable[[str, str], float], pairs: Sequence[tuple[str, str]]) -> Reals:
    return np.array([measure(*pair) for pair in pairs], dtype=np.float64)


def _words_of(conclusions: Sequence[str], questions: Sequence[str]) -> dict[str, Reals]:
    """Features of conclusions' and questions' words: whether the conclusion takes a side."""
    pairs = list(zip(conclusions, questions, strict=True))
    return {
        "overlap": _column(lambda c, q: words.overlap(q, c), pairs),
        "overlap of conclusion": _column(words.overlap, pairs),
        "shared stems": _column(lambda c, q: len(words.stems(c) & words.stems(q)), pairs),
        "stems of question only": _column(lambda c, q: len(words.stems(q) - words.stems(c)), pairs),
        "stems of conclusion only": _column(
            lambda c, q: len(words.stems(c) - words.stems(q)), pairs
        ),
        **_forms("conclusion", conclusions),
        **_forms("question", questions),
        "name as conclusion": _column(lambda c, _: is_name(c), pairs),
    }


def _forms(name: str, statements: Sequence[str]) -> dict[str, Reals]:
    """Counts of words, and the form, of each statement."""
    measures: dict[str, Callable[[str], float]] = {
        "negations": words.negations,
        "turns": words.turns,
        "praise": words.praise,
        "question mark": lambda statement: statement.rstrip().endswith("?"),
        "words": lambda statement: min(len(statement.split()), 40),
        "form of a question": words.asks,
    }
    return {
        f"{label} of {name}": np.array([measure(each) for each in statements], dtype=np.float64)
        for label, measure in measures.items()
    }


def _names(text: str, name: str) -> bool:
    """Whether a text contains the last word of an object's name; False for an empty name."""
    last = name.casefold().split()[-1:]
    return bool(last) and last[0] in text.casefold()


def _edges(text: str) -> tuple[str, str]:
    """The first and the last 30 words of a text."""
    read, most = words.separate(text), words.WORD_LETTERS * _EDGE_WORDS
    return " ".join(read[:_EDGE_WORDS])[:most], " ".join(read[-_EDGE_WORDS:])[:most]
