"""`train`: train the ranker of the answers, and the learned parts of the systems named uva."""

from __future__ import annotations

import argparse
from pathlib import Path

from sicetnon.commands.arguments import add_index, describe, folder
from sicetnon.errors import UsageError

_RANKER = "ranker"
_PARTS = (_RANKER, "uva-quality", "uva-ranker", "uva-argumentativeness")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `train`."""
    describe(
        command,
        _train,
        "Train a learned part. `ranker` orders what a person is shown: it learns from tables of "
        "arguments that were read for a question (relevance and strength), or from judgments; "
        "search, brief, reply, serve, mcp and run read it with --ranker. The others are those of "
        "the University of Amsterdam's systems: the quality classifier and the "
        "ranker from Dagstuhl-15512 or Webis-ArgQuality-20, the classifier of argumentative pages "
        "from a corpus of arguments and one of other texts. Train uva-quality before uva-ranker.",
        "sicetnon train ranker relevance.qrels --topics topics.xml --index my-index -o models",
        "sicetnon train uva-quality webis-argquality20-full.csv --encoder words-averaged",
        "sicetnon train uva-argumentativeness ARGUMENTS --others pages.jsonl -o models",
    )
    command.add_argument("part", choices=_PARTS)
    command.add_argument("files", nargs="+", metavar="FILE", help="the training data")
    command.add_argument(
        "--others",
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE",
        help="texts that do not argue",
    )
    command.add_argument(
        "--encoder",
        metavar="NAME",
        help="how texts become vectors: words-first, words-averaged (over windows of 512), "
        "minilm-first, minilm-averaged (default: words-first)",
    )
    command.add_argument(
        "--no-entities", dest="entities", action="store_false", help="leave named entities out"
    )
    add_index(command, "ranker: the index of the arguments")
    command.add_argument(
        "--topics", type=Path, metavar="FILE", help="ranker: the topics, for labels by topic"
    )
    command.add_argument(
        "-o",
        "--output",
        type=folder,
        metavar="DIR",
        help="folder of models (default: SICETNON_MODELS, else the user's; ranker needs one)",
    )


def _train(options: argparse.Namespace) -> None:
    if options.part == _RANKER:
        _train_ranker(options)
        return
    if options.index or options.topics:
        raise UsageError("--index and --topics go with ranker")
    from sicetnon.terminal.console import console, show_facts
    from sicetnon.uva.learning import train_part
    from sicetnon.uva.parameters import models_folder, write_parameters

    parameters = train_part(
        options.part, options.files, options.others, options.encoder, options.entities
    )
    path, card = write_parameters(options.output or models_folder(), parameters), parameters.card
    if options.quiet:
        return
    facts = [("parameters", str(path)), ("encoder", card.encoder), ("trained on", card.trained_on)]
    facts += [(name, f"{value:.3f}") for name, value in card.figures.items()]
    show_facts(facts, console())


def _train_ranker(options: argparse.Namespace) -> None:
    if options.index is None or options.output is None:
        raise UsageError("ranker needs --index with the arguments, and -o for what it writes")
    if options.others or options.encoder or not options.entities:
        raise UsageError("--others, --encoder and --no-entities do not go with ranker")
    from sicetnon.cluster.location import open_index
    from sicetnon.formats.json_records import name_of
    from sicetnon.formats.topics import read_topics
    from sicetnon.ranker.training import Examples, labels_of, train_ranker
    from sicetnon.tasks.touche_2020_task_1 import TASK
    from sicetnon.terminal.console import console, show_facts

    topics = read_topics(options.topics) if options.topics else []
    titles = {topic.number: topic.title for topic in topics}
    labels = labels_of(options.files, titles)
    named = [name_of(file) for file in options.files]
    command = ["sicetnon train ranker", *named, "--index INDEX"]
    command += [f"--topics {options.topics.name}"] if options.topics else []
    with open_index(options.index) as index:
        examples = Examples(index, TASK.system("default", index), labels)
    figures = train_ranker(examples, options.output, " ".join([*command, "-o DIR"]))
    if not options.quiet:
        facts = [("written to", str(options.output))]
        show_facts(facts + [(name, f"{value:.3f}") for name, value in figures.items()], console())
