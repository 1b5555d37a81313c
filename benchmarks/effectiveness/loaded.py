"""The side of texts on claims in loaded words: "Don't you think that …?", "It is a myth that …".

    python -m benchmarks.effectiveness.loaded [--threads N]

Prints how often the network of short conclusions reads the side right of 350 texts on claims that
no training saw (Perspectrum, ArgKP-2021 and ArgQ-Rank-30k, at random): on the claim alone, on the
claim in other words as they stand, and on these words made plain by
`arguments.side.question_rewriting`. A second table has the right side of the arguments of the odd
topics under loaded questions of our own (`loaded-questions.tsv`, with 1 where who agrees says yes
to the topic), by the shipped weights, which these arguments took part in. Their labels were read by
a large language model.

Reads SICETNON_DATA (default: ../shared/data); takes three minutes of one core.
"""

from __future__ import annotations

import argparse
import csv
import random
import re
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from recipe.augmentation import question_of
from recipe.corpus import examples
from recipe.examples import Example
from recipe.side_labels import ODD, LabelledArgument, labelled_arguments
from recipe.sources import data_folder
from sicetnon.arguments.models.classifiers import ConclusionStance
from sicetnon.arguments.side.classifier import Side
from sicetnon.arguments.side.question_rewriting import Plain, plain
from sicetnon.formats.topics import read_topics

QUESTIONS = Path(__file__).with_name("loaded-questions.tsv")
SETS = ("perspectrum", "ibm", "argkp", "key-points")
PAIRS = 350
SIGNS = ("FOR", "AGAINST")
_MODAL = re.compile(r"^(.+?) (should|is|are|will|can) (?!not\b)(.+)$")
_NEGATED = {"can": "can't", "will": "won't"}
LEADS = {
    "Don't you think that …?": 1,
    "Wouldn't you agree that …?": 1,
    "Isn't it true that …?": 1,
    "Isn't it obvious that …?": 1,
    "Do you think that …?": 1,
    "Everyone knows that …": 1,
    "Whether …": 1,
    "It is a myth that …": -1,
    "It is wrong to believe that …": -1,
    "I doubt that …": -1,
    "It is not true that …": -1,
    "I don't think that …": -1,
}
"""Words around a claim, and whether who agrees with it agrees with them (1) or not (-1)."""

Worded = tuple[str, int] | None


def negated(verb: str) -> str:
    """The short negation of an auxiliary verb."""
    return _NEGATED.get(verb, f"{verb}n't")


def wordings() -> dict[str, Callable[[str], Worded]]:
    """Each wording by its name: from a claim, the words and their sign."""
    found: dict[str, Callable[[str], Worded]] = {
        "the claim": lambda claim: (claim, 1),
        "as a question": lambda claim: (question_of(claim) or claim, 1),
        "Isn't …?, Shouldn't …?": _expecting_yes,
        "…, isn't it?": _tagged,
        "… shouldnt …": _unmarked,
    }
    for lead, sign in LEADS.items():
        found[lead] = lambda claim, lead=lead, sign=sign: (lead.replace("…", _small(claim)), sign)  # type: ignore[misc]
    return found


def _expecting_yes(claim: str) -> Worded:
    verb, _, rest = (question_of(claim) or "").partition(" ")
    return (f"{negated(verb.lower()).capitalize()} {rest}", 1) if rest else None


def _tagged(claim: str) -> Worded:
    found = _MODAL.match(claim.rstrip(". "))
    if found is None:
        return None
    who = "we" if found[1] == "We" else "they" if found[2] == "are" else "it"
    return f"{found[0]}, {negated(found[2])} {who}?", 1


def _unmarked(claim: str) -> Worded:
    found = _MODAL.match(claim.rstrip(". "))
    if found is None:
        return None
    return f"{found[1]} {negated(found[2]).replace(chr(39), '')} {found[3]}", -1


def _small(claim: str) -> str:
    claim = claim.rstrip(". ")
    return claim if re.match(r"[A-Z]{2}|I\b", claim) else claim[:1].lower() + claim[1:]


def held_out() -> list[Example]:
    """Texts for or against claims that have a question's form too."""
    found = [
        each
        for each in examples(0)
        if each.head == "stance" and each.dataset in SETS and each.split == "held-out"
    ]
    sided = [each for each in found if each.label in (0, 1) and question_of(each.context)]
    return random.Random(5).sample(sided, PAIRS)


def right(
    model: ConclusionStance, pairs: list[Example], said: list[tuple[str, bool]]
) -> NDArray[np.bool_]:
    """Whether the side of each text is right on words that may be turned, shape (pairs,)."""
    read = model.probabilities([each.text for each in pairs], [words for words, _ in said])
    favours = (read[:, 0] > read[:, 1]) ^ np.array([turned for _, turned in said])
    found: NDArray[np.bool_] = favours == np.array([each.label == 0 for each in pairs])
    return found


def asked() -> list[tuple[LabelledArgument, str, bool]]:
    """The sided arguments of the odd topics, each loaded question, and whether FOR is a yes."""
    topics = read_topics(data_folder() / "touche-2020-task-1/input/topics.xml")
    titles = {topic.number: topic.title for topic in topics}
    with QUESTIONS.open(encoding="utf-8", newline="") as file:
        questions = list(csv.DictReader(file, delimiter="\t"))
    sided = [each for each in labelled_arguments() if each.set == ODD and each.side in SIGNS]
    return [
        (each, row["question"], row["agrees"] == "1")
        for row in questions
        for each in sided
        if each.question == titles[row["topic"]]
    ]


def right_sides(judge: Side, known: bool) -> float:
    """The share of arguments whose side is right on loaded questions.

    Args:
        judge: The judge.
        known: Whether the stances of the arguments are.
    """
    rows = asked()
    own = [each for each, _, _ in rows]
    found = judge.probabilities(
        [each.text for each in own],
        [question for _, question, _ in rows],
        [each.conclusion for each in own],
        [each.stance if known else None for each in own],
        [each.title for each in own],
        [each.resolution for each in own],
    )
    wanted = [(each.side == "FOR") == agrees for each, _, agrees in rows]
    return float(((found[:, 0] > found[:, 1]) == np.array(wanted)).mean())


def show_arguments(judge: Side) -> None:
    """Print the second table."""
    print("\n| arguments | as they stand | made plain |\n|---|---|---|")
    for name, known in (("all that is known", True), ("stances withheld", False)):
        # to read the words as they stand, nothing is made plain
        with mock.patch("sicetnon.arguments.side.classifier.plain", Plain):
            before = right_sides(judge, known)
        print(f"| {name} | {before:.3f} | {right_sides(judge, known):.3f} |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--threads", type=int)
    threads = parser.parse_args().threads
    model, pairs = ConclusionStance(threads=threads), held_out()
    print("| wording | pairs | as it stands | made plain | mended | broken |")
    print("|---|---|---|---|---|---|")
    for name, worded in wordings().items():
        rows = [(each, found) for each in pairs if (found := worded(each.context))]
        own = [each for each, _ in rows]
        meant = [plain(words) for _, (words, _) in rows]
        before = right(model, own, [(words, sign < 0) for _, (words, sign) in rows])
        after = right(
            model,
            own,
            [
                (made.text, made.turned ^ (sign < 0))
                for made, (_, (_, sign)) in zip(meant, rows, strict=True)
            ],
        )
        changes = f"{(after & ~before).sum()} | {(before & ~after).sum()}"
        print(f"| {name} | {len(own)} | {before.mean():.3f} | {after.mean():.3f} | {changes} |")
    show_arguments(Side(threads=threads))


if __name__ == "__main__":
    main()
