"""The tokens of an encoder, and how a text and its context are put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tokenizers import Tokenizer

Ids = list[int]


class Pieces(Protocol):
    """The tokens of an encoder; padding has the id 0."""

    def ids(self, text: str) -> Ids:
        """The token ids of a text, without those at its beginning and end."""

    def framed(self, text: Sequence[int], context: Sequence[int]) -> tuple[Ids, Ids]:
        """A text and its context as the encoder reads them, one after the other."""


@dataclass(frozen=True, eq=False)
class _Tokenized:
    tokenizer: Tokenizer

    def ids(self, text: str) -> Ids:
        """The token ids of a text."""
        found: Ids = self.tokenizer.encode(text, add_special_tokens=False).ids
        return found


@dataclass(frozen=True, eq=False)
class Separated(_Tokenized):
    """Tokens with one at the beginning and one after each of two texts.

    Attributes:
        tokenizer: Turns a text into token ids.
        begin: The token at the beginning.
        end: The token after each text.
    """

    begin: int
    end: int

    def framed(self, text: Sequence[int], context: Sequence[int]) -> tuple[Ids, Ids]:
        """The text between two tokens, and the context, if any, before another."""
        return [self.begin, *text, self.end], [*context, self.end] if context else []


@dataclass(frozen=True, eq=False)
class Prompted(_Tokenized):
    """Tokens with words before, between and after the context and the text.

    Attributes:
        tokenizer: Turns a text into token ids.
        before: The words before the context.
        between: Those between the context and the text.
        after: Those after the text.
    """

    before: str
    between: str
    after: str

    def framed(self, text: Sequence[int], context: Sequence[int]) -> tuple[Ids, Ids]:
        """The context first, then the text, with the words around them."""
        asked = [*self.ids(self.before), *context]
        return asked, [*self.ids(self.between), *text, *self.ids(self.after)]
