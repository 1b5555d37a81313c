"""A document read closely: which of its sentences argue."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

from sicetnon.library.answers import parts_of
from sicetnon.library.index import Index
from sicetnon.text.sentences import sentences

_ARGUES = 0.5
# sentences that the model reads; the others of a very long text are shown as they are
_MOST = 200
_LONGEST_TEXT, _FEWEST_WORDS = 100_000, 3
_PARAGRAPH = re.compile(r"\n\s*\n|\r\n\s*\r\n")


@dataclass(frozen=True)
class ReadSentence:
    """A sentence of a document.

    Attributes:
        number: Its place in the document, from 1.
        text: The sentence, white space folded.
        argues: How argumentative it is, from 0 to 1; None where it was not read.
    """

    number: int
    text: str
    argues: float | None

    @property
    def is_argument(self) -> bool:
        """Whether the sentence probably argues (probability above one half)."""
        return self.argues is not None and self.argues >= _ARGUES


def paragraphs(index: Index, identifier: str) -> list[list[ReadSentence]]:
    """The sentences of a document by paragraph, each with how argumentative it is.

    Raises:
        DataError: The index has no such document.
    """
    # it loads the model
    from sicetnon.arguments.model.classifiers import read_all

    parts = _split(parts_of(index.records([identifier])[0])[0])
    said = [sentence for part in parts for sentence in part][:_MOST]
    scores = iter(read_all(said, ["argumentativeness"])["argumentativeness"].tolist())
    numbers = itertools.count(1)
    return [
        [ReadSentence(next(numbers), sentence, next(scores, None)) for sentence in part]
        for part in parts
    ]


def number_of(quoted: str, text: str) -> int | None:
    """The number of the sentence of a document that a quotation is from, or begins with.

    Args:
        quoted: A sentence of the document, part of one, or a part of its text, white space folded.
        text: The text of the document; its first 100,000 characters are read.
    """
    quoted = quoted.strip("…\u00a0 ")
    said = [sentence for part in _split(text[:_LONGEST_TEXT]) for sentence in part]
    if (place := " ".join(said).find(quoted)) >= 0:
        ends = itertools.accumulate(len(sentence) + 1 for sentence in said)
        return 1 + sum(end <= place for end in ends)
    for number, sentence in enumerate(said, start=1):
        if sentence in quoted and len(sentence.split()) >= _FEWEST_WORDS:
            return number
    return None


def _split(text: str) -> list[list[str]]:
    """The sentences of a text by paragraph."""
    return [found for part in _PARAGRAPH.split(text) if (found := sentences(part))]
