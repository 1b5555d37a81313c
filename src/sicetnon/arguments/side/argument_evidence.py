"""What is read of arguments, and the features that the sides of their conclusions add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sicetnon.arguments.side import words
from sicetnon.arguments.side.evidence import Evidence, EvidenceReader, Reals
from sicetnon.arguments.side.statements import is_point

_FOR, _AGAINST, _, _NONE = range(4)
_SMALL = 1e-3
_OVERLAP_WORDS = 80


@dataclass(frozen=True)
class ArgumentEvidence:
    """What was read of arguments, before any weight.

    Attributes:
        conclusion: Of their conclusions.
        title: Of the titles of their debates; that of the conclusion where there is none.
        stance: Log odds of stance of their texts.
        no_stance: Log odds that their texts take no stance.
        similarity: Of their first words to the question.
        tags: Their stance towards the conclusion, 1 or -1; 0 where it is not known.
        titled: Whether the title states something else than the conclusion; where the stance is not
            known, only if it would be towards the title.
        points: Whether the stance is towards the title, and the conclusion is a point of the debate
            on it.
        own_words: See `words.own_words`.
        overlaps: Lexical measures by name.
        agreements: Log odds that their texts agree with the conclusion, the title and the question;
            0 where the stance is known.
        weighing: Whether they say that they weigh both sides.
    """

    conclusion: Evidence
    title: Evidence
    stance: Reals
    no_stance: Reals
    similarity: Reals
    tags: Reals
    titled: Reals
    points: Reals
    own_words: Reals
    overlaps: dict[str, Reals]
    agreements: dict[str, Reals]
    weighing: NDArray[np.bool_]

    def combined(self, conclusion: Reals, title: Reals) -> Evidence:
        """The features of the arguments.

        Args:
            conclusion: Probabilities of `SIDES` of the conclusions, shape (rows, 4).
            title: Likewise of the titles.
        """
        sides, leaning = _log_odds(conclusion), conclusion[:, _FOR] - conclusion[:, _AGAINST]
        title_sides, title_leaning = _log_odds(title), title[:, _FOR] - title[:, _AGAINST]
        raw, title_raw = self.conclusion.favours["stance"], self.title.favours["stance"]
        tags, points, own = self.tags, self.points, 1 - self.points
        concluding, titled = self.agreements["conclusion"], self.agreements["title"]
        none, title_none = conclusion[:, _NONE], title[:, _NONE]
        favours = {
            "text": self.stance,
            "conclusion × tag": own * tags * sides,
            "leaning × tag": own * tags * leaning,
            "stance × tag": own * tags * raw,
            "conclusion": own * sides,
            "leaning": own * leaning,
            "point": points * sides,
            "leaning of point": points * leaning,
            "stance of point": points * raw,
            "leaning of point × tag": points * tags * leaning,
            "title × tag": points * tags * title_sides,
            "leaning of title × tag": points * tags * title_leaning,
            "stance of title × tag": points * tags * title_raw,
            "agreement × conclusion": own * concluding * sides,
            "agreement × leaning": own * concluding * leaning,
            "agreement × title": points * titled * title_sides,
            "agreement × leaning of title": points * titled * title_leaning,
            "agreement with question": self.agreements["question"],
            "own words × conclusion": self.own_words * own * sides,
            "own words × leaning": self.own_words * own * leaning,
            "own words × title": self.own_words * points * title_leaning,
        }
        sided = {
            "no side of conclusion": none,
            "no side of conclusion, log odds": _logit(none),
            "no stance of conclusion": self.conclusion.sided["no stance"],
            "no stance of text": self.no_stance,
            "choice": self.conclusion.sided["choice"],
            "similarity": self.conclusion.sided["similarity"],
            "similarity of title": self.title.sided["similarity"],
            "similarity of text": self.similarity,
            "point": self.titled,
            "no side of title": self.titled * title_none,
            "no side of title, log odds": self.titled * _logit(title_none),
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
    stance, no_stance = reader.texts(texts, questions, tags != 0)
    rows = list(zip(questions, conclusions, named, texts, strict=True))
    heads = [" ".join(text.split()[:_OVERLAP_WORDS]) for text in texts]
    overlaps = {
        "overlap of conclusion": [words.overlap(q, c) for q, c, _, _ in rows],
        "overlap of title": [words.overlap(q, title) for q, _, title, _ in rows],
        "overlap of text": [words.overlap(q, text) for q, _, _, text in rows],
        "overlap of first words": [
            words.overlap(q, head) for q, head in zip(questions, heads, strict=True)
        ],
    }
    statements = reader.conclusions([*conclusions, *named], [*questions, *questions])
    return ArgumentEvidence(
        conclusion=statements.rows(slice(0, len(texts))),
        title=statements.rows(slice(len(texts), None)),
        stance=stance,
        no_stance=no_stance,
        similarity=reader.similarity(texts, questions, tags == 0),
        tags=tags,
        titled=titled.astype(np.float64),
        points=(titled & resolved).astype(np.float64),
        own_words=np.array([words.own_words(text) for text in texts]),
        overlaps={name: np.array(column) for name, column in overlaps.items()},
        agreements={
            "conclusion": reader.agreement(texts, conclusions, unknown),
            "title": reader.agreement(texts, named, unknown & titled),
            "question": reader.agreement(texts, questions, unknown),
        },
        weighing=np.array([words.weighs(text) for text in texts], dtype=bool),
    )


def _log_odds(sides: Reals) -> Reals:
    share = sides[:, _FOR] / np.maximum(sides[:, _FOR] + sides[:, _AGAINST], 1e-9)
    return _logit(share)


def _logit(probabilities: Reals) -> Reals:
    found: Reals = np.log((probabilities + _SMALL) / (1 - probabilities + _SMALL))
    return found
