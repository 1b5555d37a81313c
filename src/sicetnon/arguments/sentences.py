"""Sentences: which ones argue and can be read alone, and how strong they are."""

from __future__ import annotations

import math
import re

FEWEST_WORDS = 5
# a conclusion is often a slogan; a premise as short is a leftover
FEWEST_WORDS_OF_CONCLUSION = 3
# from so many words on, a verb is taken for granted rather than looked up
_SURELY_WHOLE = 9
_FULL_LENGTH = 40
_MOST_WORDS = 120
_LETTERS = 0.65

_LINK = re.compile(r"(?:https?:|www\.)\S*|\S+\.(?:com|org|net|gov|edu|html?)\b\S*", re.IGNORECASE)
_RUNS_THE_DEBATE = re.compile(
    r"\b(?:i accept|accept(?:ed|ing|ance)? (?:this|the|my|your) (?:debate|challenge)"
    r"|good luck|look(?:ing)? forward|forfeit\w*|thank(?:s| you)?|my opponent\w*|opponents?"
    r"|vote (?:for )?(?:pro|con|me)|(?:pro|con)['’]s|(?:this|last|first|next|final|\w+th) round"
    r"|round (?:one|two|three|four|five|\d)|rebuttals?|burden of proof|this debate|extend"
    r"|hello|hi|welcome|dear|resolved|resolution|citations?|sources?:|references?:|contentions?)\b",
    re.IGNORECASE,
)
_MENTIONS_THE_DEBATE = re.compile(
    r"\b(?:arguments?|argued|debat\w+|rounds?|pro|con|case|points?|claims?|quote\w*)\b",
    re.IGNORECASE,
)
_ADDRESSES = re.compile(r"\b(?:you|your|yours|yourself)\b", re.IGNORECASE)
_FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|im|i['’]m)\b", re.IGNORECASE)
_LEANS_BACK = re.compile(
    r"\W*(?:this|that|these|those|it|they|he|she|him|them|such|also|and|but|or|so|then|however"
    r"|moreover|furthermore|which|who|another|again|secondly|thirdly|finally|yes|no|well|ok)\b",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\b(?:because|since|therefore|thus|hence|so that|due to|as a result|consequently"
    r"|this means|leads? to|led to|results? in|if|in order to|allows?|prevents?|causes?)\b",
    re.IGNORECASE,
)
_EVIDENCE = re.compile(
    r"\b(?:according to|evidence|stud(?:y|ies)|research\w*|survey\w*|percent|reports?|reported"
    r"|statistics|data|for example|for instance)\b|%|\d{2,}",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nor|neither|nothing|nobody|cannot|without|hardly|\w+n['’]t"
    r"|dont|doesnt|isnt|arent|cant|wont|shouldnt|wouldnt)\b",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|being|am|has|have|had|do|does|did|can|could|will|would|shall"
    r"|should|may|might|must|ought|need\w*|\w+n['’]?t|cannot|\w+['’](?:s|re|ve|ll|d)"
    r"|makes?|helps?|leads?|causes?|gives?|takes?|works?|kills?|saves?|costs?|harms?|allows?"
    r"|improves?|reduces?|increases?|\w{3,}(?:ed|ify|ifies|ises?|izes?))\b",
    re.IGNORECASE,
)


def is_candidate(text: str, conclusion: bool = False) -> bool:
    """Whether a sentence may stand in a result: it says something, and says it alone.

    Left out are fragments, lists of sources, greetings and other words that run a debate,
    questions put to the opponent, and walls of text that hide where their sentences end.

    Args:
        text: The sentence.
        conclusion: Whether it is the conclusion of its argument, which may be short.
    """
    said = _LINK.sub(" ", text)
    words = len(said.split())
    fewest = FEWEST_WORDS_OF_CONCLUSION if conclusion else FEWEST_WORDS
    if not fewest <= words <= _MOST_WORDS or 3 * words < 2 * len(text.split()):
        return False
    if sum(map(str.isalpha, said)) < _LETTERS * len(said.strip()):
        return False
    if "?" in said and (conclusion or _ADDRESSES.search(said)):
        return False
    if said.lstrip()[:1].islower() or (words < _SURELY_WHOLE and not _VERB.search(said)):
        return False
    return not _RUNS_THE_DEBATE.search(said)


def strength(text: str) -> float:
    """How strong a sentence is as an argument, about 0 to 2.

    It says much (up to 40 words), gives reasons and evidence, and neither questions, addresses
    the reader, speaks of its author, mentions the debate, nor leans on a sentence before it. The
    weights are those of a ridge regression on the judged pairs of the odd topics, rounded.
    """
    worth = 0.45 * math.log1p(min(len(text.split()), _FULL_LENGTH))
    worth += 0.16 * bool(_REASON.search(text)) + 0.1 * bool(_EVIDENCE.search(text))
    worth -= 0.4 * ("?" in text) + 0.25 * bool(_LEANS_BACK.match(text))
    worth -= 0.4 * bool(_MENTIONS_THE_DEBATE.search(text)) + 0.4 * bool(_LINK.search(text))
    return worth - 0.15 * (bool(_ADDRESSES.search(text)) + bool(_FIRST_PERSON.search(text)))


def is_negated(text: str) -> bool:
    """Whether a sentence holds an odd number of negations."""
    return len(_NEGATION.findall(text)) % 2 == 1
