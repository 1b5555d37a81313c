"""Words and forms of statements that tell their side: by rules, without a model.

The data has the side of a premise on its own conclusion. `agreement` finds the side of the
conclusion on the question: whether a yes to the conclusion is a yes to the question.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence

from sicetnon.records import PremiseStance
from sicetnon.text.analysis import Analyzer, named_analysis
from sicetnon.text.unicode import IDEOGRAPH_RANGES

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
_REVERSES = re.compile(rf"\b(?:{TURNING})\b", re.IGNORECASE)
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
    turned = _reversals(question) + _reversals(conclusion) + (shares[1] > shares[0])
    return DISAGREES if turned % 2 else AGREES


def _compared(statement: str) -> tuple[str, str]:
    than = _THAN.search(statement)
    return (statement[: than.start()], statement[than.end() :]) if than else (statement, "")


def _reversals(statement: str) -> int:
    return len(_REVERSES.findall(statement))


def _share(wanted: Mapping[str, float], found: frozenset[str]) -> float:
    whole = sum(wanted.values())
    return sum(wanted[stem] for stem in wanted.keys() & found) / whole if whole else 0.0


@functools.lru_cache(maxsize=4096)
def _subject(statement: str) -> frozenset[str]:
    """The stems of the subject of a statement."""
    return content_stems(_FRAME.sub(" ", _REVERSES.sub(" ", statement)))


def content_stems(statement: str) -> frozenset[str]:
    """The stems of the content words of a statement."""
    return frozenset(_analyzer().stems_of(statement))


def content_stems_of_each(statements: Sequence[str]) -> list[frozenset[str]]:
    """The stems of the content words of each statement."""
    return list(map(frozenset, _analyzer().stems_of_each(statements)))


@functools.cache
def _analyzer() -> Analyzer:
    return named_analysis("porter-stop").analyzer()


_IDEOGRAPH = re.compile(
    "[" + "".join(f"{chr(low)}-{chr(high)}" for low, high in IDEOGRAPH_RANGES) + "]"
)
WORD_LETTERS = 20
"""Letters for a word, more than words have in the mean. A text has no more words than its letters
allow, so that one without blanks is read in part, too."""
_NEGATIONS = re.compile(r"\b(?:not|no|never|cannot|without|none|nor|\w+n['’]t)\b", re.IGNORECASE)
_TURNS = re.compile(
    rf"\b(?:{TURNING}|detriment\w*|scrap\w*|brutal|unsuitable|antithetical)\b", re.IGNORECASE
)
_PRAISE = re.compile(
    r"\b(?:should|allow\w*|legal\w*|good|better|best|right|support\w*|justif\w*|benefi\w*"
    r"|necessary|must|need\w*|save\w*|keep|fund\w*|protect\w*|accept\w*|moral|ethical"
    r"|compulsory|mandatory)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(r"\W*(?:should|is|are|do|does|can|did|would)\b", re.IGNORECASE)
_WEIGHS = re.compile(
    r"\bon (?:the )?(?:one|other) hand\b|\bpros and cons\b|\bboth sides (?:have|are|of)\b"
    r"|\b(?:dis)?advantages and (?:its |their )?(?:dis)?advantages\b"
    r"|\b(?:benefits?|good) and (?:its |their |the )?(?:harms?|drawbacks?|costs|risks|bad)\b"
    r"|\bneither (?:wholly |simply )?(?:good|right|for) n?or\b|\bit depends\b",
    re.IGNORECASE,
)

_SIDE = r"(?:pro|aff|affirmative|proposition|prop)"
_OTHER = r"(?:con|neg|negative|opposition)"
_DOES = (
    r"(?:['’]s| (?:says|said|states|stated|claims|claimed|argues|argued|arguments?|has|had|also"
    r"|never|did|does|fails|failed|dropped|brings|forfeit\w*|asserts|must|rebut\w*|contends|wants))"
)
_VOTE, _STAND = (
    r"\b(?:votes?|voting|ballot)\b[^.!?]{0,25}\b",
    r"\b(?:i am|i'm|i will be|as) (?:the )?",
)
_THEREFORE = r"\b(?:i|we|must|to|and|therefore|thus|please) (?:strongly |hereby |firmly )?"
_RESOLUTION = r"\bresolution (?:is |has been |should be |stands )?"
# what debaters say of themselves, of their opponent and to the voters
_OWN = tuple(
    (re.compile(pattern, re.IGNORECASE), weight)
    for pattern, weight in (
        (rf"{_VOTE}{_SIDE}\b", 1.0),
        (rf"{_THEREFORE}affirm\b|{_RESOLUTION}(?:upheld|affirmed|true)\b|{_STAND}{_SIDE}\b", 1.0),
        (rf"\b{_OTHER}{_DOES}\b|\b(?:thank|thanks to) (?:the )?{_OTHER}\b|\bcon (?:for|,)", 1.0),
        (
            r"\bfirst round (?:is |for |will be )?(?:just |only )?(?:for )?acceptance\b"
            r"|\bfor accepting\b|\bgood luck to (?:my opponent|whoever|con)\b",
            0.5,
        ),
        (rf"{_VOTE}(?:{_OTHER}|against)\b", -1.0),
        (
            rf"{_THEREFORE}negate\b|{_RESOLUTION}(?:negated|false|refuted)\b|{_STAND}{_OTHER}\b",
            -1.0,
        ),
        (rf"\b{_SIDE}{_DOES}\b|\b(?:thank|thanks to) (?:the )?{_SIDE}\b|\bpro (?:for|,)", -1.0),
        (r"\bi (?:will |gladly |hereby )?accept\b|\baccept (?:this|the|your) debate\b", -0.5),
    )
)
# stems of verbs that say little
_LIGHT = frozenset({"make", "get", "becom", "give", "let", "caus"})
_FEWEST_REPEATED = 3
_ENDS = 150
_LONG = 500


def turns(statement: str) -> int:
    """The number of words that reverse the demand of a statement."""
    return len(_TURNS.findall(statement))


def direction(statement: str) -> float:
    """-1 where the demand of a statement is reversed, else 1."""
    return -1.0 if turns(statement) % 2 else 1.0


def negations(statement: str) -> int:
    """The number of negations."""
    return len(_NEGATIONS.findall(statement))


def praise(statement: str) -> int:
    """The number of words that demand or value."""
    return len(_PRAISE.findall(statement))


def asks(statement: str) -> bool:
    """Whether a statement has the form of a yes/no question."""
    return _ASKS.match(statement) is not None


def weighs(text: str) -> bool:
    """Whether a text says that it weighs both sides."""
    return _WEIGHS.search(text) is not None


def repeats(statement: str, claim: str) -> bool:
    """Whether a statement says a claim again: in its words alone, three and more, not reversed.

    Of 794 labelled pairs of a claim and a conclusion, all seven such conclusions are for the claim.
    """
    if claim.rstrip().endswith("?") or statement.rstrip().endswith("?") or asks(claim):
        return False
    own = stems(statement) - _LIGHT
    same = len(own) >= _FEWEST_REPEATED and own <= stems(claim)
    return same and direction(statement) == direction(claim)


def own_words(text: str) -> float:
    """The stance towards the resolution by a debater's words, from -2 (CON) to 2 (PRO).

    "Vote Con", "I negate" and "Pro claims" are words of the opponent of a resolution. The first and
    the last 150 words are read.
    """
    read = ends(text, _ENDS)
    found = sum(weight for pattern, weight in _OWN if pattern.search(read))
    return max(-2.0, min(2.0, found))


def separate(text: str) -> list[str]:
    """The words of a text; an ideograph is one, and so is a letter of kana."""
    return _IDEOGRAPH.sub(r" \g<0> ", text).split()


def has_at_most(text: str, count: int) -> bool:
    """Whether a text has at most `count` words and `WORD_LETTERS` × `count` letters."""
    return len(text) <= WORD_LETTERS * count and len(separate(text)) <= count


def ends(text: str, count: int, between: str = "") -> str:
    """The first and the last words of a text.

    Args:
        text: Any text.
        count: The number of words at each end; a text of at most twice as many is whole. Of words
            that are texts without blanks, the first and the last letters.
        between: A mark for what is left out.
    """
    found, letters = separate(text), WORD_LETTERS * count
    first = last = " ".join(found)
    if len(found) > 2 * count:
        first, last = " ".join(found[:count]), " ".join(found[-count:])
    elif len(first) <= 2 * letters:
        return first
    return " ".join(filter(None, [first[:letters], between, last[-letters:]]))


def stems(statement: str) -> frozenset[str]:
    """The stems of the content words of a statement; those of short ones are kept."""
    return _kept_stems(statement) if len(statement) < _LONG else content_stems(statement)


_kept_stems = functools.lru_cache(maxsize=8192)(content_stems)


def overlap(wanted: str, found: str) -> float:
    """The share of the stems of one statement that another has."""
    own = stems(wanted)
    return len(own & stems(found)) / len(own) if own else 0.0


_STATES = re.compile(r"\b(?:should|is|are|do|does|can)\b", re.IGNORECASE)
_MOST_WORDS_OF_A_NAME = 4


def is_name(statement: str) -> bool:
    """Whether a statement is a noun phrase, such as "Gun control"."""
    return len(statement.split()) <= _MOST_WORDS_OF_A_NAME and not _STATES.search(statement)


def is_point(conclusion: str, title: str) -> bool:
    """Whether a conclusion is a point in a debate whose title states another resolution.

    On debatewise.org the stance of an argument is towards the title, and its text supports the
    point. A title that is a noun phrase states nothing.
    """
    plain, named = _letters(conclusion), _letters(title)
    differs = bool(plain) and bool(named) and plain not in named and named not in plain
    return differs and not is_name(title)


def _letters(statement: str) -> str:
    return " ".join(re.findall(r"\w+", statement.casefold()))
