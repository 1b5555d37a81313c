"""Examples to click on the first visit, taken from the index itself."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from sicetnon.arguments.comparative.questions import parse_question
from sicetnon.arguments.side.questions import has_sides
from sicetnon.errors import DataError
from sicetnon.library.answers import parts_of
from sicetnon.library.index import Index
from sicetnon.records import Record, title_of
from sicetnon.text.sentences import sentences

_MOST = 6
_READ, _LETTERS = 300, 5000
# titles that are asked, answers of each that are counted, and when one is about it
_TRIED, _FIRST, _ON_TOPIC = 14, 8, 0.5
_SHORTEST, _LONGEST, _FEWEST_WORDS = 16, 72, 4
_LEAD = re.compile(r"^(?:debate|topic|resolved|motion)\s*[:–-]\s*", re.IGNORECASE)


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
