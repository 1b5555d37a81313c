"""A document read closely: which of its sentences argue."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sicetnon.library.answers import parts_of
from sicetnon.library.index import Index
from sicetnon.text.sentences import sentences

_ARGUES = 0.5
# sentences that the model reads; the others of a very long text are shown as they are
_MOST = 200
_PARAGRAPH = re.compile(r"\n\s*\n|\r\n\s*\r\n")


@dataclass(frozen=True)
class ReadSentence:
    """A sentence of a document.

    Attributes:
        text: The sentence, white space folded.
        argues: How argumentative it is, from 0 to 1; None where it was not read.
    """

    text: str
    argues: float | None

    @property
    def is_argument(self) -> bool:
        """Whether it is more likely to argue than not."""
        return self.argues is not None and self.argues >= _ARGUES


def paragraphs(index: Index, identifier: str) -> list[list[ReadSentence]]:
    """The sentences of a document by paragraph, each with how argumentative it is.

    Raises:
        DataError: The index has no such document.
    """
    # it loads the model
    from sicetnon.arguments.model.classifiers import read_all

    text = parts_of(index.records([identifier])[0])[0]
    parts = [found for part in _PARAGRAPH.split(text) if (found := sentences(part))]
    said = [sentence for part in parts for sentence in part][:_MOST]
    scores = iter(read_all(said, ["argumentativeness"])["argumentativeness"].tolist())
    return [[ReadSentence(sentence, next(scores, None)) for sentence in part] for part in parts]
