"""Answers to a question, from any index, with their sides: what people and programs see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import TYPE_CHECKING, Any, SupportsIndex, get_args, overload

from sicetnon.app.labels import denies, parts_of
from sicetnon.arguments.comparative.question_parser import objects_of
from sicetnon.arguments.side.question_rewriting import has_sides
from sicetnon.formats.entries import is_link
from sicetnon.index.reader import IndexReader
from sicetnon.records import (
    Argument,
    ComparativeStance,
    Passage,
    PremiseStance,
    QuestionSide,
    Ranking,
    Record,
    WebPage,
    claimed,
    resolution_of,
    said,
    title_of,
    unprocessed,
)
from sicetnon.text.analysis import Analyzer, content_of
from sicetnon.text.snippets import Snippet, snippet, words_of

if TYPE_CHECKING:
    from sicetnon.arguments.side.classifier import SideAnswer

SNIPPET_LENGTH = 300
_NUMBERS = ("rank", "score")
NO_SNIPPET = Snippet("", ())
_PASSAGE_STANCES: tuple[ComparativeStance, ...] = get_args(ComparativeStance)
_DIGITS = 4


@dataclass(frozen=True)
class Answer:
    """A document found for a question.

    Attributes:
        rank: From 1.
        score: The higher the better; comparable within one question only.
        id: The document's.
        stance: For an argument, the side that its premise takes towards its own conclusion. For a
            passage that was found for a comparative question, `FIRST` or `SECOND` for the object
            that it favours, `NEUTRAL` where it weighs both, `NO` where it takes no side.
        heading: The conclusion, or the title, where there is one.
        snippet: The part of its text that has most to do with the question; empty where none was
            asked for.
        source: Where it comes from, where that is known.
        record: All of it.
        objects: The first and the second object of the question, where the stance is about them.
        side: The side that it takes towards the question; None if the question has no sides, or the
            stance is about objects.
        side_probability: How sure that is, from 0 to 1; None if a service named the side.
        reasons: What decided on its place, from 0 to 1 each: `on_topic` (probability that it is
            squarely about the question), `strength`, `lexical` (score of the words alone) and
            `repeated` (share of it that a result above holds as well); None if the system does
            not say.
        similar: The ids of near duplicates that it stands for.
    """

    rank: int
    score: float
    id: str
    stance: PremiseStance | ComparativeStance | None
    heading: str
    snippet: Snippet
    source: str
    record: Record
    objects: tuple[str, str] | None = None
    side: QuestionSide | None = None
    side_probability: float | None = None
    reasons: Mapping[str, float] | None = None
    similar: tuple[str, ...] = ()

    @property
    def favours(self) -> str | None:
        """The name of the object whose side a passage takes, or None if it takes none."""
        if self.objects is None or self.stance not in ("FIRST", "SECOND"):
            return None
        return self.objects[0 if self.stance == "FIRST" else 1]

    def _repr_html_(self) -> str:
        return Answers("", [self])._repr_html_()

    def as_json(self) -> dict[str, Any]:
        """The answer for programs.

        An own document's fields stand under `fields`, so that none can take the place of a key of
        this contract.
        """
        fields = {
            "rank": self.rank,
            "score": self.score,
            "id": self.id,
            "side": self.side,
            "probability": self.side_probability,
            "stance": self.stance,
            "source": self.source,
            "snippet": self.snippet.text,
            "marks": [list(mark) for mark in self.snippet.marks],
            "similar": list(self.similar),
        }
        if self.reasons is not None:
            fields["reasons"] = dict(self.reasons)
        record = unprocessed(self.record)
        if isinstance(record, Argument):
            texts = {"conclusion": record.conclusion, "premise": record.premise}
            return fields | texts | {"title": record.title}
        if isinstance(record, Passage):
            return fields | {"favours": self.favours, "contents": record.contents}
        if isinstance(record, WebPage):
            texts = {"title": record.title, "text": record.text or record.snippet}
            return fields | texts | {"page_rank": record.page_rank, "spam_rank": record.spam_rank}
        return fields | {"fields": dict(record.texts) | record.extra}


class Answers(list[Answer]):
    """Answers to a question, which a notebook shows as a table."""

    def __init__(self, question: str, found: Iterable[Answer]):
        super().__init__(found)
        self._question = question

    @overload
    def __getitem__(self, place: SupportsIndex, /) -> Answer: ...

    @overload
    def __getitem__(self, place: slice, /) -> Answers: ...

    def __getitem__(self, place: SupportsIndex | slice, /) -> Answer | Answers:
        """An answer, or some of them."""
        found = super().__getitem__(place)
        return Answers(self._question, found) if isinstance(found, list) else found

    def _repr_html_(self) -> str:
        from sicetnon.notebook import html_table

        rows = map(_cells, self)
        return html_table(self._question, ("rank", "answer", "side", "score"), rows, _NUMBERS)


def _cells(answer: Answer) -> tuple[str, str, str, str]:
    """The cells of an answer in HTML."""
    from sicetnon.notebook import escaped

    side = answer.favours or answer.side or answer.stance or ""
    sure = "" if answer.side_probability is None else f" ({answer.side_probability:.0%})"
    source = escaped(answer.source or answer.id)
    if is_link(answer.source):
        source = f'<a href="{source}" rel="noopener noreferrer">{source}</a>'
    part = "".join(
        f"<mark>{escaped(text)}</mark>" if is_marked else escaped(text)
        for text, is_marked in answer.snippet.pieces
    )
    towards = "against the claim: " if denies(answer) else ""
    heading = f"{towards}<b>{escaped(answer.heading)}</b><br>" if answer.heading else ""
    said = f"{heading}{part}<br><small>{source}</small>"
    return str(answer.rank), said, escaped(f"{side}{sure}"), f"{answer.score:.2f}"


def answers(index: IndexReader, ranking: Ranking, snippets: bool = True) -> list[Answer]:
    """The documents of a ranking as answers, with snippets or without."""
    found = answers_of(ranking, index.records_of(ranking))
    if not snippets:
        return found
    return with_snippets(ranking.topic.title, found, index.analysis.analyzer())


def with_snippets(question: str, answers: Sequence[Answer], analyzer: Analyzer) -> list[Answer]:
    """The answers with their snippets."""
    texts = [parts_of(answer.record)[0] for answer in answers]
    found = marked(question, texts, analyzer, SNIPPET_LENGTH)
    return [replace(answer, snippet=each) for answer, each in zip(answers, found, strict=True)]


def answers_of(ranking: Ranking, records: Sequence[Record]) -> list[Answer]:
    """The documents of a ranking as answers without snippets."""
    found = []
    every = ranking.reasons or [None] * len(ranking)
    for rank, ((identifier, score), record, reasons) in enumerate(
        zip(ranking, records, every, strict=True), start=1
    ):
        _, heading, source, stance = parts_of(record)
        found.append(
            Answer(
                rank, score, identifier, stance, heading, NO_SNIPPET, source, record,
                reasons=reasons,
            )
        )  # fmt: skip
    return _with_stances(found, ranking)


def _with_stances(found: list[Answer], ranking: Ranking) -> list[Answer]:
    """Passages with the sides that they take on the objects of the question, where it has two."""
    objects = objects_of(ranking.topic) if ranking.stances else None
    if objects is None or ranking.stances is None:
        return found
    known: dict[str, ComparativeStance] = {stance: stance for stance in _PASSAGE_STANCES}
    return [
        replace(answer, stance=known[side], objects=objects)
        if isinstance(answer.record, Passage) and side in known
        else answer
        for answer, side in zip(found, ranking.stances, strict=False)
    ]


def marked(
    question: str, texts: Sequence[str], analyzer: Analyzer, length: int | None = None
) -> list[Snippet]:
    """Texts, each whole or its best part, with the words of a question marked.

    Args:
        question: The question.
        texts: The texts; white space in them is folded.
        analyzer: Tells which words of a text are words of the question.
        length: Characters of the part that has most to do with the question.
    """
    wanted = frozenset(analyzer.stems_of(content_of(question)))
    # one call for the words of all texts takes a tenth of the time of a call for each
    words = list({word for text in texts for word in words_of(text)})
    stems = dict(zip(words, analyzer.stems_of_each(words), strict=True))
    return [snippet(text, wanted, stems.__getitem__, length or len(text)) for text in texts]


def as_json(
    question: str,
    found: Sequence[Answer],
    nearest: Sequence[str] = (),
    missing: str = "",
    corrected: str = "",
) -> dict[str, Any]:
    """A question and its answers for programs; with its objects where stances are about them.

    Args:
        question: The question.
        found: Its answers.
        nearest: The nearest topics, if there is no answer.
        missing: The part of the index that the answer lacks, in words.
        corrected: The question in the spelling of the index, if there is no answer.
    """
    objects = next((answer.objects for answer in found if answer.objects), None)
    more: dict[str, Any] = {"objects": list(objects)} if objects else {}
    if corrected:
        more["corrected"] = corrected
    if nearest:
        more["nearest"] = list(nearest)
    if missing:
        more["partial"] = missing
    return {"question": question} | more | {"answers": [answer.as_json() for answer in found]}


def with_sides(
    question: str, answers: Sequence[Answer], others: Sequence[Record] = ()
) -> list[Answer]:
    """The answers with their sides, where the question has any.

    Answers whose stance is about two objects stay unchanged, and so do documents of which the
    index holds no text: nothing tells their side.

    Args:
        question: The question.
        answers: The answers.
        others: Other results for the question. Those with the claim of an answer help to tell what
            its stance stands for.
    """
    is_told = [bool(said(answer.record) or claimed(answer.record)[0]) for answer in answers]
    is_compared = any(answer.objects for answer in answers)
    if is_compared or not any(is_told) or not has_sides(question):
        return list(answers)
    # it loads the model
    from sicetnon.arguments.side.classifier import Side

    records = [answer.record for answer in compress(answers, is_told)]
    records += _of_same_claims(records, others)
    texts, titles = list(map(said, records)), list(map(title_of, records))
    claims, stances = zip(*map(claimed, records), strict=True)
    resolutions = list(map(resolution_of, records))
    found = iter(Side().classify(texts, question, claims, stances, titles, resolutions))
    return [
        _sided(answer, next(found)) if told else answer
        for answer, told in zip(answers, is_told, strict=True)
    ]


def _of_same_claims(records: Sequence[Record], others: Sequence[Record]) -> list[Record]:
    """Those of some other records that have a stance towards the claim of a record."""
    # the classifier is loaded by then
    from sicetnon.arguments.side.debates import folded

    known = {record.id for record in records}
    claims = {folded(claimed(record)[0]) for record in records}
    return [
        other
        for other in others
        if other.id not in known
        and claimed(other)[1] is not None
        and folded(claimed(other)[0]) in claims
        and said(other)
    ]


def _sided(answer: Answer, found: SideAnswer) -> Answer:
    return replace(answer, side=found.side, side_probability=round(found.probability, _DIGITS))
