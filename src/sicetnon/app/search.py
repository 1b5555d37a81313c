"""The answers to a question: of an index, chosen for people, or of a service on the network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from sicetnon.app.answers import Answer, answers, answers_of, as_json, with_sides, with_snippets
from sicetnon.app.showing import Shown, argues, balanced, folded, is_one_sided
from sicetnon.argument_checks import check_number, check_text
from sicetnon.errors import UsageError
from sicetnon.index.reader import IndexReader
from sicetnon.operating_system import cache_folder
from sicetnon.ranking.system import System
from sicetnon.records import PremiseStance, QuestionSide, Ranking, Record, Topic
from sicetnon.text.analysis import DEFAULT_ANALYSIS, named_analysis

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
    best = balanced(first + rest, k) if balance else first
    return with_snippets(question, best, index.analysis.analyzer()) if snippets else best


def _results(
    index: IndexReader, system: System, topic: Topic, k: int
) -> tuple[Ranking, list[Record]]:
    """The results for a topic of which k are shown, without stances, and their records."""
    finder = replace(system, labelling=None)
    ranking = finder.retrieve([topic], _MOST_FOLDED * k)[0]
    return ranking, index.records_of(ranking)


def _shown(system: System, ranking: Ranking, records: Sequence[Record], k: int) -> Shown:
    """The results that a person is shown."""
    shown = folded(ranking, records).arguing().on_topic()
    # the classifier may take a while for each result
    return shown if system.labelling is None else shown.best(k).labelled(system.labelling)


def nearest_headings(index: IndexReader, system: System, topic: Topic, k: int) -> list[str]:
    """The k headings of the documents nearest to a question, each once, the nearest first."""
    ranking = system.retrieve([topic], _MOST_FOLDED * k)[0]
    found = answers(index, ranking, snippets=False)
    found.sort(key=lambda answer: -(answer.reasons or {}).get("on_topic", 0.0))
    headings = (answer.heading for answer in found if argues(answer.record))
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
    for answer, said in zip(answers, ranking.stances or (), strict=True):
        stance, side = _ARGSME_SIDES.get(said, (None, None))
        found.append(replace(answer, stance=stance, side=side))
    return found


def service_json(source: str, question: str, found: Sequence[Answer]) -> dict[str, Any]:
    """A question and a service's answers for programs."""
    towards = {"stance_towards": "question"} if source == "argsme" else {}
    return {"source": source} | towards | as_json(question, found)
