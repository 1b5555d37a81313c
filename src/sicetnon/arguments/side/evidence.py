"""Features of arguments for their sides, by the model and by their words, as named columns.

All columns have shape (rows,). What favours a side is positive for FOR and negative for AGAINST.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sicetnon.arguments.comparative.question_parser import parse_question
from sicetnon.arguments.models.classifiers import (
    Comparison,
    ConclusionStance,
    Embedding,
    Model,
    Stance,
)
from sicetnon.arguments.side import lexicon
from sicetnon.arguments.side.lexicon import content_stems_of_each, is_name, is_point
from sicetnon.arrays import Reals
from sicetnon.records import Question
from sicetnon.text.sentences import sentences

Columns: TypeAlias = Mapping[str, Reals]
"""Features by name, each of shape (rows,)."""

_PRO, _CON, _NO_STANCE = range(3)
_FIRST, _SECOND, _, _NO = range(4)
_SMALL = 1e-3
_SMALL_COMPARISON = 1e-2
_EDGE_WORDS = 30
UNSIDED = 0.3
"""A debate is read where its conclusion takes no side with at least this probability."""


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
        "overlap": _column(lambda c, q: lexicon.overlap(q, c), pairs),
        "overlap of conclusion": _column(lexicon.overlap, pairs),
        "shared stems": _column(lambda c, q: len(lexicon.stems(c) & lexicon.stems(q)), pairs),
        "stems of question only": _column(
            lambda c, q: len(lexicon.stems(q) - lexicon.stems(c)), pairs
        ),
        "stems of conclusion only": _column(
            lambda c, q: len(lexicon.stems(c) - lexicon.stems(q)), pairs
        ),
        **_forms("conclusion", conclusions),
        **_forms("question", questions),
        "name as conclusion": _column(lambda c, _: is_name(c), pairs),
    }


def _forms(name: str, statements: Sequence[str]) -> dict[str, Reals]:
    """Counts of words, and the form, of each statement."""
    measures: dict[str, Callable[[str], float]] = {
        "negations": lexicon.negations,
        "turns": lexicon.turns,
        "praise": lexicon.praise,
        "question mark": lambda statement: statement.rstrip().endswith("?"),
        "words": lambda statement: min(len(statement.split()), 40),
        "form of a question": lexicon.asks,
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
    read, most = lexicon.separate(text), lexicon.WORD_LETTERS * _EDGE_WORDS
    return " ".join(read[:_EDGE_WORDS])[:most], " ".join(read[-_EDGE_WORDS:])[:most]


_MOST_SENTENCES = 10
_FEWEST_WORDS_OF_A_SENTENCE, _MOST_WORDS_OF_A_SENTENCE = 3, 60
_SIDELESS = 6.9
"""The log odds of taking no side of a text without a sentence: `logit` of 1."""
_END_LETTERS = 6_000
"""Letters at each end of a text among which sentences are looked for."""


def read_sentences(
    reader: EvidenceReader,
    texts: Sequence[str],
    questions: Sequence[str],
    wanted: NDArray[np.bool_],
) -> tuple[Reals, Reals]:
    """The side of texts by the sentences of each that share most stems with its question.

    Args:
        reader: Reads with the model.
        texts: Any texts.
        questions: A question for each.
        wanted: Mask of the texts to read, shape (texts,); the others get 0.

    Returns:
        Two arrays of shape (texts,). The mean over the sentences of the square of their log odds,
        with the sign of these: sentences that are sure count most. The least log odds of a
        sentence's taking no side; 6.9 for a text without sentences.
    """
    leaning, sideless = np.zeros(len(texts)), np.zeros(len(texts))
    places = np.flatnonzero(wanted).tolist()
    chosen = [sentences_about(texts[place], questions[place]) for place in places]
    asked = [questions[place] for place, own in zip(places, chosen, strict=True) for _ in own]
    odds, none = reader.statements([each for own in chosen for each in own], asked)
    begin = 0
    for place, own in zip(places, chosen, strict=True):
        found, begin = slice(begin, begin + len(own)), begin + len(own)
        leaning[place] = (odds[found] * np.abs(odds[found])).sum() / max(len(own), 1)
        sideless[place] = min([_SIDELESS, *none[found].tolist()])
    return leaning, sideless


def sentences_about(text: str, question: str) -> list[str]:
    """At most ten sentences of a text that share most stems with a question, in their order.

    Of sentences that share as many stems, the first are taken. Sentences of fewer than three words
    are left out, and those of more than 60 words are cut. Of a long text the beginning and the end
    are read.
    """
    if len(text) > 2 * _END_LETTERS:
        text = f"{text[:_END_LETTERS]}\n\n{text[-_END_LETTERS:]}"
    found = [lexicon.separate(sentence)[:_MOST_WORDS_OF_A_SENTENCE] for sentence in sentences(text)]
    read = [
        " ".join(each)[: lexicon.WORD_LETTERS * _MOST_WORDS_OF_A_SENTENCE]
        for each in found
        if len(each) >= _FEWEST_WORDS_OF_A_SENTENCE
    ]
    asked = lexicon.stems(question)
    shared = [len(asked & stems) for stems in content_stems_of_each(read)]
    best = sorted(range(len(read)), key=lambda place: -shared[place])[:_MOST_SENTENCES]
    return [read[place] for place in sorted(best)]


_FOR, _AGAINST, _, _NONE = range(4)
_OVERLAP_WORDS = 80


@dataclass(frozen=True)
class ArgumentEvidence:
    """Features of arguments, before the sides of their conclusions are known.

    Attributes:
        conclusion: Of their conclusions.
        title: Of the titles of their debates; that of the conclusion where there is none.
        stance: Log odds of stance of their texts' last words.
        no_stance: Log odds that these take no stance.
        leaning: The first value of `read_sentences`; 0 if the stance is known.
        sideless: The second value of `read_sentences`; 0 if the stance is known.
        similarity: Of their first words to the question.
        tags: Their stance towards the conclusion, 1 or -1; 0 where it is not known.
        titled: Whether the title states something else than the conclusion; where the stance is not
            known, only if it would be towards the title.
        points: Whether the stance is towards the title, and the conclusion is a point of the debate
            on it.
        own_words: The values of `lexicon.own_words`.
        overlaps: Lexical measures by name.
        weighing: Whether they say that they weigh both sides.
    """

    conclusion: Evidence
    title: Evidence
    stance: Reals
    no_stance: Reals
    leaning: Reals
    sideless: Reals
    similarity: Reals
    tags: Reals
    titled: Reals
    points: Reals
    own_words: Reals
    overlaps: dict[str, Reals]
    weighing: NDArray[np.bool_]

    def combined(self, conclusion: Reals, title: Reals, debates: Reals) -> Evidence:
        """The features of the arguments.

        Args:
            conclusion: Probabilities of `SIDES` of the conclusions, shape (rows, 4).
            title: Probabilities of `SIDES` of the titles, shape (rows, 4).
            debates: The values of `read_debates`, for conclusions that may take no side.
        """
        sides, leaning, none = _summary(conclusion)
        title_sides, title_leaning, title_none = _summary(title)
        raw, title_raw = self.conclusion.favours["stance"], self.title.favours["stance"]
        tags, points, own = self.tags, self.points, 1 - self.points
        favours = {
            "text": self.stance,
            "sentences": self.leaning,
            "conclusion × tag": own * tags * sides,
            "leaning × tag": own * tags * leaning,
            "stance × tag": own * tags * raw,
            "debate × tag": own * tags * debates * np.where(none >= UNSIDED, none, 0.0),
            "conclusion": own * sides,
            "leaning": own * leaning,
            "point": points * sides,
            "leaning of point": points * leaning,
            "stance of point": points * raw,
            "leaning of point × tag": points * tags * leaning,
            "title × tag": points * tags * title_sides,
            "leaning of title × tag": points * tags * title_leaning,
            "stance of title × tag": points * tags * title_raw,
            "own words × conclusion": self.own_words * own * sides,
            "own words × leaning": self.own_words * own * leaning,
            "own words × title": self.own_words * points * title_leaning,
        }
        sided = {
            "no side of conclusion": none,
            "no side of conclusion, log odds": logit(none),
            "no stance of conclusion": self.conclusion.sided["no stance"],
            "no stance of text": self.no_stance,
            "no side of sentences": self.sideless,
            "choice": self.conclusion.sided["choice"],
            "similarity": self.conclusion.sided["similarity"],
            "similarity of title": self.title.sided["similarity"],
            "similarity of text": self.similarity,
            "point": self.titled,
            "no side of title": self.titled * title_none,
            "no side of title, log odds": self.titled * logit(title_none),
            **self.overlaps,
        }
        return Evidence(favours, sided)


def read_arguments(
    reader: EvidenceReader,
    texts: Sequence[str],
    questions: Sequence[str],
    conclusions: Sequence[str],
    titles: Sequence[str],
    resolutions: Sequence[str],
    tags: Reals,
) -> ArgumentEvidence:
    """Read arguments.

    Args:
        reader: Reads with the model.
        texts: Their texts.
        questions: A question for each.
        conclusions: Their conclusions; empty where they are not known.
        titles: The titles of their debates; empty where they are not known.
        resolutions: The statements that their stances are towards; empty for their conclusions.
        tags: Their stances towards their conclusions: 1, -1, or 0 where they are not known.
    """
    unknown = tags == 0
    resolved = np.array([is_point(*each) for each in zip(conclusions, resolutions, strict=True)])
    differing = np.array([is_point(*each) for each in zip(conclusions, titles, strict=True)])
    # without a stance, a title that no stance is towards says little of the text
    titled = np.where(unknown, resolved, differing)
    named = [
        title if differs else conclusion
        for title, conclusion, differs in zip(titles, conclusions, titled.tolist(), strict=True)
    ]
    stance, no_stance = reader.last_words(texts, questions)
    leaning, sideless = read_sentences(reader, texts, questions, unknown)
    statements = reader.conclusions([*conclusions, *named], [*questions, *questions])
    return ArgumentEvidence(
        conclusion=statements.rows(slice(0, len(texts))),
        title=statements.rows(slice(len(texts), None)),
        stance=stance,
        no_stance=no_stance,
        leaning=leaning,
        sideless=sideless,
        similarity=reader.similarity(texts, questions, tags == 0),
        tags=tags,
        titled=titled.astype(np.float64),
        points=(titled & resolved).astype(np.float64),
        own_words=np.array([lexicon.own_words(text) for text in texts]),
        overlaps=_overlaps(questions, conclusions, named, texts),
        weighing=np.array([lexicon.weighs(text) for text in texts], dtype=bool),
    )


def _overlaps(
    questions: Sequence[str],
    conclusions: Sequence[str],
    titles: Sequence[str],
    texts: Sequence[str],
) -> dict[str, Reals]:
    """The shares of each question's stems that its conclusion, title and text have, by name."""
    columns = {
        "overlap of conclusion": conclusions,
        "overlap of title": titles,
        "overlap of text": texts,
        "overlap of first words": [
            " ".join(lexicon.separate(text)[:_OVERLAP_WORDS]) for text in texts
        ],
    }
    return {
        name: np.array([lexicon.overlap(*pair) for pair in zip(questions, column, strict=True)])
        for name, column in columns.items()
    }


def _summary(sides: Reals) -> tuple[Reals, Reals, Reals]:
    """Log odds of FOR against AGAINST, their difference, and the probability of no side."""
    supporting, opposing = sides[:, _FOR], sides[:, _AGAINST]
    share = supporting / np.maximum(supporting + opposing, 1e-9)
    return logit(share), supporting - opposing, sides[:, _NONE]
