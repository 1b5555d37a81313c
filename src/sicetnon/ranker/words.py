"""Features of the words of a question in a text: coverage, proximity, density."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain

from sicetnon.index.reader import IndexReader
from sicetnon.retrieval.postings import postings_of
from sicetnon.text.analysis import Analyzer

_NARROW, _WIDE, _END = 15, 40, 50
_SMOOTHING_WORDS = 30


class QuestionWords:
    """The stems of a question with their weights, ln(1 + N/n) for n of N documents."""

    def __init__(self, index: IndexReader, question: str):
        self._analyzer: Analyzer = index.analysis.analyzer()
        postings = postings_of(index, {})
        self.weights: dict[str, float] = {}
        for term in dict.fromkeys(self._analyzer.terms_of(question)):
            having = postings.read(term).documents
            (stem,) = self._stems([term])
            self.weights[stem] = math.log1p(index.document_count / max(having, 1))
        self._total = sum(self.weights.values()) or 1.0

    def features(self, premises: Sequence[str]) -> list[dict[str, float]]:
        """The features of premises by name; `FEATURES` has their meaning."""
        return [self._features(*found) for found in self._question_stems(premises)]

    def _features(self, stems: Sequence[tuple[int, str]], count: int) -> dict[str, float]:
        ending = [(place, stem) for place, stem in stems if place >= count - _END]
        return {
            "proximity": self._proximity(stems, _WIDE),
            "close_proximity": self._proximity(stems, _NARROW),
            "closing_coverage": self._covered(ending),
            "density": 100 * len(stems) / (count + _SMOOTHING_WORDS),
        }

    def _question_stems(self, texts: Sequence[str]) -> list[tuple[list[tuple[int, str]], int]]:
        """The question's stems in each text with their places, and the number of its terms."""
        terms_of_each = self._analyzer.terms_of_each(texts)
        distinct = list(dict.fromkeys(chain.from_iterable(terms_of_each)))
        stems = zip(distinct, self._stems(distinct), strict=True)
        asked = {term: stem for term, stem in stems if stem in self.weights}
        return [
            (
                [(place, asked[term]) for place, term in enumerate(terms) if term in asked],
                len(terms),
            )
            for terms in terms_of_each
        ]

    def _stems(self, terms: Sequence[str]) -> Sequence[str]:
        return self._analyzer.stem(list(terms)) if self._analyzer.analysis.forms else terms

    def _covered(self, stems: Sequence[tuple[int, str]]) -> float:
        # in the order of the text: that of a set changes from process to process, and so would sums
        distinct = dict.fromkeys(stem for _, stem in stems)
        return sum(self.weights[stem] for stem in distinct) / self._total

    def _proximity(self, stems: Sequence[tuple[int, str]], size: int) -> float:
        """The greatest share of the question's weight that so many terms in a row cover."""
        best, covered, first = 0.0, 0.0, 0
        inside: Counter[str] = Counter()
        for place, stem in stems:
            covered += self.weights[stem] if not inside[stem] else 0.0
            inside[stem] += 1
            while stems[first][0] <= place - size:
                gone = stems[first][1]
                inside[gone] -= 1
                covered -= self.weights[gone] if not inside[gone] else 0.0
                first += 1
            best = max(best, covered)
        return best / self._total


def scaled(scores: Mapping[str, float], ids: Sequence[str]) -> list[float]:
    """Scores from 0, that of the worst, to 1, that of the best; 0 for ids without a score."""
    if not scores:
        return [0.0] * len(ids)
    low, high = min(scores.values()), max(scores.values())
    return [(scores.get(each, low) - low) / ((high - low) or 1.0) for each in ids]
