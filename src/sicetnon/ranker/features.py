"""The features of arguments that were retrieved for a question: one table per ranking.

Features come from the form of a text, from the words of the question in it, and from scores and
embeddings.

Embeddings of headings are cached in a file of the cache folder. A new process would embed the
headings of a hundred arguments for its first question, which takes longer than all else that it
does. An index holds more headings than its users ever meet, so they are cached when they are first
needed, not when an index is built. The file is a table of records in buckets. The digest of a
heading says which bucket may hold its record. A record has a checksum: one that is half written, or
damaged, is none. So programs share the file without locks, and a full bucket forgets.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import re
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sicetnon._version import VERSION
from sicetnon.arguments.argumentativeness import CUES
from sicetnon.arguments.models.classifiers import Embedding
from sicetnon.arguments.text_quality import housekeeping
from sicetnon.errors import SicetnonError
from sicetnon.index.reader import IndexReader
from sicetnon.operating_system import cache_folder, check_plain, processor_name
from sicetnon.records import Argument, Ranking, Record, Topic, unprocessed
from sicetnon.retrieval.postings import postings_of
from sicetnon.retrieval.scoring import FieldScore
from sicetnon.retrieval.searcher import LocalRetriever
from sicetnon.retrieval.weighting import BM25
from sicetnon.text.analysis import Analyzer

_ENOUGH_WORDS = 400
_SMOOTHING_WORDS = 50
_LINK = re.compile(r"https?:|www\.")
_NUMBER = re.compile(r"\d+")
_QUOTATION = re.compile(r'"[^"\n]{20,2000}"|“[^”]{20,2000}”')
# in small letters: to look for them in any case takes three times as long
_DEBATE = re.compile(
    r"\b(?:vote (?:pro|con|for)|rebuttal|round \w+|opponent|resolution|refut\w+|dropped|extend\w*"
    r"|forfeit\w*|debate|con's|pro's|voters?|judges?|sources?)\b"
)
_YOU = re.compile(r"\byou(?:r|rs|'re)?\b")
_I = re.compile(r"\b(?:i|my|me)\b")
_CLAIM = re.compile(CUES["claims"].pattern)


def text_features(text: str) -> dict[str, float]:
    """The features of a text's form by name; `FEATURES` has their meaning.

    What is counted per hundred words has fifty words added to the length, so that one phrase does
    not dominate a short text.
    """
    words, small = text.split(), text.lower()
    count = len(words)

    def density(number: int) -> float:
        return 100 * number / (count + _SMOOTHING_WORDS)

    return {
        "length": math.log1p(min(count, _ENOUGH_WORDS)),
        "word_length": min(sum(map(len, words)) / max(count, 1), 20.0),
        "numbers": math.log1p(len(_NUMBER.findall(text))),
        "links": math.log1p(len(_LINK.findall(text))),
        "quotation": sum(len(part) for part in _QUOTATION.findall(text)) / max(len(text), 1),
        "debate_talk": density(len(_DEBATE.findall(small))),
        "housekeeping": housekeeping(text),
        "second_person": density(len(_YOU.findall(small))),
        "first_person": density(len(_I.findall(small))),
        "claims": density(len(_CLAIM.findall(small))),
        "questions": density(text.count("?")),
    }


_NARROW, _WIDE, _END = 15, 40, 50
_QUESTION_SMOOTHING = 30


class QueryFeatures:
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
            "density": 100 * len(stems) / (count + _QUESTION_SMOOTHING),
        }

    def _question_stems(self, texts: Sequence[str]) -> list[tuple[list[tuple[int, str]], int]]:
        """The question's stems in each text with their places, and the number of its terms."""
        terms_of_each = self._analyzer.terms_of_each(texts)
        distinct = list(dict.fromkeys(chain.from_iterable(terms_of_each)))
        stems = zip(distinct, self._stems(distinct), strict=True)
        in_query = {term: stem for term, stem in stems if stem in self.weights}
        return [
            (
                [(place, in_query[term]) for place, term in enumerate(terms) if term in in_query],
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


Vector = NDArray[np.float32]
FOLDER = "headings"
_DIGEST, _CHECKSUM = 16, 4
_RECORDS = 4  # of a bucket
_UNUSED_SECONDS = 90 * 24 * 3600
_TYPE = np.dtype("<f4")


def vector_cache(fingerprint: str, width: int) -> VectorCache | None:
    """The vectors in the cache folder, or None if it is not usable.

    Args:
        fingerprint: Model and libraries. The version of this package and the processor are added:
            others may round other bits.
        width: Numbers of a vector.
    """
    of_whom = f"{VERSION} {np.__version__} {processor_name()} {fingerprint}"
    name = hashlib.blake2b(of_whom.encode(), digest_size=_DIGEST).hexdigest()
    with contextlib.suppress(OSError, SicetnonError):
        path = cache_folder() / FOLDER / name
        path.parent.mkdir(mode=0o700, exist_ok=True)
        check_plain(path)
        if not path.exists():
            _remove_old(path.parent)
        return VectorCache(path, width)
    return None


def _remove_old(folder: Path) -> None:
    """Remove the files of other versions that nobody has changed for long."""
    oldest = time.time() - _UNUSED_SECONDS
    for other in folder.iterdir():
        if other.stat().st_mtime < oldest:
            other.unlink(missing_ok=True)


class VectorCache:
    """Vectors of texts in a file, which never grows beyond a size.

    Where the file cannot be read or written, there are none.

    Args:
        path: The file, made when vectors are first written.
        width: Numbers of a vector.
        buckets: Number of buckets, with four records each; 25 MB with vectors of 384 numbers.
    """

    def __init__(self, path: Path, width: int, buckets: int = 1 << 12):
        self._path, self._buckets = path, buckets
        self._size = _DIGEST + _TYPE.itemsize * width + _CHECKSUM

    def read(self, texts: Sequence[str]) -> dict[str, Vector]:
        """The cached vectors of texts."""
        found = {}
        with contextlib.suppress(OSError), self._path.open("rb", buffering=0) as file:
            for text in texts:
                digest = _digest(text)
                for record in self._bucket(file, digest):
                    if record[:_DIGEST] == digest and _is_sound_record(record):
                        numbers = np.frombuffer(record[_DIGEST:-_CHECKSUM], _TYPE)
                        found[text] = numbers.astype(np.float32)
        return found

    def store(self, vectors: Mapping[str, Vector]) -> None:
        """Write the vectors of texts."""
        with contextlib.suppress(OSError), self._opened() as file:
            for text, vector in vectors.items():
                digest = _digest(text)
                known = list(self._bucket(file, digest))
                free = (at for at, each in enumerate(known) if not _is_sound_record(each))
                # other bits of the digest than those that name the bucket
                place = next(free, digest[-1] % _RECORDS)
                content = digest + vector.astype(_TYPE).tobytes()
                record = content + zlib.crc32(content).to_bytes(_CHECKSUM, "little")
                file.seek(self._start(digest) + place * self._size)
                file.write(record)

    @contextlib.contextmanager
    def _opened(self) -> Iterator[IO[bytes]]:
        def private(path: str, flags: int) -> int:
            return os.open(path, flags | os.O_CREAT, 0o600)

        with open(self._path, "r+b", buffering=0, opener=private) as file:
            yield file

    def _bucket(self, file: IO[bytes], digest: bytes) -> Iterator[bytes]:
        """The records of a bucket; those past the end of the file are empty."""
        file.seek(self._start(digest))
        read = file.read(self._size * _RECORDS)
        return (read[at : at + self._size] for at in range(0, self._size * _RECORDS, self._size))

    def _start(self, digest: bytes) -> int:
        bucket = int.from_bytes(digest[:8], "little") % self._buckets
        return bucket * _RECORDS * self._size


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).digest()


def _is_sound_record(record: bytes) -> bool:
    checksum = int.from_bytes(record[-_CHECKSUM:], "little")
    return len(record) > _CHECKSUM and zlib.crc32(record[:-_CHECKSUM]) == checksum


Table = NDArray[np.float64]
DEPTH = 100
"""Number of the best arguments that have features."""
_DEBATE_DEPTH = 50
# embeddings of headings, for the process: 1.5 kB each
_CACHED: dict[str, Vector] = {}
_MOST_CACHED, _LONGEST_CACHED = 20_000, 300


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
        words = QueryFeatures(self._index, topic.title)
        premises = [each.premise for each in arguments]
        found = [
            text_features(premise) | own
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
        query = vectors[question]
        return [max(float(vectors[text] @ query) for text in pair) for pair in headings]


def _embeddings(question: str, headings: Sequence[str]) -> Mapping[str, Vector]:
    """The embeddings of a question and of headings.

    Both are cached for the process, since they recur, and those of headings for others.
    """
    wanted = dict.fromkeys((question, *headings))
    known = {text: _CACHED[text] for text in wanted if text in _CACHED}
    if len(known) == len(wanted):
        return known
    model = Embedding()
    cache = vector_cache(model.fingerprint(), model.width)
    found: dict[str, Vector] = {}
    if question not in known:
        (found[question],) = model.encode([question])
    new = [text for text in wanted if text not in known and text not in found]
    if cache:
        found |= cache.read(new)
    if unread := [text for text in new if text not in found]:
        made = dict(zip(unread, model.encode(unread), strict=True))
        found |= made
        if cache:
            cache.store({text: made[text] for text in unread if len(text) <= _LONGEST_CACHED})
    if len(_CACHED) + len(found) <= _MOST_CACHED:
        _CACHED.update({text: each for text, each in found.items() if len(text) <= _LONGEST_CACHED})
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
