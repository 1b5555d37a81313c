"""`mcp`: answer assistants."""

from __future__ import annotations

import argparse
import contextlib
import sys

from sicetnon.commands.arguments import (
    add_address,
    add_index,
    add_ranker,
    describe,
    notices,
    use_ranker,
)
from sicetnon.errors import MissingExtraError, UsageError


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `mcp`."""
    describe(
        command,
        _mcp,
        "Answer assistants by the Model Context Protocol: the tools search, compare, brief and "
        "document. Over standard input and output, unless --port is given. Extra mcp.",
        "sicetnon mcp --index my-index",
        "sicetnon mcp --port 8081",
    )
    add_index(command)
    add_ranker(command)
    add_address(command, "answer over HTTP; 0: a free port", None)


def _mcp(options: argparse.Namespace) -> None:
    try:
        import sicetnon.web.assistant  # noqa: F401  # it needs the package mcp
        from sicetnon.web.server import serve_assistants, serve_pipe
    except ModuleNotFoundError as error:
        raise MissingExtraError("answering assistants", "mcp") from error
    from sicetnon.app.index import opened_index
    from sicetnon.web.settings import Settings

    if options.port is None and sys.stdin is None:
        raise UsageError("standard input is closed; start it from an assistant, or give --port")
    say = notices(options)
    index = opened_index(options.index, say)
    use_ranker(index, options.ranker)
    # Ctrl-C is how a server is stopped, not an error
    with index, contextlib.suppress(KeyboardInterrupt):
        if options.port is None:
            serve_pipe(index, Settings())
        else:
            settings = Settings(options.host, allowed_hosts=tuple(options.allow_host))
            serve_assistants(index, settings, options.port, say)
