"""Put a "not" into short claims, or take it out, and turn the side round.

A network that sees each claim once takes its words for its side ("Uniforms do not stop bullying"
sounds like "Uniforms stop bullying"). Pairs that differ by one "not" show what it does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from recipe.examples import Example, turned_round

CLAIMS = (
    "arc-reasons",
    "argkp",
    "debatepedia-claims",
    "iam-claims",
    "key-points",
    "perspectrum",
)
"""The data sets whose claims are denied."""

_FEWEST, _MOST = 4, 16
_TAKES_NOT = r"is|are|was|were|will|would|should|can|could|must"
_AUXILIARY = re.compile(rf"\b(?:{_TAKES_NOT}|do|does|did|has|have|had|may|might|shall)\b", re.I)
_PUT_IN = re.compile(rf"(?<=\w )({_TAKES_NOT}) (?=\w)", re.I)
_TAKEN_OUT = re.compile(rf"(?<=\w )({_TAKES_NOT}|do|does|did) not (?=\w)", re.I)
_SHORT = re.compile(r"\b(\w+?)n['’]t\b", re.I)
_LONG = {"ca": "can", "wo": "will", "sha": "shall"}
_NOUN = re.compile(r"\b(?:a|the|free|own|good|ill|god's|their|our|his|her|people's) (?:will|can)\b")
# what a "not" would not turn, or turn in part: other clauses, amounts, other denials
_SCOPE = re.compile(
    r"\b(?:that|which|who|whom|whose|what|how|if|unless|whether|because|since|while|when|where"
    r"|although|though|but|as|so|until|despite|otherwise|only|just|even|also|still|yet|already"
    r"|all|every\w*|each|both|either|any\w*|some\w*|many|most|much|few|always|often|sometimes"
    r"|usually|never|no|none|nothing|nobody|nor|neither|not|hardly|barely|without|too|there|let)\b",
    re.I,
)


def denied(claim: str) -> str | None:
    """A claim with a "not" put in or taken out; None where that may not be its denial."""
    long = _SHORT.sub(lambda found: f"{_LONG.get(found[1].lower(), found[1])} not", claim)
    long = re.sub(r"\bcannot\b", "can not", long, flags=re.I)
    if not _FEWEST <= len(long.split()) <= _MOST or re.search(r"[,;:?\"“”()]", long):
        return None
    if len(_AUXILIARY.findall(long)) != 1 or _NOUN.search(long.lower()):
        return None
    affirmed, count = _TAKEN_OUT.subn(r"\1 ", long)
    if _SCOPE.search(affirmed):
        return None
    if count:
        return affirmed
    made, count = _PUT_IN.subn(r"\1 not ", long)
    return made.replace(" can not ", " cannot ") if count else None


def denials(found: Sequence[Example]) -> Iterator[Example]:
    """Training claims that are denied, with the other side, as the data set `denied`.

    Args:
        found: All examples; those of `CLAIMS` with a side in training are read.
    """
    known = {(each.text, each.context) for each in found}
    for each in found:
        if each.dataset not in CLAIMS or (each.head, each.split) != ("stance", "train"):
            continue
        text = denied(each.text) if each.label in (0, 1) else None
        if text and (text, each.context) not in known:
            known.add((text, each.context))
            turned = turned_round(each)
            yield Example("stance", "denied", text, turned.label, each.group, each.context)
