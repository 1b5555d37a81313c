"""Search for the page Ask: its request, all that it needs of the index, examples of questions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

import numpy as np
from fastapi import Query
from numpy.typing import NDArray

from sicetnon.app.answers import Answer, marked
from sicetnon.app.comparing import ComparedPassages, compared
from sicetnon.app.document_view import neighbours
from sicetnon.app.index import Index
from sicetnon.app.labels import name_of, parts_of
from sicetnon.app.reasons import key_sentences
from sicetnon.app.suggestions import Suggestions, suggest
from sicetnon.arguments.comparative.question_parser import choice_in, parse_question
from sicetnon.arguments.side.question_rewriting import has_sides
from sicetnon.errors import DataError
from sicetnon.records import Record, title_of
from sicetnon.text.sentences import sentences
from sicetnon.text.snippets import Snippet

PAGE = 12
"""Answers that are shown first, and that each "more" adds."""

MOST = 96
"""Answers that are shown at most."""

Side = Literal["", "for", "against", "neither"]
Length = Literal["", "short", "medium", "long"]
Strength = Literal["", "strong", "fair", "weak"]
Spelling = Literal["", "kept"]
Order = Literal["best", "strongest", "surest", "shortest", "longest"]
# passages that bars of a comparison count; they cost little, since rules find their stances
_COUNTED = 50
_MOST = 6
_READ, _LETTERS = 300, 5000
# titles that are asked, answers of each that are counted, and when one is about it
_TRIED, _FIRST, _ON_TOPIC = 14, 8, 0.5
_SHORTEST, _LONGEST, _FEWEST_WORDS = 16, 72, 4
_LEAD = re.compile(r"^(?:debate|topic|resolved|motion)\s*[:–-]\s*", re.IGNORECASE)


@dataclass(frozen=True)
class AskRequest:
    """A request to the page, read from the query of its address.

    Attributes:
        q: The question; empty on the first visit.
        n: Number of answers.
        side: Only answers of this side, if one is named.
        source: Only answers from this source.
        length: Only answers of this length.
        strength: Only answers of this strength.
        aspect: Only passages that speak of this aspect.
        sort: The order within each side.
        spelling: `kept` where no word may be corrected.
    """

    q: str = ""
    n: Annotated[int, Query(ge=1, le=MOST)] = PAGE
    side: Side = ""
    source: Annotated[str, Query(max_length=200)] = ""
    length: Length = ""
    strength: Strength = ""
    aspect: Annotated[str, Query(max_length=200)] = ""
    sort: Order = "best"
    spelling: Spelling = ""

    def address(self, **changes: Any) -> str:
        """The address of the page with some of it changed."""
        return address_of("/", **asdict(replace(self, **changes)))

    def form(self, name: str) -> str:
        """The address of the page in another form: `json` or `markdown`."""
        return f"{self.address()}&format={name}"

    def page(self, path: str, identifier: str) -> str:
        """The address of a document's page, which leads back to these answers."""
        return address_of(path, id=identifier, **asdict(self))

    @property
    def unfiltered(self) -> str:
        """The address of the page with no answer left out."""
        return AskRequest(self.q, self.n, sort=self.sort, spelling=self.spelling).address()

    @property
    def is_filtered(self) -> bool:
        """Whether answers are left out."""
        return bool(self.side or self.source or self.length or self.strength or self.aspect)


_DEFAULTS = asdict(AskRequest())


def address_of(path: str, **fields: Any) -> str:
    """An address with its query; fields that are as usual are left out."""
    named = {name: value for name, value in fields.items() if value != _DEFAULTS.get(name, "")}
    return f"{path}?{urlencode(named)}" if named else path


@dataclass(frozen=True)
class AskResult:
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


def ask_search(index: Index, question: str, n: int, as_spelt: bool = False) -> AskResult:
    """Search an index for a question.

    Args:
        index: The index.
        question: The question.
        n: Number of answers; there are more where they are counted, and not only shown.
        as_spelt: Whether to keep its words where nothing is found for them. Else a question that is
            answered once its words are corrected is answered so.
    """
    found, is_answered = _search(index, question, n)
    corrected = found.suggestions.corrected
    if is_answered or as_spelt or not corrected:
        return found
    other, is_other_answered = _search(index, corrected, n)
    return replace(other, misspelt=question) if is_other_answered else found


def _search(index: Index, question: str, n: int) -> tuple[AskResult, bool]:
    """The results for the spelling of the question, and whether they answer it."""
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
    found = AskResult(
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


def examples(index: Index) -> list[str]:
    """Questions and claims that the documents of an index are about, at most six.

    They are titles of debates, or claims, of documents from all over the index; where documents
    have none, questions in them that compare. Those with the most answers come first.
    """
    numbers = np.unique(np.linspace(0, index.size - 1, _READ).astype(np.int64))
    try:
        records = _live(index, numbers)
    except DataError:  # an index on a cluster has forgotten its deleted documents
        return []
    named = [title_of(record) or parts_of(record)[1] for record in records]
    titles = [_LEAD.sub("", " ".join(title.split())) for title in named]
    good = Counter(filter(_is_good, titles))
    if not any(named):
        texts = (record.default_text() for record in records)
        good = Counter(each for text in texts for each in _compared(text))
    # a title that was met often is that of a long debate
    tried = [title for title, _ in good.most_common(_TRIED)]
    chosen: dict[str, int] = {}
    seen: set[str] = set()
    for title in tried:
        answers = _answers(index, title)
        # each is about something else
        if answers and answers[0] not in seen:
            chosen[title] = len(answers)
            seen.add(answers[0])
    return sorted(chosen, key=lambda title: -chosen[title])[:_MOST]


def _live(index: Index, numbers: NDArray[np.int64]) -> list[Record]:
    """The documents at some places that are not deleted."""
    if index.document_count < index.size:
        ids = index.identifiers(numbers)
        pairs = zip(ids, numbers.tolist(), strict=True)
        numbers = np.array([n for name, n in pairs if index.number(name) == n], dtype=np.int64)
    return index.records_at(numbers)


def _compared(text: str) -> list[str]:
    """The questions of a text that compare two things."""
    asked = (each for each in sentences(text[:_LETTERS]) if each.endswith("?"))
    return [each for each in asked if len(each) <= _LONGEST and parse_question(each).second]


def _answers(index: Index, title: str) -> list[str]:
    """The ids of those of the first answers that are about a title."""
    found = index.search(title, _FIRST, sides=False, balance=False)
    return [each.id for each in found if (each.reasons or {}).get("on_topic", 1.0) >= _ON_TOPIC]


def _is_good(title: str) -> bool:
    return (
        _SHORTEST <= len(title) <= _LONGEST
        and len(title.split()) >= _FEWEST_WORDS
        and title[0].isupper()
        and ":" not in title
        and not title.isupper()
        and has_sides(title)
    )
