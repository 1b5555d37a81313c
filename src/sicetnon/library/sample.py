"""The sample that comes with the project, and its index."""

from __future__ import annotations

from pathlib import Path

from sicetnon._version import VERSION
from sicetnon.errors import BrokenIndexError
from sicetnon.folders import cache_folder
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
