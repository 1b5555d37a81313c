"""The log of this package as lines on standard error (`--verbose`)."""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Iterator

from sicetnon.text.unicode import one_line


class _Lines(logging.Handler):
    """Prints to the present standard error, which a progress bar may have replaced."""

    def emit(self, record: logging.LogRecord) -> None:
        print(one_line(self.format(record)), file=sys.stderr)  # noqa: T201


@contextlib.contextmanager
def shown_log(name: str, verbosity: int) -> Iterator[None]:
    """Show what a logger and those below it log: INFO at 1, DEBUG from 2."""
    logger = logging.getLogger(name)
    handler, level = _Lines(), logger.level
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO if verbosity == 1 else logging.DEBUG)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
