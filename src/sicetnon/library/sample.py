"""The sample that comes with the project, and its index."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from sicetnon._version import VERSION
from sicetnon.errors import BrokenIndexError
from sicetnon.formats.corpora import open_corpus
from sicetnon.index.writing import BuildOptions, build_index
from sicetnon.library.index import Index
from sicetnon.tasks.touche_2020_task_1 import TASK
from sicetnon.text.analysis import named_analysis


def sample_directory() -> Path:
    """The sample's input directory."""
    return Path(__file__).parents[1] / "examples" / TASK.id / "input"


def sample_index() -> Index:
    """The index of the sample, built where it is not there yet (a moment)."""
    corpus = open_corpus([sample_directory()])
    checksum = corpus.checksum()
    folder = cache_folder() / f"sample-{VERSION}-{checksum[:12]}"
    try:
        return Index.open(folder)
    except BrokenIndexError:
        options = BuildOptions(named_analysis(TASK.analysis), source={"sha256": checksum})
        build_index(corpus, folder, options)
        return Index.open(folder)


def cache_folder() -> Path:
    """Where things are kept that can be made again: `SICETNON_CACHE`, or the user's cache.

    A passing folder of this user's where neither can be written.
    """
    named = os.environ.get("SICETNON_CACHE")
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    try:
        folder = Path(named).expanduser() if named else Path(home).expanduser() / "sicetnon"
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except (OSError, RuntimeError):
        pass  # no such user, no such folder, no permission: all the same here
    fallback = Path(tempfile.gettempdir()) / f"sicetnon-{os.getuid()}"
    fallback.mkdir(mode=0o700, exist_ok=True)
    return fallback
