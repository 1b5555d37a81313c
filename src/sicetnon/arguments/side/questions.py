"""Questions that have sides, and those that ask for something else."""

from __future__ import annotations

import re

from sicetnon.arguments.side.plain import plain

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
