"""Argumentativeness by lexical cues: claims, reasons, weighing and comparatives.

The kinds of cues follow Stab and Gurevych (2017), who find discourse markers and first-person
claims to tell arguments from other text, and the comparative markers of Panchenko et al. (2019).
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping

from sicetnon.errors import UsageError

CUES: Mapping[str, re.Pattern[str]] = {
    name: re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    for name, words in {
        "claims": r"i (?:\w+ )?(?:think|believe|feel|argue|claim|disagree|agree|prefer|recommend"
        r"|suggest|doubt)|in my (?:\w+ )?(?:opinion|view|experience)|my (?:opinion|point|view)"
        r"|should(?:n't| not)?|must(?:n't| not)?|ought to|need to|have to|clearly|obviously"
        r"|certainly|definitely|undoubtedly|it is (?:clear|obvious|important|necessary|wrong|right)"
        r"|personally|the (?:fact|truth) is|worth (?:it|the)",
        "reasons": r"because|since|therefore|thus|hence|consequently|as a result|due to"
        r"|the reasons?|that(?:'s| is) why|which means|this means|leads? to|for example"
        r"|for instance|according to|studies (?:show|have shown)|research (?:shows|suggests)"
        r"|evidence|proves?|proof|so that|if|first(?:ly)? of all|furthermore|moreover"
        r"|in (?:addition|conclusion)",
        "weighing": r"pros?|cons|advantages?|disadvantages?|benefits?|drawbacks?|downsides?"
        r"|upsides?|strengths?|weakness(?:es)?|trade-?offs?|however|although|though|but"
        r"|on the (?:one|other) hand|whereas|nevertheless|despite|even if|yet|instead|rather"
        r"|in contrast|unlike",
        "comparatives": r"better|worse|best|worst|(?:more|less|fewer|\w{2,}er) than|superior"
        r"|inferior|compared (?:to|with)|in comparison|vs\.?|versus|prefer(?:red|able)?"
        r"|same as|as \w+ as|outperforms?|beats?|differences? between",
    }.items()
}
_SMOOTHING_WORDS = 30
# cues per hundred words at which the measure is 0.5
_HALF = 4.0


def argumentativeness(text: str, cues: Collection[str] = tuple(CUES)) -> float:
    """The argumentativeness of a text, from 0 to 1.

    The score is 1 - 2^(-d / 4), where d is the number of cues per hundred words. Thirty words are
    added to the length, so that one cue does not make a short text an argument.

    Args:
        text: Any text.
        cues: The kinds of cues that count, names of `CUES`.

    Raises:
        UsageError: There is no such kind.
    """
    if unknown := sorted(set(cues) - set(CUES)):
        raise UsageError(f"unknown cues {', '.join(unknown)}; there are {', '.join(CUES)}")
    words = len(text.split()) + _SMOOTHING_WORDS
    count = sum(1 for name in cues for _ in CUES[name].finditer(text))
    return 1 - math.pow(2, -100 * count / words / _HALF)
