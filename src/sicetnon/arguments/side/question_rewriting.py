"""Questions: which have sides, what they are about, and loaded ones in plain words.

"Isn't homework a waste?" asks whether it is one. The model takes the "not" of a question that
expects a yes for a denial: in 350 held-out pairs of a claim and a text, it reads the side right in
0.81 where the claim stands alone, in 0.32 after "Don't you think that", and in 0.54 after "It is a
myth that".
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple


class Plain(NamedTuple):
    """A claim or question in plain words.

    Attributes:
        turned: Whether who agrees with them disagrees with what was said.
    """

    text: str
    turned: bool = False


# few statements have any such words
_MAY_BE_LOADED = re.compile(
    r"n['‘’]?t\b|\bnot\b|\bthat\b|think|believe|agree|^\s*wh(?:ether|y)\b|,[^,]{1,20}\?\s*$",
    re.IGNORECASE,
)


@functools.lru_cache(maxsize=4096)
def plain(statement: str) -> Plain:
    """A claim or question without the words that ask for a yes or deny the rest.

    "Isn't homework a waste of time?" becomes "Is homework a waste of time?", "Don't you think that
    zoos are cruel?" "Zoos are cruel", and "It is a myth that zoos teach" "Zoos teach", turned.
    Other statements are unchanged.
    """
    if not _MAY_BE_LOADED.search(statement):
        return Plain(statement)
    said = re.sub("[‘’]", "'", " ".join(statement.split()))
    text, turned = unloaded(said)
    return Plain(statement) if text == said else Plain(text[:1].upper() + text[1:], turned)


_BE = "is|are|was|were"
_AUXILIARY = "do|does|did|should|would|could|has|have"
_SHORT = f"{_AUXILIARY}|ca|wo"
_UNMARKED = rf"\b({_BE}|{_SHORT})nt\b"
_ADVERBS = r"(?:(?:really|honestly|simply|just|also|all|still|strongly|firmly|very) )*"
_THINK = r"(?:think|believe|agree|say)"
_TRUE = r"(?:true|right|obvious|clear|evident|certain|undeniable|a fact|the truth|the case)"
_FALSE = (
    r"(?:false|untrue|not true|a myth|a lie|nonsense|absurd to (?:think|believe|say|claim)"
    r"|(?:wrong|a mistake|false|naive) to (?:think|believe|say|claim))"
)
# "Do you believe in God?" and "Do you agree with tenure?" ask for nothing that stands alone
_CLAUSE = r"(?:,? that)? (?!(?:in|of|about|with|to|on|so|too|before|like)\b)"
_AFFIRMS = (
    rf"(?:(?:do|would|should|can)(?:n't)? (?:you|we)|(?:do|would) (?:you|we) not) {_ADVERBS}"
    rf"(?:{_THINK},? that |(?<=you )(?:think|believe|agree){_CLAUSE})"
    rf"|(?:is|was)(?:n't)? it (?:not )?{_ADVERBS}{_TRUE},? that "
    rf"|it(?: is|'s) {_ADVERBS}{_TRUE},? that "
    rf"|(?:i|we) {_ADVERBS}(?:think|believe|am convinced|are convinced|am sure),? that "
    r"|(?:everyone|everybody|anyone) (?:knows|agrees),? that |whether (?:or not )?"
)
_DENIES = (
    rf"(?:i|we) (?:do not|don't) {_ADVERBS}(?:think|believe|agree){_CLAUSE}"
    rf"|(?:i|we) doubt,? that |it(?: is|'s) {_ADVERBS}{_FALSE},? that "
    rf"|it(?: is not|'s not| isn't) {_ADVERBS}{_TRUE},? that "
    rf"|is it {_ADVERBS}(?!not true){_FALSE},? that "
)
_TAG = (
    rf"(?:,? (?:{_BE}|{_SHORT})n't|, (?:{_BE}|{_AUXILIARY}|can|will))"
    r" (?:it|they|we|you|he|she|there)\s*\?+$"
    rf"|, (?:right|no|correct|agreed|(?:do|would)n't you {_THINK})\s*\?+$"
)
# without a question mark, "Don't ban cars" demands, and "Doesn't work" says of what it does not
_EXPECTS_YES = (
    rf"(?:({_BE})n't|({_SHORT})n't(?=.*\?)) (?=\S+ \S)"
    rf"|({_BE}|do|does|did|has|have|would) (it|there|this|that|we|they|you|people) not "
)
# who asks why it should be so has the proposition in mind, whichever side they are on
_WHY = r"\Awhy (?:(should|must)(?:n't)? |(?:do|ca)n't (?=we )|(not) )(?=\S+ \S)"
_WHOLE = {"ca": "can", "wo": "will"}
_MOST_LEADS, _FEWEST_WORDS = 3, 2


def unloaded(text: str) -> tuple[str, bool]:
    """A claim or question without such words, and whether they deny it.

    Args:
        text: With plain apostrophes and single spaces.
    """
    # strings, which `re` compiles when they are first used: it takes milliseconds, and few
    # statements need them
    text, turned = re.sub(_UNMARKED, r"\1n't", text, flags=re.IGNORECASE), False
    for _ in range(_MOST_LEADS):
        lead, denied = _lead_of(text)
        if not lead:
            break
        # what is left states something, or asks for it in its own form
        text, turned = text[len(lead) :].rstrip("? "), turned ^ denied
    untagged = re.sub(_TAG, "", text, flags=re.IGNORECASE)
    return _expecting_nothing(re.sub(_WHY, _proposed, untagged, flags=re.IGNORECASE)), turned


def _lead_of(text: str) -> tuple[str, bool]:
    """The words before what a statement is about, if any, and whether they deny it."""
    for found, denies in (
        (re.match(_AFFIRMS, text, re.IGNORECASE), False),
        (re.match(_DENIES, text, re.IGNORECASE), True),
    ):
        if found and len(text[found.end() :].split()) >= _FEWEST_WORDS:
            return found[0], denies
    return "", False


def _proposed(why: re.Match[str]) -> str:
    """The first words of the question whether something should be so, for one that asks why."""
    return f"{why[1] or 'should'} " + ("we " if why[2] else "")


def _expecting_nothing(text: str) -> str:
    """A question that expects a yes as one that does not: "Is it fair?" for "Isn't it fair?"."""
    found = re.match(_EXPECTS_YES, text, re.IGNORECASE)
    if found is None:
        return text
    verb = next(filter(None, found.groups()[:3])).lower()
    rest = text[found.end() :]
    return " ".join(filter(None, (_WHOLE.get(verb, verb), found[4], rest)))


_ASKS_FOR_A_FACT = re.compile(
    r"^\W*(?:what|who|whom|whose|when|where|which|how|why)\b(?!\s+about\b)", re.IGNORECASE
)
_ASKS_FOR_ARGUMENTS = re.compile(
    r"\b(?:pros|cons|pro and con|arguments?|reasons?|case|think|opinions?|views?|benefits?"
    r"|advantages?|good|bad|wrong|right|better|worse|or)\b",
    re.IGNORECASE,
)
_ASKS_FOR_ARGUMENTS_ON = re.compile(
    r"^\W*(?:(?:what|which)(?:['’]s|\s+(?:is|are))?\s+|give\s+me\s+|show\s+me\s+|find\s+)?(?:the\s+)?"
    r"(?:(?:best|strongest|main|top|good)\s+)?(?:arguments?|reasons|case)\s+"
    # possessive: what follows blanks does not begin with one, which is tried once alone
    r"(?:(?:both\s+)?for\s+and\s+against|for|against|in\s+favou?r\s+of)\s++(?P<matter>.*\w.*)$",
    re.IGNORECASE | re.DOTALL,
)


def matter_of(question: str) -> str:
    """The subject of a question for arguments; other questions unchanged.

    "The best arguments against school uniforms" is about school uniforms: an argument of the side
    that is asked for is against them, not for the words of the question.
    """
    found = _ASKS_FOR_ARGUMENTS_ON.match(question)
    return found["matter"].strip() if found else question


def has_sides(question: str) -> bool:
    """Whether a question has two sides: a text can be for or against its claim.

    "What is insider trading?" has no sides; yes/no questions, claims, noun phrases, "X or Y" and
    questions for arguments ("What are the pros and cons of fracking?") have them. "Why is the sky
    blue?" has none, "Why should zoos be closed?" has those of "Should zoos be closed?".
    """
    if not any(map(str.isalpha, question)):
        return False
    asks_for_a_fact = _ASKS_FOR_A_FACT.match(plain(question).text)
    return not asks_for_a_fact or bool(_ASKS_FOR_ARGUMENTS.search(question))
