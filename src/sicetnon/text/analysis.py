"""Named analyses: from a text to words, without stop words, to terms."""

from __future__ import annotations

import hashlib
import re
import threading
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sicetnon.cancellation import check_cancelled
from sicetnon.errors import UsageError
from sicetnon.text.unicode import SCANNER_VERSION, UNICODE_VERSION
from sicetnon.text.words import WordTable, join

_LUCENE = """
a an and are as at be but by for if in into is it no not of on or such that the their then there
these they this to was will with
"""

_SNOWBALL = """
i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her
hers herself it its itself they them their theirs themselves what which who whom this that these
those am is are was were be been being have has had having do does did doing would should could
ought im youre hes shes its were theyre ive youve weve theyve id youd hed shed wed theyd ill youll
hell shell well theyll isnt arent wasnt werent hasnt havent hadnt doesnt dont didnt wont wouldnt
shant shouldnt cant cannot couldnt mustnt lets thats whos whats heres theres whens wheres whys hows
a an the and but if or because as until while of at by for with about against between into through
during before after above below to from up down in out on off over under again further then once
here there when where why how all any both each few more most other some such no nor not only own
same so than too very
"""

STOP_LISTS: dict[str, frozenset[str]] = {
    "none": frozenset(),
    "lucene": frozenset(_LUCENE.split()),
    "snowball": frozenset(_SNOWBALL.split()),
}
"""`lucene` has the 33 words of Lucene's English default, `snowball` the Snowball project's list."""


def stop_list(name: str) -> frozenset[str]:
    """The stop list of a name.

    Raises:
        UsageError: There is none of this name.
    """
    if name not in STOP_LISTS:
        raise UsageError(f"unknown stop list {name!r}; choose one of {', '.join(STOP_LISTS)}")
    return STOP_LISTS[name]


def content_of(question: str) -> str:
    """The words of a question that say what it is about; the question if there are none."""
    common = stop_list("snowball")
    words = [word for word in re.findall(r"\w+", question) if word.lower() not in common]
    return " ".join(words) or question


StemWords = Callable[[list[str]], list[str]]


def _porter2() -> StemWords:
    import Stemmer

    # nothing is stemmed twice: no cache
    stemmer = Stemmer.Stemmer("english", 0)
    return lambda words: list(stemmer.stemWords(words))


_STEMMERS: dict[str, Callable[[], StemWords]] = {
    "none": lambda: lambda words: words,
    "porter2": _porter2,
}
STEMMERS = tuple(_STEMMERS)


def stemmer(name: str) -> StemWords:
    """The stemmer of a name: words in, their stems out.

    Raises:
        UsageError: There is none of this name.
    """
    if name not in _STEMMERS:
        raise UsageError(f"unknown stemmer {name!r}; choose one of {', '.join(STEMMERS)}")
    return _STEMMERS[name]()


def stemmer_version(name: str) -> str:
    """The version of a stemmer, which an index records: another one may stem otherwise."""
    if name != "porter2":
        return ""
    import Stemmer

    return f"PyStemmer {Stemmer.version()}"


STOPPED = -1

# most texts have no other characters beyond ASCII: neither can be part of another one. Bytes are
# looked at since that takes a tenth of the time
_GENERAL_PUNCTUATION, _BELOW_0300 = b"\xe2\x80", bytes(range(0xCC))
_HALF_WIDTH = re.compile("[\uff66-\uffdc]+")
# the bytes with which those begin in UTF-8
_HALF_WIDTH_LEADS = (b"\xef\xbd", b"\xef\xbe", b"\xef\xbf")


@dataclass(frozen=True)
class Analysis:
    """The way from texts to terms; the same for documents and questions.

    Attributes:
        stemmer: `none` or `porter2`.
        stop_words: The name of a stop list; stop words are taken out before stemming.
        forms: Whether the forms of a stem stay terms of their own. A search can then prefer the
            form that was asked for to its relatives, which the index knows by their stem.
        older_scanner: The version of the tokeniser that made an older index, or None for the
            present one.
    """

    name: str
    stemmer: str = "none"
    stop_words: str = "none"
    forms: bool = False
    older_scanner: int | None = None

    @property
    def scanner(self) -> int:
        """The version of the tokeniser."""
        return SCANNER_VERSION if self.older_scanner is None else self.older_scanner

    def is_same_as(self, other: Analysis) -> bool:
        """Whether two analyses are the same but for the version of the tokeniser."""
        return replace(self, older_scanner=None) == replace(other, older_scanner=None)

    def signature(self) -> dict[str, str | bool | int]:
        """The settings and library versions that decide the terms of a text."""
        words = "\n".join(sorted(stop_list(self.stop_words)))
        signature: dict[str, str | bool | int] = {
            "name": self.name,
            "stemmer": self.stemmer,
            "stemmer_version": stemmer_version(self.stemmer),
            "stop_words": self.stop_words,
            "stop_words_hash": hashlib.sha256(words.encode()).hexdigest()[:16],
            "forms": self.forms,
            "scanner": self.scanner,
        }
        # of an older tokeniser any will do
        return signature if self.older_scanner else signature | {"unicode": UNICODE_VERSION}

    def encode(self, texts: Iterable[str]) -> list[bytes]:
        """Texts as UTF-8 for the tokeniser: canonically equivalent texts are the same bytes."""
        encoded = encode_each(texts := list(texts))
        if self.scanner == 1:
            return encoded
        return [
            data if len(data) == len(text) else _canonical(text, data)
            for text, data in zip(texts, encoded, strict=True)
        ]

    def analyzer(self) -> Analyzer:
        """A new analyzer that works this way."""
        return Analyzer(self)


ANALYSES = {
    analysis.name: analysis
    for analysis in (
        Analysis("plain"),
        Analysis("porter", "porter2"),
        Analysis("porter-stop", "porter2", "snowball"),
        Analysis("forms", "porter2", "lucene", forms=True),
    )
}
DEFAULT_ANALYSIS = "porter-stop"


def named_analysis(name: str) -> Analysis:
    """The analysis of a name.

    Raises:
        UsageError: There is none of this name.
    """
    if name not in ANALYSES:
        raise UsageError(f"unknown analysis {name!r}; choose one of {', '.join(ANALYSES)}")
    return ANALYSES[name]


@dataclass
class Analyzer:
    """Applies an analysis, remembering every distinct word it has met.

    Several threads may ask it for terms and stems.

    Attributes:
        terms: The terms met so far, numbered.
        term_of_word: The term of each word met so far, `STOPPED` for a stop word, int32.
        stem: The stems of distinct words.
    """

    analysis: Analysis
    terms: WordTable = field(default_factory=WordTable)

    def __post_init__(self) -> None:
        # a word that one thread has numbered has no term before that thread has reduced it
        self._lock = threading.Lock()
        self._words = WordTable(self.analysis.scanner)
        self._term_list: list[str] = []
        self.term_of_word = np.empty(0, dtype=np.int32)
        self._stop_words = stop_list(self.analysis.stop_words)
        self.stem: StemWords = stemmer(self.analysis.stemmer)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled is the analysis, not the words that were met."""
        return type(self), (self.analysis,)

    @property
    def memory(self) -> int:
        """Bytes of memory that words and terms take."""
        return self._words.memory + self.terms.memory + self.term_of_word.nbytes

    def word_numbers(
        self, data: NDArray[np.uint8], ends: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The words of many texts; `term_of_word` has their terms.

        Returns:
            The numbers of all words in order, and where the words of each text end, shape
            (texts,).
        """
        check_cancelled()
        words, word_ends = self._words.scan(data, ends)
        if len(self._words) > len(self.term_of_word):
            new = self._words.words(len(self.term_of_word))
            self.term_of_word = np.concatenate([self.term_of_word, self._reduce(new)])
        return words, word_ends

    def terms_of(self, text: str) -> list[str]:
        """The terms of one text, in order; any text is legal, and may have none."""
        return self.terms_of_each([text])[0]

    def terms_of_each(self, texts: Sequence[str]) -> list[list[str]]:
        """The terms of each text, in order; many texts are read at once."""
        with self._lock:
            words, ends = self.word_numbers(*join(self.analysis.encode(texts)))
            numbers = self.term_of_word[words].tolist()
            if len(self.terms) > len(self._term_list):
                self._term_list += self.terms.words(len(self._term_list))
            terms = self._term_list
        return [
            [terms[number] for number in numbers[start:end] if number != STOPPED]
            for start, end in pairwise([0, *ends.tolist()])
        ]

    def stems_of(self, text: str) -> list[str]:
        """The stems of one text's terms, in order."""
        terms = self.terms_of(text)
        return self.stem(terms) if self.analysis.forms else terms

    def stems_of_each(self, texts: Sequence[str]) -> list[list[str]]:
        """The stems of each text's terms, in order; many short texts are read at once."""
        with self._lock:
            words, ends = self.word_numbers(*join(self.analysis.encode(texts)))
            self._term_list += self.terms.words(len(self._term_list))
            stems = self.stem(self._term_list) if self.analysis.forms else self._term_list
            numbers = self.term_of_word[words].tolist()
        starts = [0, *ends.tolist()]
        return [
            [stems[number] for number in numbers[start:end] if number != STOPPED]
            for start, end in pairwise(starts)
        ]

    def _reduce(self, words: list[str]) -> NDArray[np.int32]:
        numbers = np.full(len(words), STOPPED, dtype=np.int32)
        retained = [position for position, word in enumerate(words) if word not in self._stop_words]
        terms = [words[position] for position in retained]
        if not self.analysis.forms:
            terms = self.stem(terms)
        numbers[retained] = self.terms.insert([term.encode("utf-8") for term in terms])
        return numbers


def _canonical(text: str, data: bytes) -> bytes:
    """The UTF-8 of a text in the normalisation form C, half-width kana and Hangul at full width."""
    if not data.replace(_GENERAL_PUNCTUATION, b"").translate(None, _BELOW_0300):
        return data
    is_composed = unicodedata.is_normalized("NFC", text)
    if any(lead in data for lead in _HALF_WIDTH_LEADS):
        text, is_composed = _HALF_WIDTH.sub(_full_width, text), False
    return data if is_composed else encode(unicodedata.normalize("NFC", text))


def _full_width(run: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", run.group())


def encode_each(texts: Iterable[str]) -> list[bytes]:
    """Texts as UTF-8; halves of characters become question marks."""
    texts = list(texts)
    try:
        return list(map(str.encode, texts))
    except UnicodeEncodeError:
        return list(map(encode, texts))


def encode(text: str) -> bytes:
    """A text as UTF-8; halves of characters, which have no UTF-8, become question marks."""
    return text.encode("utf-8", "replace")
