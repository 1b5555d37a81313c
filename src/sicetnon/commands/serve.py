"""`serve`: answer over HTTP."""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path

from sicetnon.commands.arguments import describe, port


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `serve`."""
    describe(
        command,
        _serve,
        "Answer over HTTP from one warm process, in JSON: search, documents, brief, reply, "
        "validation, evaluation. /api/v1/openapi.json describes it. Extra web.",
        "sicetnon serve --port 8080",
        "sicetnon serve --index my-index --port 8080 --verbose",
    )
    command.add_argument("--index", type=Path, metavar="DIR", help="an index (default: the sample)")
    command.add_argument(
        "--host", default="127.0.0.1", help="the address (default: this machine alone)"
    )
    command.add_argument(
        "--port", type=port, metavar="N", default=8080, help="the port; 0: a free one"
    )


def _serve(options: argparse.Namespace) -> None:
    from sicetnon.library.sample import opened_index
    from sicetnon.terminal.console import console, line_printer
    from sicetnon.web.server import serve
    from sicetnon.web.settings import Settings

    say = line_printer(console(stderr=True, quiet=options.quiet))
    index = opened_index(options.index, say)
    # Ctrl-C is how a server is stopped, not an error
    with index, contextlib.suppress(KeyboardInterrupt):
        serve(index, Settings(options.host), options.port, say)
