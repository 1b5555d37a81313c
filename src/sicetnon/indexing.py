"""The command `index`: its options put into calls, its results into words."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from rich.console import Console

from sicetnon import terminal
from sicetnon.errors import BrokenIndexError, DataError, UsageError
from sicetnon.formats.corpora import Corpus, open_corpus
from sicetnon.formats.page_scores import SideFiles
from sicetnon.index.index import Index, verify_index
from sicetnon.index.storage import total_size
from sicetnon.index.writing import (
    BuildOptions,
    add_documents,
    build_index,
    delete_documents,
)
from sicetnon.tasks.registry import TASKS
from sicetnon.text.analysis import DEFAULT_ANALYSIS, Analysis, named_analysis

_SHOWN_ERRORS = 5


class _Skipped:
    """Counts unusable documents, telling of the first few."""

    def __init__(self, screen: Console):
        self.count, self._screen = 0, screen

    def __call__(self, error: DataError) -> None:
        self.count += 1
        if self.count <= _SHOWN_ERRORS:
            self._screen.print(f"left out: {error}", soft_wrap=True, markup=False)


def build(options: argparse.Namespace) -> None:
    """Build an index, or add to one, and sum up what was done."""
    screen = terminal.console(stderr=True)
    fields = [name.strip() for name in (options.fields or "").split(",") if name.strip()]
    side_files = None
    if options.page_ranks or options.spam_ranks:
        side_files = SideFiles(options.page_ranks, options.spam_ranks)
    corpus = open_corpus(options.source, fields, options.id_field, side_files)
    skipped = _Skipped(screen)
    start, replaced = time.monotonic(), 0
    with terminal.building(screen) as show:
        build_options = BuildOptions(
            _analysis(options, corpus),
            progress=lambda progress: show(corpus, progress),
            source={"sha256": corpus.checksum(), "files": [Path(f).name for f in corpus.files]},
        )
        if options.memory:
            build_options = _with(build_options, memory=options.memory << 20)
        if options.skip_invalid:
            build_options = _with(build_options, on_error=skipped)
        if options.add:
            add_documents(corpus, options.output, build_options, options.replace)
        elif options.replace:
            raise UsageError("--replace goes with --add")
        else:
            replaced = _documents_there(options.output)
            build_index(corpus, options.output, build_options)
    _sum_up(options.output, time.monotonic() - start, skipped.count, replaced)


def _documents_there(folder: Path) -> int:
    """How many documents the index in a folder holds; 0 where there is none to read."""
    try:
        with Index.open(folder) as index:
            return index.document_count
    except BrokenIndexError:
        return 0


def _analysis(options: argparse.Namespace, corpus: Corpus) -> Analysis:
    if options.add:
        with Index.open(options.output) as index:
            return named_analysis(options.analysis) if options.analysis else index.analysis
    if options.analysis:
        return named_analysis(options.analysis)
    for task in TASKS.values():
        if task.records == corpus.records:
            return named_analysis(task.analysis)
    return named_analysis(DEFAULT_ANALYSIS)


def _with(options: BuildOptions, **changes: object) -> BuildOptions:
    import dataclasses

    return dataclasses.replace(options, **changes)  # type: ignore[arg-type]


def _sum_up(folder: Path, seconds: float, skipped: int, replaced: int) -> None:
    with Index.open(folder) as index:
        entries = index.manifest.segments
        size = sum(total_size(entry.files.values()) for entry in entries)
        facts = [
            ("index", str(folder)),
            ("documents", f"{index.document_count:,} {index.manifest.records}"),
            ("fields", ", ".join(index.fields)),
            ("analysis", index.analysis.name),
            ("terms", f"{int(index.field_totals.sum()):,}"),
            ("size", f"{size / 1e6:,.1f} MB" if size > 1e6 else f"{size / 1e3:,.1f} kB"),
            ("time", f"{seconds:,.1f} s"),
        ]
    if replaced:
        facts.insert(1, ("replaced", f"an index of {replaced:,} documents (--add adds to it)"))
    if skipped:
        facts.insert(2, ("left out", f"{skipped:,}"))
    terminal.show_facts(facts, terminal.console())


def delete(options: argparse.Namespace) -> None:
    """Delete documents by id, and say how many there were."""
    count = delete_documents(options.output, options.delete)
    unknown = len(set(options.delete)) - count
    told = f"deleted: {count:,}" + (f"; not in the index: {unknown:,}" if unknown else "")
    terminal.console().print(told)


def verify(options: argparse.Namespace) -> None:
    """Compare all checksums, and say that they fit."""
    verify_index(options.output)
    message = f"{options.output}: all files are as they were written"
    terminal.console().print(message, soft_wrap=True, markup=False)
