"""The examples that the recipe learns from, read once."""

from __future__ import annotations

import gc

import pytest

from recipe.corpus import examples
from recipe.examples import Example


@pytest.fixture(scope="session")
def all_examples(data: object) -> list[Example]:
    """All examples of the real data; tests are skipped without it."""
    # hundreds of thousands of objects that stay: the collector need not look at them again
    gc.disable()
    try:
        return examples(most_unlabelled=0)
    finally:
        gc.freeze()
        gc.enable()
