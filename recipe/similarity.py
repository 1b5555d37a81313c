"""Compare the embedding with the original's: similarities, and retrieval."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recipe import baselines, sources
from recipe.figures import Line
from recipe.measures import interval, spearman
from sicetnon.arguments.models.classifiers import Embedding
from sicetnon.evaluation import evaluate
from sicetnon.formats.topics import read_topics
from sicetnon.records import RunLine, Topic

_PAIRS = 10_000


def similarity_lines(model: Path | None) -> Iterator[Line]:
    """Spearman's correlation of the similarities of real pairs with the original's.

    Half of the pairs are a conclusion with its premise, half two conclusions.
    """
    arguments = _arguments()
    rng = random.Random(20)
    drawn = rng.sample(arguments, min(_PAIRS // 2, len(arguments)))
    pairs = [(title, text) for _, title, text in drawn]
    titles = [title for title, _ in pairs]
    pairs += list(zip(titles, rng.sample(titles, len(titles)), strict=True))
    texts = sorted({text for pair in pairs for text in pair})
    places = {text: place for place, text in enumerate(texts)}
    left = [places[first] for first, _ in pairs]
    right = [places[second] for _, second in pairs]
    own, original = Embedding(model=model).encode(texts), baselines.frozen(texts)
    values = [(vectors[left] * vectors[right]).sum(1) for vectors in (own, original)]
    found = interval(spearman, *values)
    yield Line("pairs of args.me", "this model", "Spearman with the original", *found, len(pairs))


def retrieval_lines(model: Path | None) -> Iterator[Line]:
    """Condensed nDCG@5 of ranking the judged arguments by similarity, odd topics of 2020."""
    task = sources.data_folder() / "topics/touche-2020-task-1.xml"
    topics = [topic for topic in read_topics(task) if int(topic.number) % 2]
    questions = [topic.title for topic in topics]
    qrels = sources.data_folder() / "qrels/touche-2020-task-1-relevance.held-text.odd-topics.qrels"
    judged = {line.split()[2] for line in qrels.read_text(encoding="utf-8").splitlines()}
    arguments = [each for each in _arguments() if each[0] in judged]
    texts = [f"{title}. {text}" for _, title, text in arguments]
    embedding = Embedding(model=model)
    runs = {
        "original": _run(topics, baselines.frozen(questions), baselines.frozen(texts), arguments),
        "this model": _run(topics, embedding.encode(questions), embedding.encode(texts), arguments),
    }
    for score in evaluate(runs, qrels, "nDCG@5", rule="condensed"):
        bounds = score.mean, score.low, score.high
        yield Line("retrieval, odd topics", score.run, "condensed nDCG@5", *bounds, len(topics))


def _run(
    topics: list[Topic],
    questions: NDArray[np.float32],
    vectors: NDArray[np.float32],
    arguments: list[tuple[str, str, str]],
) -> list[RunLine]:
    lines = []
    for topic, similarities in zip(topics, questions @ vectors.T, strict=True):
        best = np.argsort(-similarities, kind="stable")[:100]
        for rank, place in enumerate(best, 1):
            score = float(similarities[place])
            lines.append(
                RunLine(topic.number, "Q0", arguments[place][0], rank, score, "similarity")
            )
    return lines


def _arguments() -> list[tuple[str, str, str]]:
    """Identifier, conclusion and premises of all available arguments."""
    found = []
    for path in sorted((sources.data_folder() / "touche-2020-task-1/input").glob("*.json")):
        for argument in json.loads(path.read_text(encoding="utf-8"))["arguments"]:
            text = " ".join(premise["text"] for premise in argument["premises"])
            if text.strip() and argument["conclusion"].strip():
                found.append((argument["id"], argument["conclusion"], text))
    return found
