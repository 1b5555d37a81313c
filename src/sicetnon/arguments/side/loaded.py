"""Words that ask for a yes to a claim or deny it, and the claim or question without them."""

from __future__ import annotations

import re

_BE = "is|are|was|were"
_AUXILIARY = "do|does|did|should|would|could|has|have"
_SHORT = f"{_AUXILIARY}|ca|wo"
_UNMARKED = re.compile(rf"\b({_BE}|{_SHORT})nt\b", re.IGNORECASE)
_ADVERBS = r"(?:(?:really|honestly|simply|just|also|all|still|strongly|firmly|very) )*"
_THINK = r"(?:think|believe|agree|say)"
_TRUE = r"(?:true|right|obvious|clear|evident|certain|undeniable|a fact|the truth|the case)"
_FALSE = (
    r"(?:false|untrue|not true|a myth|a lie|nonsense|absurd to (?:think|believe|say|claim)"
    r"|(?:wrong|a mistake|false|naive) to (?:think|believe|say|claim))"
)
# "Do you believe in God?" and "Do you agree with tenure?" ask for nothing that stands alone
_CLAUSE = r"(?:,? that)? (?!(?:in|of|about|with|to|on|so|too|before|like)\b)"
_AFFIRMS = re.compile(
    rf"(?:(?:do|would|should|can)(?:n't)? (?:you|we)|(?:do|would) (?:you|we) not) {_ADVERBS}"
    rf"(?:{_THINK},? that |(?<=you )(?:think|believe|agree){_CLAUSE})"
    rf"|(?:is|was)(?:n't)? it (?:not )?{_ADVERBS}{_TRUE},? that "
    rf"|it(?: is|'s) {_ADVERBS}{_TRUE},? that "
    rf"|(?:i|we) {_ADVERBS}(?:think|believe|am convinced|are convinced|am sure),? that "
    r"|(?:everyone|everybody|anyone) (?:knows|agrees),? that |whether (?:or not )?",
    re.IGNORECASE,
)
_DENIES = re.compile(
    rf"(?:i|we) (?:do not|don't) {_ADVERBS}(?:think|believe|agree){_CLAUSE}"
    rf"|(?:i|we) doubt,? that |it(?: is|'s) {_ADVERBS}{_FALSE},? that "
    rf"|it(?: is not|'s not| isn't) {_ADVERBS}{_TRUE},? that "
    rf"|is it {_ADVERBS}(?!not true){_FALSE},? that ",
    re.IGNORECASE,
)
_TAG = re.compile(
    rf"(?:,? (?:{_BE}|{_SHORT})n't|, (?:{_BE}|{_AUXILIARY}|can|will))"
    r" (?:it|they|we|you|he|she|there)\s*\?+$"
    rf"|, (?:right|no|correct|agreed|(?:do|would)n't you {_THINK})\s*\?+$",
    re.IGNORECASE,
)
# without a question mark, "Don't ban cars" demands, and "Doesn't work" says of what it does not
_EXPECTS_YES = re.compile(
    rf"(?:({_BE})n't|({_SHORT})n't(?=.*\?)) (?=\S+ \S)"
    rf"|({_BE}|do|does|did|has|have|would) (it|there|this|that|we|they|you|people) not ",
    re.IGNORECASE,
)
# who asks why it should be so has the proposition in mind, whichever side they are on
_WHY = re.compile(
    r"\Awhy (?:(should|must)(?:n't)? |(?:do|ca)n't (?=we )|(not) )(?=\S+ \S)", re.IGNORECASE
)
_WHOLE = {"ca": "can", "wo": "will"}
_MOST_LEADS, _FEWEST_WORDS = 3, 2


def unloaded(text: str) -> tuple[str, bool]:
    """A claim or question without such words, and whether they deny it.

    Args:
        text: With plain apostrophes and single spaces.
    """
    text, turned = _UNMARKED.sub(r"\1n't", text), False
    for _ in range(_MOST_LEADS):
        lead, denied = _lead_of(text)
        if not lead:
            break
        # what is left states something, or asks for it in its own form
        text, turned = text[len(lead) :].rstrip("? "), turned ^ denied
    return _expecting_nothing(_WHY.sub(_proposed, _TAG.sub("", text))), turned


def _lead_of(text: str) -> tuple[str, bool]:
    """The words before what a statement is about, if any, and whether they deny it."""
    for pattern, denies in ((_AFFIRMS, False), (_DENIES, True)):
        found = pattern.match(text)
        if found and len(text[found.end() :].split()) >= _FEWEST_WORDS:
            return found[0], denies
    return "", False


def _proposed(why: re.Match[str]) -> str:
    """The first words of the question whether something should be so, for one that asks why."""
    return f"{why[1] or 'should'} " + ("we " if why[2] else "")


def _expecting_nothing(text: str) -> str:
    """A question that expects a yes as one that does not: "Is it fair?" for "Isn't it fair?"."""
    found = _EXPECTS_YES.match(text)
    if found is None:
        return text
    verb = next(filter(None, found.groups()[:3])).lower()
    rest = text[found.end() :]
    return " ".join(filter(None, (_WHOLE.get(verb, verb), found[4], rest)))
