"""A run as blocks of whole lines in bytes, from a file, lines of text, records or a data frame."""

from __future__ import annotations

import gzip
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from sicetnon.errors import DataError
from sicetnon.evaluation import sources
from sicetnon.evaluation.sources import MISSING
from sicetnon.formats.files import open_bytes
from sicetnon.records import UNSTANCED, Run

# A path, a run, rankings, lines of text, records, or a data frame.
RunSource = str | Path | Run | Iterable[Any]
# The columns of a block should fit a processor's cache: 4 MiB take twice as long altogether.
BLOCK_BYTES = 1 << 18
_LONGEST_LINE = 1 << 24
_LINES_PER_PIECE = 2_000
# A data frame or a record must have the first three; what else it lacks is taken as right.
_FIELDS = (
    *(sources.TOPIC, sources.DOCUMENT, sources.SCORE),
    *(sources.RANK, sources.STANCE, sources.TAG),
)


class Blocks:
    """A run as blocks that end where a line ends.

    Args:
        run: A path, lines of text, records, or a data frame.
        size: Bytes per block, about.

    Attributes:
        error: Why the blocks ended early; None where they did not. A line that was cut in two is
            left out then.
        opened: Whether the file could be opened.
        zipped: Whether it is compressed.
    """

    def __init__(self, run: RunSource, size: int = BLOCK_BYTES):
        self._run, self._size = run, size
        self.error: DataError | None = None
        self.opened = self.zipped = False

    def __iter__(self) -> Iterator[bytes]:
        waiting: list[bytes] = []
        size = 0
        for piece in self._pieces():
            waiting.append(piece)
            size += len(piece)
            # a line that never ends must not fill the memory
            if (size >= self._size and b"\n" in piece) or size > _LONGEST_LINE:
                data = b"".join(waiting)
                end = data.rfind(b"\n") + 1 or len(data)
                yield data[:end]
                waiting, size = [data[end:]], len(data) - end
        data = b"".join(waiting)
        end = len(data) if self.error is None else data.rfind(b"\n") + 1
        if end:
            yield data[:end]

    def _pieces(self) -> Iterator[bytes]:
        if not isinstance(self._run, str | Path):
            lines = _text_lines(self._run)
            while some := list(itertools.islice(lines, _LINES_PER_PIECE)):
                yield "".join(f"{line}\n" for line in some).encode("utf-8", "surrogatepass")
            return
        try:
            with open_bytes(self._run) as file:
                self.opened, self.zipped = True, isinstance(file, gzip.GzipFile)
                # read1, since read would keep back what came before a damaged place
                while piece := file.read1(self._size):  # type: ignore[attr-defined]
                    yield piece
        except DataError as error:
            self.error = error
        except OSError as error:
            self.error = DataError(f"cannot be read: {error.strerror or error}", self._run)


def _text_lines(run: Any) -> Iterator[str]:
    """Lines of text without their ends; records and data frames are written as lines."""
    if isinstance(run, Run):
        return  # without rankings
    if not sources.is_frame(run):
        items = iter(run)
        first = next(items, None)
        if first is None:
            return
        run = itertools.chain([first], items)
        if isinstance(first, str):
            yield from (line.removesuffix("\n") for line in run)
            return
    ranks: Counter[str] = Counter()
    for topic, document, score, rank, second, tag in sources.rows(run, _FIELDS, required=3):
        ranks[str(topic)] += 1
        place = ranks[str(topic)] if rank is MISSING else rank
        word = UNSTANCED if second is MISSING else second
        yield f"{topic} {word} {document} {place} {score} {'run' if tag is MISSING else tag}"
