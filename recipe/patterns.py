"""Make sentences on two objects from patterns, labelled with the object that they favour.

Few labelled sentences favour the second object, and what tells the objects apart is learnt late;
patterns show it plainly.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from recipe.examples import Example

_SEED = 3
_SHARE_SIDED = 0.6


def comparisons(count: int) -> Iterator[Example]:
    """Labelled sentences on two objects, the same in every run.

    Args:
        count: The number of sentences.
    """
    rng = random.Random(_SEED)
    text = Path(__file__).with_name("patterns.yaml").read_text(encoding="utf-8")
    patterns: Any = yaml.safe_load(text)
    for _ in range(count):
        yield _sentence(patterns, rng)


def _sentence(patterns: Any, rng: random.Random) -> Example:
    kind = "sided" if rng.random() < _SHARE_SIDED else rng.choice(["even", "none"])
    pattern = rng.choice(patterns[kind])
    objects = rng.sample(rng.choice(patterns["objects"]), 2)
    favoured = rng.randrange(2)
    parts = {
        name: rng.choice(words)
        for name, words in patterns.items()
        if name not in ("objects", "sided", "even", "none", "before", "after")
    }
    parts["better2"], parts["other2"] = (
        rng.choice([word for word in patterns[name] if word != parts[name]])
        for name in ("better", "other")
    )
    if "?" not in pattern:
        pattern = rng.choice(patterns["before"]) + pattern + rng.choice(patterns["after"])
    text = pattern.format(a=objects[favoured], b=objects[1 - favoured], **parts)
    label = {"sided": favoured, "even": 2, "none": 3}[kind]
    return Example(
        "comparison", "patterns", text, label, "patterns", first=objects[0], second=objects[1]
    )
