"""The command `train`: parameters are learned."""

from __future__ import annotations

import argparse
from pathlib import Path

from sicetnon.commands.values import Commands


def add_train(commands: Commands) -> None:
    """Add `train`: a learned part of a system trained."""
    command = commands.add_parser(
        "train",
        help="train the learned parts of the systems named uva",
        description="Train a part of the University of Amsterdam's systems: the quality "
        "classifier and the ranker from Dagstuhl-15512 or Webis-ArgQuality-20, the classifier of "
        "argumentative pages from a corpus of arguments and one of other texts. Train uva-quality "
        "before uva-ranker.",
    )
    parts = ("uva-quality", "uva-ranker", "uva-argumentativeness")
    command.add_argument("part", choices=parts)
    command.add_argument("files", nargs="+", metavar="FILE", help="what is learned from")
    command.add_argument(
        "--others", nargs="+", default=[], metavar="FILE", help="texts that do not argue"
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
        "-o", "--output", type=Path, metavar="DIR", help="where parameters go (default: the user's)"
    )
    command.set_defaults(command=_train)


def _train(options: argparse.Namespace) -> None:
    from sicetnon.uva import training

    training.command(options)
