"""`search`: answer a question in the terminal."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sicetnon.commands.arguments import (
    add_index,
    add_partial,
    add_ranker,
    add_stance,
    describe,
    notices,
    positive,
    print_json,
    use_ranker,
)
from sicetnon.errors import SicetnonError, UsageError

if TYPE_CHECKING:
    from sicetnon.app.answers import Answer
    from sicetnon.app.index import Index


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `search`."""
    describe(
        command,
        _search,
        "Answer a question from an index, or by a service on the network.",
        'sicetnon search "Should teachers get tenure?" -k 5',
        "sicetnon search Is homework good for children --index my-index --json",
    )
    command.add_argument("question", nargs="+", help="any text")
    add_index(command)
    command.add_argument(
        "--source",
        choices=("argsme", "chatnoir"),
        help="ask a service on the network instead (chatnoir: key in CHATNOIR_API_KEY)",
    )
    command.add_argument(
        "-k", type=positive, metavar="N", default=10, help="answers wanted (default: 10)"
    )
    command.add_argument(
        "--objects",
        nargs=2,
        metavar=("FIRST", "SECOND"),
        default=(),
        help="the objects of a question that compares (default: those that it names)",
    )
    command.add_argument(
        "--system",
        metavar="NAME",
        help="the first results of this system, unchanged (default: answers for arguments, else "
        "default; near duplicates folded, both sides shown)",
    )
    command.add_argument(
        "--balance",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="give the side with fewer answers a third of the places, if it has enough "
        "(default: yes)",
    )
    command.add_argument(
        "--explain", action="store_true", help="say why each answer stands where it stands"
    )
    command.add_argument(
        "--sides",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="say which side each answer takes (default: yes; --no-sides is faster)",
    )
    add_stance(command)
    add_ranker(command)
    add_partial(command)
    command.add_argument("--json", action="store_true", help="print JSON")


def _search(options: argparse.Namespace) -> None:
    question = " ".join(options.question)
    if options.source:
        named = (options.index, options.system, options.stance, options.ranker, options.objects)
        if any(named):
            raise UsageError(
                "--source asks a service, which takes none of --index, --objects, --ranker, "
                "--system and --stance"
            )
        _search_service(question, options)
        return
    if options.sides and not (isinstance(options.index, Path) and not options.index.exists()):
        _prepare(question)
    from sicetnon.app.answers import as_json
    from sicetnon.app.index import Index, sample_index
    from sicetnon.tasks.registry import shown_system

    say = notices(options)
    place, partial = options.index, options.partial
    with Index.open(place, partial=partial) if place else sample_index(say) as index:
        use_ranker(index, options.ranker, options.system)
        found = index.search(
            question,
            options.k,
            objects=options.objects,
            system=options.system,
            stance=options.stance,
            sides=options.sides,
            balance=options.balance,
        )
        corrected, nearest = _instead(index, question) if not found else ("", ())
        missing = index.missing
        is_filtered = options.system is None and len(found) < options.k and not options.json
        leaves_out = is_filtered and _has_more(index, question, found)
        name = shown_system(index)
    if options.json:
        print_json(as_json(question, found, nearest, missing, corrected))
        return
    from sicetnon.terminal.console import console
    from sicetnon.terminal.results import show_answers, show_left_out

    if missing:
        say(f"partial: {missing}")
    screen = console()
    show_answers(question, found, screen, nearest, options.explain, corrected)
    if leaves_out and (found or nearest) and not options.quiet:
        show_left_out(name, screen)
    if options.explain and found and not any(answer.reasons for answer in found):
        say("no reasons: only the system `answers`, for arguments, gives them")


def _has_more(index: Index, question: str, found: Sequence[Answer]) -> bool:
    """Whether the index has more documents with a word of the question than the answers."""
    from sicetnon.app.search import checked_question
    from sicetnon.cluster.address import is_address
    from sicetnon.records import Topic

    shown = sum(1 + len(answer.similar) for answer in found)
    if is_address(index.folder):
        # one more request to a cluster takes time, and may fail after the answers are there
        return shown < len(index)
    topic = Topic("1", checked_question(question, 1))
    (ranking,) = index.retriever().retrieve([topic], shown + 1)
    return len(ranking.ids) > shown


def _instead(index: Index, question: str) -> tuple[str, Sequence[str]]:
    """The corrected question, empty unless it has answers, and the nearest topics."""
    # most questions have answers, and need none of this
    from sicetnon.app.suggestions import suggest

    found = suggest(index, question, is_answered=False)
    corrected = found.corrected or ""
    if corrected and not index.search(corrected, 1, sides=False, balance=False):
        corrected = ""
    return corrected, found.nearest


def _prepare(question: str) -> None:
    """Begin to load what reads sides, beside the modules of a search and the search itself."""
    from sicetnon.arguments.models.model_files import model_files
    from sicetnon.arguments.side.question_rewriting import has_sides

    # whether the model is damaged matters to what needs it
    with contextlib.suppress(SicetnonError):
        if has_sides(question):
            model_files().load_ahead("embedding.onnx", "sides.onnx", "judge.onnx")


def _search_service(question: str, options: argparse.Namespace) -> None:
    from sicetnon.app.search import search_service, service_json
    from sicetnon.terminal.console import console
    from sicetnon.terminal.results import show_answers

    found = search_service(options.source, question, options.k, say=notices(options))
    if options.json:
        print_json(service_json(options.source, question, found))
        return
    show_answers(question, found, console())
