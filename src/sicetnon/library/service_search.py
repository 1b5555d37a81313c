"""`search --source`: questions answered by services on the network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from sicetnon.folders import cache_folder
from sicetnon.library.answers import Answer, answers_of, as_json, with_snippets
from sicetnon.library.sides import with_sides
from sicetnon.records import PremiseStance, QuestionSide, Topic
from sicetnon.services.argsme import ArgsMeRetriever
from sicetnon.services.chatnoir import ChatNoirRetriever
from sicetnon.text.analysis import DEFAULT_ANALYSIS, named_analysis

_SIDES: dict[str, tuple[PremiseStance, QuestionSide]] = {
    "PRO": ("PRO", "FOR"),
    "CON": ("CON", "AGAINST"),
}


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
    kept = cache_folder() / f"{source}.sqlite"
    topic = Topic("1", question)
    analyzer = named_analysis(DEFAULT_ANALYSIS).analyzer()
    if source == "chatnoir":
        with closing(ChatNoirRetriever(kept, say=say)) as pages:
            ranking = pages.retrieve([topic], k)[0]
            answers = answers_of(ranking, pages.hits(ranking))
            return with_sides(question, with_snippets(question, answers, analyzer))
    with closing(ArgsMeRetriever(kept, say=say)) as arguments:
        ranking = arguments.retrieve([topic], k)[0]
        answers = answers_of(ranking, arguments.records(ranking))
        answers = with_snippets(question, answers, analyzer)
    found = []
    for answer, said in zip(answers, ranking.stances or (), strict=True):
        stance, side = _SIDES.get(said, (None, None))
        found.append(replace(answer, stance=stance, side=side))
    return found


def service_json(source: str, question: str, found: Sequence[Answer]) -> dict[str, Any]:
    """A question and a service's answers for programs."""
    towards = {"stance_towards": "question"} if source == "argsme" else {}
    return {"source": source} | towards | as_json(question, found)
