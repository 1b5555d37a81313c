"""The answers to a question: of an index, chosen for people, or of a service on the network."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from sicetnon.app.answers import Answer, answers, answers_of, as_json, with_sides, with_snippets
from sicetnon.argument_checks import check_number, check_text
from sicetnon.arguments.text_quality import is_housekeeping, is_spam
from sicetnon.cancellation import check_cancelled
from sicetnon.errors import UsageError
from sicetnon.index.reader import IndexReader
from sicetnon.operating_system import cache_folder
from sicetnon.ranking.stages import Shingles, shared, shingles
from sicetnon.ranking.system import Labelling, System
from sicetnon.records import (
    Argument,
    PremiseStance,
    ProcessedArgument,
    QuestionSide,
    Ranking,
    Record,
    Topic,
    said,
)
from sicetnon.text.analysis import DEFAULT_ANALYSIS, named_analysis

# probabilities of being on topic: enough, and enough for one of the few that there are
_ON_TOPIC, _NEAR_TOPIC, _FEW = 0.5, 0.3, 3
_SAME_CASE = 0.6
_SIDES: tuple[QuestionSide, ...] = ("FOR", "AGAINST")
_LEAST_SHINGLES = 8
_DIGITS = 4


class Selection(NamedTuple):
    """The results of a ranking that are shown.

    Attributes:
        similar: The near duplicates of each result that stood after it.
    """

    ranking: Ranking
    records: list[Record]
    similar: list[tuple[str, ...]]

    def best(self, k: int) -> Selection:
        """The first k results."""
        return Selection(self.ranking.best(k), self.records[:k], self.similar[:k])

    def on_topic(self) -> Selection:
        """The results that are about the question, where the system says which are.

        Where there are fewer than three, others that come near it fill up to three.
        """
        reasons = self.ranking.reasons
        if reasons is None:
            return self
        chances = [each.get("on_topic", 0.0) for each in reasons]
        third = sorted([0.0] * _FEW + chances)[-_FEW]
        enough = min(max(third, _NEAR_TOPIC), _ON_TOPIC)
        return self._taken([at for at, chance in enumerate(chances) if chance >= enough])

    def arguing(self) -> Selection:
        """The results without arguments that are none: spam, and housekeeping of a debate."""
        return self._taken([at for at, each in enumerate(self.records) if only_arguments(each)])

    def labelled(self, labelling: Labelling) -> Selection:
        """The results with their stances."""
        return self._replace(ranking=labelling.apply(self.ranking.topic, self.ranking))

    def answers(self) -> list[Answer]:
        """The results as answers without snippets; see `answers_of`."""
        found = answers_of(self.ranking, self.records)
        return [
            replace(answer, similar=ids) for answer, ids in zip(found, self.similar, strict=True)
        ]

    def _taken(self, places: list[int]) -> Selection:
        at = np.array(places, dtype=np.int64)
        return Selection(
            self.ranking.taken(at, self.ranking.scores[at]),
            [self.records[place] for place in places],
            [self.similar[place] for place in places],
        )


def only_arguments(record: Record) -> bool:
    """Whether a document is no spam and no housekeeping; only arguments are checked."""
    if not isinstance(record, Argument | ProcessedArgument):
        return True
    text = said(record)
    return not (is_spam(text) or is_housekeeping(text))


def without_duplicates(ranking: Ranking, records: Sequence[Record]) -> Selection:
    """The results without near duplicates: the first of them stands for all.

    Two texts are near duplicates where they share 60% of the shorter one's sequences of three
    words. Where results have reasons, `repeated` is added: the greatest share that a result before
    it holds as well.
    """
    parts = [shingles(said(record)) for record in records]
    similar: dict[int, list[str]] = {}
    repeated: list[float] = []
    for place, own in enumerate(parts):
        check_cancelled()
        known = similar if len(own) >= _LEAST_SHINGLES else ()
        closest, share = _closest(own, {first: parts[first] for first in known})
        if share >= _SAME_CASE:
            similar[closest].append(ranking.ids[place])
        else:
            similar[place] = []
            repeated.append(round(share, _DIGITS))
    places = np.array(list(similar), dtype=np.int64)
    kept = ranking.taken(places, ranking.scores[places])
    if kept.reasons is not None:
        rows = zip(kept.reasons, repeated, strict=True)
        kept = replace(kept, reasons=tuple({**each, "repeated": share} for each, share in rows))
    left = [records[place] for place in similar]
    return Selection(kept, left, [tuple(ids) for ids in similar.values()])


def _closest(own: Shingles, others: Mapping[int, Shingles]) -> tuple[int, float]:
    """The text that shares most with one, and the share; 0 where there is none."""
    shares = {place: shared(own, other) for place, other in others.items()}
    closest = max(shares, key=lambda place: shares[place], default=0)
    return closest, shares.get(closest, 0.0)


def is_one_sided(answers: Sequence[Answer], k: int) -> bool:
    """Whether fewer than a third of k answers are of one side."""
    return any(_missing(answers, side, k) for side in _SIDES)


def balanced_sides(answers: Sequence[Answer], k: int) -> list[Answer]:
    """The k best answers, a third of them of the weaker side where there are as many.

    Answers of the other side stand back, the last ones first; the order is kept. Ranks are counted
    anew.
    """
    chosen, rest = list(answers[:k]), list(answers[k:])
    for side in _SIDES:
        others = [answer for answer in rest if answer.side == side][: _missing(chosen, side, k)]
        for answer in others:
            last = next((each for each in reversed(chosen) if each.side != side), None)
            if last is not None:
                chosen[chosen.index(last)] = answer
    chosen.sort(key=lambda answer: answer.rank)
    return [replace(answer, rank=rank) for rank, answer in enumerate(chosen, start=1)]


def _missing(answers: Sequence[Answer], side: QuestionSide, k: int) -> int:
    """The number of answers that a side lacks to a third of k."""
    return max(k // 3 - sum(answer.side == side for answer in answers), 0)


LONGEST_QUESTION = 10_000
"""Characters of a question that are read; a longer one would take the model seconds."""
# results that are read for each answer, since near duplicates are folded, and that have sides
_MOST_FOLDED, _BALANCED = 4, 2
_ARGSME_SIDES: dict[str, tuple[PremiseStance, QuestionSide]] = {
    "PRO": ("PRO", "FOR"),
    "CON": ("CON", "AGAINST"),
}


def checked_question(question: str, k: int) -> str:
    """The part of a question that is read.

    Raises:
        UsageError: The question is no text, or k is below 1.
    """
    check_text(question, "the question")
    check_number(k, "k", 1)
    return question[:LONGEST_QUESTION]


def checked_topic(question: str, k: int, objects: Sequence[str] = ()) -> Topic:
    """The part of a question that is read, with the objects that are given.

    Raises:
        UsageError: As `checked_question` and `checked_objects`.
    """
    return Topic("1", checked_question(question, k), checked_objects(objects))


def checked_objects(objects: Sequence[str]) -> tuple[str, ...]:
    """The objects that are compared.

    Raises:
        UsageError: They are not two different names, or none.
    """
    if isinstance(objects, str) or len(objects) not in (0, 2):
        raise UsageError(f"found the objects {objects!r}; expected two names, or none")
    for each in objects:
        check_text(each, "an object")
    names = tuple(" ".join(each.split()) for each in objects)
    if not all(names):
        raise UsageError("found an empty object; expected two objects")
    if len({name.casefold() for name in names}) < len(names):
        raise UsageError(f"found the object {names[0]!r} twice; expected two objects")
    return names


def shown_answers(
    index: IndexReader,
    system: System,
    topic: Topic,
    k: int,
    sides: bool,
    balance: bool,
    snippets: bool,
) -> list[Answer]:
    """The best answers to a question; `Index.search` describes them and the arguments."""
    question = topic.title
    ranking, records = _results(index, system, topic, k)
    shown = _shown(system, ranking, records, k)
    found = shown.best(_BALANCED * k if balance else k).answers()
    first, rest = found[:k], found[k:]
    if sides:
        first = with_sides(question, first, records)
        # to judge a side takes time: those of the rest count only where one side is short
        rest = with_sides(question, rest, records) if is_one_sided(first, k) else rest
    best = balanced_sides(first + rest, k) if balance else first
    return with_snippets(question, best, index.analysis.analyzer()) if snippets else best


def _results(
    index: IndexReader, system: System, topic: Topic, k: int
) -> tuple[Ranking, list[Record]]:
    """The results for a topic of which k are shown, without stances, and their records."""
    finder = replace(system, labelling=None)
    ranking = finder.retrieve([topic], _MOST_FOLDED * k)[0]
    return ranking, index.records_of(ranking)


def _shown(system: System, ranking: Ranking, records: Sequence[Record], k: int) -> Selection:
    """The results that a person is shown."""
    shown = without_duplicates(ranking, records).arguing().on_topic()
    # the classifier may take a while for each result
    return shown if system.labelling is None else shown.best(k).labelled(system.labelling)


def nearest_headings(index: IndexReader, system: System, topic: Topic, k: int) -> list[str]:
    """The k headings of the documents nearest to a question, each once, the nearest first."""
    ranking = system.retrieve([topic], _MOST_FOLDED * k)[0]
    found = answers(index, ranking, snippets=False)
    found.sort(key=lambda answer: -(answer.reasons or {}).get("on_topic", 0.0))
    headings = (answer.heading for answer in found if only_arguments(answer.record))
    return list(dict.fromkeys(filter(None, headings)))[:k]


def search_service(
    source: str,
    question: str,
    k: int,
    say: Callable[[str], None] = lambda _: None,
) -> list[Answer]:
    """The best answers of a service to a question.

    Stances of args.me are towards the question, not towards an argument's conclusion. Web pages
    of ChatNoir come with the part that it shows of them, not with their whole text; their sides
    are judged by that part.

    Args:
        source: `argsme` or `chatnoir`.
        question: Any text.
        k: How many answers are wanted.
        say: Called with a line for people when something goes wrong.

    Raises:
        ServiceError: The service gave no usable answer.
        UsageError: There is no key for ChatNoir, or an address cannot be right.
    """
    from sicetnon.services.argsme import ArgsMeRetriever
    from sicetnon.services.chatnoir import ChatNoirRetriever

    cache = cache_folder() / f"{source}.sqlite"
    topic = Topic("1", question)
    analyzer = named_analysis(DEFAULT_ANALYSIS).analyzer()
    if source == "chatnoir":
        with closing(ChatNoirRetriever(cache, say=say)) as pages:
            ranking = pages.retrieve([topic], k)[0]
            answers = answers_of(ranking, pages.hits(ranking))
            return with_sides(question, with_snippets(question, answers, analyzer))
    with closing(ArgsMeRetriever(cache, say=say)) as arguments:
        ranking = arguments.retrieve([topic], k)[0]
        answers = answers_of(ranking, arguments.records(ranking))
        answers = with_snippets(question, answers, analyzer)
    found = []
    for answer, label in zip(answers, ranking.stances or (), strict=True):
        stance, side = _ARGSME_SIDES.get(label, (None, None))
        found.append(replace(answer, stance=stance, side=side))
    return found


def service_json(source: str, question: str, found: Sequence[Answer]) -> dict[str, Any]:
    """A question and a service's answers for programs."""
    towards = {"stance_towards": "question"} if source == "argsme" else {}
    return {"source": source} | towards | as_json(question, found)
