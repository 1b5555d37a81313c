"""Classifiers of texts: quality, argumentativeness, stance and comparison, as arrays.

    >>> from sicetnon.arguments.models.classifiers import Stance
    >>> Stance().classify(["Uniforms hide who is poor."], "Should pupils wear uniforms?")

The argument `model` of every class is a folder with `model.json`, or the folder or name of a
Hugging Face classifier (extra `neural`); the shipped model when left out.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import ClassVar, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sicetnon.argument_checks import check_path
from sicetnon.arguments.models.model_files import ALONE, DESCRIPTION
from sicetnon.arguments.models.onnx_model import (
    DebateEncoder,
    debate_encoder,
    marked_objects,
    marked_text,
    unmarked,
)
from sicetnon.errors import UsageError, counted
from sicetnon.formats.json_records import valid_text

Floats: TypeAlias = NDArray[np.float32]
Model: TypeAlias = str | Path | None

TOPIC_STANCES = ("PRO", "CON", "NONE")
COMPARISONS = ("FIRST", "SECOND", "NEUTRAL", "NO")
_SWAPPED = [COMPARISONS.index(name) for name in ("SECOND", "FIRST", "NEUTRAL", "NO")]


class Reader(Protocol):
    """A model with one output."""

    def identity(self) -> str:
        """Name and version of the model, which no other model has."""

    def read(self, texts: Sequence[str], contexts: Sequence[str] | None = None) -> Floats:
        """The outputs, shape (texts,) or (texts, classes)."""


class _Own:
    """One output of a debate encoder."""

    def __init__(self, encoder: DebateEncoder, output: str):
        self.encoder, self._output = encoder, output

    def identity(self) -> str:
        return self.encoder.files.identity()

    def read(self, texts: Sequence[str], contexts: Sequence[str] | None = None) -> Floats:
        return self.encoder.answers(texts, contexts, [self._output])[self._output]


class _Classifier:
    """The model of a classifier.

    Args:
        model: The shipped model when left out; a folder, or the name of a Hugging Face classifier.
        threads: Processor cores to use at most; all when left out.

    Raises:
        DataError: The model is damaged.
        MissingExtraError: The libraries that run a Hugging Face classifier are not installed.
        UsageError: There is no such folder, or the model has other classes.
    """

    task: ClassVar[str]
    neural_task: ClassVar[str] = ""
    """The task of a Hugging Face classifier, where it is another one."""
    classes: ClassVar[tuple[str, ...]] = ()

    def __init__(self, model: Model = None, *, threads: int | None = None):
        folder = own_folder(model)
        self._is_own = model is None or folder is not None
        self._reader: Reader
        if self._is_own:
            encoder = debate_encoder(folder, threads)
            self._check(encoder)
            self._reader = _Own(encoder, self.task)
        else:
            from sicetnon.arguments.models.neural import NeuralClassifier

            self._reader = NeuralClassifier(str(model), self.neural_task or self.task, threads)

    def identity(self) -> str:
        """Name and version of the model, for files that must not mix models."""
        return self._reader.identity()

    def _check(self, encoder: DebateEncoder) -> None:
        found = encoder.classes.get(self.task, self.classes)
        if found != self.classes:
            raise UsageError(
                f"{encoder.files.folder / DESCRIPTION}: found the classes {', '.join(found)} for "
                f"{self.task}; expected {', '.join(self.classes)}"
            )

    def labels(self, probabilities: Floats) -> list[str]:
        """The most probable class of each row.

        Raises:
            UsageError: This is no array with a column for each class.
        """
        if np.shape(probabilities)[1:] != (len(self.classes),):
            raise UsageError(
                f"found {type(probabilities).__name__}; expected an array of shape "
                f"(texts, {len(self.classes)}) with a probability for each class"
            )
        return [self.classes[place] for place in probabilities.argmax(axis=1)]


class Quality(_Classifier):
    """The quality of arguments.

    A Hugging Face classifier with one output has its own scale; one with labels such as `high` and
    `low` gives the probability of the good labels.
    """

    task = "quality"

    def score(self, texts: Sequence[str]) -> Floats:
        """Quality from 0 to 1, shape (texts,)."""
        return self._reader.read(_plain(texts))


class Argumentativeness(_Classifier):
    """Whether a text argues at all."""

    task = "argumentativeness"

    def score(self, texts: Sequence[str]) -> Floats:
        """Probabilities, shape (texts,)."""
        return self._reader.read(_plain(texts))


class Stance(_Classifier):
    """The side of a text towards a topic or claim: `PRO`, `CON` or `NONE`."""

    task = "stance"
    classes = TOPIC_STANCES

    def probabilities(self, texts: Sequence[str], topics: Sequence[str] | str) -> Floats:
        """Probabilities of `classes`, shape (texts, 3).

        Args:
            texts: Any texts.
            topics: A topic, question or claim for each, or one for all.
        """
        plain = _plain(texts)
        return self._reader.read(plain, _plain(_each(topics, len(plain))))

    def classify(self, texts: Sequence[str], topics: Sequence[str] | str) -> list[str]:
        """The most probable class of each text."""
        return self.labels(self.probabilities(texts, topics))


class ConclusionStance(Stance):
    """The side of a short conclusion on a question: `PRO` answers yes, `CON` no, `NONE` neither.

    Unlike `Stance`, which reads arguments on a topic, it has learnt from conclusions as a search
    engine finds them: most of them share words with the question and take no side.
    """

    task = "side"
    neural_task = "stance"


class Comparison(_Classifier):
    """Which of two objects a text favours: `FIRST`, `SECOND`, `NEUTRAL`, or `NO` stance at all.

    Each text is read twice, the second time with the objects swapped, and the two outputs are
    averaged. So swapping the objects swaps the result exactly.
    """

    task = "comparison"
    classes = COMPARISONS

    def probabilities(
        self, texts: Sequence[str], firsts: Sequence[str] | str, seconds: Sequence[str] | str
    ) -> Floats:
        """Probabilities of `classes`, shape (texts, 4).

        Args:
            texts: Any texts.
            firsts: The name of an object for each text, or one for all.
            seconds: The name of the other.
        """
        texts = _list(texts)
        firsts, seconds = _each(firsts, len(texts)), _each(seconds, len(texts))
        triples = [*zip(texts, firsts, seconds, strict=True)]
        triples += [(text, second, first) for text, first, second in triples]
        pairs = [self._pair(*triple) for triple in triples]
        found = self._reader.read([text for text, _ in pairs], [context for _, context in pairs])
        as_given, swapped = found[: len(texts)], found[len(texts) :, _SWAPPED]
        return (as_given + swapped) / np.float32(2)

    def classify(
        self, texts: Sequence[str], firsts: Sequence[str] | str, seconds: Sequence[str] | str
    ) -> list[str]:
        """The most probable class of each text; `NEUTRAL` if both objects are equally probable."""
        return self.labels(self.probabilities(texts, firsts, seconds))

    def labels(self, probabilities: Floats) -> list[str]:
        """The most probable class of each row; `NEUTRAL` if both objects are equally probable."""
        labels = super().labels(probabilities)
        is_even = probabilities[:, 0] == probabilities[:, 1]
        return [
            "NEUTRAL" if even and label == "FIRST" else label
            for label, even in zip(labels, is_even, strict=True)
        ]

    def _pair(self, text: str, first: str, second: str) -> tuple[str, str]:
        if self._is_own:
            return marked_text(text, first, second), marked_objects(first, second)
        # other models do not know the marks
        return unmarked(text), f"{unmarked(first)} or {unmarked(second)}"


Classifier: TypeAlias = Quality | Argumentativeness | Stance | Comparison


class Embedding:
    """Embeddings: texts of similar meaning have similar vectors.

    Args:
        model: The shipped model when left out, or a folder of its kind.
        threads: Processor cores to use at most; all when left out.
    """

    def __init__(self, model: Model = None, *, threads: int | None = None):
        self._encoder = _own_encoder(model, threads, "embeddings")

    def identity(self) -> str:
        """Name and version of the model, which no other model has."""
        return self._encoder.files.identity()

    def load_ahead(self) -> None:
        """Begin to load the model beside other work."""
        self._encoder.load_ahead("embedding")

    @property
    def width(self) -> int:
        """Numbers of a vector."""
        return self._encoder.files.dimensions

    def fingerprint(self) -> str:
        """A name for the model and the libraries that decide each bit of the vectors.

        It reads no weights.
        """
        return self._encoder.files.fingerprint("embedding.onnx")

    def encode(self, texts: Sequence[str]) -> Floats:
        """Unit vectors, shape (texts, 384)."""
        return self._encoder.answers(_plain(texts), outputs=["embedding"])["embedding"]


def read_all(
    texts: Sequence[str], outputs: Sequence[str], model: Model = None, threads: int | None = None
) -> dict[str, Floats]:
    """Several outputs for the same texts, which are read once.

    Args:
        texts: Any texts.
        outputs: Any of `quality`, `argumentativeness` and `embedding`.
        model: The shipped model when left out, or a folder of its kind.
        threads: Processor cores to use at most; all when left out.

    Returns:
        An array for each output, as `Quality`, `Argumentativeness` and `Embedding` give it.
    """
    if unknown := sorted(set(outputs) - set(ALONE)):
        raise UsageError(f"unknown outputs {', '.join(unknown)}; choose of {', '.join(ALONE)}")
    encoder = _own_encoder(model, threads, "several outputs")
    return encoder.answers(_plain(texts), outputs=outputs)


def _own_encoder(model: Model, threads: int | None, wanted: str) -> DebateEncoder:
    """The encoder of a debate model, for what no other model has."""
    folder = own_folder(model)
    if model is not None and folder is None:
        raise UsageError(f"{model} has no {DESCRIPTION}; only a debate model has {wanted}")
    return debate_encoder(folder, threads)


def own_folder(model: Model) -> Path | None:
    """The folder of a debate model; None for the shipped one, and for Hugging Face classifiers.

    Raises:
        UsageError: The name is that of a folder, and there is no model in it.
    """
    if model is None:
        return None
    check_path(model, "the model")
    folder = Path(model).expanduser()
    if (folder / DESCRIPTION).exists():
        return folder
    if isinstance(model, Path) or _names_a_folder(str(model)):
        if not folder.is_dir():
            raise UsageError(f"{model}: there is no such folder; expected one with a model")
        if not (folder / "config.json").exists():
            raise UsageError(
                f"{model}: found neither {DESCRIPTION} nor config.json; expected a model's folder"
            )
    return None


def _names_a_folder(model: str) -> bool:
    """Whether a name is a folder's; names on the hub are `name` or `owner/name`."""
    return model.startswith((".", "~", os.sep)) or model.count("/") > 1 or Path(model).exists()


def _list(texts: Sequence[str]) -> list[str]:
    if isinstance(texts, str):
        raise UsageError("found one text; expected a list of texts")
    if not isinstance(texts, Collection):
        raise UsageError(f"found {type(texts).__name__}; expected a list of texts")
    return [_text(text) for text in texts]


def _plain(texts: Sequence[str]) -> list[str]:
    return [unmarked(text) for text in _list(texts)]


def _each(values: Sequence[str] | str, count: int) -> Sequence[str]:
    """One value per text, from as many values or from one for all."""
    if isinstance(values, str):
        return [_text(values)] * count
    if not isinstance(values, Collection):
        raise UsageError(f"found {type(values).__name__}; expected a list of texts")
    if len(values) != count:
        found = f"{counted(len(values), 'value')} for {counted(count, 'text')}"
        raise UsageError(f"found {found}; expected as many, or one")
    return [_text(value) for value in values]


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise UsageError(f"found {type(value).__name__} {value!r:.40}; expected a text")
    return valid_text(value)
