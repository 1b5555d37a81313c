"""Suggest questions: words as the index spells them, fewer words, the nearest topics."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sicetnon.app.index import Index
from sicetnon.arguments.comparative.question_parser import parse_question
from sicetnon.index.segment import Segment
from sicetnon.text.analysis import stop_list
from sicetnon.text.snippets import words_of

_SHORTEST_WORD, _LONGEST_WORD = 4, 24
_MOST_WORDS = 30
# documents that are read for the spelling of a stem
_READ = 3
_MOST_DROPPED = 6
# words that begin a question, and that no other English word is a slip of the pen away from
_ASKING = ("should", "shouldn't", "because", "between", "against")
# words that ask for something to be done or valued, and name nothing that it is done to
_FRAME = frozenset(
    """
    abolish abolished allow allowed ban banned bans better best worse worst good bad become
    becomes benefit benefits beneficial close closed end ended fair get gets harm harmful
    illegal improve increase introduce keep legal legalise legalised legalize legalized legally
    make makes necessary need needed people prohibit prohibited reduce replace replaced required
    restrict safe stop support use used useful want work worth wrong right
    """.split()  # noqa: SIM905  # a list of so many words is hard to read
)
# words that must be followed by something
_LEADING = frozenset(
    """
    a an the of to for or and in on with by from than as be is are was were my our your their
    its this that these those between against about into at we you they i he she it who not no
    """.split()  # noqa: SIM905  # a list of so many words is hard to read
)
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
# last letters in which the forms of a word differ: teacher, teachers
_ENDINGS = "sdrn"


@dataclass(frozen=True)
class Suggestions:
    """Questions to ask in place of another.

    Attributes:
        corrected: The question with unknown words spelt as in the index, or None if none is alike.
        unknown: Words of the question that no document holds.
        shorter: Questions with fewer words that have answers, each with the words that it drops.
        nearest: Headings of the documents nearest to the question.
    """

    corrected: str | None = None
    unknown: tuple[str, ...] = ()
    shorter: tuple[tuple[str, str], ...] = ()
    nearest: tuple[str, ...] = ()


def suggest(index: Index, question: str, is_answered: bool) -> Suggestions:
    """Suggest questions in place of another.

    An index on a cluster is not asked for its words: each costs a request.
    """
    if not index.segments:
        return Suggestions(nearest=() if is_answered else tuple(index.nearest_topics(question)))
    words = _Words(index)
    asked = list(dict.fromkeys(filter(_counts, words_of(question)[:_MOST_WORDS])))
    unknown = tuple(word for word in asked if not words.frequency(word))
    found = {word: alike for word in asked if (alike := _meant(words, word, word in unknown))}
    corrected = _replaced(question, found) if found else None
    if is_answered:
        return Suggestions(corrected, unknown)
    shorter = _shorter(index, question, asked, [word for word in unknown if word not in found])
    return Suggestions(corrected, unknown, shorter, tuple(index.nearest_topics(question)))


def _meant(words: _Words, word: str, is_unknown: bool) -> str | None:
    """The word that is meant by another, or None; documents may make the same slip."""
    lower = word.lower()
    if _SHORTEST_WORD <= len(lower) <= _LONGEST_WORD and lower not in _ASKING:
        near = _slips(lower)
        for asking in _ASKING:
            if asking in near:
                return _as(asking, word)
    return words.alike(word) if is_unknown else words.whole(word)


def _as(form: str, word: str) -> str:
    """A form with the capital of a word."""
    return form.capitalize() if word[0].isupper() else form


def _counts(word: str) -> bool:
    """Whether a word is a content word of a question."""
    return word.lower() not in stop_list("snowball")


def _replaced(question: str, words: dict[str, str]) -> str:
    for word, other in words.items():
        question = re.sub(rf"\b{re.escape(word)}\b", other, question)
    return question


def _shorter(
    index: Index, question: str, asked: Sequence[str], unknown: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    """The question without the words that no document holds, else without one of its words."""
    some = [[*unknown]] if unknown else [[word] for word in asked[:_MOST_DROPPED]]
    found = []
    for dropped in some:
        left = [word for word in asked if word not in dropped]
        if all(word.lower() in _FRAME for word in left) or _names_one(question, dropped):
            continue
        rest = _without(question, dropped) or " ".join(left)
        if index.search(rest, 1, sides=False, balance=False):
            found.append((rest, ", ".join(dropped)))
    return tuple(found)


def _names_one(question: str, dropped: Sequence[str]) -> bool:
    """Whether one of some words names an object of a comparison."""
    parsed = parse_question(question)
    objects = words_of(f"{parsed.first or ''} {parsed.second or ''}".lower())
    return any(word.lower() in objects for word in dropped)


def _without(question: str, dropped: Sequence[str]) -> str | None:
    """A question without some words, or None if that leaves no complete sentence."""
    gone = set(dropped)
    parts = re.findall(r"[^\W_]+(?:['’-][^\W_]+)*|[^\w\s]", question)
    kept: list[str] = []
    for place, part in enumerate(parts):
        if part not in gone:
            kept.append(part)
            continue
        following = parts[place + 1] if place + 1 < len(parts) else ""
        before = parts[place - 1].lower() if place else ""
        is_modifier = bool(following) and following[0].isalnum() and _counts(following)
        if not is_modifier and (before in _LEADING or before in _FRAME or not before):
            return None
    return " ".join(_replaced(question, dict.fromkeys(dropped, "")).split()) if kept else None


class _Words:
    """The words of an index."""

    def __init__(self, index: Index):
        self._index, self._analyzer = index, index.analysis.analyzer()

    def frequency(self, word: str) -> int:
        """The number of documents that hold a word or another form of it; 1 for a stop word."""
        stems = self._analyzer.stems_of(word)
        return max(map(self._of_stem, stems), default=1)

    def alike(self, word: str) -> str | None:
        """The most frequent word of the index that is one slip of the pen away, or None."""
        lower = word.lower()
        if not lower.isalpha() or not _SHORTEST_WORD <= len(lower) <= _LONGEST_WORD:
            return None
        near = sorted(_slips(lower))
        for common in stop_list("snowball").intersection(near):
            if len(common) >= _SHORTEST_WORD:
                return _as(common, word)
        stems = self._analyzer.stems_of_each(near)
        counts: Counter[str] = Counter()
        for (stem,) in {tuple(each) for each in stems if len(each) == 1}:
            counts[stem] = self._of_stem(stem)
        spelt = {candidate for candidate, each in zip(near, stems, strict=True) if each}
        for stem, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
            if count and (form := _most_frequent(self._forms(stem), spelt)):
                return _as(form, word)
        return None

    def whole(self, word: str) -> str | None:
        """The word of the index that a word with its stem cuts short or ends wrongly, or None.

        A stem such as "tenur" finds what "tenure" finds, though no document holds it.
        """
        lower = word.lower()
        if not lower.isalpha() or not _SHORTEST_WORD <= len(lower) <= _LONGEST_WORD:
            return None
        near = sorted(_other_ends(lower))
        own = self._analyzer.stems_of(lower)
        stems = self._analyzer.stems_of_each(near)
        spelt = {other for other, each in zip(near, stems, strict=True) if each == own}
        if not spelt or len(own) != 1:
            return None
        forms = self._forms(own[0])
        # a word that a document holds is right
        form = None if lower in forms else _most_frequent(forms, spelt)
        return form and _as(form, word)

    def _of_stem(self, stem: str) -> int:
        found = 0
        for segment in self._index.segments:
            for term in _terms(segment, stem):
                found += segment.postings.count(term)
        return found

    def _forms(self, stem: str) -> Counter[str]:
        """The words of some documents that hold a stem, counted."""
        forms: Counter[str] = Counter()
        for segment in self._index.segments:
            for term in _terms(segment, stem):
                documents = segment.documents_of(term)[:_READ].tolist()
                texts = self._index.records_at([segment.base + each for each in documents])
                for record in texts:
                    forms.update(map(str.lower, words_of(record.default_text())))
        return forms


def _most_frequent(forms: Counter[str], spelt: set[str]) -> str | None:
    """The most frequent word of those that may be meant."""
    return max(spelt & forms.keys(), key=lambda form: (forms[form], form), default=None)


def _terms(segment: Segment, stem: str) -> list[int]:
    """The numbers of the terms with a stem."""
    if segment.forms is not None:
        return segment.forms.of(stem)
    number = segment.terms.number(stem)
    return [] if number is None else [number]


def _other_ends(word: str) -> set[str]:
    """The words that have one more, one less or another last letter, and are no inflections."""
    longer = {word + letter for letter in _LETTERS if letter not in _ENDINGS}
    head = word[:-1]
    if word[-1] not in _ENDINGS:
        return longer | {head, *(head + letter for letter in _LETTERS)} - {word}
    return longer | {head + letter for letter in _LETTERS if letter not in _ENDINGS}


def _slips(word: str) -> set[str]:
    """The words that are one letter away: left out, doubled, swapped or another one."""
    parts = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    shorter = {head + tail[1:] for head, tail in parts if tail}
    swapped = {head + tail[1] + tail[0] + tail[2:] for head, tail in parts if len(tail) > 1}
    other = {head + letter + tail[1:] for head, tail in parts if tail for letter in _LETTERS}
    longer = {head + letter + tail for head, tail in parts for letter in _LETTERS}
    return (shorter | swapped | other | longer) - {word}
