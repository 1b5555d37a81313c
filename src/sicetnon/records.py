"""The records of the package: documents, topics, rankings, runs, judgments.

Frozen, typed, without behaviour beyond reading their own fields. All are msgspec structs, so that
a file's JSON becomes a record without a dictionary in between.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, Protocol, runtime_checkable

import msgspec
import numpy as np
from numpy.typing import NDArray

_SHOWN = 100
"""Results of a ranking that a notebook shows."""

PremiseStance = Literal["PRO", "CON"]
"""The side of a premise towards its own conclusion."""

QuestionSide = Literal["FOR", "AGAINST", "BOTH", "NONE"]
"""The side of a text towards a question; BOTH weighs both, NONE takes none."""

ComparativeStance = Literal["FIRST", "SECOND", "NEUTRAL", "NO"]
"""The object of two that a text favours; NEUTRAL weighs both, NO takes no side."""


class Premise(msgspec.Struct, frozen=True, gc=False):
    """A reason given for or against a conclusion.

    Attributes:
        text: The reason.
        stance: Towards the conclusion of its argument (not towards anybody's question);
            None if unknown.
    """

    text: str
    stance: PremiseStance | None = None


class Argument(msgspec.Struct, frozen=True):
    """An argument of args.me: a conclusion and the premises given for or against it."""

    id: str
    conclusion: str
    premises: tuple[Premise, ...]
    context: dict[str, Any] = {}

    @property
    def premise(self) -> str:
        """All premises as one text."""
        if len(self.premises) == 1:
            return self.premises[0].text
        return "\n".join(premise.text for premise in self.premises)

    @property
    def stance(self) -> PremiseStance | None:
        """The stance of the first premise towards the conclusion, where it is known."""
        return self.premises[0].stance if self.premises else None

    @property
    def title(self) -> str:
        """The title of the discussion that the argument was made in, or the empty string."""
        for key in ("discussionTitle", "topic", "sourceTitle"):
            title = self.context.get(key)
            if isinstance(title, str) and title:
                return title
        return ""

    @property
    def resolution(self) -> str:
        """The title of the discussion where stances are towards it; else the empty string.

        So it is on debatewise.org, where each conclusion is a point that its premise supports. On
        the other portals the stance is towards the conclusion.
        """
        origin = (self.context.get("sourceUrl"), self.context.get("sourceDomain"))
        return self.title if any("debatewise.org" in str(each) for each in origin) else ""

    def default_text(self) -> str:
        """Conclusion and premises, as a person would read them."""
        return f"{self.conclusion}\n{self.premise}" if self.conclusion else self.premise


class Sentence(msgspec.Struct, frozen=True, gc=False):
    """A sentence of an argument, with the id that it has in the processed corpus."""

    id: str
    text: str


class ProcessedArgument(msgspec.Struct, frozen=True):
    """An argument of the 2022 corpus: as `Argument`, with its sentences."""

    argument: Argument
    sentences: tuple[Sentence, ...]

    @property
    def id(self) -> str:
        """The id of the argument."""
        return self.argument.id

    def default_text(self) -> str:
        """Conclusion and premises, as a person would read them."""
        return self.argument.default_text()


class Passage(msgspec.Struct, frozen=True, rename={"url": "chatNoirUrl"}):
    """A passage of a web page."""

    id: str
    contents: str
    url: str = ""

    def default_text(self) -> str:
        """The text of the passage."""
        return self.contents


class WebPage(msgspec.Struct, frozen=True):
    """A page of a web crawl.

    Attributes:
        id: As in a run, `clueweb12-…`.
        title: Its title, or the empty string.
        text: Its whole text; empty where it was not fetched or could not be had.
        url: Where it was.
        host: The server in the URL.
        page_rank: The higher the more linked to; None if unknown.
        spam_rank: Per cent of the crawl that is more spam than this (100 is best); None if
            unknown.
        snippet: The part of it that a search engine showed for its question.
        uuid: ChatNoir's id.
    """

    id: str
    title: str
    text: str
    url: str = ""
    host: str = ""
    page_rank: float | None = None
    spam_rank: float | None = None
    snippet: str = ""
    uuid: str = ""

    def default_text(self) -> str:
        """Title and text, or the snippet where there is no text."""
        return "\n".join(filter(None, (self.title, self.text or self.snippet)))


class Entry(msgspec.Struct, frozen=True):
    """A document of no known corpus: named texts, and whatever else its source said of it.

    Attributes:
        id: The id.
        texts: The indexed texts by field.
        extra: The other fields.
        stance: The side that it takes towards its claim; None if unknown.
        claim: The claim that it is for or against, or the empty string.
    """

    id: str
    texts: dict[str, str]
    extra: dict[str, Any] = {}
    stance: PremiseStance | None = None
    claim: str = ""

    def default_text(self) -> str:
        """All texts, one per line."""
        return "\n".join(text for text in self.texts.values() if text)


Record = Argument | ProcessedArgument | Passage | WebPage | Entry


def unprocessed(record: Record) -> Argument | Passage | WebPage | Entry:
    """The argument of a processed argument; any other record unchanged."""
    return record.argument if isinstance(record, ProcessedArgument) else record


def said(record: Record) -> str:
    """The text that argues: the premise of an argument, else the whole text."""
    record = unprocessed(record)
    return record.premise if isinstance(record, Argument) else record.default_text()


def claimed(record: Record) -> tuple[str, PremiseStance | None]:
    """The claim that a document argues about and its stance towards it, where they are known."""
    record = unprocessed(record)
    if isinstance(record, Argument):
        return record.conclusion, record.stance
    return (record.claim, record.stance) if isinstance(record, Entry) else ("", None)


def title_of(record: Record) -> str:
    """The title of the debate that an argument was made in, or the empty string."""
    record = unprocessed(record)
    return record.title if isinstance(record, Argument) else ""


def resolution_of(record: Record) -> str:
    """The statement that the stance of an argument is towards, where it is not the conclusion."""
    record = unprocessed(record)
    return record.resolution if isinstance(record, Argument) else ""


class Question(msgspec.Struct, frozen=True):
    """A parsed question.

    Attributes:
        kind: `comparative` where things are weighed against each other, two named ones or all of a
            kind ("the best rice cookers"); else `controversial`, a matter to argue for or against.
        first: The object named first; None if the question names no two.
        second: The other one. Of more than two, the first two are taken.
        aspects: In which respects, or for which use they are compared.
        predicate: What compares them ("better", "more difficult", "difference"); None if
            nothing does.
    """

    kind: Literal["comparative", "controversial"]
    first: str | None = None
    second: str | None = None
    aspects: tuple[str, ...] = ()
    predicate: str | None = None


class Topic(msgspec.Struct, frozen=True):
    """A question, as in topics.xml.

    Attributes:
        number: The id that runs and judgments use (`qid`).
        title: The question itself: all that an automatic run may read, with the objects.
        objects: The two things that a comparative question compares, where they are given.
        description: Who asks, and why (manual runs only).
        narrative: What counts as relevant (manual runs only).
        question: The parsed title, once a system has parsed it; it travels with the topic.
    """

    number: str
    title: str
    objects: tuple[str, ...] = ()
    description: str = ""
    narrative: str = ""
    question: Question | None = None


class Judgment(msgspec.Struct, frozen=True):
    """One line of a qrels file. The label is a number, or for stances a word."""

    topic: str
    document: str
    label: int | str


class RunLine(msgspec.Struct, frozen=True):
    """One line of a run. `stance` is its second column: a stance of the task, or `Q0`."""

    topic: str
    stance: str
    document: str
    rank: int
    score: float
    tag: str


UNSTANCED = "Q0"
"""The second column of a run where no stance is taken."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The documents found for a topic, best first, as columns.

    Attributes:
        topic: The question.
        ids: The ids of the documents, none twice; for pairs of sentences two ids and a comma.
        scores: float64, shape (n,). Those of retrievers and stages never rise; a run that was read
            keeps the scores of its file.
        stances: The second column of a run, one per document; None if it is `Q0` throughout.
        reasons: The values that decided on each document's place, by name, from 0 to 1; None if
            the system does not say.
    """

    topic: Topic
    ids: tuple[str, ...]
    scores: NDArray[np.float64]
    stances: tuple[str, ...] | None = None
    reasons: tuple[Mapping[str, float], ...] | None = None

    def taken(
        self, places: NDArray[np.int64] | Sequence[int], scores: NDArray[np.float64]
    ) -> Ranking:
        """The results at some places, in that order, with new scores.

        Args:
            places: Places in this ranking, from 0, none twice.
            scores: Shape as `places`.
        """
        at = np.asarray(places).tolist()
        stances, reasons = self.stances, self.reasons
        return Ranking(
            self.topic,
            tuple([self.ids[place] for place in at]),
            scores,
            None if stances is None else tuple([stances[place] for place in at]),
            None if reasons is None else tuple([reasons[place] for place in at]),
        )

    def _repr_html_(self) -> str:
        from sicetnon.notebook import escaped, html_table

        stances = [("stance", self.stances)] if self.stances is not None else []
        columns = ["rank", "document", "score", *(name for name, _ in stances)]
        shown = zip(self.ids, self.scores.tolist(), *(each for _, each in stances), strict=True)
        rows = (
            (str(rank), escaped(name), f"{score:.4f}", *map(escaped, more))
            for rank, (name, score, *more) in enumerate(shown, start=1)
        )
        title = f"{self.topic.number} {self.topic.title}".strip()
        return html_table(title, columns, islice(rows, _SHOWN), ("rank", "score")) + (
            f"<p>{len(self) - _SHOWN:,} more</p>" if len(self) > _SHOWN else ""
        )

    def best(self, k: int) -> Ranking:
        """The first k results."""
        if k >= len(self):
            return self
        stances = None if self.stances is None else self.stances[:k]
        reasons = None if self.reasons is None else self.reasons[:k]
        return Ranking(self.topic, self.ids[:k], self.scores[:k], stances, reasons)

    @property
    def second_column(self) -> tuple[str, ...]:
        """The second column of a run, one per document."""
        return (UNSTANCED,) * len(self) if self.stances is None else self.stances

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[tuple[str, float]]:
        return zip(self.ids, self.scores.tolist(), strict=True)


@dataclass(frozen=True)
class Run:
    """Named rankings.

    Attributes:
        name: The name in results: its path, or the name that the caller gave.
        tag: The last column of a run's lines.
        rankings: The ranking of each topic, by the topic's number.
        repeated: Number of lines that were left out when the run was read, because their document
            stands on another line of the topic with a better rank.
    """

    name: str
    tag: str
    rankings: dict[str, Ranking]
    repeated: int = 0


@runtime_checkable
class Retriever(Protocol):
    """Anything that finds documents for topics: a system, a retriever of an index, a user's own."""

    def retrieve(self, topics: Sequence[Topic], k: int) -> list[Ranking]:
        """The k best documents of each topic, or fewer."""
