"""Baselines: the majority, the length, word counts, and embeddings of the original."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from recipe.examples import Example
from sicetnon.arguments.models.onnx_model import marked_text

Vectors = NDArray[np.float32]


def read(example: Example) -> str:
    """The text that the baselines read, with its objects replaced by marks."""
    if example.first:
        return marked_text(example.text, example.first, example.second)
    return example.text


def lengths(found: Sequence[Example]) -> NDArray[np.float64]:
    """The lengths [examples, 1] of the texts, as logarithms of words."""
    return np.log1p([[len(each.text.split())] for each in found])


@cache
def _original():  # type: ignore[no-untyped-def]
    from sentence_transformers import SentenceTransformer

    from recipe.network import original_folder

    return SentenceTransformer(str(original_folder()), device="cpu")


_known: dict[str, Vectors] = {}


def frozen(texts: Sequence[str]) -> Vectors:
    """The original's embeddings [texts, width]."""
    missing = sorted({text for text in texts if text not in _known})
    if missing:
        _known.update(zip(missing, _original().encode(missing), strict=True))
    return np.array([_known[text] for text in texts], dtype=np.float32)


def _frozen_features(found: Sequence[Example]) -> Vectors:
    own = frozen([read(each) for each in found])
    if not found[0].context:
        return own
    other = frozen([each.context for each in found])
    return np.hstack([own, other, own * other])


def _words(train: Sequence[Example], test: Sequence[Example]):  # type: ignore[no-untyped-def]
    from sklearn.feature_extraction.text import TfidfVectorizer

    counted = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True, token_pattern=r"\S+")
    texts = [[f"{read(e)} {e.context}" for e in part] for part in (train, test)]
    return counted.fit_transform(texts[0]), counted.transform(texts[1])


def regressions(train: Sequence[Example], test: Sequence[Example]) -> dict[str, Vectors]:
    """The predictions [test] of each baseline, for a number."""
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.linear_model import Ridge

    wanted = [each.label for each in train]
    of_words = _words(train, test)
    trees = HistGradientBoostingRegressor(max_iter=200, random_state=0)
    trees.fit(_frozen_features(train), wanted)
    return {
        "length": lengths(test)[:, 0],
        "words, linear": Ridge(alpha=3.0).fit(of_words[0], wanted).predict(of_words[1]),
        "frozen, boosted trees": trees.predict(_frozen_features(test)),
    }


def classifications(
    train: Sequence[Example], test: Sequence[Example]
) -> dict[str, NDArray[np.int64]]:
    """The predictions [test] of each baseline, for a class."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression

    wanted = np.array([int(each.label) for each in train])
    of_words = _words(train, test)
    trees = HistGradientBoostingClassifier(max_iter=100, random_state=0)
    trees.fit(_frozen_features(train), wanted)
    linear = LogisticRegression(max_iter=1000, class_weight="balanced")
    by_length = LogisticRegression(class_weight="balanced").fit(lengths(train), wanted)
    return {
        "majority": np.full(len(test), np.bincount(wanted).argmax()),
        "length": by_length.predict(lengths(test)),
        "words, linear": linear.fit(of_words[0], wanted).predict(of_words[1]),
        "frozen, boosted trees": trees.predict(_frozen_features(test)),
    }
