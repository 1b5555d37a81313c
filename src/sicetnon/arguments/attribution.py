"""Whose view a sentence gives: the author's own, or one that the author reports or concedes.

A text that argues also says what others hold ("People keep saying that …"), what it grants before
it turns ("The abuses were real. But …"), and who its author is ("I have been a teacher for …").
Read alone, such a sentence misleads: it often speaks for the other side.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_SAYING = (
    r"(?:sa(?:y|ys|id|ying)|tell|tells|told|argu(?:e|es|ed|ing)|claim(?:s|ed|ing)?|think(?:s|ing)?"
    r"|thought|believ(?:e|es|ed|ing)|assert(?:s|ed)?|contend(?:s|ed)?|insist(?:s|ed)?"
    r"|object(?:s|ed)?|complain(?:s|ed)?|maintain(?:s|ed)?|suggest(?:s|ed)?|assum(?:e|es|ed)"
    r"|worr(?:y|ies)|fear(?:s|ed)?|describ(?:e|es)|treat(?:s)?|portray(?:s)?|call(?:s)?|promis(?:e|es|ed)|answer(?:s|ed)?|repl(?:y|ies|ied)|talk(?:s|ed)?)"
)
_OFTEN = r"(?:(?:often|always|sometimes|usually|also|might|may|could|would|will|keep|like to) )*"
_OTHERS = (
    r"(?:(?:some|many|most|other|certain|a lot of|lots of|several) )?(?:people|folks|critics"
    r"|opponents|proponents|supporters|advocates|defenders|sceptics|skeptics|enthusiasts|others"
    r"|those|politicians|anybody|everybody|everyone|somebody|someone)"
)
_REPORTS = re.compile(
    rf"^\W*(?:(?:and|but|so|well|first|second|finally|yes|now|of course),? )?(?:{_OTHERS}"
    rf"(?: (?:of|who|that|on|against|for|in) (?:\S+ ){{1,8}}?)?,? ?{_OFTEN}{_SAYING}\b"
    rf"|(?:some|many|most|few|they|you|pro|con|one|we are|(?:my|the) opponents?|the other side) "
    rf"{_OFTEN}{_SAYING}\b"
    rf"|(?:it is|it's|it has been) {_OFTEN}(?:commonly |widely |frequently )?"
    r"(?:said|argued|claimed|thought|believed|objected|suggested|assumed)\b"
    r"|(?:the|a|their|one) (?:\w+ )?(?:usual|common|standard|popular|typical|main|familiar|frequent"
    r"|obvious|other side's|first|second) "
    r"(?:\w+ )?(?:defen[cs]e|argument|objection|claim|answer|reply|view|worry|excuse|belief)s? "
    r"(?:of|for|against|is|are|was|goes|that)\b"
    r"|the (?:objection|argument|claim|idea|notion|belief|theory) (?:that|of|is)\b)"
    rf"|\b(?:according to|says|claims|argues) (?:my opponent|pro|con|the other side|critics)\b"
    rf"|\bmy opponent(?:['’]s)? (?:has |have )?(?:{_SAYING}|argument|claim|point|case|view)\b",
    re.IGNORECASE,
)
# a sentence that turns against what it reports or grants gives its author's view
_TURNS = re.compile(
    r"\b(?:but|however|yet|although|though|wrong|false|untrue|myth|nonsense|mistaken|fails?|ignores?"
    r"|forgets?|overlooks?|misses|mistakes?|misleading|ridiculous|absurd|contradict\w*|refut\w*"
    r"|(?:is|are)(?: simply| just)? not true|never comes)\b",
    re.IGNORECASE,
)
_CONCEDES = re.compile(
    r"^\W*(?:admittedly|granted|of course|to be fair|sure|certainly|undoubtedly|no doubt|yes|true"
    r")\b|\b(?:it is true that|i (?:do not|don['’]t) (?:dispute|deny|doubt)"
    r"|i (?:admit|concede|grant|agree)"
    r"|(?:is|are|was|were) (?:indeed )?(?:real|true|sensible|understandable), (?:and|i)\b)",
    re.IGNORECASE,
)
_REFUTES = re.compile(
    r"^\W*(?:but|however|yet|nevertheless|nonetheless|still,|in practice|on the contrary|nonsense"
    r"|no[,.!]|not so|wrong|untrue|false|really|in fact|in reality|actually"
    r"|(?:that|this|it)(?:['’]s| is| was| isn['’]t)(?: just| simply| \w+)? "
    r"(?:not (?:true|so|right|the case)|true|false|wrong|untrue|nonsense|a myth|a lie"
    r"|ridiculous|absurd|mistaken)"
    r"|what i (?:do )?(?:dispute|deny|doubt))\b",
    re.IGNORECASE,
)
_AUTHOR = re.compile(
    r"^\W*(?:full disclosure\b|i (?:have been|am an?|was an?|work(?:ed)?|grew up|live|teach|taught"
    r"|have worked|run"
    r"|used to|remember|went|started|want to tell)\b|i['’]m an?\b|(?:when|as) (?:i was )?an? "
    r"|my (?:\w+ )?(?:mother|father|mom|dad|sister|brother|cousin|son|daughter|grandmother"
    r"|grandfather|grandma|boss|friend|wife|husband|teacher) )",
    re.IGNORECASE,
)
# what was so once, and what the next sentence grants ("Those abuses were real")
_HISTORY = re.compile(
    r"\b(?:was|were) (?:\w+ )?(?:introduced|founded|invented|established|built|born)\b"
    r"|\bat a time when\b|\b(?:years|decades|centuries) ago\b",
    re.IGNORECASE,
)
_GRANTED = re.compile(
    r"^\W*(?:those|these|that|this|it)\b(?: \w+){0,2} (?:is|are|was|were|may be|might be) "
    r"(?:indeed |all |certainly )?(?:real|true|sensible|understandable|fair|a fair)\b",
    re.IGNORECASE,
)
_REPORTED, _CONCEDED, _REFUTED_NEXT, _OF_THE_AUTHOR, _PAST = 1.0, 0.6, 0.5, 0.7, 0.4


def doubts(sentences: Sequence[str]) -> list[float]:
    """The doubt that each sentence of a text gives its author's own reason, from 0 to 1."""
    following = [*sentences[1:], ""]
    return [_doubt(*pair) for pair in zip(sentences, following, strict=False)]


def _doubt(sentence: str, following: str) -> float:
    found = 0.0
    if not _TURNS.search(sentence):
        if _REPORTS.search(sentence):
            found = _REPORTED
        elif _CONCEDES.search(sentence):
            found = _CONCEDED
    if _REFUTES.match(following):
        found += _REFUTED_NEXT
    elif _GRANTED.match(following):
        found += _CONCEDED
    if _HISTORY.search(sentence):
        found += _PAST
    if _AUTHOR.match(sentence):
        found += _OF_THE_AUTHOR
    return min(found, 1.0)
