"""A comparison: how many passages favour which object, in which respects, in which sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from sicetnon.app.answers import Answer
from sicetnon.app.labels import parts_of
from sicetnon.arguments.comparative.comparer import Comparer, aspects_in
from sicetnon.records import ComparativeStance
from sicetnon.text.sentences import sentences


@dataclass(frozen=True)
class ComparedPassage:
    """A passage that was found for a comparative question.

    Attributes:
        answer: The passage, with its stance.
        sentences: Those of its sentences that speak for the object that it favours, by rules;
            those that name an object where rules see none or where it favours neither; all of
            them where none names one.
        aspects: In which respects it speaks of the objects.
        names_one: Whether it names an object at all.
    """

    answer: Answer
    sentences: tuple[str, ...]
    aspects: tuple[str, ...]
    names_one: bool

    def sentence_about(self, aspect: str) -> str:
        """The first of its sentences that speaks of an aspect, else the first; else empty."""
        speaking = (each for each in self.sentences if aspect in aspects_in(each))
        return next(speaking, next(iter(self.sentences), ""))


@dataclass(frozen=True)
class ComparedPassages:
    """The passages that were found, by the object that they favour."""

    objects: tuple[str, str]
    passages: tuple[ComparedPassage, ...]

    def counts(self) -> Counter[str]:
        """The number of passages by stance: FIRST, SECOND, NEUTRAL, NO."""
        return Counter(str(each.answer.stance) for each in self.passages)

    def about(self, aspect: str) -> ComparedPassages:
        """The passages that speak of an aspect."""
        kept = tuple(each for each in self.passages if aspect in each.aspects)
        return ComparedPassages(self.objects, kept)


def compared(answers: Iterable[Answer]) -> ComparedPassages | None:
    """The comparison in some answers, or None if their stances are about no objects."""
    found = list(answers)
    objects = next((answer.objects for answer in found if answer.objects), None)
    if objects is None:
        return None
    comparer = Comparer(*objects)
    return ComparedPassages(objects, tuple(_passage(answer, comparer) for answer in found))


def _passage(answer: Answer, comparer: Comparer) -> ComparedPassage:
    said = sentences(parts_of(answer.record)[0])
    naming = [each for each in said if _named(comparer, each)]
    aspects = dict.fromkeys(aspect for each in said for aspect in aspects_in(each))
    favouring = [each for each in naming if comparer.stance(each) == answer.stance]
    sided: tuple[ComparativeStance, ...] = ("FIRST", "SECOND")
    chosen = (favouring if answer.stance in sided else []) or naming or said
    return ComparedPassage(answer, tuple(chosen), tuple(aspects), bool(naming))


def _named(comparer: Comparer, sentence: str) -> bool:
    return any(comparer.evidence(sentence).mentions)
