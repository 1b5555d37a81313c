"""A document read closely: which of its sentences argue, and what stands beside it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from sicetnon.app.index import Index
from sicetnon.app.labels import parts_of
from sicetnon.records import Argument, Passage, ProcessedArgument, Record
from sicetnon.text.sentences import sentences

_ARGUES = 0.5
# sentences that the model reads; the others of a very long text are shown unread
_MOST_READ = 200
_LONGEST_TEXT, _FEWEST_WORDS = 100_000, 3
_PARAGRAPH = re.compile(r"\n\s*\n|\r\n\s*\r\n")
_MOST_NEIGHBOURS = 50


@dataclass(frozen=True)
class ReadSentence:
    """A sentence of a document.

    Attributes:
        number: Its place in the document, from 1.
        text: The sentence, white space folded.
        argues: How argumentative it is, from 0 to 1; or None if it was not read.
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
    from sicetnon.arguments.models.classifiers import read_all

    parts = _paragraph_sentences(parts_of(index.records([identifier])[0])[0])
    said = [sentence for part in parts for sentence in part][:_MOST_READ]
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
    said = [sentence for part in _paragraph_sentences(text[:_LONGEST_TEXT]) for sentence in part]
    if (place := " ".join(said).find(quoted)) >= 0:
        ends = itertools.accumulate(len(sentence) + 1 for sentence in said)
        return 1 + sum(end <= place for end in ends)
    for number, sentence in enumerate(said, start=1):
        if sentence in quoted and len(sentence.split()) >= _FEWEST_WORDS:
            return number
    return None


def _paragraph_sentences(text: str) -> list[list[str]]:
    """The sentences of a text by paragraph."""
    return [found for part in _PARAGRAPH.split(text) if (found := sentences(part))]


def neighbours(index: Index, identifier: str, most: int = _MOST_NEIGHBOURS) -> list[str]:
    """The ids of the other documents of the same debate or page, in their order.

    Corpora name them so: arguments of args.me `DEBATE-ARGUMENT`, passages `PAGE___NUMBER`. Other
    documents have none. A corpus holds those of one debate one after the other; the nearest are
    given.

    Raises:
        DataError: The index has no such document.
    """
    (number,) = index.numbers([identifier]).tolist()
    name = _debate_prefix(index.records_at([number])[0])
    if not name:
        return []
    before = list(_ids_of_debate(index, range(number - 1, -1, -1), name, most))
    after = _ids_of_debate(index, range(number + 1, index.size), name, most)
    return [*reversed(before), *after]


def _debate_prefix(record: Record) -> str:
    """The begin of a document's id that the others of its debate or page share."""
    if isinstance(record, Argument | ProcessedArgument):
        name, mark, _ = record.id.rpartition("-")
    elif isinstance(record, Passage):
        name, mark, _ = record.id.rpartition("___")
    else:
        return ""
    return name + mark if name else ""


def _ids_of_debate(index: Index, numbers: range, name: str, most: int) -> Iterator[str]:
    """The ids at some places as long as they begin with a name; deleted ones are passed over."""
    for number in numbers[:most]:
        try:
            (identifier,) = index.identifiers([number])
        except IndexError:  # a deleted document of an index on a cluster
            continue
        if not identifier.startswith(name):
            return
        if index.number(identifier) == number:
            yield identifier
