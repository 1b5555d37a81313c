"""Search for the page Ask: all that it needs of the index, found at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sicetnon.arguments.comparative.questions import choice_in, parse_question
from sicetnon.arguments.side.questions import has_sides
from sicetnon.library.answers import Answer, marked
from sicetnon.library.comparing import ComparedPassages, compared
from sicetnon.library.index import Index
from sicetnon.library.neighbours import neighbours
from sicetnon.library.origin import name_of
from sicetnon.library.reasons import key_sentences
from sicetnon.library.suggestions import Suggestions, suggest
from sicetnon.text.snippets import Snippet

# passages that bars of a comparison count; they cost little, since rules find their stances
_COUNTED = 50


@dataclass(frozen=True)
class Found:
    """The results for a question.

    Attributes:
        sentences: The sentence that carries each answer, by its id, the question's words marked;
            answers without one are not in it.
        headings: The claims, titles or first words of near duplicates, by id.
        comparison: The passages by the object that they favour, where the question compares two.
        names: The names of the two sides.
        has_sides: Whether the question can be answered for or against.
        is_more: Whether there may be more answers.
        with_neighbours: The ids of the answers beside which more of the same debate or page stands.
        misspelt: The question as it was asked, where nothing was found for its words and this is
            what the index says to it with its words corrected; else empty.
    """

    question: str
    answers: tuple[Answer, ...]
    sentences: Mapping[str, Snippet]
    headings: Mapping[str, str]
    comparison: ComparedPassages | None
    names: tuple[str, str]
    has_sides: bool
    suggestions: Suggestions
    is_more: bool
    with_neighbours: frozenset[str]
    misspelt: str = ""


def find(index: Index, question: str, n: int, as_spelt: bool = False) -> Found:
    """Search an index for a question.

    Args:
        index: The index.
        question: The question.
        n: Number of answers; there are more where they are counted, and not only shown.
        as_spelt: Whether to keep its words where nothing is found for them. Else a question that is
            answered once its words are corrected is answered so.
    """
    found, is_answered = _found(index, question, n)
    corrected = found.suggestions.corrected
    if is_answered or as_spelt or not corrected:
        return found
    other, is_other_answered = _found(index, corrected, n)
    return replace(other, misspelt=question) if is_other_answered else found


def _found(index: Index, question: str, n: int) -> tuple[Found, bool]:
    """The results for a question as it is spelt, and whether they answer it."""
    compares = index.manifest.records == "passages" and parse_question(question).second
    wanted = max(n, _COUNTED) if compares else n
    answers = index.search(question, wanted)
    comparison = compared(answers)
    # what names neither object is about something else
    is_answered = (
        any(each.names_one for each in comparison.passages) if comparison else bool(answers)
    )
    # of a passage, what favours an object is shown
    carrying = {} if comparison else key_sentences(question, answers)
    sentences = marked(question, list(carrying.values()), index.analysis.analyzer())
    similar = [identifier for answer in answers for identifier in answer.similar]
    headings = [name_of(record) for record in index.records(similar)]
    found = Found(
        question,
        tuple(answers),
        dict(zip(carrying, sentences, strict=True)),
        dict(zip(similar, headings, strict=True)),
        comparison,
        _names(question, comparison),
        comparison is not None or has_sides(question),
        suggest(index, question, is_answered),
        len(answers) >= wanted,
        frozenset(each.id for each in answers if _has_neighbours(index, each.id)),
    )
    return found, is_answered


def _has_neighbours(index: Index, identifier: str) -> bool:
    """Whether the index has other documents of the same debate or page."""
    # the nearest one is nearly always there; deleted ones may lie between
    return bool(neighbours(index, identifier, 1) or neighbours(index, identifier))


def _names(question: str, comparison: ComparedPassages | None) -> tuple[str, str]:
    """The names of the sides: those of the objects where one of them is to be chosen."""
    objects = comparison.objects if comparison else choice_in(question)
    return objects or ("For", "Against")
