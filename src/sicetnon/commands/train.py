"""`train`: train the learned parts of the systems named uva."""

from __future__ import annotations

import argparse

from sicetnon.commands.arguments import describe, folder

_PARTS = ("uva-quality", "uva-ranker", "uva-argumentativeness")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `train`."""
    describe(
        command,
        _train,
        "Train a part of the University of Amsterdam's systems: the quality classifier and the "
        "ranker from Dagstuhl-15512 or Webis-ArgQuality-20, the classifier of argumentative pages "
        "from a corpus of arguments and one of other texts. Train uva-quality before uva-ranker.",
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
    command.add_argument(
        "-o", "--output", type=folder, metavar="DIR", help="folder of models (default: the user's)"
    )


def _train(options: argparse.Namespace) -> None:
    from sicetnon.terminal.console import console, show_facts
    from sicetnon.uva.parameters import models_folder, write_parameters
    from sicetnon.uva.training import train_part

    parameters = train_part(
        options.part, options.files, options.others, options.encoder, options.entities
    )
    path, card = write_parameters(options.output or models_folder(), parameters), parameters.card
    if options.quiet:
        return
    facts = [("parameters", str(path)), ("encoder", card.encoder), ("trained on", card.trained_on)]
    facts += [(name, f"{value:.3f}") for name, value in card.figures.items()]
    show_facts(facts, console())
