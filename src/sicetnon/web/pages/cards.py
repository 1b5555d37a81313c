"""An answer as a card of the page."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from sicetnon.app.answers import Answer
from sicetnon.app.comparing import ComparedPassage
from sicetnon.app.document_view import number_of
from sicetnon.app.labels import Origin, denies, first_words, origin_of, parts_of, site_of, why
from sicetnon.app.reasons import side_of
from sicetnon.text.snippets import Piece, Snippet
from sicetnon.web.pages.ask_search import AskRequest, AskResult, Length, Strength

Kind = Literal["for", "against", "neither"]
KINDS: tuple[Kind, ...] = ("for", "against", "neither")

# strengths of the ranker from which an argument is fair and strong: half of the answers to the odd
# topics of 2020 reach the upper one, and nearly all the lower one
_FAIR, _STRONG = 0.4, 0.65
_SHORT, _LONG = 60, 180
# a side that is less probable is shown as a guess
_SURE = 0.7
_SHOWN_SIMILAR = 5
# characters of a passage that are shown
_SHOWN = 360


@dataclass(frozen=True)
class Similar:
    """A near duplicate of an answer."""

    heading: str
    address: str


@dataclass(frozen=True)
class Card:
    """An answer as the page shows it.

    Attributes:
        heading: Its claim or title; its site or its first words where it has none.
        is_named: Whether it has one.
        denies: Whether it denies that claim.
        pieces: The sentence that carries it, or the part that has most to do with the question.
        is_sentence: Whether that is the sentence that carries it.
        is_passage: Whether it is a passage, which is shown whole.
        words: The words of the question that it holds.
        certainty: Its side and the probability of it, in words.
        doubt: A notice that its side is a guess, where it is likely to be wrong; else empty.
        strength: How strong it is; empty where that is not known.
        reasons: Why it stands where it stands: words, and a value from 0 to 1 or None.
        length: How long it is.
        source: The name of its source, for the filter; empty where that is not known.
        origin: Who said it, and where.
        aspects: In which respects it speaks of two objects.
        has_neighbours: Whether there is more of the same debate or page.
        similar: Some near duplicates.
        reply: The page of the arguments against it.
    """

    answer: Answer
    kind: Kind
    heading: str
    is_named: bool
    denies: bool
    pieces: tuple[Piece, ...]
    is_sentence: bool
    is_passage: bool
    words: tuple[str, ...]
    certainty: str
    doubt: str
    strength: Strength
    reasons: tuple[tuple[str, float | None], ...]
    length: Length
    source: str
    origin: Origin
    aspects: tuple[str, ...]
    has_neighbours: bool
    similar: tuple[Similar, ...]
    address: str
    reply: str

    @property
    def context(self) -> str:
        """The address of its page at the sentence that is shown."""
        marked = [text for text, is_marked in self.pieces if is_marked]
        # of a passage, a sentence that favours an object is marked; of an argument, words are
        shown = (
            marked[0] if marked and self.is_passage else "".join(text for text, _ in self.pieces)
        )
        return at_sentence(self.address, shown, self.answer)


def card_of(found: AskResult, place: int, asked: AskRequest) -> Card:
    """The answer at a place as a card; a passage is shown where it speaks of an aspect."""
    asked = replace(asked, q=found.question)
    answer = found.answers[place]
    text, heading, _, _ = parts_of(answer.record)
    sentence = found.sentences.get(answer.id)
    passage = found.comparison.passages[place] if found.comparison else None
    reasons = answer.reasons or {}
    words = len(text.split())
    origin = origin_of(answer.record)
    return Card(
        answer=answer,
        kind=kind_of(answer),
        heading=heading or _heading(text, origin, passage is not None),
        is_named=bool(heading),
        denies=denies(answer),
        pieces=_part(text, passage, asked.aspect)
        if passage
        else (sentence or answer.snippet).pieces,
        is_sentence=sentence is not None,
        is_passage=passage is not None,
        words=_marked_words(answer.snippet),
        certainty=_certainty(answer, found.names),
        doubt=_doubt(answer, found.names),
        strength=strength_of(reasons["strength"]) if "strength" in reasons else "",
        reasons=tuple(why(reasons)),
        length="short" if words < _SHORT else "long" if words > _LONG else "medium",
        source=site_of(answer.source),
        origin=origin,
        aspects=passage.aspects if passage else (),
        has_neighbours=answer.id in found.with_neighbours,
        similar=tuple(
            Similar(found.headings[each], asked.page("/document", each))
            for each in answer.similar[:_SHOWN_SIMILAR]
        ),
        address=asked.page("/document", answer.id),
        reply=asked.page("/reply", answer.id),
    )


def kind_of(answer: Answer) -> Kind:
    """The side of an answer, as a class of the page."""
    side = side_of(answer)
    return "neither" if side is None else "for" if side == "FOR" else "against"


def strength_of(value: float) -> Strength:
    """A strength in words."""
    return "strong" if value >= _STRONG else "fair" if value >= _FAIR else "weak"


def at_sentence(address: str, quoted: str, answer: Answer) -> str:
    """The address of a document's page at the sentence that a quotation is from."""
    number = number_of(quoted, parts_of(answer.record)[0])
    return address if number is None else f"{address}#sentence-{number}"


def _heading(text: str, origin: Origin, is_passage: bool) -> str:
    """The heading of a text without a title; a passage is shown whole below it."""
    return f"From {origin.site}" if is_passage and origin.site else first_words(text)


def _part(text: str, passage: ComparedPassage, aspect: str) -> tuple[Piece, ...]:
    """A passage, or its part from a sentence that counts; what favours an object is marked."""
    folded = " ".join(text.split())
    first = passage.sentence_about(aspect)
    start, end = 0, len(folded)
    if end > _SHOWN:
        start = max(0, folded.find(first))
        # not less than a sentence, and not half a word
        least = start + len(first)
        end = max(least, folded.rfind(" ", start, start + _SHOWN) if start + _SHOWN < end else end)
    shown = folded[start:end]
    marks = _marks(shown, passage) if passage.answer.stance in ("FIRST", "SECOND") else ()
    before = [Piece("…\u00a0", False)] if start else []
    after = [Piece("\u00a0…", False)] if end < len(folded) else []
    return (*before, *Snippet(shown, marks).pieces, *after)


def _marks(text: str, passage: ComparedPassage) -> tuple[tuple[int, int], ...]:
    """The places of a passage's sentences in a text, or none if all of it would be marked."""
    marks, start = [], 0
    for sentence in passage.sentences:
        at = text.find(sentence, start)
        if at >= 0:
            start = at + len(sentence)
            marks.append((at, start))
    return (
        () if sum(end - start for start, end in marks) >= len(text) - len(marks) else tuple(marks)
    )


def _marked_words(snippet: Snippet) -> tuple[str, ...]:
    words = (snippet.text[start:end].lower() for start, end in snippet.marks)
    return tuple(dict.fromkeys(words))


def _certainty(answer: Answer, names: tuple[str, str]) -> str:
    """The side of an answer and its probability, in words."""
    words = {
        "FIRST": f"favours {names[0]}",
        "SECOND": f"favours {names[1]}",
        "BOTH": "weighs both",
        "NONE": "takes no side",
        "NEUTRAL": "weighs both",
        "NO": "takes no side",
    }
    said = words.get(str(answer.side or answer.stance), "")
    if answer.side_probability is None:
        return said
    return f"{said or str(answer.side).lower()}: {answer.side_probability:.0%} sure"


def _doubt(answer: Answer, names: tuple[str, str]) -> str:
    """A notice that the side of an answer is a guess; empty where it is sure, or known."""
    if answer.side_probability is None or answer.side_probability >= _SURE:
        return ""
    first, second = ("for", "against") if names == ("For", "Against") else names
    side = {"for": first, "against": second, "neither": "neither side"}[kind_of(answer)]
    return f"Perhaps {side}: {answer.side_probability:.0%} sure"
