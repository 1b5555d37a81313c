"""`judge`: make pools, see how far they are, make judgments of votes."""

from __future__ import annotations

import argparse
from datetime import datetime
from pathlib import Path

from sicetnon.commands.arguments import (
    Commands,
    Run,
    describe,
    folder,
    natural,
    notices,
    positive,
    print_json,
    warn_of_pairs,
    words,
)
from sicetnon.errors import counted

_COMBINATIONS = ("majority", "median", "lowest")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the verbs of `judge`, each with its arguments."""
    command.description = (
        "Make pools of runs, and judgments of the votes on them. `sicetnon serve --judge FILE` "
        "opens the page on which assessors vote. Each verb explains itself."
    )
    verbs = command.add_subparsers(title="verbs", metavar="VERB", required=True)
    _add_pool(verbs)
    _add_status(verbs)
    _add_agreement(verbs)
    _add_disagreements(verbs)
    _add_export(verbs)
    _add_import(verbs)
    _add_undo(verbs)


def _add_pool(verbs: Commands) -> None:
    verb = verbs.add_parser("pool", help="make a pool of runs")
    describe(
        verb,
        _pool,
        "Make a judging file of the first documents of runs. It keeps no rank and no run of a "
        "document. Each assessor sees the documents in an order of their own.",
        "sicetnon judge pool a.txt b.txt -o pool.sqlite --topics topics.xml "
        "--task touche-2020-task-1",
        "sicetnon judge pool a.txt -o pool.sqlite --topics topics.xml --dimensions relevance,side "
        "--depth 10 --votes 3 --quota 100",
    )
    verb.add_argument("runs", nargs="+", metavar="RUN", help="a file with a run")
    verb.add_argument(
        "-o", "--output", type=Path, metavar="FILE", required=True, help="the judging file to make"
    )
    verb.add_argument("--topics", metavar="FILE", required=True, help="topics.xml or queries.jsonl")
    verb.add_argument("--task", metavar="TASK", default="", help="such as touche-2020-task-1")
    verb.add_argument(
        "--dimensions",
        type=words,
        default=[],
        metavar="A,B",
        help="of relevance, quality, coherence, stance, side (default: what the task judges)",
    )
    verb.add_argument(
        "--depth", type=positive, default=5, metavar="N", help="documents of each run (default: 5)"
    )
    verb.add_argument(
        "--votes", type=positive, default=1, metavar="N", help="assessors per document (default: 1)"
    )
    verb.add_argument("--quota", type=positive, metavar="N", help="documents per assessor at most")
    verb.add_argument(
        "--seed", type=natural, default=0, metavar="N", help="the seed of the orders (default: 0)"
    )


def _add_status(verbs: Commands) -> None:
    verb = _file_verb(verbs, "status", "show how far a pool and its assessors are", _status)
    verb.add_argument("--json", action="store_true", help="print JSON")


def _add_agreement(verbs: Commands) -> None:
    verb = _file_verb(
        verbs, "agreement", "show how far assessors agree: Cohen's κ, Krippendorff's α", _agreement
    )
    verb.add_argument("--json", action="store_true", help="print JSON")


def _add_disagreements(verbs: Commands) -> None:
    verb = _file_verb(
        verbs, "disagreements", "list the documents on which assessors differ", _disagreements
    )
    verb.add_argument("--dimension", metavar="NAME", help="list this dimension alone")
    verb.add_argument("--json", action="store_true", help="print JSON")


def _add_export(verbs: Commands) -> None:
    verb = _file_verb(
        verbs,
        "export",
        "write judgments in the form of the official ones",
        _export,
        "Combine votes, and write a file of judgments for each dimension. votes.jsonl beside them "
        "holds all that was done. Of stances and sides, the majority counts; ties are left out.",
        "sicetnon judge export pool.sqlite -o judged --by median",
    )
    verb.add_argument(
        "-o", "--output", type=folder, metavar="DIR", required=True, help="the output folder"
    )
    verb.add_argument(
        "--by",
        choices=_COMBINATIONS,
        default="majority",
        help="how votes on grades become one (default: majority)",
    )


def _add_import(verbs: Commands) -> None:
    verb = _file_verb(
        verbs,
        "import",
        "take known judgments as the votes of an assessor",
        _import,
        "Take known judgments as the votes of an assessor. Documents that have all their votes "
        "then are shown to nobody.",
        "sicetnon judge import pool.sqlite relevance.qrels --assessor official",
    )
    verb.add_argument("qrels", metavar="QRELS", help="the judgments")
    verb.add_argument("--assessor", metavar="NAME", required=True, help="the assessor of the votes")
    verb.add_argument(
        "--dimension",
        metavar="NAME",
        help="the dimension of the judgments (default: from the file's name)",
    )


def _add_undo(verbs: Commands) -> None:
    verb = _file_verb(
        verbs,
        "undo",
        "undo the votes of an assessor",
        _undo,
        "Undo the votes and skips of an assessor. They stay in the file, marked as undone, and "
        "their documents are shown again.",
        "sicetnon judge undo pool.sqlite --assessor anna --since 2026-01-31T14:00",
    )
    verb.add_argument("--assessor", metavar="NAME", required=True, help="the assessor")
    verb.add_argument("--topic", metavar="NUMBER", help="undo votes on this topic alone")
    verb.add_argument(
        "--since",
        type=_time,
        metavar="TIME",
        help="undo votes since this time, such as 2026-01-31T14:00",
    )


def _file_verb(
    verbs: Commands, name: str, line: str, run: Run, description: str = "", example: str = ""
) -> argparse.ArgumentParser:
    """Add a verb that reads or changes a judging file."""
    verb = verbs.add_parser(name, help=line)
    description = description or f"{line[:1].upper()}{line[1:]}."
    describe(verb, run, description, example or f"sicetnon judge {name} pool.sqlite")
    verb.add_argument("file", type=Path, metavar="FILE", help="the judging file")
    return verb


def _time(text: str) -> float:
    """A point in time, in seconds since 1970; of this machine's time zone where it names none."""
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        message = f"found {text[:40]!r}; expected a time such as 2026-01-31T14:00"
        raise argparse.ArgumentTypeError(message) from None


def _pool(options: argparse.Namespace) -> None:
    from sicetnon.judging import make_pool

    size = make_pool(
        options.output,
        options.runs,
        options.topics,
        task=options.task,
        dimensions=options.dimensions,
        depth=options.depth,
        votes=options.votes,
        quota=options.quota,
        seed=options.seed,
    )
    say = notices(options)
    documents, topics = counted(size.documents, "document"), counted(size.topics, "topic")
    say(f"{options.output}: {documents} for {topics} from {counted(len(options.runs), 'run')}")
    say(f"to judge: sicetnon serve --judge {options.output}")


def _status(options: argparse.Namespace) -> None:
    import msgspec

    from sicetnon.judging import JudgingFile
    from sicetnon.judging.votes import progress
    from sicetnon.terminal.console import console
    from sicetnon.terminal.results import show_progress

    with JudgingFile(options.file) as file:
        found = progress(file)
        if options.json:
            print_json(msgspec.to_builtins(found))
        else:
            show_progress(file.plan, found, console())


def _agreement(options: argparse.Namespace) -> None:
    from sicetnon.judging import JudgingFile
    from sicetnon.judging.votes import agreement
    from sicetnon.terminal.console import console
    from sicetnon.terminal.results import show_agreement

    with JudgingFile(options.file) as file:
        found = agreement(file)
    if options.json:
        print_json([each.as_json() for each in found])
    else:
        show_agreement(found, console())


def _disagreements(options: argparse.Namespace) -> None:
    import dataclasses

    from sicetnon.judging import JudgingFile
    from sicetnon.judging.votes import agreement, disagreements
    from sicetnon.terminal.console import console
    from sicetnon.terminal.results import show_disagreements

    with JudgingFile(options.file) as file:
        found = disagreements(file, options.dimension)
        voted = [each.documents for each in agreement(file)
                 if options.dimension in (None, each.dimension)]  # fmt: skip
        topics = file.topics
    if options.json:
        print_json(list(map(dataclasses.asdict, found)))
    else:
        show_disagreements(found, sum(voted), topics, console())


def _export(options: argparse.Namespace) -> None:
    from sicetnon.judging import JudgingFile, export_judgments

    with JudgingFile(options.file) as file:
        written = export_judgments(file, options.output, options.by)
    say = notices(options)
    for each in written:
        ties = f"; left out: {counted(each.ties, 'tie')}" if each.ties else ""
        say(f"{each.path}: {counted(each.judgments, 'judgment')}{ties}")


def _import(options: argparse.Namespace) -> None:
    from sicetnon.judging import JudgingFile, import_judgments

    with JudgingFile(options.file) as file:
        found = import_judgments(file, options.qrels, options.assessor, options.dimension)
    notes = (
        (found.known, "known already"),
        (found.outside, "not in the pool"),
        (found.full, "with all their votes"),
    )
    rest = ", ".join(f"{number:,} {what}" for number, what in notes if number)
    say = notices(options)
    warn_of_pairs(say, options.qrels, found.differing)
    say(
        f"{options.file}: {counted(found.saved, 'vote')} on {found.dimension} by "
        f"{options.assessor}{f'; left out: {rest}' if rest else ''}"
    )


def _undo(options: argparse.Namespace) -> None:
    from sicetnon.judging import JudgingFile

    with JudgingFile(options.file) as file:
        count = file.undo_all(options.assessor, options.topic, options.since)
    say = notices(options)
    say(f"{options.file}: {counted(count, 'vote or skip', 'votes and skips')} undone")
