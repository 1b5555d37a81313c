"""The examples that the recipe learns from, read once."""

from __future__ import annotations

import pytest

from recipe.corpus import examples
from recipe.examples import Example


@pytest.fixture(scope="session")
def all_examples(data: object) -> list[Example]:
    """All examples of the real data; tests are skipped without it."""
    return examples(most_unlabelled=0)
