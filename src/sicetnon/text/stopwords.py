"""Stop lists by name: words so frequent that they say no topic.

Words stand as the tokeniser makes them (`don't` is `dont`).
"""

from __future__ import annotations

import re

from sicetnon.errors import UsageError

_LUCENE = """
a an and are as at be but by for if in into is it no not of on or such that the their then there
these they this to was will with
"""

_SNOWBALL = """
i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her
hers herself it its itself they them their theirs themselves what which who whom this that these
those am is are was were be been being have has had having do does did doing would should could
ought im youre hes shes its were theyre ive youve weve theyve id youd hed shed wed theyd ill youll
hell shell well theyll isnt arent wasnt werent hasnt havent hadnt doesnt dont didnt wont wouldnt
shant shouldnt cant cannot couldnt mustnt lets thats whos whats heres theres whens wheres whys hows
a an the and but if or because as until while of at by for with about against between into through
during before after above below to from up down in out on off over under again further then once
here there when where why how all any both each few more most other some such no nor not only own
same so than too very
"""

STOP_LISTS: dict[str, frozenset[str]] = {
    "none": frozenset(),
    "lucene": frozenset(_LUCENE.split()),
    "snowball": frozenset(_SNOWBALL.split()),
}
"""`lucene` has the 33 words of Lucene's English default, `snowball` the Snowball project's list."""


def stop_list(name: str) -> frozenset[str]:
    """The stop list of a name.

    Raises:
        UsageError: There is none of this name.
    """
    if name not in STOP_LISTS:
        raise UsageError(f"unknown stop list {name!r}; choose one of {', '.join(STOP_LISTS)}")
    return STOP_LISTS[name]


def content_of(question: str) -> str:
    """The words of a question that say what it is about; the question if there are none."""
    common = stop_list("snowball")
    words = [word for word in re.findall(r"\w+", question) if word.lower() not in common]
    return " ".join(words) or question
