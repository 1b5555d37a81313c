"""Sentences of a text, as they stand in it."""

from __future__ import annotations

import re

from sicetnon.cancellation import check_cancelled

# A sentence ends at its mark and a blank; at a mark between letters without a blank, as hasty
# writers set it ("benefits.They"); before an item of a list; at an empty line.
_END = re.compile(
    r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[a-z][a-z][.!?])(?=[A-Z])|\n[^\S\n]*(?=[-*•–\n])|\s(?=•\s)"
)
_MARKS = "\"'”’)] \t\n"
# a full stop after these words ends no sentence, nor after a single letter ("J. Mill", "U.S.")
_ABBREVIATION = re.compile(
    r"\b(?:[a-z]|mr|mrs|ms|dr|prof|st|vs|eg|ie|cf|approx|fig|vol|ed|eds|pp|gov|gen|sen|rep|jr|sr)\.$",
    re.IGNORECASE,
)
_LONGEST_ABBREVIATION = 10
_SMALL_BEFORE = (".", "…")


def sentences(text: str) -> list[str]:
    """The sentences of a text, in order, with white space folded.

    Nothing is added or left out: joined by blanks, they are the words of the text.
    """
    found, start = [], 0
    check_cancelled()
    for match in _END.finditer(text):
        if _goes_on(text, start, match):
            continue
        found.append(text[start : match.end()])
        start = match.end()
    found.append(text[start:])
    return [" ".join(sentence.split()) for sentence in found if not sentence.isspace() and sentence]


def _goes_on(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether the sentence goes on after a mark: an abbreviation or three dots."""
    at = match.start()
    if match[0].strip(_MARKS) or at == 0 or text[at - 1] not in _SMALL_BEFORE:
        return False
    before = text[max(start, at - _LONGEST_ABBREVIATION) : at]
    if _ABBREVIATION.search(before):
        return True
    follows = text[match.end() : match.end() + 1]
    return follows.islower() and before.endswith(("...", "…"))
