"""The side that an argument takes towards a question, by rules.

A premise's side towards its own conclusion is known. What is found here is the conclusion's side
towards the question: whether saying yes to the one says yes to the other.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping

from sicetnon.records import PremiseStance
from sicetnon.text.analysis import Analyzer, named_analysis

AGREES, DISAGREES, UNKNOWN = 1, -1, 0
SIDES: dict[PremiseStance | None, int] = {"PRO": AGREES, "CON": DISAGREES, None: UNKNOWN}
WORDS = {AGREES: "PRO", DISAGREES: "CON", UNKNOWN: "Q0"}
"""A side as the second column of a run has it."""

_ABOUT_THE_SAME = 0.45
_ABOUT_AN_ALTERNATIVE = 0.25

# each of these turns what a statement asks for round, and two of them turn it back
_TURNS = re.compile(
    r"\b(?:not|no|never|cannot|without|nor|neither|none|against|\w+n['’]t"
    r"|dont|doesnt|isnt|arent|cant|wont|shouldnt|wouldnt|oughtnot"
    r"|ban|bans|banned|banning|abolish\w*|prohibit\w*|outlaw\w*|forbid\w*|illegali\w+"
    r"|illegal(?! (?:im|e)?migra| alien)|exempt\w*|regret"
    r"|criminali[sz]e\w*|restrict\w*|repeal\w*|remov\w+|eliminat\w+|abandon\w*|reject\w*"
    r"|oppos\w+|stop|stopped|end|ended|ending|cease\w*|discontinue\w*|get rid of|do away with"
    r"|taken away|unsafe|unhealthy|unethical|immoral|wrong|bad|worse|worst|harm|harms|harmful"
    r"|dangerous|dangers?|risks?|deadly|toxic|cancer|unfair|unjust|unnecessary|useless|pointless"
    r"|ineffective|unconstitutional|cruel|evil|myth|hoax|false|waste|fail\w*|less|impossible"
    r"|outweigh\w* (?:the |its |their )?(?:benefits|advantages|pros|gains))\b",
    re.IGNORECASE,
)
# words that ask, value or demand, but name no subject
_FRAME = re.compile(
    r"\b(?:should|get|gets|become|becomes|remain|stay|keep|kept|shall|must|ought|can|could|would|will|is|are|do|does|did|be|been|legal\w*|allow\w*"
    r"|permit\w*|good|better|best|right|safe|healthy|beneficial|benefits?|effective\w*|necessary"
    r"|worth|useful|fair|ethical|moral|constitutional|true|real|exist\w*|accept\w*|have|has|more"
    r"|people|we|us|usa|america\w*|united|states|government|federal|society|world|used?|made)\b",
    re.IGNORECASE,
)
_OR = re.compile(r"\bor\b", re.IGNORECASE)
_THAN = re.compile(r"\b(?:than|rather than|instead of)\b", re.IGNORECASE)


def agreement(
    question: str, conclusion: str, weight: Callable[[str], float] = lambda _: 1.0
) -> int:
    """Whether a conclusion says yes to a question: `AGREES`, `DISAGREES` or `UNKNOWN`.

    It does when the two are about the same and ask for the same: each negation, ban or fault in
    one of them turns it round. What is compared unfavourably (*Y is better than X*) counts as
    turned round as well. A bare subject (*Death penalty*) stands for itself.

    Args:
        question: The question.
        conclusion: The conclusion.
        weight: What a stem of the question counts when the two are about the same.
    """
    subject = {stem: weight(stem) for stem in _subject(question)}
    before, after = _compared(conclusion)
    shares = [_share(subject, _subject(part)) for part in (before, after)]
    # of alternatives in the question one is enough
    if max(shares) <= (_ABOUT_AN_ALTERNATIVE if _OR.search(question) else _ABOUT_THE_SAME):
        return UNKNOWN
    turned = _turns(question) + _turns(conclusion) + (shares[1] > shares[0])
    return DISAGREES if turned % 2 else AGREES


def _compared(statement: str) -> tuple[str, str]:
    than = _THAN.search(statement)
    return (statement[: than.start()], statement[than.end() :]) if than else (statement, "")


def _turns(statement: str) -> int:
    return len(_TURNS.findall(statement))


def _share(wanted: Mapping[str, float], found: frozenset[str]) -> float:
    whole = sum(wanted.values())
    return sum(wanted[stem] for stem in wanted.keys() & found) / whole if whole else 0.0


@functools.lru_cache(maxsize=4096)
def _subject(statement: str) -> frozenset[str]:
    """The stems of the words that say what a statement is about."""
    return frozenset(_analyzer().stems_of(_FRAME.sub(" ", _TURNS.sub(" ", statement))))


@functools.cache
def _analyzer() -> Analyzer:
    return named_analysis("porter-stop").analyzer()
