"""The commands, one per file: its arguments, one typed call, its output.

`add_arguments(parser)` describes a command and sets `command`, the function that runs it. That
function imports what is heavy, so that `--help` is quick.
"""

from __future__ import annotations

import argparse


def add_output_options(command: argparse.ArgumentParser) -> None:
    """Add `--quiet` and `--verbose`, which may stand before or after the command.

    They have no default here: a command's would take the place of what stands before it.
    """
    told, missing = command.add_mutually_exclusive_group(), argparse.SUPPRESS
    told.add_argument(
        "--quiet", action="store_true", default=missing, help="print only results and errors"
    )
    told.add_argument(
        "--verbose",
        action="count",
        default=missing,
        help="show the log; given twice, in detail",
    )
