"""Make questions with conclusions from templates, labelled with the side of the conclusion.

Few labelled questions are posed negatively or name two objects, and how negations on both sides
combine is learnt late; templates show it plainly.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from recipe.examples import Example

_SEED = 7
_SHARE_OF_CHOICES = 0.35
_SHARE_OPEN = 0.3
PRO, CON, NONE = 0, 1, 2


def propositions(count: int) -> Iterator[Example]:
    """Labelled conclusions, the same in every run.

    Args:
        count: The number of conclusions.
    """
    rng = random.Random(_SEED)
    folder = Path(__file__).parent
    templates = yaml.safe_load((folder / "propositions.yaml").read_text(encoding="utf-8"))
    objects = yaml.safe_load((folder / "patterns.yaml").read_text(encoding="utf-8"))["objects"]
    for _ in range(count):
        if rng.random() < _SHARE_OF_CHOICES:
            question, text, label = _choice(templates["choices"], objects, rng)
        else:
            question, text, label = _demand(templates, rng)
        yield Example("stance", "propositions", text, label, "propositions", context=question)


def _demand(templates: Any, rng: random.Random) -> tuple[str, str, int]:
    (thing, verb), (other, other_verb) = rng.sample(templates["things"], 2)
    asked = rng.choice(["for", "against"])
    question = _filled(rng.choice(templates["questions"][asked]), thing, verb, other)
    if rng.random() < _SHARE_OPEN:
        if rng.random() < 0.5:  # it takes a side on another thing
            side = rng.choice(["for", "against"])
            text = rng.choice(templates["conclusions"][side])
            return question, _filled(text, other, other_verb, thing), NONE
        text = rng.choice(templates["conclusions"]["open"])
        return question, _filled(text, thing, verb, other), NONE
    side = rng.choice(["for", "against"])
    text = _filled(rng.choice(templates["conclusions"][side]), thing, verb, other)
    return question, text, PRO if side == asked else CON


def _choice(templates: Any, objects: Any, rng: random.Random) -> tuple[str, str, int]:
    (first, second), others = rng.sample(rng.choice(objects), 2), rng.choice(objects)
    question = rng.choice(templates["questions"])
    drawn = rng.random()
    if drawn < _SHARE_OPEN:
        text, label = rng.choice(templates["open"]), NONE
    elif drawn < _SHARE_OPEN + (1 - _SHARE_OPEN) / 2:
        text, label = rng.choice(templates["first"]), PRO
    else:
        text, label = _exchanged(rng.choice(templates["first"])), CON
    third, fourth = rng.sample(others, 2)
    if {third, fourth} & {first, second}:
        third, fourth = "a lake", "a river"
    names = {"a": first, "b": second, "c": third, "d": fourth}
    names |= {"A": _capital(first), "B": _capital(second)}
    return question.format(**names), text.format(**names), label


def _exchanged(template: str) -> str:
    """A template with its two objects exchanged."""
    names = {"{a}": "{b}", "{b}": "{a}", "{A}": "{B}", "{B}": "{A}"}
    return re.sub(r"\{[abAB]\}", lambda match: names[match[0]], template)


def _filled(template: str, thing: str, verb: str, other: str) -> str:
    return template.format(x=thing, X=_capital(thing), y=other, **{"is": verb}, Is=_capital(verb))


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
