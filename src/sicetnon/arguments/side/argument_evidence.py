"""Features of arguments, before and after the sides of their conclusions are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sicetnon.arguments.side import words
from sicetnon.arguments.side.debates import UNSIDED
from sicetnon.arguments.side.evidence import Evidence, EvidenceReader, logit
from sicetnon.arguments.side.sentences import read_sentences
from sicetnon.arguments.side.statements import is_point
from sicetnon.arrays import Reals

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
        leaning: See `read_sentences`; 0 where the stance is known.
        sideless: Likewise.
        similarity: Of their first words to the question.
        tags: Their stance towards the conclusion, 1 or -1; 0 where it is not known.
        titled: Whether the title states something else than the conclusion; where the stance is not
            known, only if it would be towards the title.
        points: Whether the stance is towards the title, and the conclusion is a point of the debate
            on it.
        own_words: See `words.own_words`.
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
            title: Likewise of the titles.
            debates: See `read_debates`, for conclusions that may take no side.
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
        own_words=np.array([words.own_words(text) for text in texts]),
        overlaps=_overlaps(questions, conclusions, named, texts),
        weighing=np.array([words.weighs(text) for text in texts], dtype=bool),
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
            " ".join(words.separate(text)[:_OVERLAP_WORDS]) for text in texts
        ],
    }
    return {
        name: np.array([words.overlap(*pair) for pair in zip(questions, column, strict=True)])
        for name, column in columns.items()
    }


def _summary(sides: Reals) -> tuple[Reals, Reals, Reals]:
    """Log odds of FOR against AGAINST, their difference, and the probability of no side."""
    supporting, opposing = sides[:, _FOR], sides[:, _AGAINST]
    share = supporting / np.maximum(supporting + opposing, 1e-9)
    return logit(share), supporting - opposing, sides[:, _NONE]
