"""Claims with a "not" put in or taken out, and the other side."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from recipe.denial import denials, denied  # noqa: E402
from recipe.examples import Example  # noqa: E402
from recipe.overlap import near_duplicates  # noqa: E402

DATA = Path(os.environ.get("SICETNON_DATA", ROOT.parent / "shared" / "data"))
needs_data = pytest.mark.skipif(not (DATA / "train").exists(), reason="needs SICETNON_DATA")


@pytest.mark.parametrize(
    ("claim", "denial"),
    [
        ("Salt is good for cooks", "Salt is not good for cooks"),
        ("Salt is not good for cooks", "Salt is good for cooks"),
        ("Salt isn't good for cooks", "Salt is good for cooks"),
        ("Salt doesn’t help any cook", None),
        ("Salt does not help the cook", "Salt does help the cook"),
        ("Cooks can do without a lid", None),
        ("Cooks can learn from salt", "Cooks cannot learn from salt"),
        ("Cooks cannot learn from salt", "Cooks can learn from salt"),
        ("Cooks won't learn from salt", "Cooks will learn from salt"),
        ("Salt should be banned by law.", "Salt should not be banned by law."),
    ],
)
def test_a_not_is_put_in_or_taken_out(claim: str, denial: str | None) -> None:
    assert denied(claim) == denial


@pytest.mark.parametrize(
    "claim",
    [
        "Salt is good",  # too short
        f"Salt is good for {'the ' * 13}cook",  # too long
        "Salt is good for cooks, pepper too",
        "Is salt good for cooks",
        "Cooks like salt and pepper",  # no auxiliary verb
        "Salt is good and pepper is bad",  # two of them
        "Salt has been good for cooks",
        "Salt may be good for cooks",
        "The will to cook matters here",
        "Free will is what cooks need",
        "Cooks know that salt is good",
        "All salt is good for cooks",
        "Salt is only good for cooks",
        "Salt is too good for cooks",
        "Salt is good if cooks agree",
        "No salt is good for cooks",
        "There is salt for the cooks",
        "Is salt not good for cooks?",
    ],
)
def test_what_a_not_may_leave_in_part_is_left_alone(claim: str) -> None:
    assert denied(claim) is None


def test_a_denial_takes_the_other_side_of_its_claim_and_group() -> None:
    claim = Example("stance", "perspectrum", "Salt is good for cooks", 0, "g", "Ban salt")
    (denial,) = denials([claim])
    assert denial == Example("stance", "denied", "Salt is not good for cooks", 1, "g", "Ban salt")


@pytest.mark.parametrize(
    "example",
    [
        Example("stance", "perspectrum", "Salt is good for cooks", 2, "g", "Ban salt"),
        Example("stance", "ibm", "Salt is good for cooks", 0, "g", "Ban salt"),
        Example("quality", "perspectrum", "Salt is good for cooks", 0, "g", "Ban salt"),
        Example("stance", "argkp", "Salt is good for cooks", 0, "g", "Ban salt", split="held-out"),
    ],
)
def test_only_claims_with_a_side_in_training_are_denied(example: Example) -> None:
    assert not list(denials([example]))


def test_a_claim_that_stands_beside_its_denial_is_not_denied_again() -> None:
    claim = Example("stance", "argkp", "Salt is good for cooks", 0, "g", "Ban salt")
    other = Example("stance", "argkp", "Salt is not good for cooks", 1, "g", "Ban salt")
    assert not list(denials([claim, other]))


@needs_data
def test_no_denial_nearly_says_what_a_held_out_text_says(all_examples: list[Example]) -> None:
    found = all_examples
    made = [each for each in found if each.dataset == "denied"]
    assert len(made) > 3000
    held = [each.text for each in found if each.split == "held-out"]
    assert not near_duplicates([each.text for each in made], held)
