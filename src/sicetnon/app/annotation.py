"""Annotate a file: each record is written with the scores or the stance of its text."""

from __future__ import annotations

import errno
import functools
import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import msgspec

from sicetnon.arguments.comparative.question_parser import parse_question
from sicetnon.arguments.models.classifiers import (
    Argumentativeness,
    Classifier,
    Comparison,
    Quality,
    Stance,
)
from sicetnon.arguments.side.classifier import SIDES, Side, SideAnswer
from sicetnon.errors import DataError, SicetnonError, counted
from sicetnon.formats.files import Reading, ResumableOutput, open_bytes, raw_lines
from sicetnon.formats.json_records import decode
from sicetnon.text.unicode import escaped_json

Line: TypeAlias = dict[str, msgspec.Raw]
Progress: TypeAlias = Callable[[int, int], None]
Message: TypeAlias = Callable[[str], None]
FileAnnotator: TypeAlias = Classifier | Side

# a kill loses at most one portion
_PORTION_RECORDS, _PORTION_BYTES = 128, 1 << 20
_DIGITS = 4
# the version of the output's format; an unfinished output of another version is refused
_FORM = "1"
_RECORD = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ANY = msgspec.json.Decoder(dict[str, Any])
_TEXT = msgspec.json.Decoder(str)


@dataclass(frozen=True)
class _RecordForm:
    """The fields of a record that an annotator reads."""

    annotator: type[FileAnnotator]
    example: str
    inputs: Callable[[Line], tuple[str, ...]]


@dataclass(frozen=True)
class _Portion:
    """Some records that are annotated together.

    Attributes:
        inputs: The texts for the annotator, for each record.
        input_sha256: Checksum of the input up to the last of these records.
        input_size: Bytes of the input up to the last of these records.
    """

    records: list[Line]
    inputs: list[tuple[str, ...]]
    input_sha256: str
    input_size: int


def annotate_file(
    task: str,
    source: str,
    output: str,
    *,
    model: str | Path | None = None,
    threads: int | None = None,
    progress: Progress = lambda *_: None,
    message: Message = lambda _: None,
) -> int:
    """Annotate the records of a JSON Lines file. An unfinished output file is resumed.

    Args:
        task: `quality`, `argumentativeness`, `stance`, `comparison` or `side`.
        source: The file, plain or gzipped; `-` is standard input.
        output: The file to write, gzipped where its name ends in `.gz`; `-` is standard output.
        model: A folder, or the name of a Hugging Face classifier; the shipped model when left out.
        threads: Processor cores to use at most; all when left out.
        progress: Called with the number of records that are done, and the bytes read for them.
        message: Called with lines for people, such as where an unfinished output is resumed.

    Returns:
        The number of records in the output.

    Raises:
        DataError: A record cannot be used, or the unfinished output is of other work.
        MissingExtraError: The libraries that run a Hugging Face classifier are not installed.
        UsageError: The model or the output cannot be used.
        SicetnonError: The disk is full, or another process writes this output.
    """
    annotator = _RECORD_FORMS[task].annotator(model, threads=threads)
    reading = Reading()
    with open_bytes(source, reading) as file:
        records = _RecordReader(source, file, _RECORD_FORMS[task])

        def told(done: int, size: int) -> None:
            # files are read ahead, and gzipped files have fewer bytes than their content
            progress(done, min(size, reading.bytes_read))

        if _is_stream(output):
            return _annotate_stream(records, output, annotator, told)
        work = {"task": task, "model": annotator.identity(), "form": _FORM}
        with closing(ResumableOutput(Path(output), work)) as unfinished:
            _skip_finished(records, unfinished, message)
            _annotate_rest(records, unfinished, annotator, told, message)
            return unfinished.last.items


def _is_stream(output: str) -> bool:
    path = Path(output)
    return output == "-" or (path.exists() and not path.is_file() and not path.is_dir())


def _annotate_stream(
    records: _RecordReader, output: str, annotator: FileAnnotator, progress: Progress
) -> int:
    """Annotate into a pipe; returns the number of records."""
    done = 0
    standard = nullcontext(sys.stdout.buffer)
    with standard if output == "-" else Path(output).open("wb") as out:
        for portion in records.portions():
            out.write(_annotated_lines(portion, annotator))
            out.flush()
            done += len(portion.records)
            progress(done, portion.input_size)
    return done


def _skip_finished(records: _RecordReader, output: ResumableOutput, message: Message) -> None:
    """Skip the records that an unfinished output has already."""
    if output.last.items:
        if records.skip(output.last.items) != output.last.input_sha256:
            raise output.other_input(records.name)
        message(f"{output.name}: resuming after {counted(output.last.items, 'record')}")


def _annotate_rest(
    records: _RecordReader,
    output: ResumableOutput,
    annotator: FileAnnotator,
    progress: Progress,
    message: Message,
) -> None:
    """Annotate the records that are left, and put the output in its place."""
    try:
        for portion in records.portions():
            done = output.last.items + len(portion.records)
            output.write(_annotated_lines(portion, annotator), done, portion.input_sha256)
            progress(done, portion.input_size)
        output.publish()
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise SicetnonError(
                f"{output.name}: no space left on the disk; free some. {_resumable(output)}"
            ) from None
        raise
    except (KeyboardInterrupt, DataError):
        if output.last.items:
            message(f"{output.name}: {_resumable(output)}")
        raise


def _resumable(output: ResumableOutput) -> str:
    kept = counted(output.last.items, "record is kept", "records are kept")
    return f"{kept}; the same command resumes there"


class _RecordReader:
    """The records of a JSON Lines file, with the size and checksum of what was read so far."""

    def __init__(self, source: str, file: BinaryIO, task: _RecordForm):
        self.name = "standard input" if source == "-" else source
        self._task = task
        self._sum = hashlib.sha256()
        self._size = 0
        self._lines = self._numbered(file)

    def _numbered(self, file: BinaryIO) -> Iterator[tuple[int, bytes]]:
        for number, line in raw_lines(file, self.name):
            self._sum.update(line)
            self._size += len(line)
            text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            if text and not text.isspace():
                yield number, text

    def skip(self, count: int) -> str:
        """Skip records; returns the checksum up to the last of them, nothing if there are fewer."""
        for _ in range(count):
            if next(self._lines, None) is None:
                return ""
        return self._sum.hexdigest()

    def portions(self) -> Iterator[_Portion]:
        """The records that are left, some at a time."""
        records: list[Line] = []
        inputs: list[tuple[str, ...]] = []
        size = 0
        for number, line in self._lines:
            record, texts = self._read(number, line)
            records.append(record)
            inputs.append(texts)
            size += len(line)
            if len(records) >= _PORTION_RECORDS or size >= _PORTION_BYTES:
                yield _Portion(records, inputs, self._sum.hexdigest(), self._size)
                records, inputs, size = [], [], 0
        if records:
            yield _Portion(records, inputs, self._sum.hexdigest(), self._size)

    def _read(self, number: int, line: bytes) -> tuple[Line, tuple[str, ...]]:
        try:
            line.decode("utf-8")
            record = _record(line)
            return record, self._task.inputs(record)
        except UnicodeDecodeError as error:
            reason = f"byte {error.start + 1} of it is not UTF-8; save the file as UTF-8"
        except (ValueError, RecursionError) as error:
            reason = str(error)
        raise DataError(
            f"the record cannot be used: {reason}; expected {self._task.example}; correct the "
            "line or leave it out",
            self.name,
            number,
        )


def _record(line: bytes) -> Line:
    """The fields of a line, each in the spelling of the line."""
    try:
        return _RECORD.decode(line)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError as error:
        # lone surrogates become U+FFFD, and the record is written anew
        try:
            return {
                name: msgspec.Raw(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())
                for name, value in decode(_ANY, line).items()
            }
        except ValueError:
            raise error from None


def _annotated_lines(portion: _Portion, annotator: FileAnnotator) -> bytes:
    """The lines of the output for a portion; other fields keep their spelling."""
    found = added_fields(annotator, portion.inputs)
    lines = [
        msgspec.json.encode({**record, **added})
        for record, added in zip(portion.records, found, strict=True)
    ]
    return escaped_json(b"\n".join([*lines, b""]).decode()).encode()


def added_fields(
    annotator: FileAnnotator, inputs: Sequence[tuple[str, ...]]
) -> list[Mapping[str, Any]]:
    """The fields that an annotator adds to records."""
    columns = [list(column) for column in zip(*inputs, strict=True)]
    if isinstance(annotator, Quality | Argumentativeness):
        scores = annotator.score(*columns)
        return [{annotator.task: _rounded(score)} for score in scores]
    if isinstance(annotator, Side):
        return [_side(answer) for answer in annotator.classify(*columns)]
    probabilities = annotator.probabilities(*columns)
    labels = annotator.labels(probabilities)
    return [
        {
            "stance": label,
            "probabilities": dict(zip(annotator.classes, map(_rounded, row), strict=True)),
        }
        for label, row in zip(labels, probabilities, strict=True)
    ]


def _side(answer: SideAnswer) -> Mapping[str, Any]:
    probabilities = dict(zip(SIDES, map(_rounded, answer.probabilities), strict=True))
    return {"side": answer.side, "probabilities": probabilities}


def _rounded(value: Any) -> float:
    return round(float(value), _DIGITS)


def _field(record: Line, name: str) -> str:
    value = record.get(name)
    if value is None:
        raise ValueError(f"found no {name!r}")
    try:
        return decode(_TEXT, bytes(value))
    except msgspec.ValidationError:
        raise ValueError(f"{name!r} is no text") from None


def _text(record: Line) -> tuple[str, ...]:
    return (_field(record, "text"),)


def _text_and_topic(record: Line) -> tuple[str, ...]:
    return _field(record, "text"), _field(record, "topic")


def _text_and_objects(record: Line) -> tuple[str, ...]:
    text = _field(record, "text")
    if "question" in record and "first" not in record and "second" not in record:
        return text, *_objects(_field(record, "question"))
    return text, _field(record, "first"), _field(record, "second")


def _text_and_question(record: Line) -> tuple[str, ...]:
    """Text, question, and what is known of the argument; empty where it is not known."""
    stance = _optional(record, "stance")
    if stance not in ("PRO", "CON", ""):
        raise ValueError(f"'stance' is {stance[:40]!r}, neither PRO nor CON")
    known = _optional(record, "conclusion"), stance, _optional(record, "title")
    return _field(record, "text"), _field(record, "question"), *known


def _optional(record: Line, name: str) -> str:
    """A field, or the empty string where it is missing or null."""
    value = record.get(name)
    return "" if value is None or bytes(value) == b"null" else _field(record, name)


@functools.lru_cache(maxsize=4096)
def _objects(question: str) -> tuple[str, str]:
    found = parse_question(question)
    if found.first is None or found.second is None:
        raise ValueError(f"the question {question[:100]!r} names no two objects")
    return found.first, found.second


_RECORD_FORMS: Mapping[str, _RecordForm] = {
    "quality": _RecordForm(Quality, '{"text": "…"}', _text),
    "argumentativeness": _RecordForm(Argumentativeness, '{"text": "…"}', _text),
    "stance": _RecordForm(Stance, '{"text": "…", "topic": "…"}', _text_and_topic),
    "comparison": _RecordForm(
        Comparison,
        '{"text": "…", "first": "…", "second": "…"} or {"text": "…", "question": "…"}',
        _text_and_objects,
    ),
    "side": _RecordForm(
        Side,
        '{"text": "…", "question": "…"}, also with "conclusion" and "stance" (PRO or CON)',
        _text_and_question,
    ),
}
