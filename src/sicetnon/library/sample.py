"""The sample that comes with the project, and its index."""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Callable
from pathlib import Path

from sicetnon._version import VERSION
from sicetnon.cluster.address import Location
from sicetnon.errors import BrokenIndexError
from sicetnon.folders import cache_folder
from sicetnon.formats.files import checksum
from sicetnon.index.manifest import FORMAT_VERSION
from sicetnon.library.index import Index
from sicetnon.platforms import check_plain, wait_for_lock
from sicetnon.tasks.touche_2020_task_1 import TASK
from sicetnon.text.analysis import named_analysis


def sample_directory() -> Path:
    """The sample's input directory."""
    return Path(__file__).parents[1] / "examples" / TASK.id / "input"


def sample_index(say: Callable[[str], None] = lambda _: None) -> Index:
    """The index of the sample, built where it is not there yet (a moment).

    Args:
        say: Called with a line for people where another process is building it.
    """
    files = sorted(sample_directory().iterdir())
    contents = "".join(f"{checksum(file):08x}" for file in files)
    known = f"{zlib.crc32(contents.encode()):08x}"
    folder = cache_folder() / f"sample-{VERSION}-{FORMAT_VERSION}-{known}"
    with contextlib.suppress(BrokenIndexError):
        return Index.open(folder)
    lock_path = folder.with_name(f"{folder.name}.lock")
    check_plain(lock_path)
    with lock_path.open("a") as lock:
        wait_for_lock(lock, lambda: say("another process builds the sample's index; waiting"))
        with contextlib.suppress(BrokenIndexError):
            return Index.open(folder)
        _build(folder)
        return Index.open(folder)


def _build(folder: Path) -> None:
    # what builds takes longer to load than what searches
    from sicetnon.formats.corpora import open_corpus
    from sicetnon.index.writing import BuildOptions, build_index

    corpus = open_corpus([sample_directory()])
    analysis = named_analysis(TASK.analysis)
    build_index(corpus, folder, BuildOptions(analysis, source={"sha256": corpus.checksum()}))


def opened_index(folder: Location | None, say: Callable[[str], None] = lambda _: None) -> Index:
    """An index; that of the sample when none is named.

    Raises:
        BrokenIndexError: There is no usable index in the folder.
    """
    return Index.open(folder) if folder else sample_index(say)
