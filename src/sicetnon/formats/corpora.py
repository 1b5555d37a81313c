"""A corpus from a directory, from files, or from an id of ir_datasets."""

from __future__ import annotations

import hashlib
import itertools
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sicetnon.errors import DataError, UsageError
from sicetnon.formats import argsme, datasets, entries, html, passages, processed, tirex, webpages
from sicetnon.formats.entries import EntryFields
from sicetnon.formats.files import Reading, open_bytes, refuse_pipe
from sicetnon.formats.json_records import name_of
from sicetnon.formats.page_scores import SideFiles, side_files_in
from sicetnon.records import Argument, Entry, Passage, ProcessedArgument, Record, WebPage
from sicetnon.stopping import check_wanted
from sicetnon.values import check_path

Reader = Callable[[Path | str, Reading], Iterator[Record]]

_ARGUMENT_FIELDS = ("conclusion", "premise", "title")
KINDS: dict[type[Record], tuple[str, tuple[str, ...]]] = {
    Argument: ("arguments", _ARGUMENT_FIELDS),
    ProcessedArgument: ("processed", _ARGUMENT_FIELDS),
    Passage: ("passages", ("contents",)),
    WebPage: ("pages", ("title", "text")),
}
"""The name of each kind of records and its indexed fields; entries have fields of their own."""
_SUFFIXES = (".json", ".jsonl", ".csv", ".tsv", ".gz", ".warc", ".html", ".htm", ".xhtml")
_TO_INDEX_TEXTS = (
    "index plain texts in Python: "
    'Index.build([{"id": p.stem, "text": p.read_text()} for p in Path("DIR").glob("*.txt")])'
)
_HEAD_BYTES = 1 << 16
# of a file whose checksum is computed; a thread waits for the interpreter's lock at each piece
_PIECE_BYTES = 1 << 24
_LIST_START = re.compile(rb'\[|\{\s*("arguments"|$)')
# the list behind other keys, all on one line: an answer of the args.me service
_LIST_LATER = re.compile(rb'"arguments"\s*:\s*\[\s*\{[^\[]*"premises"')


@dataclass(frozen=True)
class Corpus:
    """Documents of one kind, from one or several files.

    Attributes:
        records: Their kind: `arguments`, `processed`, `passages`, `pages` or `entries`.
        fields: The names of the texts that are indexed.
        files: The files (or the one id of ir_datasets), in the order in which they are read.
        read: Streams the records of one of them.
        side_files: Files that only add to the records of others.
    """

    records: str
    fields: tuple[str, ...]
    files: tuple[Path | str, ...]
    read: Reader
    side_files: tuple[Path, ...] = ()

    def texts(self, record: Record) -> tuple[str, ...]:
        """The texts of a record, one per field."""
        if isinstance(record, Argument):
            return record.conclusion, record.premise, record.title
        if isinstance(record, ProcessedArgument):
            return self.texts(record.argument)
        if isinstance(record, Passage):
            return (record.contents,)
        if isinstance(record, WebPage):
            return record.title, record.text
        return tuple(record.texts.get(name, "") for name in self.fields)

    def size(self) -> int:
        """Bytes of all files; 0 if unknown."""
        return sum(Path(file).stat().st_size for file in self.files if Path(file).is_file())

    def names(self) -> list[str]:
        """The names of all files."""
        return list(map(name_of, self.files))

    def checksum(self) -> str:
        """SHA-256 over the names and contents of all files."""
        digest = hashlib.sha256()
        for file in (*self.files, *self.side_files):
            digest.update(os.fsencode(Path(file).name) + b"\0")
            if Path(file).is_file():
                with Path(file).open("rb", buffering=0) as opened:
                    piece = memoryview(bytearray(min(_PIECE_BYTES, opened.seek(0, os.SEEK_END))))
                    opened.seek(0)
                    while size := opened.readinto(piece):
                        check_wanted()
                        digest.update(piece[:size])
            digest.update(b"\0")
        return digest.hexdigest()


def open_corpus(
    sources: Sequence[Path | str],
    named: EntryFields = EntryFields(),  # noqa: B008  # it is frozen
    side_files: SideFiles | None = None,
) -> Corpus:
    """Recognise the format of some sources.

    Args:
        sources: A directory, one or several files of one format, or an id of ir_datasets.
        named: For JSON Lines and CSV of no known corpus: the names of their fields. Where none is
            named, the id is found, and all texts but links are indexed.
        side_files: With scores of pages of the web; those in a directory when left out.

    Raises:
        DataError: Nothing known is found, or the sources are of several kinds.
        UsageError: There are no sources, or one is standard input.
        MissingExtraError: Pages of the web are named, and what reads them is not installed.
    """
    if not sources:
        raise UsageError("name a directory, a file, or an id of ir_datasets to read")
    files = [file for source in sources for file in _files(source)]
    for file in files:
        refuse_pipe(file)
    if any(webpages.is_pages(file) for file in files):
        return _pages(sources, files, side_files)
    kinds = [_recognise(file, named) for file in files]
    first = kinds[0]
    for file, kind in zip(files, kinds, strict=True):
        # the texts of a record are found by the names of its fields, in any order
        if (kind.records, set(kind.fields)) != (first.records, set(first.fields)):
            hint = "index them apart"
            if kind.records == first.records:
                hint += ", or name fields that all files have with --fields"
            raise DataError(
                f"holds {kind.records} ({', '.join(kind.fields)}), but {files[0]} holds "
                f"{first.records} ({', '.join(first.fields)}); {hint}",
                file,
            )
    readers = {file: kind.read for file, kind in zip(files, kinds, strict=True)}

    def read(file: Path | str, reading: Reading) -> Iterator[Record]:
        return readers[file](file, reading)

    return Corpus(first.records, first.fields, tuple(files), read)


def _pages(
    sources: Sequence[Path | str],
    files: Sequence[Path | str],
    side_files: SideFiles | None,
) -> Corpus:
    for file in files:
        if not webpages.is_pages(file):
            raise DataError("holds no web pages, but others do; index them apart", file)
    html.check_extra(webpages.WHAT)
    if side_files is None:
        folder = next((Path(source) for source in sources if Path(source).is_dir()), None)
        side_files = side_files_in(folder) if folder else SideFiles()
    pages = webpages.WebPages(sources, files, side_files)
    return Corpus(*KINDS[WebPage], tuple(files), pages.read, side_files.files)


def _files(source: Path | str) -> list[Path | str]:
    check_path(source, "a source")
    path = Path(source)
    if path.is_dir():
        return list(_files_of_directory(path))
    if path.exists() or str(source) == "-":
        return [path]
    if path.suffix in _SUFFIXES or not datasets.may_be_dataset(str(source)):
        raise DataError(datasets.NO_SUCH_SOURCE, source)
    return [str(source)]


def _files_of_directory(directory: Path) -> list[Path]:
    for name in processed.FILE_NAMES:
        if (directory / name).is_file():
            return [directory / name]
    for name in ("passages.jsonl.gz", "passages.jsonl", tirex.DOCUMENTS, f"{tirex.DOCUMENTS}.gz"):
        if (directory / name).is_file():
            return [directory / name]
    if any(directory.glob("*.json")):
        return argsme.portal_files(directory)
    if pages := webpages.page_files(directory):
        return pages
    found = "holds no corpus" if any(directory.iterdir()) else "is empty and holds no corpus"
    raise DataError(
        f"{found}; expected {', '.join(f'{portal}.json' for portal in argsme.PORTALS)}, or "
        f"one of {argsme.SINGLE_FILE}, {', '.join(processed.FILE_NAMES)}, passages.jsonl.gz, "
        f"{tirex.DOCUMENTS}, or web pages in WARC or HTML files; {_advice(directory)}",
        directory,
    )


def _advice(directory: Path) -> str:
    if next(directory.glob("*.txt"), None):
        return _TO_INDEX_TEXTS
    return "name JSON Lines and CSV files of your own one by one"


def _recognise(file: Path | str, named: EntryFields) -> Corpus:
    if isinstance(file, str):
        return _dataset(file)
    if any(named):
        return _entries(file, named)
    with open_bytes(file) as opened:
        head = opened.read(_HEAD_BYTES)
    if entries.is_table(file):
        header = head.split(b"\n", 1)[0].decode("utf-8", "replace").strip().lstrip("\ufeff")
        if set(processed.COLUMNS) <= {name.strip('"') for name in header.split(",")}:
            return Corpus(*KINDS[ProcessedArgument], (file,), processed.read_processed)
        return _entries(file, named)
    first_line = head.removeprefix(b"\xef\xbb\xbf").lstrip().split(b"\n", 1)[0]
    is_empty_list = not first_line and ".json" in file.suffixes
    if is_empty_list or _LIST_START.match(first_line) or _LIST_LATER.search(first_line):
        return Corpus(*KINDS[Argument], (file,), argsme.read_arguments)
    if file.suffix == ".txt" and not first_line.startswith(b"{"):
        raise DataError(f"holds no JSON Lines; {_TO_INDEX_TEXTS}", file)
    if re.search(rb'"contents"\s*:', head) and re.search(rb'"id"\s*:', head):
        return Corpus(*KINDS[Passage], (file,), passages.read_passages)
    if re.search(rb'"docno"\s*:', head) and re.search(rb'"text"\s*:', head):
        return Corpus("entries", ("text",), (file,), tirex.read_documents)
    return _entries(file, named)


def _entries(file: Path, named: EntryFields) -> Corpus:
    values = entries.values_in(file, named)
    missing = [name for name in named.texts if name not in values]
    if missing:
        raise DataError(f"found no field {', '.join(missing)}; there are {', '.join(values)}", file)
    try:
        fields = entries.complete(named, values)
    except ValueError as error:
        raise DataError(str(error), file) from None
    if fields.id not in values:
        wanted = fields.id or f"one of {', '.join(entries.ID_NAMES)}"
        raise DataError(
            f"found the fields {', '.join(values)[:200]}; expected {wanted} with the id. Name the "
            "field that holds the id: --id-field, in Python id_field",
            file,
        )

    def read(path: Path | str, reading: Reading) -> Iterator[Entry]:
        return entries.read_entries(path, fields, reading)

    return Corpus("entries", fields.texts, (file,), read)


def _dataset(identifier: str) -> Corpus:
    datasets.load_dataset(identifier)
    head = list(itertools.islice(datasets.read_dataset(identifier), entries.LOOKED_AT))
    if not head:
        raise DataError(f"the ir_datasets id {identifier!r} holds no document")
    # a document has no text in some of the fields
    names = itertools.chain(*(each.texts for each in head if isinstance(each, Entry)))
    records, fields = KINDS.get(type(head[0]), ("entries", tuple(dict.fromkeys(names))))
    return Corpus(records, fields, (identifier,), lambda path, _: datasets.read_dataset(str(path)))
