"""Label examples by teachers: networks trained on the same tasks.

A network's labels hold less noise than those of judges (Hinton et al. 2015), provided that it was
not trained on the labelled texts. Teachers of quality are therefore trained on all folds of the
topics but one, and label that fold; texts without a judgment get the mean of the teachers. Stance
has one teacher, a larger network. Comparison has three, and a fold is labelled by the one that was
not trained on it as well.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from recipe import sources
from recipe.baselines import frozen
from recipe.batches import tokens
from recipe.checkpoints import check_ended
from recipe.configuration import Configuration, Stage
from recipe.corpus import fold_of, of_folds
from recipe.examples import EITHER_NEUTRAL_OR_NO, Example
from recipe.fit import device, trained
from recipe.nearby import nearby
from recipe.network import Network, marked
from recipe.overlap import near_duplicates
from recipe.rewording import reworded

Floats = NDArray[np.float32]
SENTENCES = 14_000
CLAIMS = 4
_SHORT = ("perspectrum", "key-points", "ukp", "essays")
_AT_ONCE = 64


@dataclass(frozen=True)
class Teacher:
    """A network that labels texts; its answers are kept beside its checkpoint.

    Attributes:
        folder: The folder of its checkpoint and its answers.
        load: Loads the network.
        length: Tokens of a text that it reads.
    """

    folder: Path
    load: Callable[[], Network]
    length: int

    def answers(self, found: Sequence[Example]) -> Floats:
        """The result of `answers`, from a file if the same texts were labelled before."""
        if not found:
            return np.zeros(0, dtype=np.float32)
        whole = [*found, *_swapped(found)]
        asked = [(each.head, each.text, each.context, each.first, each.second) for each in whole]
        digest = hashlib.sha256(json.dumps([self.length, asked]).encode()).hexdigest()
        path = self.folder / f"said-{digest[:16]}.npy"
        if not path.exists():
            said = answers(self.load(), found, self.length)
            part = path.with_suffix(".part.npy")
            np.save(part, said)
            part.replace(path)
        kept: Floats = np.load(path)
        return kept


class Teachers:
    """The teachers of a stage: one per fold that it leaves out, or one that leaves out none.

    Args:
        teachers: The teachers in the order of their folds.
    """

    def __init__(self, teachers: Sequence[Teacher]):
        self._teachers = teachers

    @classmethod
    def of_stage(
        cls, settings: Configuration, name: str, folder: Path, fold: int | None = None
    ) -> Teachers:
        """The final networks of a stage: of all folds, of one fold, or the only one."""
        stage = settings.stages[name]
        folds = range(settings.folds) if fold is None else [fold]
        names = dict.fromkeys(settings.folder_of(name, each) for each in folds)
        check_ended(folder / each for each in names)

        def teacher(own: Path) -> Teacher:
            return Teacher(own, lambda: trained(settings, stage, own).to(device()), settings.length)

        return cls([teacher(folder / each) for each in names])

    def on_their_folds(self, found: Sequence[Example]) -> list[Example]:
        """Texts with the mean of the judges' quality and that of the teacher without their group.

        There must be a teacher for every fold.
        """
        learnt = list(found)
        for fold, teacher in enumerate(self._teachers):
            places = [
                place
                for place, each in enumerate(found)
                if fold_of(each.group, len(self._teachers)) == fold
            ]
            own = [found[place] for place in places]
            said = teacher.answers(own)
            for place, each, quality in zip(places, own, said, strict=True):
                learnt[place] = replace(each, label=(each.label + float(quality)) / 2)
        return learnt

    def together(self, found: Sequence[Example]) -> list[Example]:
        """The examples, labelled by the mean of all teachers."""
        means = np.mean([each.answers(found) for each in self._teachers], axis=0)
        return [_labelled(each, mean) for each, mean in zip(found, means, strict=True)]


def taught(
    found: Sequence[Example],
    settings: Configuration,
    stage: Stage,
    folder: Path,
    fold: int | None = None,
) -> list[Example]:
    """The examples with labels of teachers, and labelled texts without judgments (`unjudged`).

    Args:
        found: The examples.
        settings: The settings.
        stage: The stage that learns from them, and names its teachers.
        folder: Where the stages are.
        fold: The fold that is left out, if any: only a teacher that left it out as well is asked.
    """
    learnt = list(found)
    for head, name in stage.teachers.items():
        teachers = Teachers.of_stage(settings, name, folder, fold)
        # teachers of comparison leave out several folds, or have seen what is learnt
        divided = settings.stages[name].folds_of if head == "quality" else ()
        mine = {
            id(each)
            for each in learnt
            if (each.head, each.split) == (head, "train") and each.dataset in divided
        }
        own = teachers.on_their_folds([each for each in learnt if id(each) in mine])
        learnt = [*(each for each in learnt if id(each) not in mine), *own]
        if "unjudged" in stage.shares[head]:
            learnt += teachers.together(list(_UNJUDGED[head](found)))
        if "nearby" in stage.shares[head]:
            learnt += _taught_nearby(found, settings, stage, folder, fold)
    return learnt


def _taught_nearby(
    found: Sequence[Example],
    settings: Configuration,
    stage: Stage,
    folder: Path,
    fold: int | None,
) -> list[Example]:
    """The data set `nearby`, labelled by the teacher that left out the same folds.

    Without a fold, each teacher labels what is near to the questions of its own folds, and a pair
    that several of them label has the mean of what they say.
    """
    said: dict[Example, list[Floats]] = defaultdict(list)
    left_out = (stage.left_out or [()]) if fold is None else [stage.left_out_with(fold)]
    for folds in left_out:
        asked = folds[0] if folds else None
        teachers = Teachers.of_stage(settings, stage.teachers["stance"], folder, asked)
        part = of_folds(found, folds, settings.folds, stage.folds_of)
        datasets = list(stage.shares["stance"])
        pairs = list(nearby(part, datasets, stage.nearest, stage.near_claims))
        for each, labelled in zip(pairs, teachers.together(pairs), strict=True):
            said[each].append(np.array(labelled.votes, np.float32))
    judged = {(e.context, e.text) for e in found if (e.head, e.split) == ("stance", "train")}
    return [
        _labelled(each, np.mean(votes, axis=0))
        for each, votes in said.items()
        if (each.context, each.text) not in judged
    ]


def answers(network: Network, found: Sequence[Example], length: int) -> Floats:
    """The labels of a network for texts: qualities [texts], or probabilities of classes.

    A comparison is read in both orders of its objects, as in the product.

    Args:
        network: The network.
        found: Examples of one head.
        length: How many tokens of a text are read.

    Returns:
        Qualities [texts], or the shares of stances [texts, 3] or of sides [texts, 4].
    """
    said = _read(network, found, length)
    if swapped := _swapped(found):
        turned = _read(network, swapped, length)[:, [1, 0, 2, 3]]
        said = ((said + turned) / 2).astype(np.float32)
    return said


def _swapped(found: Sequence[Example]) -> list[Example]:
    """Comparisons with their objects swapped."""
    comparisons = (each for each in found if each.head == "comparison")
    return [replace(each, first=each.second, second=each.first) for each in comparisons]


def _read(network: Network, found: Sequence[Example], length: int) -> Floats:
    order = sorted(range(len(found)), key=lambda place: len(found[place].text))
    head, own = found[0].head, next(network.parameters()).device
    parts = []
    for start in range(0, len(order), _AT_ONCE):
        asked = [found[place] for place in order[start : start + _AT_ONCE]]
        arrays = tokens(asked, length, pieces=network.pieces)
        arrays = {name: array.to(own) for name, array in arrays.items()}
        with torch.no_grad(), torch.autocast(own.type, torch.bfloat16):
            states = network.states(arrays)
        with torch.no_grad():
            places = arrays["attention_mask"], marked(arrays["input_ids"])
            logits = network.logits(head, states.float(), *places)
        one = logits.shape[1] == 1
        parts.append((logits[:, 0].sigmoid() if one else logits.softmax(-1)).cpu().numpy())
    found_in_order: Floats = np.concatenate(parts)[np.argsort(order)]
    return found_in_order


def _labelled(example: Example, said: Floats) -> Example:
    if example.head == "quality":
        return replace(example, label=float(said))
    if example.head == "comparison":
        # few texts tell NEUTRAL and NO apart
        said = np.append(said[:2], said[2:].sum())
    label = int(said.argmax())
    if example.head == "comparison" and label == len(said) - 1:
        label = EITHER_NEUTRAL_OR_NO
    return replace(example, label=float(label), votes=tuple(map(float, said)))


def _short_texts(found: Sequence[Example]) -> Iterator[Example]:
    """Short texts that are not near duplicates of texts in the figures of quality."""
    texts = {each.text for each in found if each.split == "train" and each.dataset in _SHORT}
    texts |= {text for _, text in sources.sentences(SENTENCES)}
    judged = [
        each.text
        for each in found
        if each.head == "quality" and (each.split != "train" or each.dataset == "webis")
    ]
    for text in _unlike(sorted(texts), judged):
        yield Example("quality", "unjudged", text, 0.0, text[:40])


def _sentences_and_perspectives(found: Sequence[Example]) -> Iterator[Example]:
    yield from _on_conclusions(found)
    yield from _on_claims_nearby(found)


def _on_conclusions(found: Sequence[Example]) -> Iterator[Example]:
    """Sentences of arguments with their conclusions, without near duplicates of held-out texts."""
    contexts = {text: conclusion for conclusion, text in sources.sentences(SENTENCES)}
    held = [each for each in found if each.head == "stance" and each.split != "train"]
    allowed = set(_unlike(sorted(set(contexts.values())), [each.context for each in held]))
    for text in _unlike(sorted(contexts), [each.text for each in held]):
        if contexts[text] in allowed:
            yield Example("stance", "unjudged", text, 0.0, text[:40], context=contexts[text])


def _on_claims_nearby(found: Sequence[Example]) -> Iterator[Example]:
    """Texts with the nearest claims that they were not judged on."""
    own = [e for e in found if (e.dataset, e.split) == ("perspectrum", "train")]
    claims = sorted({each.context for each in own})
    judged: dict[str, set[str]] = defaultdict(set)
    for each in own:
        judged[each.text].add(each.context)
    texts = sorted(judged)
    near = frozen(texts) @ frozen(claims).T
    for text, row in zip(texts, near, strict=True):
        ordered = (claims[place] for place in np.argsort(-row))
        others = (claim for claim in ordered if claim not in judged[text])
        for context in itertools.islice(others, CLAIMS):
            yield Example("stance", "unjudged", text, 0.0, text[:40], context=context)


def _reworded_sentences(found: Sequence[Example]) -> Iterator[Example]:
    """Reworded sentences on two objects; those of held-out sentences are held out."""
    return reworded([each for each in found if each.dataset == "compsent"])


def _unlike(texts: Sequence[str], held: Sequence[str]) -> list[str]:
    dropped = near_duplicates(texts, held)
    return [text for place, text in enumerate(texts) if place not in dropped]


_UNJUDGED: dict[str, Callable[[Sequence[Example]], Iterator[Example]]] = {
    "quality": _short_texts,
    "stance": _sentences_and_perspectives,
    "comparison": _reworded_sentences,
}
