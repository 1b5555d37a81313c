"""All examples, split into training, validation and held-out data."""

from __future__ import annotations

import hashlib
import random
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from recipe import more_sources, patterns, propositions, sources
from recipe.augmentation import facing
from recipe.denial import denials
from recipe.examples import Example
from recipe.overlap import near_duplicates
from recipe.read_sides import read_sides

_SEED = 4
PATTERNS = 12_000
"""The number of sentences that are made from patterns."""
PROPOSITIONS = 6_000
"""The number of conclusions that are made from templates."""

BY_FOLDS = (
    "compsent",
    "stackexchange",
    "webis",
    "conclusions",
    "more-conclusions",
    "reworded",
    "passages",
)
"""Data sets without a held-out part: each of five folds of their groups is left out once."""


def fold_of(group: str, folds: int) -> int:
    """The fold of a group, the same on every machine."""
    return int(hashlib.sha256(group.encode()).hexdigest(), 16) % folds


def examples(most_unlabelled: int) -> list[Example]:
    """All examples with their splits, without near duplicates of held-out texts."""
    found = without_overlap(list(_all(most_unlabelled)))
    rng = random.Random(_SEED)
    made: list[Example] = []
    for dataset in ("ibm", "perspectrum"):
        own = [e for e in found if (e.head, e.dataset, e.split) == ("stance", dataset, "train")]
        made += facing(own, rng)
    # a denial can say what a held-out text says
    held = [each for each in found if each.split == "held-out"]
    made += [e for e in without_overlap([*held, *denials(found)]) if e.dataset == "denied"]
    made += [e for e in without_overlap([*held, *read_sides(found)]) if e.split == "train"]
    return found + made


def without_topic_means(found: Sequence[Example]) -> list[Example]:
    """The examples, with equal mean quality for all topics in training.

    Otherwise the model memorises the means of the fifty topics, which mislead on other topics.
    """
    labels: dict[tuple[str, str], list[float]] = defaultdict(list)
    for each in found:
        if each.head == "quality":
            labels[each.dataset, each.group].append(each.label)
            labels[each.dataset, ""].append(each.label)
    means = {key: sum(values) / len(values) for key, values in labels.items()}
    return [
        replace(each, label=min(1.0, max(0.0, each.label + _shift(each, means))))
        if each.head == "quality" and each.split == "train"
        else each
        for each in found
    ]


def _shift(example: Example, means: dict[tuple[str, str], float]) -> float:
    return means[example.dataset, ""] - means[example.dataset, example.group]


def without_overlap(found: Sequence[Example]) -> list[Example]:
    """The examples without training texts that are near duplicates of held-out texts.

    Nor is a held-out text the topic of what is learnt.
    """
    held = [each.text for each in found if each.split == "held-out"]
    known = set(held)
    found = [each for each in found if each.split == "held-out" or each.context not in known]
    places = [place for place, each in enumerate(found) if each.split != "held-out"]
    labelled = [place for place in places if found[place].head != "embedding"]
    shared = near_duplicates([found[place].text for place in labelled], held)
    dropped = {labelled[place] for place in shared}
    return [each for place, each in enumerate(found) if place not in dropped]


def of_folds(
    found: Sequence[Example], left_out: Collection[int], folds: int, datasets: Sequence[str]
) -> list[Example]:
    """The examples with folds of some data sets held out."""
    return [
        replace(each, split="held-out")
        if each.dataset in datasets and fold_of(each.group, folds) in left_out
        else each
        for each in found
    ]


def _all(most_unlabelled: int) -> Iterator[Example]:
    known: set[tuple[str, str, str]] = set()
    for source in (
        sources.argument_quality_30k,
        sources.key_points,
        sources.perspectrum,
        sources.webis_quality,
        sources.convincingness,
        sources.essays,
        sources.web_discourse,
        sources.chatter,
        sources.comparative_sentences,
        sources.comparative_answers,
        more_sources.conclusions,
        more_sources.further_conclusions,
        more_sources.written_conclusions,
        more_sources.further_written_conclusions,
        more_sources.written_reasons,
        more_sources.reworded_conclusions,
        more_sources.reworded_written_conclusions,
        more_sources.further_stances,
        more_sources.further_arguments,
        more_sources.portal_arguments,
        more_sources.comparative_passages,
    ):
        for each in source():
            key = (each.head, each.text, each.context + each.first + each.second)
            if each.text and key not in known:
                known.add(key)
                yield each
    yield from patterns.comparisons(PATTERNS)
    yield from propositions.propositions(PROPOSITIONS)
    for text in sources.unlabelled(most_unlabelled):
        yield Example("embedding", "unlabelled", text, 0.0, text[:40])
