"""Corpora: a directory, files, an id of ir_datasets, or documents in memory."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import itertools
import json
import math
import numbers
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import msgspec

from sicetnon.argument_checks import check_path
from sicetnon.cancellation import check_cancelled
from sicetnon.errors import DataError, MissingExtraError, UsageError, counted
from sicetnon.formats.entries import (
    ID_NAMES,
    LOOKED_AT,
    PORTALS,
    SINGLE_FILE,
    EntryFields,
    are_texts,
    complete,
    entry_of,
    field_values,
    is_table,
    portal_files,
    read_arguments,
    read_entries,
    values_in,
)
from sicetnon.formats.files import Reading, open_bytes, refuse_pipe
from sicetnon.formats.html import check_extra
from sicetnon.formats.identifiers import check_identifier
from sicetnon.formats.json_records import BOM, mended, name_of, read_json_lines, strict_json
from sicetnon.formats.page_scores import SideFiles, side_files_in
from sicetnon.formats.tables import check_header, read_table
from sicetnon.formats.webpages import WHAT, WebPages, is_pages, page_files
from sicetnon.records import (
    Argument,
    Entry,
    Passage,
    Premise,
    ProcessedArgument,
    Record,
    Sentence,
    WebPage,
)

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
# the list after other keys, all on one line: an answer of the args.me service
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
                        check_cancelled()
                        digest.update(piece[:size])
            digest.update(b"\0")
        return digest.hexdigest()


class Format(NamedTuple):
    """A format of files: a new one is a reader and a row of `FORMATS`.

    Attributes:
        records: The kind of its records, as in `Corpus`.
        fields: The names of the texts that are indexed.
        recognise: Whether a file has it, by its name and first bytes.
        read: Streams the records of a file.
    """

    records: str
    fields: tuple[str, ...]
    recognise: Callable[[Path, bytes], bool]
    read: Reader


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
    if any(is_pages(file) for file in files):
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
        if not is_pages(file):
            raise DataError("holds no web pages, but others do; index them apart", file)
    check_extra(WHAT)
    if side_files is None:
        folder = next((Path(source) for source in sources if Path(source).is_dir()), None)
        side_files = side_files_in(folder) if folder else SideFiles()
    pages = WebPages(sources, files, side_files)
    return Corpus(*KINDS[WebPage], tuple(files), pages.read, side_files.files)


def _files(source: Path | str) -> list[Path | str]:
    check_path(source, "a source")
    path = Path(source)
    if path.is_dir():
        return list(_files_of_directory(path))
    if path.exists() or str(source) == "-":
        return [path]
    if path.suffix in _SUFFIXES or not may_be_dataset(str(source)):
        raise DataError(NO_SUCH_SOURCE, source)
    return [str(source)]


def _files_of_directory(directory: Path) -> list[Path]:
    for name in PROCESSED_FILES:
        if (directory / name).is_file():
            return [directory / name]
    for name in ("passages.jsonl.gz", "passages.jsonl", DOCUMENTS, f"{DOCUMENTS}.gz"):
        if (directory / name).is_file():
            return [directory / name]
    if any(directory.glob("*.json")):
        return portal_files(directory)
    if pages := page_files(directory):
        return pages
    found = "holds no corpus" if any(directory.iterdir()) else "is empty and holds no corpus"
    raise DataError(
        f"{found}; expected {', '.join(f'{portal}.json' for portal in PORTALS)}, or "
        f"one of {SINGLE_FILE}, {', '.join(PROCESSED_FILES)}, passages.jsonl.gz, "
        f"{DOCUMENTS}, or web pages in WARC or HTML files; {_advice(directory)}",
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
    for each in FORMATS:
        if each.recognise(file, head):
            return Corpus(each.records, each.fields, (file,), each.read)
    if not is_table(file) and not _may_be_json_lines(file, head):
        raise DataError(f"holds no JSON Lines; {_TO_INDEX_TEXTS}", file)
    return _entries(file, named)


def _first_line(head: bytes) -> bytes:
    return head.removeprefix(BOM).lstrip().split(b"\n", 1)[0]


def _is_processed(file: Path, head: bytes) -> bool:
    header = head.split(b"\n", 1)[0].decode("utf-8", "replace").strip().lstrip("\ufeff")
    names = {name.strip('"') for name in header.split(",")}
    return is_table(file) and set(PROCESSED_COLUMNS) <= names


def _is_argument_list(file: Path, head: bytes) -> bool:
    first = _first_line(head)
    is_empty_list = not first and ".json" in file.suffixes
    is_list = is_empty_list or _LIST_START.match(first) or _LIST_LATER.search(first)
    return not is_table(file) and bool(is_list)


def _may_be_json_lines(file: Path, head: bytes) -> bool:
    return not is_table(file) and (file.suffix != ".txt" or _first_line(head).startswith(b"{"))


def _has_keys(*keys: bytes) -> Callable[[Path, bytes], bool]:
    """The test whether a file of JSON Lines has some keys."""
    return lambda file, head: (
        _may_be_json_lines(file, head) and all(re.search(rb'"%s"\s*:' % key, head) for key in keys)
    )


def _entries(file: Path, named: EntryFields) -> Corpus:
    values = values_in(file, named)
    missing = [name for name in named.texts if name not in values]
    if missing:
        raise DataError(f"found no field {', '.join(missing)}; there are {', '.join(values)}", file)
    try:
        fields = complete(named, values)
    except ValueError as error:
        raise DataError(str(error), file) from None
    if fields.id not in values:
        wanted = fields.id or f"one of {', '.join(ID_NAMES)}"
        raise DataError(
            f"found the fields {', '.join(values)[:200]}; expected {wanted} with the id. Name the "
            "field that holds the id: --id-field, in Python id_field",
            file,
        )

    def read(path: Path | str, reading: Reading) -> Iterator[Entry]:
        return read_entries(path, fields, reading)

    return Corpus("entries", fields.texts, (file,), read)


def _dataset(identifier: str) -> Corpus:
    load_dataset(identifier)
    head = list(itertools.islice(read_dataset(identifier), LOOKED_AT))
    if not head:
        raise DataError(f"the ir_datasets id {identifier!r} holds no document")
    # a document has no text in some of the fields
    names = itertools.chain(*(each.texts for each in head if isinstance(each, Entry)))
    records, fields = KINDS.get(type(head[0]), ("entries", tuple(dict.fromkeys(names))))
    return Corpus(records, fields, (identifier,), lambda path, _: read_dataset(str(path)))


Document: TypeAlias = str | Mapping[str, Any] | Record
_MEMORY_NAME = "documents"


def memory_corpus(
    documents: Iterable[Document], named: EntryFields, positions: Iterable[int] | None = None
) -> Corpus:
    """A corpus of documents in memory, which is read once.

    Args:
        documents: All of one kind. A text's id is its number. A dictionary has its id under `id`
            (or `docno`, `doc_id`, …; its number where there is none).
        named: For dictionaries: the names of their fields. The id is found and all texts but links
            are indexed where they are not named; the other fields are kept beside them. If the
            documents are no list, the first 100 tell the fields, and later ones are warned of.
        positions: The numbers of the documents; from 0 when left out.

    Raises:
        DataError: There is no document, or the named fields are missing.
    """
    is_list = isinstance(documents, list)
    remaining = map(_of_python, documents)
    head = list(remaining if is_list else itertools.islice(remaining, LOOKED_AT))
    if not head:
        raise DataError("found no document; expected at least one text, dictionary or record")
    kind = type(head[0])
    records, known = KINDS.get(kind, ("entries", ()))  # type: ignore[arg-type]
    if (known or kind is str) and any((*named[1:], named.texts not in ((), known, ("text",)))):
        names = ", ".join((*named.texts, *filter(None, named[1:])))
        raise DataError(
            f"found documents of type {kind.__name__}; expected dictionaries with {names}"
        )
    fields = named._replace(texts=known) if known else _fields_of_first(head, named)
    numbers = itertools.count() if positions is None else positions
    numbered = zip(numbers, itertools.chain(head, remaining), strict=False)

    seen = _filled_fields(head)
    may_lack = not is_list and not named.texts

    def read(_: Path | str, reading: Reading) -> Iterator[Record]:
        for position, document in numbered:
            if may_lack and isinstance(document, Mapping):
                _warn_of_texts(document, position, seen)
            try:
                record = _memory_record(document, position, fields, kind)
                if not named.texts and isinstance(record, Entry):
                    _refuse_other_fields(record, fields.texts)
                yield record
            except ValueError as error:
                reading.on_error(DataError(f"document {position} cannot be used: {error}"))

    return Corpus(records, fields.texts, (_MEMORY_NAME,), read)


def is_gap(value: object) -> bool:
    """Whether a value stands for none: None, NaN, or NA and NaT of pandas."""
    if value is None or isinstance(value, str | Iterable):
        return value is None
    try:
        return bool(value != value)
    except TypeError:  # NA is neither equal nor unequal to itself
        return True


def _of_python(document: Document) -> Document:
    """A document without the texts of numpy and the gaps of data frames."""
    if isinstance(document, str):
        return str(document)
    if not isinstance(document, Mapping):
        return document
    return {str(name): None if is_gap(each) else each for name, each in document.items()}


def _fields_of_first(head: Sequence[Document], named: EntryFields) -> EntryFields:
    """The fields of the first documents."""
    first = head[0]
    if isinstance(first, str):
        return EntryFields(("text",))
    if isinstance(first, Entry):
        names = itertools.chain(*(each.texts for each in head if isinstance(each, Entry)))
        return EntryFields(named.texts or tuple(dict.fromkeys(names)))
    if not isinstance(first, Mapping):
        raise DataError(f"found {type(first).__name__}; expected a text, dictionary or record")
    try:
        return complete(
            named, field_values((row for row in head if isinstance(row, Mapping)), named)
        )
    except ValueError as error:
        raise DataError(str(error)) from None


def _filled_fields(documents: Iterable[Document]) -> set[str]:
    """The names of the fields that have a value."""
    rows = (each for each in documents if isinstance(each, Mapping))
    return {name for row in rows for name, value in row.items() if value is not None}


def _warn_of_texts(row: Mapping[str, Any], position: int, known: set[str]) -> None:
    """Warn once of each field with texts that the first documents lack."""
    for name in row.keys() - known:
        if row[name] is not None:
            known.add(name)
            if are_texts([row[name]]):
                warnings.warn(
                    f"document {position} has a text {name!r}, which the first {LOOKED_AT} "
                    "documents lack and which is not indexed; give a list of documents, or name "
                    "the fields: fields=[…]",
                    stacklevel=2,
                )


def _memory_record(document: Document, position: int, fields: EntryFields, kind: type) -> Record:
    if isinstance(document, str) and kind is str:
        return Entry(str(position), {"text": document})
    if isinstance(document, Mapping) and issubclass(kind, Mapping):
        identifier = document.get(fields.id or "")
        # a column of a data frame with a gap holds whole numbers as floats
        if isinstance(identifier, numbers.Real) and math.floor(identifier) == identifier:
            document = {**document, str(fields.id): math.floor(identifier)}
        return entry_of(document, fields, position)
    if not isinstance(document, str | Mapping) and type(document) is kind:
        check_identifier(document.id)
        return document
    raise ValueError(f"found {type(document).__name__} among documents of type {kind.__name__}")


def _refuse_other_fields(entry: Entry, fields: Sequence[str]) -> None:
    if not entry.texts.keys() <= set(fields):
        raise ValueError(f"found the fields {', '.join(entry.texts)}; expected {', '.join(fields)}")


PROCESSED_COLUMNS = ("id", "conclusion", "premises", "context", "sentences")
PROCESSED_FILES = ("args_processed_04_01.csv", "args_processed.csv")
# strings, words, and quotes that nothing closes; possessive, so that it takes linear time
_TOKEN = re.compile(
    r"""(?s)('[^'\\]*+(?:\\.[^'\\]*+)*+')|("[^"\\]*+(?:\\.[^"\\]*+)*+")|([A-Za-z]++)|['"]"""
)
# Python's own parser takes some 500 times the memory of a literal
_LONGEST_PARSED = 1 << 18
_WORDS = {"None": "null", "True": "true", "False": "false"}


class _RawSentence(msgspec.Struct):
    sent_id: str
    sent_text: str


def read_processed(path: Path | str, reading: Reading | None = None) -> Iterator[ProcessedArgument]:
    """Stream the arguments of a processed CSV file, in its order.

    Raises:
        DataError: The columns are others, or a row cannot be used and `reading.on_error` raises.
    """
    reading = reading or Reading()
    rows = read_table(path, reading)
    first, header = next(rows, (1, []))
    check_header(header, path, first, wanted=PROCESSED_COLUMNS)
    if not set(PROCESSED_COLUMNS) <= set(header):
        found = f"the columns {', '.join(header)[:200]}" if header else "an empty file"
        raise DataError(f"found {found}; expected {', '.join(PROCESSED_COLUMNS)}", path, 1)
    positions = [header.index(column) for column in PROCESSED_COLUMNS]
    for line, row in rows:
        try:
            if len(row) != len(header):
                raise ValueError(f"found {counted(len(row), 'column')}; expected {len(header)}")
            yield _processed_argument(*(row[position] for position in positions))
        except ValueError as error:
            reading.on_error(DataError(f"the row cannot be used: {error}", path, line))


def _processed_argument(
    identifier: str, conclusion: str, premises: str, context: str, sentences: str
) -> ProcessedArgument:
    check_identifier(identifier)
    argument = msgspec.convert(
        {
            "id": identifier,
            "conclusion": conclusion,
            "premises": _column_value("premises", premises),
            "context": _column_value("context", context) if context else {},
        },
        Argument,
    )
    if not argument.premises:
        raise ValueError(f"argument {identifier!r} has no premise")
    raw = msgspec.convert(_column_value("sentences", sentences), list[_RawSentence])
    return ProcessedArgument(
        argument, tuple(Sentence(sentence.sent_id, sentence.sent_text) for sentence in raw)
    )


def _column_value(column: str, text: str) -> Any:
    try:
        value = _parsed_literal(text)
        return mended(value) if "\\ud" in text else value
    except (ValueError, SyntaxError, TypeError):
        raise ValueError(
            f"column {column} is no Python literal: {text[:60]!r}; expected a list or dictionary"
        ) from None
    except (MemoryError, RecursionError):
        raise ValueError(f"column {column} is nested too deeply: {text[:60]!r}") from None


def _parsed_literal(text: str) -> Any:
    # numbers, lists and dictionaries look the same in JSON; whatever else there is does not parse
    with contextlib.suppress(KeyError, ValueError, RecursionError):
        return strict_json(_TOKEN.sub(_as_json, text))
    if len(text) > _LONGEST_PARSED:
        raise ValueError("too long for a literal that is unlike JSON")
    return ast.literal_eval(text)


def _as_json(token: re.Match[str]) -> str:
    single, double, word = token.groups()
    if word:
        return _WORDS[word]
    quoted = single or double
    if quoted is None:
        raise ValueError("a quote is not closed")
    if "\\" in quoted.replace("\\'", ""):
        return json.dumps(ast.literal_eval(quoted), ensure_ascii=False)
    text = quoted[1:-1].replace("\\'", "'")
    return '"' + (text.replace('"', '\\"') if single else text) + '"'


EXPECTED_PASSAGE = '{"id": "…", "contents": "…", "chatNoirUrl": "…"}'


def read_passages(path: Path | str, reading: Reading | None = None) -> Iterator[Passage]:
    """Stream the passages of a file, in its order.

    Raises:
        DataError: A line is no passage, and `reading.on_error` raises.
    """
    for _, passage in read_json_lines(
        path, Passage, EXPECTED_PASSAGE, reading, lambda each: each.id
    ):
        yield passage


DOCUMENTS = "documents.jsonl"
EXPECTED_DOCUMENT = '{"docno": "…", "text": "…"}'


class _Document(msgspec.Struct):
    docno: str
    text: str
    original_document: dict[str, Any] = {}


def read_documents(path: Path | str, reading: Reading | None = None) -> Iterator[Entry]:
    """Stream `documents.jsonl` as entries with one text, `text`."""
    lines = read_json_lines(path, _Document, EXPECTED_DOCUMENT, reading, lambda each: each.docno)
    for _, document in lines:
        yield Entry(document.docno, {"text": document.text}, document.original_document)


NO_SUCH_SOURCE = (
    "there is no such file or directory; expected a path that is there, or an id of ir_datasets"
)
_DATASET_ID = re.compile(r"[a-z0-9]+([-_./][a-z0-9]+)*")


def may_be_dataset(name: str) -> bool:
    """Whether a name is shaped like an id of ir_datasets."""
    return _DATASET_ID.fullmatch(name) is not None


def load_dataset(identifier: str) -> Any:
    """The ir_datasets dataset of an id. Nothing is fetched until its documents are read.

    Raises:
        MissingExtraError: ir_datasets is not installed.
        DataError: It knows no such id.
    """
    try:
        import ir_datasets
    except ImportError:
        what = f"{identifier}: {NO_SUCH_SOURCE}, which"
        raise MissingExtraError(what, "datasets") from None
    try:
        dataset = ir_datasets.load(identifier)
    except KeyError:
        raise DataError(NO_SUCH_SOURCE, identifier) from None
    if not dataset.has_docs():
        raise DataError(f"the ir_datasets id {identifier!r} has no documents")
    return dataset


def read_dataset(identifier: str) -> Iterator[Record]:
    """Stream the documents of an ir_datasets id as this package's records."""
    dataset = load_dataset(identifier)
    try:
        # some data sets are downloaded at once, others with their first document
        for document in dataset.docs_iter():
            yield to_record(document)
    except (OSError, RuntimeError) as error:
        raise DataError(
            f"the ir_datasets id {identifier!r} cannot be downloaded or read: {_first_words(error)}"
        ) from None


def _first_words(error: BaseException) -> str:
    """The first words of an error, which may hold a list of errors or a page of text."""
    return " ".join(str(error).split())[:160]


def to_record(document: Any) -> Record:
    """One document of ir_datasets as a record: arguments and passages as such, else an entry."""
    if hasattr(document, "premises_texts") or hasattr(document, "premises"):
        return _dataset_argument(document)
    if hasattr(document, "chatnoir_url"):
        return Passage(document.doc_id, document.text, document.chatnoir_url or "")
    texts = {
        name: value
        for name, value in document._asdict().items()
        if name != "doc_id" and isinstance(value, str)
    }
    return Entry(document.doc_id, texts)


def _dataset_argument(document: Any) -> Argument | ProcessedArgument:
    context = {
        "discussionTitle": getattr(document, "topic", "") or "",
        "sourceId": getattr(document, "source_id", "") or "",
        "sourceTitle": getattr(document, "source_title", "") or "",
        "sourceUrl": getattr(document, "source_url", "") or "",
    }
    premises = tuple(
        Premise(premise.text, getattr(premise.stance, "name", None))
        for premise in document.premises
    )
    argument = Argument(document.doc_id, document.conclusion, premises, context)
    sentences = getattr(document, "sentences", None)
    if sentences is None:
        return argument
    return ProcessedArgument(argument, tuple(Sentence(s.id, s.text) for s in sentences))


FORMATS = (
    Format(*KINDS[ProcessedArgument], _is_processed, read_processed),
    Format(*KINDS[Argument], _is_argument_list, read_arguments),
    Format(*KINDS[Passage], _has_keys(b"contents", b"id"), read_passages),
    Format("entries", ("text",), _has_keys(b"docno", b"text"), read_documents),
)
"""The formats, each looked for before those after it; other files hold entries."""
