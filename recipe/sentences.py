"""Splitting a text into sentences, by rules: for texts that come without their sentences."""

from __future__ import annotations

import re

# the end of a sentence: its mark, closing quotes and brackets, then white space and a beginning
_END = re.compile(r"[.!?…]+[\"'”’)\]]*\s+(?=[\"'“‘(\[]*[A-Z0-9])|\n\s*\n")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:[A-Za-z]|Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|vs|etc|al|No|cf|e\.g|i\.e|U\.S|U\.K)\.$"
)


def split_sentences(text: str) -> list[str]:
    """The sentences of a text, in order, white space folded; none of them is empty.

    A full stop behind an abbreviation or a single letter ends none, and neither does one before
    a small letter.
    """
    found, begin = [], 0
    for end in _END.finditer(text):
        head = text[begin : end.end()].rstrip()
        if not _ABBREVIATION.search(head):
            found.append(head)
            begin = end.end()
    found.append(text[begin:])
    folded = (" ".join(sentence.split()) for sentence in found)
    return [sentence for sentence in folded if sentence]
