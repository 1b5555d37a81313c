"""Sentences: which of them argue and can be read alone, and how strong they are.

A run reads hundreds of thousands of sentences. Words are looked up in sets, since a regular
expression of the same words takes ten times as long.
"""

from __future__ import annotations

import functools
import math
import re

FEWEST_WORDS = 5
# a conclusion is often a slogan; a premise as short as that is a fragment
FEWEST_WORDS_OF_CONCLUSION = 3
# a sentence of so many words is assumed to have a verb
_SURELY_WHOLE = 9
_FULL_LENGTH = 30
_MOST_WORDS = 120
_LETTERS = 0.65

_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)?")
_MAYBE_LINK = re.compile(r"//|www\.|\.(?:com|org|net|gov|edu|html?)\b", re.IGNORECASE)
_RUN = re.compile(r"\S+")
_ADDRESS = re.compile(r"(?:https?:|www\.).*", re.IGNORECASE)
_DOMAIN = re.compile(r"\.(?:com|org|net|gov|edu|html?)\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d\d|%")
_VERB_ENDING = re.compile(r"[a-z]{3}(?:ed|ify|ifies|i[sz]es?)\b|n['’]t\b|['’](?:s|re|ve|ll|d)\b")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_RUNS_THE_DEBATE = _words("""
    forfeit forfeits forfeited forfeiture thank thanks opponent opponents opponent's opponent’s
    pro's pro’s con's con’s rebuttal rebuttals extend hello hi welcome dear resolved resolution
    citation citations contention contentions
""")
_RUNNING_PHRASES = (
    "i accept", "accept this", "accept the debate", "accept the challenge", "good luck",
    "look forward", "looking forward", "vote pro", "vote con", "vote for pro", "vote for con",
    "burden of proof", "this debate", "this round", "first round", "second round", "third round",
    "last round", "next round", "final round", "round one", "round two", "round three", "round 1",
    "round 2", "round 3", "round 4", "source:", "sources:", "references:",
)  # fmt: skip
_MENTIONS_THE_DEBATE = _words("""
    argument arguments argued debate debates debater debaters debating pro con case point points
    claim claims quote quotes quoted
""")
_ADDRESSES = _words("you your yours yourself you're you’re")
_FIRST_PERSON = _words("i me my mine im i'm i’m i'll i’ll i've i’ve")
_LEANS_BACK = _words("""
    this that these those it they he she him them such also and but or so then however moreover
    furthermore which who another again secondly thirdly finally yes no well ok it's it’s
""")
_REASONS = _words("""
    because since therefore thus hence consequently if lead leads led allow allows prevent prevents
    cause causes
""")
_REASON_PHRASES = ("so that", "due to", "as a result", "this means", "result in", "results in",
                   "in order to")  # fmt: skip
_EVIDENCE = _words("""
    according evidence study studies research researchers survey surveys percent report reports
    reported statistics data example instance
""")
_NEGATIONS = _words("""
    not no never none nor neither nothing nobody cannot without hardly dont doesnt isnt arent cant
    wont shouldnt wouldnt
""")
_VERBS = _words("""
    is are was were be been being am has have had having do does did can could will would shall
    should may might must ought need needs needed cannot make makes help helps lead leads cause
    causes give gives take takes work works kill kills save saves cost costs harm harms allow allows
    improve improves reduce reduces increase increases require requires provide provides create
    creates protect protects prevent prevents violate violates deserve deserves
""")


# several functions read the same sentence one after the other
@functools.lru_cache(maxsize=8)
def _said(text: str) -> tuple[str, list[str], frozenset[str]]:
    """A text in lower case, its words, and its distinct words."""
    lower = text.lower()
    words = _WORD.findall(lower)
    return lower, words, frozenset(words)


def is_candidate(text: str, conclusion: bool = False) -> bool:
    """Whether a sentence may be part of a result: it makes a point, and can be read alone.

    Refused are fragments, lists of sources, greetings and other words that run a debate, questions
    to the opponent, and walls of text without ends of sentences.

    Args:
        text: The sentence.
        conclusion: Whether it is the conclusion of its argument, which may be short.
    """
    said = _RUN.sub(_without_link, text) if _MAYBE_LINK.search(text) else text
    count = len(said.split())
    fewest = FEWEST_WORDS_OF_CONCLUSION if conclusion else FEWEST_WORDS
    if not fewest <= count <= _MOST_WORDS or 3 * count < 2 * len(text.split()):
        return False
    if sum(map(str.isalpha, said)) < _LETTERS * len(said.strip()) or said.lstrip()[:1].islower():
        return False
    lower, _, words = _said(text)
    if "?" in said and (conclusion or words & _ADDRESSES):
        return False
    if words & _RUNS_THE_DEBATE or any(phrase in lower for phrase in _RUNNING_PHRASES):
        return False
    return count >= _SURELY_WHOLE or bool(words & _VERBS or _VERB_ENDING.search(lower))


def _without_link(run: re.Match[str]) -> str:
    # one regular expression for both kinds of links takes cubic time on a run of dots
    return " " if _DOMAIN.search(run[0], 1) else _ADDRESS.sub(" ", run[0])


def strength(text: str) -> float:
    """The strength of a sentence as an argument, about 0 to 2.

    Words (up to 30), reasons and evidence add to it. Questions, links, addressing the reader,
    speaking of oneself, mentioning the debate and leaning on a sentence before take from it. The
    weights are those of a ridge regression on the judged pairs of the odd topics, rounded.
    """
    lower, in_order, words = _said(text)
    worth = 0.45 * math.log1p(min(len(text.split()), _FULL_LENGTH))
    worth += 0.16 * bool(words & _REASONS or any(phrase in lower for phrase in _REASON_PHRASES))
    worth += 0.1 * bool(words & _EVIDENCE or _NUMBER.search(text))
    worth -= 0.25 * (in_order[:1] != [] and in_order[0] in _LEANS_BACK)
    worth -= 0.4 * ("?" in text) + 0.4 * bool(_MAYBE_LINK.search(text))
    worth -= 0.4 * bool(words & _MENTIONS_THE_DEBATE)
    return worth - 0.15 * (bool(words & _ADDRESSES) + bool(words & _FIRST_PERSON))


def is_negated(text: str) -> bool:
    """Whether a sentence holds an odd number of negations."""
    _, words, _ = _said(text)
    return sum(word in _NEGATIONS or word.endswith(("n't", "n’t")) for word in words) % 2 == 1
