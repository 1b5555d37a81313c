"""The features of arguments that were found for a question: one table per ranking."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sicetnon.arguments.model.classifiers import Embedding
from sicetnon.index.reader import IndexReader
from sicetnon.ranker.form import form_features
from sicetnon.ranker.kept import Vector, kept_vectors
from sicetnon.ranker.words import QuestionWords, scaled
from sicetnon.records import Argument, Ranking, Record, Topic, unprocessed
from sicetnon.retrieval.scoring import FieldScore
from sicetnon.retrieval.searcher import LocalRetriever
from sicetnon.retrieval.weighting import BM25

Table = NDArray[np.float64]
DEPTH = 100
"""Number of the best arguments that have features."""
_DEBATE_DEPTH = 50
# embeddings of headings, for the process: 1.5 kB each
_KEPT: dict[str, Vector] = {}
_MOST_KEPT, _LONGEST_KEPT = 20_000, 300


class Feature(NamedTuple):
    """A feature: its name, its range and its meaning."""

    name: str
    low: float
    high: float
    meaning: str


FEATURES = (
    Feature("lexical", 0, 1, "score of the default system, 1 for the best of 100"),
    Feature("bm25", 0, 1, "score of BM25 (k1 = 3.2, b = 0.2) over all fields, likewise"),
    Feature("bm25_premise", 0, 1, "score of BM25 (k1 = 1.2, b = 0.75) over the premise, likewise"),
    Feature("similarity", -1, 1, "cosine of the question with conclusion or title, the greater"),
    Feature("debate", 0, 4, "ln(1 + n), n of the best 50 being of the same debate"),
    Feature("proximity", 0, 1, "greatest share of the question within 40 terms of the premise"),
    Feature("close_proximity", 0, 1, "the same within 15 terms"),
    Feature("closing_coverage", 0, 1, "share of the question that the last 50 terms cover"),
    Feature("density", 0, 100, "words of the question per hundred terms of the premise"),
    Feature("length", 0, 6, "ln(1 + words), of 400 words at most"),
    Feature("word_length", 0, 20, "letters per word"),
    Feature("numbers", 0, 12, "ln(1 + numbers in digits)"),
    Feature("links", 0, 10, "ln(1 + links)"),
    Feature("quotation", 0, 1, "share of the text between quotation marks"),
    Feature("debate_talk", 0, 100, "words that run a debate (rebuttal, vote Pro) per hundred"),
    Feature("housekeeping", 0, 4, "phrases such as 'I accept' or 'good luck' per hundred words"),
    Feature("second_person", 0, 100, "'you' and 'your' per hundred words"),
    Feature("first_person", 0, 100, "'I', 'me' and 'my' per hundred words"),
    Feature("claims", 0, 100, "phrases that claim ('I think', 'should') per hundred words"),
    Feature("questions", 0, 100, "question marks per hundred words"),
)
NAMES = tuple(feature.name for feature in FEATURES)


class FeatureReader:
    """Computes the features of rankings."""

    def __init__(self, index: IndexReader):
        self._index = index
        self._whole = LocalRetriever(index, [FieldScore(BM25(3.2, 0.2))])
        self._premise = LocalRetriever(index, [FieldScore(BM25(1.2, 0.75), {"premise": 1.0})])

    def load_ahead(self) -> None:
        """Begin to load the model, beside the search for what has features."""
        Embedding().load_ahead()

    def read(self, topic: Topic, ranking: Ranking, records: Sequence[Record]) -> Table:
        """The features of arguments, shape (arguments, features), columns as in `FEATURES`."""
        arguments = [_argument(record) for record in records]
        words = QuestionWords(self._index, topic.title)
        premises = [each.premise for each in arguments]
        found = [
            form_features(premise) | own
            for premise, own in zip(premises, words.features(premises), strict=True)
        ]
        columns: dict[str, Sequence[float]] = {
            "lexical": scaled(dict(ranking.best(DEPTH)), ranking.ids),
            "bm25": self._scaled(self._whole, topic, ranking),
            "bm25_premise": self._scaled(self._premise, topic, ranking),
            "similarity": self._similarity(topic.title, arguments),
            "debate": _debates(arguments),
        }
        for name, values in columns.items():
            for row, value in zip(found, values, strict=True):
                row[name] = value
        return np.array([[row[name] for name in NAMES] for row in found]).reshape(-1, len(NAMES))

    def _scaled(self, retriever: LocalRetriever, topic: Topic, ranking: Ranking) -> list[float]:
        return scaled(dict(retriever.retrieve([topic], DEPTH)[0]), ranking.ids)

    def _similarity(self, question: str, arguments: Sequence[Argument]) -> list[float]:
        headings = [_headings(each) for each in arguments]
        vectors = _embeddings(question, [text for pair in headings for text in pair])
        asked = vectors[question]
        return [max(float(vectors[text] @ asked) for text in pair) for pair in headings]


def _embeddings(question: str, headings: Sequence[str]) -> Mapping[str, Vector]:
    """The embeddings of a question and of headings.

    Both are kept for the process, since they recur, and those of headings for others.
    """
    wanted = dict.fromkeys((question, *headings))
    known = {text: _KEPT[text] for text in wanted if text in _KEPT}
    if len(known) == len(wanted):
        return known
    model = Embedding()
    others = kept_vectors(model.fingerprint(), model.width)
    found: dict[str, Vector] = {}
    if question not in known:
        (found[question],) = model.encode([question])
    new = [text for text in wanted if text not in known and text not in found]
    if others:
        found |= others.read(new)
    if unread := [text for text in new if text not in found]:
        made = dict(zip(unread, model.encode(unread), strict=True))
        found |= made
        if others:
            others.keep({text: made[text] for text in unread if len(text) <= _LONGEST_KEPT})
    if len(_KEPT) + len(found) <= _MOST_KEPT:
        _KEPT.update({text: each for text, each in found.items() if len(text) <= _LONGEST_KEPT})
    return known | found


def _argument(record: Record) -> Argument:
    argument = unprocessed(record)
    assert isinstance(argument, Argument)
    return argument


def _headings(argument: Argument) -> tuple[str, str]:
    """Conclusion and title; one stands for the other where it is missing."""
    return argument.conclusion or argument.title, argument.title or argument.conclusion


def _debates(arguments: Sequence[Argument]) -> list[float]:
    names = [argument.title or argument.conclusion for argument in arguments]
    counts = Counter(names[:_DEBATE_DEPTH])
    return [math.log1p(counts[name]) for name in names]
