"""Examples to click on the first visit, taken from the index itself."""

from __future__ import annotations

import re

import numpy as np

from sicetnon.arguments.side.questions import has_sides
from sicetnon.library.answers import parts_of
from sicetnon.library.index import Index
from sicetnon.records import title_of

_MOST = 6
_READ = 300
_SHORTEST, _LONGEST, _FEWEST_WORDS = 18, 72, 4
_LEAD = re.compile(r"^(?:debate|topic|resolved|motion)\s*[:–-]\s*", re.IGNORECASE)


def examples(index: Index) -> list[str]:
    """Questions and claims that the documents of an index are about, at most six.

    They are titles of debates, or claims, of documents from all over the index.
    """
    numbers = np.unique(np.linspace(0, index.size - 1, _READ).astype(np.int64))
    live = [
        number
        for number, identifier in zip(numbers, index.identifiers(numbers), strict=True)
        if index.number(identifier) == number
    ]
    named = (title_of(record) or parts_of(record)[1] for record in index.records_at(live))
    titles = (_LEAD.sub("", " ".join(title.split())) for title in named)
    good = list(dict.fromkeys(filter(_is_good, titles)))
    # questions say best what can be asked
    good.sort(key=lambda title: not title.endswith("?"))
    asked = [title for title in good if title.endswith("?")]
    chosen = asked if len(asked) >= _MOST else good
    step = max(1, len(chosen) // _MOST)
    return chosen[::step][:_MOST]


def _is_good(title: str) -> bool:
    return (
        _SHORTEST <= len(title) <= _LONGEST
        and len(title.split()) >= _FEWEST_WORDS
        and title[0].isupper()
        and not title.isupper()
        and has_sides(title)
    )
