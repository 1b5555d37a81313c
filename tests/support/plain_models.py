"""Weighting models as their papers print them, and a search that looks at every document.

Nothing here is fast or shared with the package: it is what the package is compared with. The
notation is that of the papers: N documents, n of them with the term; the term occurs F times in
the collection of C terms and tf times in the document of dl terms; documents have avdl terms on
average.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import e, inf, log, log2, pi

import Stemmer


@dataclass(frozen=True)
class Numbers:
    """What a formula may use."""

    tf: float
    dl: float
    n: int
    F: float
    N: int
    C: float

    @property
    def avdl(self) -> float:
        return self.C / self.N


Formula = Callable[[Numbers], float]


def bm25(variant: str, k1: float, b: float, delta: float = 1.0) -> Formula:
    """Kamphuis, de Vries, Boytsov and Lin, ECIR 2020, table 1, from their sources.

    `robertson` is taken as Robertson and others wrote it in 1994, with k1 + 1 in the numerator
    and a floor under the weight of terms in most documents.
    """

    def score(x: Numbers) -> float:
        length = 1 - b + b * (x.dl / x.avdl)
        if variant == "lucene":
            return log(1 + (x.N - x.n + 0.5) / (x.n + 0.5)) * (x.tf / (x.tf + k1 * length))
        saturated = (k1 + 1) * x.tf / (k1 * length + x.tf)
        if variant == "robertson":
            return max(1e-6, log((x.N - x.n + 0.5) / (x.n + 0.5))) * saturated
        if variant == "atire":
            return log(x.N / x.n) * saturated
        assert variant == "plus"
        return log((x.N + 1) / x.n) * (saturated + delta)

    return score


def dirichlet(mu: float, floor: float = -inf) -> Formula:
    """Zhai and Lafferty, TOIS 2004: log of p_s(w|d) / (α_d p(w|C)), and log α_d once a term.

    p_s(w|d) = (c(w; d) + µ p(w|C)) / (|d| + µ), and α_d = µ / (|d| + µ).
    """

    def score(x: Numbers) -> float:
        background = x.F / x.C
        seen = (x.tf + mu * background) / (x.dl + mu)
        alpha = mu / (x.dl + mu)
        return max(floor, log(seen / (alpha * background)) + log(alpha))

    return score


def jelinek_mercer(lambda_: float) -> Formula:
    """Zhai and Lafferty, TOIS 2004: p_s(w|d) = (1 - λ) p_ml(w|d) + λ p(w|C), and α_d = λ.

    α_d is the same for all documents, so that |q| log α_d is left out of the score.
    """

    def score(x: Numbers) -> float:
        background = x.F / x.C
        seen = (1 - lambda_) * (x.tf / x.dl) + lambda_ * background
        return log(seen / (lambda_ * background))

    return score


def dph(x: Numbers) -> float:
    """Amati and others, TREC 2007 (and Terrier); 0, its limit, for nothing but the term."""
    f = x.tf / x.dl
    if f == 1:
        return 0.0
    norm = (1 - f) * (1 - f) / (x.tf + 1)
    rarity = x.tf * log2((x.tf * x.avdl / x.dl) * (x.N / x.F))
    return norm * (rarity + 0.5 * log2(2 * pi * x.tf * (1 - f)))


def dlh(x: Numbers) -> float:
    """Amati, ECIR 2006 (and Terrier), f kept below 1 by a billionth."""
    f = min(x.tf / x.dl, 1 - 1e-9)
    rarity = x.tf * log2((x.tf * x.avdl / x.dl) * (x.N / x.F)) + (x.dl - x.tf) * log2(1 - f)
    return (rarity + 0.5 * log2(2 * pi * x.tf * (1 - f))) / (x.tf + 0.5)


def pl2(c: float, log2_e: float = log2(e)) -> Formula:
    """Amati and van Rijsbergen, TOIS 2002: Poisson by Stirling, Laplace, normalisation 2."""

    def score(x: Numbers) -> float:
        tfn = x.tf * log2(1 + c * x.avdl / x.dl)
        mean = x.F / x.N
        information = tfn * log2(tfn / mean) + (mean - tfn) * log2_e + 0.5 * log2(2 * pi * tfn)
        return information / (tfn + 1)

    return score


def tf_idf(slope: float) -> Formula:
    """Singhal, 2001, table 1, pivoted; a weighted tf below 1 counts in proportion."""

    def score(x: Numbers) -> float:
        tf = 1 + log(1 + log(x.tf)) if x.tf >= 1 else x.tf
        return tf / ((1 - slope) + slope * x.dl / x.avdl) * log((x.N + 1) / x.n)

    return score


class PlainCollection:
    """Documents as lists of words by field, searched by looking at all of them.

    Args:
        documents: Field names with texts; words are divided by single spaces.
        deleted: Places of documents that are not there any more.
        fields: Field names with weights; all with weight 1 when empty.
        stemmed: Whether words with the same Porter2 stem are forms of each other.
        other_forms: What an occurrence of another form counts.
    """

    def __init__(
        self,
        documents: Sequence[Mapping[str, str]],
        deleted: Sequence[int] = (),
        fields: Mapping[str, float] | None = None,
        stemmed: bool = False,
        other_forms: float = 0.0,
    ):
        self._stem = cache(Stemmer.Stemmer("english").stemWord) if stemmed else str
        self._other_forms = other_forms
        self.weights = dict(fields or dict.fromkeys(documents[0], 1.0))
        self.documents = {
            place: {field: text.split() for field, text in texts.items()}
            for place, texts in enumerate(documents)
            if place not in deleted
        }
        self.N = len(self.documents)
        self.lengths = {
            place: sum(weight * len(texts[field]) for field, weight in self.weights.items())
            for place, texts in self.documents.items()
        }
        self.C = sum(self.lengths.values())

    def count(self, word: str, words: Sequence[str]) -> float:
        """How often a word occurs among others, its other forms counted by their weight."""
        own = words.count(word)
        alike = sum(self._stem(other) == self._stem(word) for other in words)
        return own + self._other_forms * (alike - own)

    def frequencies(self, word: str) -> dict[int, float]:
        """The weighted frequency of a word in each document that has it."""
        found = {
            place: sum(w * self.count(word, texts[field]) for field, w in self.weights.items())
            for place, texts in self.documents.items()
        }
        return {place: tf for place, tf in found.items() if tf > 0}

    def search(self, query: Mapping[str, float], formula: Formula) -> dict[int, float]:
        """The score of every document that has a word of a weighted query."""
        scores: dict[int, float] = {}
        for word, weight in query.items():
            tfs = self.frequencies(word)
            for place, tf in tfs.items():
                x = Numbers(tf, self.lengths[place], len(tfs), sum(tfs.values()), self.N, self.C)
                scores[place] = scores.get(place, 0.0) + weight * formula(x)
        return scores

    def likelihood(self, query: Mapping[str, float], mu: float) -> dict[int, float]:
        """Dirichlet smoothing with |q| log α_d for all words that the collection has (eq. 6)."""
        found = {word: weight for word, weight in query.items() if self.frequencies(word)}
        seen = self.search(found, lambda x: log(1 + x.tf / (mu * x.F / x.C)))
        size = sum(found.values())
        return {
            place: score + size * log(mu / (mu + self.lengths[place]))
            for place, score in seen.items()
        }

    def bm25f(
        self, query: Mapping[str, float], k1: float, b: Mapping[str, float]
    ) -> dict[int, float]:
        """Robertson and Zaragoza, 2009, equations 3.19 to 3.21, with Lucene's idf."""
        scores: dict[int, float] = {}
        used = [field for field, weight in self.weights.items() if weight]
        for word, query_weight in query.items():
            tf = {
                (place, field): self.count(word, texts[field])
                for place, texts in self.documents.items()
                for field in used
            }
            having = {place for (place, _), count in tf.items() if count}
            idf = log(1 + (self.N - len(having) + 0.5) / (len(having) + 0.5))
            for place in having:
                pseudo = sum(
                    self.weights[field] * tf[place, field] / self._length_norm(place, field, b)
                    for field in used
                    if tf[place, field]
                )
                gain = query_weight * pseudo / (k1 + pseudo) * idf
                scores[place] = scores.get(place, 0.0) + gain
        return scores

    def _length_norm(self, place: int, field: str, b: Mapping[str, float]) -> float:
        total = sum(len(texts[field]) for texts in self.documents.values())
        if not total:
            return 1.0
        share = len(self.documents[place][field]) / (total / self.N)
        return (1 - b[field]) + b[field] * share

    def coverage(self, query: Mapping[str, float], fields: Sequence[str]) -> dict[int, float]:
        """The share of a query's words, weighted by ln(1 + N/n), that some fields have."""
        worth = {}
        for word, weight in query.items():
            having = [p for p in self.documents if self._has(p, word, self.weights)]
            if having:
                worth[word] = weight * log(1 + self.N / len(having))
        return {
            place: sum(worth[word] for word in found) / sum(worth.values())
            for place in self.documents
            if (found := [word for word in worth if self._has(place, word, fields)])
        }

    def _has(self, place: int, word: str, fields: Sequence[str] | Mapping[str, float]) -> bool:
        texts = self.documents[place]
        return any(self.count(word, texts[field]) > 0 for field in fields)


def relevance_model(
    query: Mapping[str, float],
    documents: Sequence[Sequence[str]],
    scores: Sequence[float],
    terms: int,
    original: float,
) -> dict[str, float]:
    """RM3 (Abdul-Jaleel and others, TREC 2004): λ p(w|Q) + (1 - λ) p(w|R).

    p(w|R) is RM1's Σ p(D) p(w|D), p(D) in proportion to the scores, and cut off after the
    likeliest terms.
    """
    total = sum(scores)
    relevance = {
        word: sum(
            score / total * document.count(word) / len(document)
            for document, score in zip(documents, scores, strict=True)
        )
        for document in documents
        for word in document
        if len(word) > 1
    }
    kept = dict(sorted(relevance.items(), key=lambda item: (-item[1], item[0]))[:terms])
    return {
        word: original * query.get(word, 0.0) / sum(query.values())
        + (1 - original) * kept.get(word, 0.0) / sum(kept.values())
        for word in {*query, *kept}
    }


def bose_einstein(
    query: Mapping[str, float],
    documents: Sequence[Sequence[str]],
    occurrences: Callable[[str], float],
    collection: int,
    terms: int,
) -> dict[str, float]:
    """Bo1 (Amati, 2003): w(t) = tf_x log2((1 + P_n) / P_n) + log2(1 + P_n), P_n = F / N.

    The new query is qtf / max qtf + w / max w.
    """
    pool = [word for document in documents for word in document]
    weights = {}
    for word in set(pool):
        mean = occurrences(word) / collection
        weights[word] = pool.count(word) * log2((1 + mean) / mean) + log2(1 + mean)
    kept = dict(sorted(weights.items(), key=lambda item: (-item[1], item[0]))[:terms])
    return {
        word: query.get(word, 0.0) / max(query.values()) + kept.get(word, 0.0) / max(kept.values())
        for word in {*query, *kept}
    }
