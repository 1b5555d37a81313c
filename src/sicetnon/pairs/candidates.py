"""Candidate sentences for pairs: those of the arguments found for a topic, as columns."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from sicetnon.arguments.side.lexicon import AGREES, SIDES, agreement
from sicetnon.arrays import Reals
from sicetnon.errors import BrokenIndexError
from sicetnon.index.reader import IndexReader
from sicetnon.pairs import sentence_strength
from sicetnon.records import ProcessedArgument, Ranking, Topic
from sicetnon.retrieval.postings import postings_of
from sicetnon.text.analysis import STOPPED
from sicetnon.text.words import join

_CONCLUSION, _PREMISE = "__CONC", "__PREMISE"

Bools = NDArray[np.bool_]
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Candidates:
    """Sentences, one per row; all arrays have shape (sentences,) unless said otherwise.

    Attributes:
        arguments: The place of its argument in the ranking, from 0.
        debates: The number of its debate: arguments with the same conclusion have the same.
        positions: Its position in the argument, from 0.
        fit: Whether it may be part of a result.
        relevance: The score of its argument, less that of the best one: 0 or below.
        coverage: The share of the question that it covers, from 0 to 1.
        strength: Its strength as an argument; 0 where it is not fit.
        salience: Its similarity to its whole argument, from 0 to 1.
        negated: Whether it holds an odd number of negations; false where it is not fit.
        premise_sides: The side of its premise towards the argument's conclusion: 1, -1 or 0.
        sides: The side of its argument towards the topic, likewise; 0 where unknown. For a
            conclusion: the side of the conclusion itself.
        terms: The distinct stems of all sentences, as (sentence, stem), sorted, shape (n, 2).
        weights: The weight of each stem, shape (stems,).
    """

    texts: list[str]
    ids: list[str]
    arguments: Numbers
    debates: Numbers
    positions: Numbers
    conclusions: Bools
    fit: Bools
    relevance: Reals
    coverage: Reals
    strength: Reals
    salience: Reals
    negated: Bools
    premise_sides: Numbers
    sides: Numbers
    terms: Numbers
    weights: Reals

    def __len__(self) -> int:
        return len(self.ids)

    def taken(self, places: Numbers) -> Candidates:
        """The sentences at the given places, in that order; no place may occur twice."""
        at = places.tolist()
        renumbered = np.full(len(self), -1, dtype=np.int64)
        renumbered[places] = np.arange(len(places))
        terms = np.stack([renumbered[self.terms[:, 0]], self.terms[:, 1]], axis=1)
        terms = terms[terms[:, 0] >= 0]
        columns = {
            column.name: getattr(self, column.name)[places]
            for column in fields(self)
            if column.name not in ("texts", "ids", "terms", "weights")
        }
        return replace(
            self,
            texts=[self.texts[place] for place in at],
            ids=[self.ids[place] for place in at],
            terms=terms[np.lexsort((terms[:, 1], terms[:, 0]))],
            **columns,
        )

    def cosines(self) -> NDArray[np.float32]:
        """The cosine of the weighted stems of each two sentences.

        Returns:
            Shape (sentences, sentences), 0 for a sentence without words. The diagonal is not used.
        """
        rows, stems = self.terms.T
        weights = self.weights[stems]
        lengths = np.sqrt(np.bincount(rows, weights=weights**2, minlength=len(self)))
        # a stem of one sentence alone adds to its length, but to no product
        shared = np.bincount(stems, minlength=len(self.weights))[stems] > 1
        _, columns = np.unique(stems[shared], return_inverse=True)
        vectors = np.zeros((len(self), columns.max(initial=-1) + 1), dtype=np.float32)
        vectors[rows[shared], columns] = (weights / lengths[rows])[shared]
        cosines: NDArray[np.float32] = vectors @ vectors.T
        return cosines


class CandidateReader:
    """Reads the sentences of the arguments that were found for a topic."""

    def __init__(self, index: IndexReader):
        if index.manifest.records != "processed":
            raise BrokenIndexError(
                f"{index.folder}: holds {index.manifest.records}, which have no sentences; index "
                "args_processed_04_01.csv"
            )
        self._index = index
        self._analyzer = index.analysis.analyzer()
        self._stems: dict[str, int] = {}
        self._stem_of_term = np.empty(0, dtype=np.int64)
        self._postings = postings_of(index, {})
        self._weights: dict[str, float] = {}

    def read(self, topic: Topic, ranking: Ranking) -> Candidates:
        """All sentences of the arguments of a ranking, argument by argument."""
        records = cast("list[ProcessedArgument]", self._index.records(ranking.ids))
        owners = np.repeat(np.arange(len(records)), [len(r.sentences) for r in records])
        rows = [(s, r) for r in records for s in r.sentences]
        texts = [" ".join(s.text.split()) for s, _ in rows]
        conclusions = np.array([is_conclusion(s.id, s.text, r) for s, r in rows], dtype=bool)
        fit, strength, negated = _judged(texts, conclusions)
        terms, weights = self._terms(texts)
        towards = [agreement(topic.title, r.argument.conclusion, self.weight) for r in records]
        premise_sides = np.array([SIDES[r.argument.stance] for r in records], dtype=np.int64)
        side_of_conclusion = np.array(towards, dtype=np.int64)[owners]
        sides = side_of_conclusion * np.where(conclusions, AGREES, premise_sides[owners])
        scores = ranking.scores - (ranking.scores[0] if len(ranking) else 0.0)
        return Candidates(
            texts=texts,
            ids=[s.id for s, _ in rows],
            arguments=owners,
            debates=_debates(records)[owners],
            positions=np.array([p for r in records for p in range(len(r.sentences))], dtype=int),
            conclusions=conclusions,
            fit=fit,
            relevance=scores[owners],
            coverage=self._coverage(topic, terms, len(texts)),
            strength=strength,
            salience=_salience(owners, terms, weights),
            negated=negated,
            premise_sides=premise_sides[owners],
            sides=sides,
            terms=terms,
            weights=weights,
        )

    def _terms(self, texts: list[str]) -> tuple[Numbers, Reals]:
        """The distinct stems of each text, shape (n, 2), and the weight of each stem.

        The weight is ln(1 + n/s), where s of the n texts hold the stem: most texts hold words of
        the topic, so that these say little about two of them.
        """
        words, ends = self._analyzer.word_numbers(*join(self._index.analysis.encode(texts)))
        owners = np.repeat(np.arange(len(texts)), np.diff(ends, prepend=0))
        terms = self._analyzer.term_of_word[words]
        owners, terms = owners[terms != STOPPED], terms[terms != STOPPED]
        self._number_stems()
        keys = np.unique(owners * len(self._stems) + self._stem_of_term[terms])
        pairs = np.stack(np.divmod(keys, max(len(self._stems), 1)), axis=1)
        having = np.bincount(pairs[:, 1], minlength=len(self._stems))
        return pairs, np.log1p(len(texts) / np.maximum(having, 1))

    def _number_stems(self) -> None:
        """Number the stems of all terms that are new to the analyzer since the last call."""
        new = self._analyzer.terms.words(len(self._stem_of_term))
        stems = self._analyzer.stem(new) if self._index.analysis.forms else new
        numbers = [self._stems.setdefault(stem, len(self._stems)) for stem in stems]
        self._stem_of_term = np.concatenate([self._stem_of_term, np.array(numbers, dtype=np.int64)])

    def _coverage(self, topic: Topic, terms: Numbers, count: int) -> Reals:
        """The share of the topic's stems, weighted by ln(1 + N/n), that each sentence holds."""
        worths: dict[int, float] = {}
        for term in dict.fromkeys(self._analyzer.terms_of(topic.title)):
            if worth := self.weight(term):
                worths[self._stem_number(term)] = worth
        by_stem = np.zeros(len(self._stems))
        by_stem[list(worths)] = list(worths.values())
        covered = np.bincount(terms[:, 0], weights=by_stem[terms[:, 1]], minlength=count)
        return covered / max(sum(worths.values()), 1e-9)

    def weight(self, term: str) -> float:
        """ln(1 + N/n), where n of N documents hold the term or another form of its stem."""
        if term not in self._weights:
            having = self._postings.read(term).documents
            documents = self._index.document_count
            self._weights[term] = math.log1p(documents / having) if having else 0.0
        return self._weights[term]

    def _stem_number(self, term: str) -> int:
        self._number_stems()
        stem = self._analyzer.stem([term])[0] if self._index.analysis.forms else term
        return self._stems.setdefault(stem, len(self._stems))


def _judged(texts: list[str], conclusions: Bools) -> tuple[Bools, Reals, Bools]:
    """Whether each sentence is fit, its strength, and whether it is negated; 0 where not fit."""
    fit, negated = np.zeros((2, len(texts)), dtype=bool)
    strength = np.zeros(len(texts))
    for place, (text, conclusion) in enumerate(zip(texts, conclusions.tolist(), strict=True)):
        if sentence_strength.is_candidate(text, conclusion):
            fit[place] = True
            strength[place] = sentence_strength.strength(text)
            negated[place] = sentence_strength.is_negated(text)
    return fit, strength, negated


def _debates(records: list[ProcessedArgument]) -> Numbers:
    numbers: dict[str, int] = {}
    conclusions = (" ".join(r.argument.conclusion.casefold().split()) for r in records)
    return np.array([numbers.setdefault(c, len(numbers)) for c in conclusions], dtype=np.int64)


def is_conclusion(identifier: str, text: str, record: ProcessedArgument) -> bool:
    """Whether a sentence of an argument is its conclusion."""
    if _CONCLUSION in identifier or _PREMISE in identifier:
        return _CONCLUSION in identifier
    return text.strip() == record.argument.conclusion.strip()


def _salience(owners: Numbers, terms: Numbers, weights: Reals) -> Reals:
    """The cosine of each text with all texts of its argument together."""
    squares = weights[terms[:, 1]] ** 2
    keys = owners[terms[:, 0]] * len(weights) + terms[:, 1]
    _, at, inverse, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    shared = np.bincount(terms[:, 0], weights=squares * counts[inverse], minlength=len(owners))
    own = np.bincount(terms[:, 0], weights=squares, minlength=len(owners))
    wholes = np.bincount(
        owners[terms[at, 0]], weights=squares[at] * counts**2, minlength=owners.max(initial=0) + 1
    )
    lengths = np.sqrt(own * wholes[owners])
    return np.where(lengths > 0, shared / np.where(lengths > 0, lengths, 1), 0.0)
