"""Reasons: the sentences that carry what an argument says for or against a question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sicetnon.app.answers import Answer
from sicetnon.app.labels import parts_of
from sicetnon.arguments.attribution import doubts
from sicetnon.arrays import Reals
from sicetnon.formats.entries import is_link
from sicetnon.pairs.sentence_strength import is_candidate, strength
from sicetnon.records import Argument, WebPage, unprocessed
from sicetnon.text.analysis import stop_list
from sicetnon.text.sentences import sentences

TakenSide = Literal["FOR", "AGAINST"]
MOST_WORDS = 60
"""Words of a sentence that is shown at most; longer ones are seldom one sentence."""

WEIGHTS = {"strength": 0.3, "quality": 1.5, "question": 0.75, "claim": 0.75, "sided": 0.35}
"""Weights of the measures in the worth of a sentence: its strength by rules, its quality by the
model, its likeness to the question and to the claim of its document, and how clearly it takes its
side. They are those of a ridge regression on 401 sentences that were read for this, rounded:
benchmarks/effectiveness/sentences.py.
"""
# makes a worth of 0 say nothing, 1 need the text around the sentence, 2 carry the reason alone
_CONSTANT = -1.5
# a sentence that is so like the question or the claim repeats it and gives no reason
_REPEATED, _REPEATING = 0.8, -0.5
# what a view loses that its author may only report or concede; one that is surely not the author's
_DOUBTED, _NOT_OWN = 0.8, 0.9
# likeness to the question of a sentence about it; nearly all that carry a reason have it
_ABOUT = 0.35
# the model reads so many sentences of an argument, and judges the side of the best of them
_READ, _JUDGED = 8, 3
# sentences of an argument whose quality is read where a page must come at once
_SKIMMED = 2
_LONGEST_TEXT, _MOST_LETTERS = 100_000, 600
# addresses, and names of the speakers of a debate
_OF_THE_DEBATE = re.compile(r"https?:|www\.|\b(?:Pro|Con|PRO|CON)\b")
_LEADING = re.compile(
    r"^(?:\[\w{1,4}\]|\(?\d{1,2}[.):]|[\"”’)\]–—•*-]+(?=\s|-)"
    r"|(?:reason|point|argument|contention|[cpr]) ?\d{1,2} ?[-–—:.)])[\"”’):.]*\s*",
    re.IGNORECASE,
)
_TRAILING = re.compile(r"(?<!\s)\s*\[\d{1,3}\]$")
_SIGN: dict[TakenSide, int] = {"FOR": 1, "AGAINST": -1}


class _Candidate(NamedTuple):
    """A sentence that may be shown, of an answer with a side.

    Attributes:
        doubt: How doubtful it is that its author holds it.
    """

    answer: Answer
    side: TakenSide
    text: str
    doubt: float


@dataclass(frozen=True)
class Reason:
    """A sentence of a document that speaks for or against.

    Attributes:
        side: The side of its document towards the question. Where the question compares two
            objects, FOR favours the first.
        sentence: The sentence as it stands in the document, white space folded.
        worth: How well it carries the reason, about 0 to 2.
        embedding: Its unit vector, shape (384,).
        answer: The document that it is from.
    """

    side: TakenSide
    sentence: str
    worth: float
    embedding: NDArray[np.float32]
    answer: Answer

    @property
    def title(self) -> str:
        """The title of the discussion or page, or the empty string."""
        record = unprocessed(self.answer.record)
        return record.title if isinstance(record, Argument | WebPage) else ""

    @property
    def link(self) -> str | None:
        """The address of the source, where the corpus knows one."""
        return self.answer.source if is_link(self.answer.source) else None

    def as_json(self) -> dict[str, Any]:
        """The reason for programs."""
        return {
            "sentence": self.sentence,
            "id": self.answer.id,
            "claim": self.answer.heading,
            "stance": self.answer.stance,
            "probability": self.answer.side_probability,
            "title": self.title,
            "link": self.link,
        }


def side_of(answer: Answer) -> TakenSide | None:
    """The side that an answer takes, or None if it takes none or weighs both."""
    if answer.side == "FOR" or answer.stance == "FIRST":
        return "FOR"
    return "AGAINST" if answer.side == "AGAINST" or answer.stance == "SECOND" else None


def worths(measures: Reals, doubted: Reals | float = 0.0) -> Reals:
    """The worth of sentences, shape (sentences,).

    Args:
        measures: Those of `WEIGHTS`, in that order, shape (sentences, 5).
        doubted: How doubtful it is that each is its author's own (see `attribution.doubts`).
    """
    found: Reals = measures @ np.array(list(WEIGHTS.values())) + _CONSTANT
    found += _REPEATING * (measures[:, 2:4].max(axis=1) > _REPEATED)
    return found - _DOUBTED * np.asarray(doubted)


def reasons_of(question: str, answers: Sequence[Answer]) -> dict[str, list[Reason]]:
    """The sentences of each answer that may carry its reason, best first, by the answer's id.

    Args:
        question: The question, or a claim.
        answers: Answers to it. Those without a side, or without a sentence that can be read alone,
            have no reasons.
    """
    candidates = [each for answer in answers for each in _candidates(answer)]
    if not candidates:
        return {}
    found: dict[str, list[Reason]] = {}
    for reason in sorted(_read(question, candidates), key=_by_worth):
        found.setdefault(reason.answer.id, []).append(reason)
    best = [reason for reasons in found.values() for reason in reasons[:_JUDGED]]
    judged: dict[str, list[Reason]] = {answer.id: [] for answer in answers if answer.id in found}
    for reason in sorted(_judged(question, best), key=_by_worth):
        judged[reason.answer.id].append(reason)
    return judged


def key_sentences(question: str, answers: Sequence[Answer]) -> dict[str, str]:
    """The sentence of each answer that best carries its reason, by the answer's id.

    It is nearly what `reasons_of` finds, at half of its cost: the model reads the quality of the
    two sentences of an answer that are most about the question, and judges no side.

    Args:
        question: The question, or a claim.
        answers: Answers to it. Those without a side, or without a sentence that can be read alone,
            have no such sentence.
    """
    # it loads the model
    from sicetnon.arguments.models.classifiers import read_all

    every = [each for answer in answers for each in _candidates(answer)]
    if not every:
        return {}
    vectors = read_all([*(each.text for each in every), question], ["embedding"])["embedding"]
    worth: dict[str, list[tuple[float, str]]] = {}
    for each, likeness in zip(every, (vectors[:-1] @ vectors[-1]).tolist(), strict=True):
        if likeness >= _ABOUT:
            # similarity to the claim is taken to equal similarity to the question
            measures = np.array([[strength(each.text), 0.0, likeness, likeness, 0.0]])
            found = float(worths(measures, each.doubt)[0])
            worth.setdefault(each.answer.id, []).append((found, each.text))
    best = {name: sorted(found, reverse=True)[:_SKIMMED] for name, found in worth.items()}
    texts = [text for found in best.values() for _, text in found]
    qualities = iter(read_all(texts, ["quality"])["quality"].tolist() if texts else [])
    return {
        name: max((value + WEIGHTS["quality"] * next(qualities), text) for value, text in found)[1]
        for name, found in best.items()
    }


def _by_worth(reason: Reason) -> float:
    return -reason.worth


def _candidates(answer: Answer) -> list[_Candidate]:
    """The sentences of a document with a side that can be read alone, the strongest by rules.

    Views that its author only reports are left out.
    """
    side = side_of(answer)
    if side is None:
        return []
    found = sentences(parts_of(answer.record)[0][:_LONGEST_TEXT])
    doubted = {
        _trimmed(text): doubt for text, doubt in zip(found, doubts(found), strict=True)
    }  # a text that is said twice counts once
    # a hasty writer begins without a capital; elsewhere a small letter begins a fragment
    first = next(iter(doubted), "")
    whole = [
        _Candidate(answer, side, text, doubt)
        for text, doubt in doubted.items()
        if doubt < _NOT_OWN and _can_be_read_alone(text if text != first else _begun(text))
    ]
    return sorted(whole, key=lambda each: each.doubt - strength(each.text))[:_READ]


def _begun(text: str) -> str:
    return text[:1].upper() + text[1:]


def _can_be_read_alone(text: str) -> bool:
    is_short = len(text) <= _MOST_LETTERS and len(text.split()) <= MOST_WORDS
    whole = is_short and is_candidate(text) and not _breaks_off(text)
    return whole and not _OF_THE_DEBATE.search(text)


def _trimmed(sentence: str) -> str:
    """A sentence without the number, bullet or reference that stands before or after it."""
    return _TRAILING.sub("", _LEADING.sub("", sentence))


def _breaks_off(sentence: str) -> bool:
    """Whether the text ends in the middle of the sentence."""
    return sentence.rpartition(" ")[2].lower() in stop_list("snowball")


def _read(question: str, candidates: Sequence[_Candidate]) -> list[Reason]:
    """The candidates that are about the question, with their worth but for their side."""
    # it loads the model
    from sicetnon.arguments.models.classifiers import read_all

    texts = [each.text for each in candidates]
    headings = [each.answer.heading or question for each in candidates]
    claims = list(dict.fromkeys(headings))
    read = read_all([*texts, question, *claims], ["quality", "embedding"])
    vectors = read["embedding"]
    asked = vectors[len(texts)]
    claimed = dict(zip(claims, vectors[len(texts) + 1 :], strict=True))
    measures = np.zeros((len(texts), len(WEIGHTS)))
    measures[:, 0] = list(map(strength, texts))
    measures[:, 1] = read["quality"][: len(texts)]
    measures[:, 2] = vectors[: len(texts)] @ asked
    measures[:, 3] = [vectors[place] @ claimed[each] for place, each in enumerate(headings)]
    found = worths(measures, np.array([each.doubt for each in candidates]))
    return [
        Reason(each.side, each.text, float(found[place]), vectors[place], each.answer)
        for place, each in enumerate(candidates)
        if measures[place, 2] >= _ABOUT
    ]


def _judged(question: str, reasons: Sequence[Reason]) -> list[Reason]:
    """The reasons with how clearly they take their side in their worth."""
    from sicetnon.arguments.side.classifier import Side

    found = Side().probabilities([reason.sentence for reason in reasons], question)
    return [
        replace(reason, worth=reason.worth + WEIGHTS["sided"] * _SIGN[reason.side] * certain)
        for reason, certain in zip(reasons, (found[:, 0] - found[:, 1]).tolist(), strict=True)
    ]
