"""The models of texts in the University of Amsterdam's systems (CLEF 2020).

`UvATask1LTR` labels the quality of an argument, then ranks by a network on the text's vector, the
label and two features of named entities. `UvATask2SVM` tells argumentative pages from others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import DataError
from sicetnon.uva import entities
from sicetnon.uva.parameters import LearnedParameters, read_parameters
from sicetnon.uva.predictors import Predictor, predictor_of
from sicetnon.uva.representation import Encoder, named_encoder

QUALITY, RANKER, ARGUMENTATIVENESS = "uva-quality", "uva-ranker", "uva-argumentativeness"


class TextClassifier:
    """A binary classifier of texts."""

    def __init__(self, predictor: Predictor, encoder: Encoder):
        self.predictor, self.encoder = predictor, encoder

    @classmethod
    def read(cls, name: str) -> TextClassifier:
        """The trained classifier of a name.

        Raises:
            UsageError: It is not trained.
            MissingExtraError: Its encoder is not installed.
        """
        parameters = read_parameters(name)
        return cls(predictor_of(parameters), named_encoder(parameters.card.encoder))

    def is_good(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """True for texts of the better class, shape (texts,)."""
        return self.of_vectors(self.encoder.encode(texts))

    def of_vectors(self, vectors: NDArray[Any]) -> NDArray[np.bool_]:
        """True for vectors of texts of the better class, shape (texts,)."""
        return self.predictor.predict(vectors) > 0


class StrengthRanker:
    """Scores the strength of arguments.

    Args:
        predictor: Scores rows of features.
        quality: Labels the quality of an argument; its encoder makes the vectors for both.
        has_entities: Whether the features include the two of named entities.
    """

    def __init__(self, predictor: Predictor, quality: TextClassifier, has_entities: bool):
        self.predictor, self.quality, self.has_entities = predictor, quality, has_entities

    @classmethod
    def read(cls) -> StrengthRanker:
        """The trained ranker with the trained classifier.

        Raises:
            UsageError: One of them is not trained.
            DataError: They were trained on vectors of different encoders.
            MissingExtraError: The encoder, or the finder of named entities, is not installed.
        """
        parameters, quality = read_parameters(RANKER), TextClassifier.read(QUALITY)
        if parameters.card.encoder != quality.encoder.name:
            raise DataError(
                f"{RANKER} was trained on vectors of {parameters.card.encoder}, {QUALITY} on those "
                f"of {quality.encoder.name}; train both with one --encoder"
            )
        return cls(predictor_of(parameters), quality, has_entities(parameters))

    def score(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """The strength of each text, shape (texts,)."""
        vectors = self.quality.encoder.encode(texts)
        return self.predictor.predict(
            strength_features(texts, vectors, self.quality, self.has_entities)
        )


def strength_features(
    texts: Sequence[str], vectors: NDArray[Any], quality: TextClassifier, with_entities: bool
) -> NDArray[np.float64]:
    """The features of the ranker: vector, quality label (0 or 1), and two of named entities.

    Returns:
        Shape (texts, dimensions + 1) or (texts, dimensions + 3).
    """
    labels = quality.of_vectors(vectors)[:, None].astype(np.float64)
    parts = [vectors.astype(np.float64), labels]
    if with_entities:
        parts.append(entities.entity_features(texts).astype(np.float64))
    return np.hstack(parts)


def has_entities(parameters: LearnedParameters) -> bool:
    """Whether the parameters of the ranker are for features with those of named entities."""
    return bool(parameters.arrays.get("has_entities", np.zeros(1))[0])


def says_forum_or_blog(url: str) -> bool:
    """UvATask2SVM's feature of the web domain: the address holds `forum` or `blog`."""
    return "forum" in url.lower() or "blog" in url.lower()
