"""Split long texts into overlapping windows, and group windows into batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sicetnon.arguments.model.word_pieces import WordPieces
from sicetnon.formats.json_records import valid_text

Tokens = NDArray[np.int64]

# the words of a text take ten times its memory, so a long one is read in pieces
_PIECE_CHARACTERS = 1 << 16


class Window(NamedTuple):
    """A part of a text with its context.

    Attributes:
        owner: The number of the text.
        tokens: The tokens of the part, none for an empty text.
        context: The tokens of the context, or none without one.
    """

    owner: int
    tokens: Tokens
    context: Tokens

    @property
    def weight(self) -> int:
        """The weight of the window in the average over its text: its tokens, at least 1."""
        return max(len(self.tokens), 1)

    @property
    def length(self) -> int:
        """The number of tokens that the encoder reads, special tokens included."""
        return len(self.tokens) + 2 + (len(self.context) + 1 if len(self.context) else 0)


def tokens_of(
    tokenizer: WordPieces, texts: Sequence[str], piece_characters: int = _PIECE_CHARACTERS
) -> list[Tokens]:
    """The tokens of each text, without special tokens.

    Lone surrogates are read as U+FFFD.
    """
    found = []
    for text in texts:
        pieces = pieces_of(valid_text(text), piece_characters)
        read = [np.array(tokenizer.ids(piece), dtype=np.int64) for piece in pieces]
        found.append(np.concatenate(read))
    return found


def pieces_of(text: str, size: int) -> Iterator[str]:
    """A long text in pieces of at most `size` characters.

    It is cut at blanks, so that no token is cut; a text without blanks is cut anywhere.
    """
    start = 0
    while len(text) - start > size:
        stop = text.rfind(" ", start + 1, start + size)
        stop = start + size if stop < 0 else stop
        yield text[start:stop]
        start = stop
    yield text[start:]


def windows_of(
    owner: int, tokens: Tokens, context: Tokens, size: int, overlap: int
) -> list[Window]:
    """The windows of a text: each begins `size - overlap` tokens after the one before.

    The last one ends with the text. An empty text has one window, which is empty too.
    """
    starts = range(0, max(len(tokens) - overlap, 1), size - overlap)
    return [Window(owner, tokens[start : start + size], context) for start in starts]


def batches_of(windows: Sequence[Window], most_tokens: int) -> list[list[Window]]:
    """Batches of windows of similar length, the longest first.

    A batch has at most so many tokens, padding included; a longer window is a batch of its own.
    """
    batches: list[list[Window]] = []
    for window in sorted(windows, key=lambda each: each.length, reverse=True):
        if batches and (len(batches[-1]) + 1) * batches[-1][0].length <= most_tokens:
            batches[-1].append(window)
        else:
            batches.append([window])
    return batches


def arrays_of(batch: Sequence[Window], start: int, end: int) -> dict[str, Tokens]:
    """The inputs of a BERT for a batch: three arrays, shape (windows, tokens of the longest)."""
    shape = len(batch), max(window.length for window in batch)
    names = "input_ids", "attention_mask", "token_type_ids"
    ids, mask, kinds = (np.zeros(shape, dtype=np.int64) for _ in names)
    for row, (_, tokens, context) in enumerate(batch):
        first = len(tokens) + 2
        ids[row, 0], ids[row, 1 : first - 1], ids[row, first - 1] = start, tokens, end
        last = first
        if len(context):
            last = first + len(context) + 1
            ids[row, first : last - 1], ids[row, last - 1] = context, end
            kinds[row, first:last] = 1
        mask[row, :last] = 1
    return dict(zip(names, (ids, mask, kinds), strict=True))
