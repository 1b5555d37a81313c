"""The tokens of an encoder, with those that stand at the beginning and the end of a text."""

from __future__ import annotations

from dataclasses import dataclass

from tokenizers import Tokenizer


@dataclass(frozen=True, eq=False)
class Pieces:
    """The tokens of an encoder.

    Attributes:
        tokenizer: Turns a text into token ids; padding has the id 0.
        begin: The token at the beginning.
        end: The token behind each text.
    """

    tokenizer: Tokenizer
    begin: int
    end: int

    def ids(self, text: str) -> list[int]:
        """The token ids of a text, without those at its beginning and end."""
        found: list[int] = self.tokenizer.encode(text, add_special_tokens=False).ids
        return found
