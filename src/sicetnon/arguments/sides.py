"""The side of an argument on a question, by rules.

The data has the side of a premise on its own conclusion. These rules find the side of the
conclusion on the question: whether a yes to the conclusion is a yes to the question.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence

from sicetnon.records import PremiseStance
from sicetnon.text.analysis import Analyzer, named_analysis

AGREES, DISAGREES, UNKNOWN = 1, -1, 0
SIDES: dict[PremiseStance | None, int] = {"PRO": AGREES, "CON": DISAGREES, None: UNKNOWN}
WORDS = {AGREES: "PRO", DISAGREES: "CON", UNKNOWN: "Q0"}
"""The names of the sides in the second column of a run."""

_ABOUT_THE_SAME = 0.45
_ABOUT_AN_ALTERNATIVE = 0.25

TURNING = (
    r"not|no|never|cannot|without|nor|neither|none|against|\w+n['’]t"
    r"|dont|doesnt|isnt|arent|cant|wont|shouldnt|wouldnt|oughtnot"
    r"|ban|bans|banned|banning|abolish\w*|prohibit\w*|outlaw\w*|forbid\w*|illegali\w+"
    r"|illegal(?! (?:im|e)?migra| alien)|exempt\w*|regret"
    r"|criminali[sz]e\w*|restrict\w*|repeal\w*|remov\w+|eliminat\w+|abandon\w*|reject\w*"
    r"|oppos\w+|stop|stopped|end|ended|ending|cease\w*|discontinue\w*|get rid of|do away with"
    r"|taken away|unsafe|unhealthy|unethical|immoral|wrong|bad|worse|worst|harm|harms|harmful"
    r"|dangerous|dangers?|risks?|deadly|toxic|cancer|unfair|unjust|unnecessary|useless|pointless"
    r"|ineffective|unconstitutional|cruel|evil|myth|hoax|false|waste|fail\w*|less|impossible"
    r"|outweigh\w* (?:the |its |their )?(?:benefits|advantages|pros|gains)"
)
"""Words each of which reverses the demand of a statement, as a pattern; two cancel out."""
_TURNS = re.compile(rf"\b(?:{TURNING})\b", re.IGNORECASE)
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

    A conclusion agrees if it has the subject and the demand of the question. Each negation, ban or
    fault in either of them reverses the demand, and so does an unfavourable comparison (*Y is
    better than X*). A bare subject (*Death penalty*) counts as a demand for it.

    Args:
        question: The question.
        conclusion: The conclusion.
        weight: The weight of a stem of the question in the overlap of the two subjects.
    """
    subject = {stem: weight(stem) for stem in _subject(question)}
    before, after = _compared(conclusion)
    shares = [_share(subject, _subject(part)) for part in (before, after)]
    # one of the alternatives in the question is enough
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
    """The stems of the subject of a statement."""
    return content_stems(_FRAME.sub(" ", _TURNS.sub(" ", statement)))


def content_stems(statement: str) -> frozenset[str]:
    """The stems of the content words of a statement."""
    return frozenset(_analyzer().stems_of(statement))


def content_stems_of_each(statements: Sequence[str]) -> list[frozenset[str]]:
    """As `content_stems`, for many statements at once."""
    return list(map(frozenset, _analyzer().stems_of_each(statements)))


@functools.cache
def _analyzer() -> Analyzer:
    return named_analysis("porter-stop").analyzer()
