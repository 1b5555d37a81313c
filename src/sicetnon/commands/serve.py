"""`serve`: pages and an HTTP API."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sicetnon.commands.arguments import (
    add_address,
    add_index,
    add_ranker,
    describe,
    notices,
    use_ranker,
)
from sicetnon.errors import UsageError, counted

if TYPE_CHECKING:
    from sicetnon.app.index import Index
    from sicetnon.web.settings import Settings

_LOOKED_UP = 500
"""Documents of a pool that are looked up in the index at the start."""
_SHORTEST_TOKEN = 16


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `serve`."""
    describe(
        command,
        _serve,
        "Serve pages for a browser and an HTTP API from one warm process: answers, documents, "
        "briefs, replies, validation, evaluation. /api/v1/openapi.json describes the API. Extra "
        "web. With the extra mcp, /mcp answers assistants.",
        "sicetnon serve --open",
        "sicetnon serve --index my-index --judge pool.sqlite",
        "sicetnon serve --runs a.txt b.txt --qrels relevance.qrels --topics topics.xml",
    )
    command.add_argument(
        "--judge", type=Path, metavar="FILE", help="a pool to judge in the browser"
    )
    command.add_argument(
        "--runs", nargs="+", type=Path, default=[], metavar="RUN", help="runs to look at"
    )
    command.add_argument(
        "--qrels", nargs="+", type=Path, default=[], metavar="FILE", help="judgments of the runs"
    )
    command.add_argument(
        "--topics", type=Path, metavar="FILE", help="topics.xml or queries.jsonl, for the runs"
    )
    add_index(command)
    add_ranker(command)
    add_address(command, "the port (default: 8080); 0: a free one", 8080)
    command.add_argument(
        "--root-path",
        metavar="PATH",
        default="",
        help="the path below which a proxy shows the pages, such as /debates (default: that of "
        "the header X-Forwarded-Prefix)",
    )
    command.add_argument(
        "--open", action="store_true", help="open the page in a browser, where there is a screen"
    )
    command.add_argument(
        "--log-questions",
        action="store_true",
        help="with --verbose: write the questions to the log (default: no)",
    )


def _serve(options: argparse.Namespace) -> None:
    from sicetnon.app.index import opened_index
    from sicetnon.web.server import serve

    say = notices(options)
    index = opened_index(options.index, say)
    use_ranker(index, options.ranker)
    if options.judge:
        _say_missing(index, options.judge, say)
    # Ctrl-C is how a server is stopped, not an error
    with index, contextlib.suppress(KeyboardInterrupt):
        serve(index, _settings(options), options.port, say, options.open)


def _say_missing(index: Index, judging: Path, say: Callable[[str], None]) -> None:
    """Say how many documents of a pool assessors cannot read, since the index lacks them."""
    from sicetnon.judging import JudgingFile
    from sicetnon.report.contents import Texts

    with JudgingFile(judging) as file:
        documents = file.documents[:_LOOKED_UP]
    missing = len(documents) - len(Texts(index).of(documents))
    if missing:
        say(
            f"{judging}: the index lacks the texts of {missing:,} of "
            f"{counted(len(documents), 'document')}; name their index with --index"
        )


def _settings(options: argparse.Namespace) -> Settings:
    """The limits, and what is served; the token is that of the environment, or a new one."""
    from sicetnon.web.settings import Settings, is_prefix

    if bool(options.runs) != bool(options.qrels):
        raise UsageError("found one of --runs and --qrels; expected both, or none")
    if options.log_questions and not options.verbose:
        raise UsageError("found --log-questions without --verbose, which shows the log; add it")
    for path in (*options.runs, *options.qrels, *filter(None, [options.topics])):
        if not path.is_file():
            raise UsageError(f"{path}: found no file")
    root_path = options.root_path.rstrip("/")
    if root_path and not is_prefix(root_path):
        raise UsageError(f"--root-path: found {options.root_path!r}; expected one like /debates")
    settings = Settings(
        options.host,
        root_path=root_path,
        allowed_hosts=tuple(options.allow_host),
        logs_questions=options.log_questions,
        judging=options.judge,
        runs=tuple(options.runs),
        qrels=tuple(options.qrels),
        topics=options.topics,
    )
    token = os.environ.get("SICETNON_TOKEN", "").strip()
    if not token or settings.is_local:
        return settings
    if len(token) < _SHORTEST_TOKEN:
        # nobody else's business, not even on the screen
        raise UsageError(
            f"SICETNON_TOKEN has {counted(len(token), 'character')}; expected at least "
            f"{_SHORTEST_TOKEN}, which nobody guesses"
        )
    return replace(settings, token=token, shows_token=False)
