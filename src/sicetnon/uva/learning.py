"""Train the learned parts of the systems from files of judged texts; RankNet.

RankNet learns to rank from pairs, with one hidden layer of ten units. Burges et al., "Learning to
Rank using Gradient Descent", 2005, in the notation of Burges, "From RankNet to LambdaRank to
LambdaMART: An Overview", 2010, section 2. The layer and the number of epochs are those of RankLib.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sicetnon.arrays import Reals
from sicetnon.errors import DataError, UsageError, counted
from sicetnon.formats.argquality import JudgedArgument, read_quality
from sicetnon.formats.corpora import open_corpus
from sicetnon.formats.files import Reading
from sicetnon.formats.json_records import name_of
from sicetnon.records import said
from sicetnon.uva import text_models as uva
from sicetnon.uva.parameters import LearnedParameters, ModelCard, read_parameters
from sicetnon.uva.predictors import Perceptron, SupportVectors
from sicetnon.uva.text_models import Encoder, named_encoder

PairWeights: TypeAlias = Callable[[Reals, Reals], Reals]


@dataclass(frozen=True)
class TopicFeatures:
    """The arguments of one topic: features, shape (n, d), and labels, the higher the better."""

    features: Reals
    labels: Reals


@dataclass(frozen=True)
class Training:
    """Settings of the training of a network, by Adam (Kingma and Ba, 2015)."""

    hidden: int = 10
    epochs: int = 100
    rate: float = 0.003
    decay: float = 1e-4
    seed: int = 2020


def train_ranknet(
    topics: Sequence[TopicFeatures],
    training: Training | None = None,
    pair_weights: PairWeights | None = None,
) -> Perceptron:
    """Train a network to rank the arguments of each topic by their labels.

    It minimises Σ log(1 + exp(sⱼ - sᵢ)) over pairs of arguments where i is better than j.

    Args:
        topics: The arguments by topic.
        training: Settings of the training.
        pair_weights: The weight of each pair in the gradient, shape (n, n), from the scores and
            the labels of a topic; 1 throughout when left out.
    """
    training = training or Training()
    random = np.random.default_rng(training.seed)
    size = topics[0].features.shape[1]
    weights = [
        random.normal(0, 1 / np.sqrt(size), (size, training.hidden)),
        np.zeros(training.hidden),
        random.normal(0, 1 / np.sqrt(training.hidden), training.hidden),
    ]
    adam = _Adam(weights, training.rate, training.decay)
    for _ in range(training.epochs):
        for place in random.permutation(len(topics)):
            topic = topics[place]
            hidden = np.tanh(topic.features @ weights[0] + weights[1])
            slope = score_gradient(hidden @ weights[2], topic.labels, pair_weights)
            back = slope[:, None] * weights[2] * (1 - hidden**2)
            adam.step([topic.features.T @ back, back.sum(axis=0), hidden.T @ slope])
    return Perceptron(*weights)


def score_gradient(scores: Reals, labels: Reals, pair_weights: PairWeights | None = None) -> Reals:
    """∂cost/∂scores, by Burges (2010), equations 1 to 5, divided by the number of pairs."""
    is_better = (labels[:, None] > labels).astype(np.float64)
    slope: Reals = -is_better / (1 + np.exp(np.clip(scores[:, None] - scores, -50, 50)))
    if pair_weights is not None:
        slope = slope * pair_weights(scores, labels)
    gradient: Reals = (slope.sum(axis=1) - slope.sum(axis=0)) / max(float(is_better.sum()), 1.0)
    return gradient


class _Adam:
    """Kingma and Ba, 2015, algorithm 1, with decoupled weight decay (Loshchilov and Hutter)."""

    def __init__(self, weights: list[Reals], rate: float, decay: float):
        self._weights, self._rate, self._decay = weights, rate, decay
        self._first = [np.zeros_like(weight) for weight in weights]
        self._second = [np.zeros_like(weight) for weight in weights]
        self._steps = 0

    def step(self, gradients: Sequence[Reals]) -> None:
        self._steps += 1
        for weight, first, second, gradient in zip(
            self._weights, self._first, self._second, gradients, strict=True
        ):
            first += 0.1 * (gradient - first)
            second += 0.001 * (gradient**2 - second)
            mean = first / (1 - 0.9**self._steps)
            spread = np.sqrt(second / (1 - 0.999**self._steps)) + 1e-8
            weight -= self._rate * (mean / spread + self._decay * weight)


DEFAULT_ENCODER = "words-first"
SEED = 2020
_HELD_OUT = 10
_MOST_OF_A_CLASS = 3000
_WORDS_OF_A_TEXT = 512


def is_good_of(arguments: Sequence[JudgedArgument]) -> NDArray[np.bool_]:
    """The two classes of quality, shape (arguments,).

    Of Dagstuhl-15512, label 1 against 2 and 3 of overall quality, as in the paper. Of
    Webis-ArgQuality-20, whose scores are no labels, the better half.
    """
    combined = [a.scores["combined"] for a in arguments if "combined" in a.scores]
    middle = float(np.median(combined)) if combined else 0.0
    return np.array(
        [a.labels["overall"] > 1 if a.labels else a.scores["combined"] > middle for a in arguments],
        dtype=np.bool_,
    )


def grades_of(arguments: Sequence[JudgedArgument]) -> NDArray[np.float64]:
    """The grades for the ranker: the label less 1, or the quarter of the combined score, 0 to 3."""
    combined = np.array([a.scores["combined"] for a in arguments if "combined" in a.scores])
    quarters = np.quantile(combined, [0.25, 0.5, 0.75]) if len(combined) else np.zeros(3)
    return np.array(
        [
            a.labels["overall"] - 1
            if a.labels
            else np.searchsorted(quarters, a.scores["combined"], "right")
            for a in arguments
        ],
        dtype=np.float64,
    )


def by_topic(
    arguments: Sequence[JudgedArgument], features: NDArray[np.float64]
) -> list[TopicFeatures]:
    """Features and grades by topic, without topics where all grades are equal."""
    grades = grades_of(arguments)
    places: dict[str, list[int]] = defaultdict(list)
    for place, argument in enumerate(arguments):
        places[argument.topic].append(place)
    topics = [TopicFeatures(features[chosen], grades[chosen]) for chosen in places.values()]
    return [topic for topic in topics if len(set(topic.labels)) > 1]


def held_out(count: int, seed: int = SEED) -> NDArray[np.bool_]:
    """Whether each of some texts is among the tenth that is held out for testing."""
    chosen = np.zeros(count, dtype=np.bool_)
    chosen[np.random.default_rng(seed).permutation(count)[: max(count // _HELD_OUT, 1)]] = True
    return chosen


def classifier_accuracy(
    vectors: NDArray[np.float32], is_good: NDArray[np.bool_], is_test: NDArray[np.bool_]
) -> float:
    """Train a support vector machine, and give its accuracy on the held-out texts."""
    svm = SupportVectors.fit(vectors[~is_test], is_good[~is_test])
    return float(((svm.predict(vectors[is_test]) > 0) == is_good[is_test]).mean())


def train_quality(files: Sequence[str], encoder: Encoder) -> LearnedParameters:
    """The quality classifier from files of Dagstuhl-15512 or Webis-ArgQuality-20."""
    arguments = _read(files)
    vectors, is_good = encoder.encode([a.text for a in arguments]), is_good_of(arguments)
    _check_classes(is_good)
    accuracy = classifier_accuracy(vectors, is_good, held_out(len(arguments)))
    return _svm_parameters(
        uva.QUALITY,
        encoder,
        SupportVectors.fit(vectors, is_good),
        f"{counted(len(arguments), 'argument')} of {_names(files)}",
        files,
        {"accuracy on 10% held out": accuracy, "share of the better class": float(is_good.mean())},
    )


def train_ranker(files: Sequence[str], with_entities: bool) -> LearnedParameters:
    """The ranker, with features by the present quality classifier."""
    arguments, quality = _read(files), uva.TextClassifier.read(uva.QUALITY)
    texts = [argument.text for argument in arguments]
    vectors = quality.encoder.encode(texts)
    features = uva.strength_features(texts, vectors, quality, with_entities)
    topics = by_topic(arguments, features)
    if not topics:
        raise UsageError("the files hold no topic with arguments of different quality")
    arrays = train_ranknet(topics).arrays()
    arrays["has_entities"] = np.array([with_entities])
    card = ModelCard(
        uva.RANKER,
        quality.encoder.name,
        "perceptron",
        f"{counted(len(arguments), 'argument')} on {counted(len(topics), 'topic')} of "
        f"{_names(files)}",
        _command(uva.RANKER, files, None) + ("" if with_entities else " --no-entities"),
        notes="RankNet; benchmarks/effectiveness/uva.py prints its figures on topics that it has "
        "not seen",
    )
    return LearnedParameters(card, arrays)


def train_argumentativeness(
    arguments: Sequence[str], others: Sequence[str], encoder: Encoder
) -> LearnedParameters:
    """The classifier of argumentative pages, from texts of one corpus and of another.

    It draws at most 3,000 texts of each. It cuts arguments to lengths drawn from the other texts,
    so that the classifier does not learn length.
    """
    good, bad = _sample(arguments), _sample(others)
    lengths = np.random.default_rng(SEED).choice([len(text.split()) for text in bad], len(good))
    good = [" ".join(text.split()[:length]) for text, length in zip(good, lengths, strict=True)]
    vectors = encoder.encode(good + bad)
    is_good = np.arange(len(vectors)) < len(good)
    _check_classes(is_good)
    # the last fifth of each, not a random one: parts of one page or debate stand together
    is_test = np.concatenate([np.arange(n) >= n * 4 // 5 for n in (len(good), len(bad))])
    accuracy = classifier_accuracy(vectors, is_good, is_test)
    return _svm_parameters(
        uva.ARGUMENTATIVENESS,
        encoder,
        SupportVectors.fit(vectors, is_good),
        f"{counted(len(good), 'argument')} of {_names(arguments)}, "
        f"{counted(len(bad), 'text')} of {_names(others)}",
        [*arguments, "--others", *others],
        {"accuracy on the last fifth": accuracy},
    )


def train_part(
    part: str,
    files: Sequence[str],
    others: Sequence[str] = (),
    encoder: str | None = None,
    entities: bool = True,
) -> LearnedParameters:
    """Train one part of the systems.

    Args:
        part: `uva-quality`, `uva-ranker` or `uva-argumentativeness`.
        files: The training data.
        others: Texts that do not argue; for `uva-argumentativeness` alone.
        encoder: How texts become vectors; the ranker takes the quality classifier's.
        entities: Whether the ranker counts named entities.
    """
    if (part == uva.ARGUMENTATIVENESS) != bool(others):
        raise UsageError(f"--others goes with {uva.ARGUMENTATIVENESS}, which needs it")
    if part == uva.RANKER:
        name = read_parameters(uva.QUALITY).card.encoder
        if encoder not in (None, name):
            raise UsageError(f"{uva.QUALITY} was trained with {name}; train it again first")
        return train_ranker(files, entities)
    chosen = named_encoder(encoder or DEFAULT_ENCODER)
    if part == uva.QUALITY:
        return train_quality(files, chosen)
    return train_argumentativeness(files, others, chosen)


def _svm_parameters(
    name: str,
    encoder: Encoder,
    svm: SupportVectors,
    trained_on: str,
    files: Sequence[str],
    figures: Mapping[str, float],
) -> LearnedParameters:
    # half precision is enough for vectors of length 1, and half the size
    arrays = svm.arrays() | {"vectors": svm.vectors.astype(np.float16)}
    rounded = {key: round(value, 4) for key, value in figures.items()}
    line = _command(name, files, encoder.name)
    return LearnedParameters(
        ModelCard(name, encoder.name, "svm", trained_on, line, rounded), arrays
    )


def _read(files: Sequence[str]) -> list[JudgedArgument]:
    found = []
    for file in files:
        for argument in read_quality(file):
            if "overall" not in argument.labels and "combined" not in argument.scores:
                raise DataError(
                    f"argument {argument.id} has no label of overall quality; add it, or leave the "
                    "argument out",
                    file,
                )
            found.append(argument)
    return found


def _sample(sources: Sequence[str]) -> list[str]:
    corpus, reading = open_corpus(sources), Reading()
    texts = [said(record) for file in corpus.files for record in corpus.read(file, reading)]
    chosen = np.random.default_rng(SEED).permutation(len(texts))[:_MOST_OF_A_CLASS]
    words = (texts[place].split()[:_WORDS_OF_A_TEXT] for place in sorted(chosen.tolist()))
    return [" ".join(text) for text in words if text]


def _check_classes(is_good: NDArray[np.bool_]) -> None:
    if is_good.all() or not is_good.any():
        raise UsageError("all texts are of one class; a classifier needs two")


def _names(files: Sequence[str]) -> str:
    return ", ".join(map(_name, files))


def _name(file: str) -> str:
    """A file's name; of a task's input directory that of the task."""
    path = Path(file)
    return name_of(path.parent if path.name == "input" else path)


def _command(name: str, files: Sequence[str], encoder: str | None) -> str:
    words = ["sicetnon train", name, *(f if f.startswith("--") else _name(f) for f in files)]
    return " ".join(words + (["--encoder", encoder] if encoder else []))
