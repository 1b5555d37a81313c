"""Teaching: labels made by networks that learnt the same, for one that has to be small.

Each teacher learns from all groups but a fold of them, and says what it thinks of that fold: such
labels tell less of the judges' chance than theirs do (Hinton et al. 2015). Of texts that nobody
judged, the teachers' mean is learnt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from training import sources
from training.batches import tokens
from training.configuration import Configuration
from training.corpus import fold_of
from training.examples import Example
from training.fit import device, trained
from training.network import Network
from training.overlap import near_duplicates

SENTENCES = 14_000
_SHORT = ("perspectrum", "key-points", "ukp", "essays")
_TOGETHER = 64


def taught(
    found: Sequence[Example], settings: Configuration, stage: str, folder: Path
) -> list[Example]:
    """The examples, the qualities to learn halfway between the judges' and a teacher's.

    Others are added, of short texts without a judgment: the data set `unjudged`.

    Args:
        found: The examples.
        settings: The settings.
        stage: The stage that the teachers went through, one a fold.
        folder: Where the stages are.
    """
    teachers = [
        trained(settings, settings.stages[stage], folder / f"{stage}-{fold}").to(device())
        for fold in range(settings.folds)
    ]
    learnt = list(found)
    for fold, teacher in enumerate(teachers):
        places = [
            place
            for place, each in enumerate(found)
            if (each.head, each.dataset, each.split) == ("quality", "ibm", "train")
            and fold_of(each.group, settings.folds) == fold
        ]
        said = qualities(teacher, [found[place] for place in places], settings.length)
        for place, label in zip(places, said, strict=True):
            learnt[place] = replace(found[place], label=(found[place].label + float(label)) / 2)
    unjudged = [Example("quality", "unjudged", text, 0.0, text[:40]) for text in _unjudged(found)]
    means = np.mean([qualities(each, unjudged, settings.length) for each in teachers], axis=0)
    return learnt + [
        replace(each, label=float(mean)) for each, mean in zip(unjudged, means, strict=True)
    ]


def qualities(network: Network, found: Sequence[Example], length: int) -> NDArray[np.float32]:
    """What a network says of the quality of texts [texts], from 0 to 1."""
    order = sorted(range(len(found)), key=lambda place: len(found[place].text))
    answers = np.zeros(len(found), dtype=np.float32)
    own = next(network.parameters()).device
    for start in range(0, len(order), _TOGETHER):
        places = order[start : start + _TOGETHER]
        arrays = tokens([found[place] for place in places], length)
        arrays = {name: array.to(own) for name, array in arrays.items()}
        with torch.no_grad(), torch.autocast(own.type, torch.bfloat16):
            states = network.states(arrays)
        with torch.no_grad():
            logits = network.logits("quality", states.float(), arrays["attention_mask"])
        answers[places] = torch.sigmoid(logits[:, 0]).cpu().numpy()
    return answers


def _unjudged(found: Sequence[Example]) -> list[str]:
    """Short texts that are nearly none whose quality is held out."""
    texts = {each.text for each in found if each.split == "train" and each.dataset in _SHORT}
    texts |= set(sources.sentences(SENTENCES))
    ordered = sorted(texts)
    judged = [each.text for each in found if each.head == "quality" and each.split != "train"]
    dropped = near_duplicates(ordered, judged)
    return [text for place, text in enumerate(ordered) if place not in dropped]
