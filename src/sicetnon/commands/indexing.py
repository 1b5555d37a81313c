"""The command `index`: its options put into calls, its results into words."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from sicetnon.errors import BrokenIndexError, DataError, SicetnonError, UsageError
from sicetnon.formats.corpora import Corpus, open_corpus
from sicetnon.formats.page_scores import SideFiles
from sicetnon.index.annotation_writer import annotate_index
from sicetnon.index.annotations import Annotator
from sicetnon.index.manifest import read_manifest
from sicetnon.index.reader import IndexReader, verify_index
from sicetnon.index.storage import total_size
from sicetnon.index.writing import (
    BuildOptions,
    add_documents,
    build_index,
    delete_documents,
)
from sicetnon.tasks.registry import analysis_for
from sicetnon.terminal import answers as terminal
from sicetnon.text.analysis import Analysis, named_analysis

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
    wanted = _ready(options.annotate or [])
    with terminal.indexing(screen) as (show, show_annotated):
        build_options = BuildOptions(
            _analysis(options, corpus),
            annotators=_carried(options.output) if options.add else (),
            annotated=show_annotated,
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
    if wanted:
        _annotate(options.output, wanted, screen)
    _sum_up(options.output, time.monotonic() - start, skipped.count, replaced)


def annotate(options: argparse.Namespace) -> None:
    """Annotate the documents of an index that is there, and sum up what it is then."""
    start = time.monotonic()
    read_manifest(options.output)
    _annotate(options.output, _ready(options.annotate), terminal.console(stderr=True))
    _sum_up(options.output, time.monotonic() - start)


class _Stopped(SicetnonError):
    """The user had enough for now."""

    exit_status = 130


def _annotate(folder: Path, wanted: Sequence[Annotator], screen: Console) -> None:
    try:
        with terminal.indexing(screen) as (_, show_annotated):
            annotate_index(folder, wanted, show_annotated)
    except KeyboardInterrupt:
        names = ",".join(annotator.name for annotator in wanted)
        raise _Stopped(
            "interrupted; what was read is kept, and this goes on with it: "
            f"sicetnon index -o {folder} --annotate {names}"
        ) from None


def _ready(names: Sequence[str]) -> list[Annotator]:
    """The annotators of some names, found to work before anything long is begun."""
    from sicetnon.arguments.model.index_annotators import annotators

    found = annotators(names)
    for annotator in found:
        annotator.numbers(["a"])
    return found


def _carried(folder: Path) -> list[Annotator]:
    """The annotators for what the documents of an index carry, as they are here."""
    return _ready(list(read_manifest(folder).annotations))


def _documents_there(folder: Path) -> int:
    """How many documents the index in a folder holds; 0 where there is none to read."""
    try:
        with IndexReader.open(folder) as index:
            return index.document_count
    except BrokenIndexError:
        return 0


def _analysis(options: argparse.Namespace, corpus: Corpus) -> Analysis:
    if options.add:
        with IndexReader.open(options.output) as index:
            return named_analysis(options.analysis) if options.analysis else index.analysis
    if options.analysis:
        return named_analysis(options.analysis)
    return named_analysis(analysis_for(corpus.records))


def _with(options: BuildOptions, **changes: object) -> BuildOptions:
    import dataclasses

    return dataclasses.replace(options, **changes)  # type: ignore[arg-type]


def _sum_up(folder: Path, seconds: float, skipped: int = 0, replaced: int = 0) -> None:
    facts = [*_facts(folder), ("time", f"{seconds:,.1f} s")]
    if replaced:
        facts.insert(1, ("replaced", f"an index of {replaced:,} documents (--add adds to it)"))
    if skipped:
        facts.insert(2, ("left out", f"{skipped:,}"))
    terminal.show_facts(facts, terminal.console())


def _facts(folder: Path) -> list[tuple[str, str]]:
    """What an index is, for people."""
    with IndexReader.open(folder) as index:
        manifest = index.manifest
        size = sum(total_size(entry.files.values()) for entry in manifest.segments)
        return [
            ("index", str(folder)),
            ("documents", f"{index.document_count:,} {manifest.records}"),
            ("fields", ", ".join(index.fields)),
            ("analysis", index.analysis.name),
            *((name, f"by {entry.model}") for name, entry in manifest.annotations.items()),
            ("terms", f"{int(index.field_totals.sum()):,}"),
            ("size", f"{size / 1e6:,.1f} MB" if size > 1e6 else f"{size / 1e3:,.1f} kB"),
        ]


def info(options: argparse.Namespace) -> None:
    """Show what an index is."""
    terminal.show_facts(_facts(options.output), terminal.console())


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
