"""The command `annotate`: records in, the same records with what a model says of them out."""

from __future__ import annotations

import argparse
import errno
import functools
import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, TypeAlias

import msgspec

from sicetnon.arguments.comparative.questions import parse_question
from sicetnon.arguments.model.annotators import (
    Argumentativeness,
    Comparison,
    Floats,
    Quality,
    Stance,
)
from sicetnon.errors import DataError, SicetnonError
from sicetnon.formats.continued import ContinuedFile
from sicetnon.formats.files import Reading, open_bytes
from sicetnon.formats.jsontext import decode
from sicetnon.terminal import answers as terminal

Record: TypeAlias = dict[str, msgspec.Raw]
Annotator: TypeAlias = Quality | Argumentativeness | Stance | Comparison

# what a kill may lose, and what is held in memory
PORTION_RECORDS, PORTION_BYTES = 128, 1 << 20
_DIGITS = 4
# of what is written; a part in another form must not be continued
_FORM = "1"
_RECORD = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ANY = msgspec.json.Decoder(dict[str, Any])
_TEXT = msgspec.json.Decoder(str)


@dataclass(frozen=True)
class Task:
    """What a task reads of a record, and what it adds.

    Attributes:
        annotator: The class that does it.
        expected: A good record, for messages.
        inputs: The texts that the annotator takes, of a record.
    """

    annotator: type[Annotator]
    expected: str
    inputs: Callable[[Record], tuple[str, ...]]


@dataclass(frozen=True)
class Portion:
    """Some records that are annotated together.

    Attributes:
        records: The records.
        inputs: What the annotator takes of each.
        input_sha256: Checksum of the input up to the last of them.
    """

    records: list[Record]
    inputs: list[tuple[str, ...]]
    input_sha256: str


@dataclass(frozen=True)
class _Watch:
    """Who is told how the work goes.

    Attributes:
        reading: Counts what is read.
        told: Called with the number of records that are done, and of the bytes they were.
        say: Called with a line for people.
    """

    reading: Reading
    told: Callable[[int, int], None]
    say: Callable[[str], None]


def command(options: argparse.Namespace) -> None:
    """Annotate a file; `-` is standard input or output.

    Raises:
        DataError: A record cannot be used, or a part of other work stands beside the output.
        MissingExtraError: What runs the model is not installed.
        UsageError: The model or the output cannot be right.
    """
    task = TASKS[options.task]
    annotator = task.annotator(options.model, threads=options.threads)
    source, output = str(options.input), str(options.output)
    is_stream = output == "-" or (Path(output).exists() and not _is_plain(Path(output)))
    reading = Reading()
    screen = terminal.console(stderr=True)
    # lines of the output and a bar would overwrite each other on one screen
    is_shown = not (output == "-" and sys.stdout.isatty())
    with terminal.annotating(screen, _size(source), is_shown) as show:

        def say(line: str) -> None:
            screen.print(terminal.printable(line), soft_wrap=True, markup=False)

        def told(records: int, size: int) -> None:
            # files are read ahead, and what is zipped is smaller on the disk
            show(records, min(size, reading.bytes_read))

        watch = _Watch(reading, told, say)
        if is_stream:
            done = _stream(source, output, task, annotator, watch)
        else:
            done = _continue(options, task, annotator, watch)
    if output != "-":
        say(f"{output}: {done:,} record{'s' * (done != 1)} with {options.task}")


def _is_plain(path: Path) -> bool:
    return path.is_file() or path.is_dir()


def _size(source: str) -> int | None:
    try:
        return Path(source).stat().st_size or None
    except OSError:
        return None


def _stream(
    source: str,
    output: str,
    task: Task,
    annotator: Annotator,
    watch: _Watch,
) -> int:
    """Annotate into a pipe; gives the number of records."""
    done = 0
    with open_bytes(source, watch.reading) as file, _written(output) as out:
        records = _Records(source, file, task)
        for portion in records.portions():
            out.write(_annotated(portion, annotator))
            out.flush()
            done += len(portion.records)
            watch.told(done, records.size)
    return done


def _written(output: str) -> AbstractContextManager[BinaryIO]:
    return nullcontext(sys.stdout.buffer) if output == "-" else Path(output).open("wb")


def _continue(
    options: argparse.Namespace,
    task: Task,
    annotator: Annotator,
    watch: _Watch,
) -> int:
    """Annotate into a file, going on where an earlier start was stopped; gives all records."""
    source = str(options.input)
    work = {"task": options.task, "model": annotator.identity(), "form": _FORM}
    with closing(ContinuedFile(Path(options.output), work)) as kept:
        with open_bytes(source, watch.reading) as file:
            records, done = _Records(source, file, task), kept.last.records
            if done:
                if records.skip(done) != kept.last.input_sha256:
                    raise kept.refuse(source)
                watch.say(f"{options.output}: going on after {done:,} records")
            _extend(kept, records, annotator, watch, options.output)
        return kept.last.records


def _extend(
    kept: ContinuedFile, records: _Records, annotator: Annotator, watch: _Watch, output: str
) -> None:
    """Annotate what is left of the records, and finish the file."""
    try:
        for portion in records.portions():
            done = kept.last.records + len(portion.records)
            kept.append(_annotated(portion, annotator), done, portion.input_sha256)
            watch.told(done, records.size)
        kept.finish()
    except OSError as error:
        if error.errno == errno.ENOSPC:
            _stop_full(output, kept.last.records)
        raise
    except (KeyboardInterrupt, DataError):
        if kept.last.records:
            watch.say(_kept(output, kept.last.records))
        raise


def _stop_full(output: str, records: int) -> NoReturn:
    raise SicetnonError(
        f"{output}: no space left on the disk; free some. {_kept(output, records)}"
    ) from None


def _kept(output: str, records: int) -> str:
    return f"{output}: {records:,} records are kept; the same command goes on after them"


class _Records:
    """The records of a JSON Lines file, with size and checksum of what was taken so far."""

    def __init__(self, source: str, file: BinaryIO, task: Task):
        self._task = task
        self._source = "standard input" if source == "-" else source
        self._sum = hashlib.sha256()
        self.size = 0
        self._lines = self._numbered(file)

    def _numbered(self, file: BinaryIO) -> Iterator[tuple[int, bytes]]:
        for number, line in enumerate(file, start=1):
            self._sum.update(line)
            self.size += len(line)
            text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            if text and not text.isspace():
                yield number, text

    def skip(self, count: int) -> str:
        """Pass over records; gives the checksum up to the last of them."""
        for _ in range(count):
            if next(self._lines, None) is None:
                return ""
        return self._sum.hexdigest()

    def portions(self) -> Iterator[Portion]:
        records: list[Record] = []
        inputs: list[tuple[str, ...]] = []
        size = 0
        for number, line in self._lines:
            record, texts = self._read(number, line)
            records.append(record)
            inputs.append(texts)
            size += len(line)
            if len(records) >= PORTION_RECORDS or size >= PORTION_BYTES:
                yield Portion(records, inputs, self._sum.hexdigest())
                records, inputs, size = [], [], 0
        if records:
            yield Portion(records, inputs, self._sum.hexdigest())

    def _read(self, number: int, line: bytes) -> tuple[Record, tuple[str, ...]]:
        try:
            line.decode("utf-8")
            record = _record(line)
            return record, self._task.inputs(record)
        except UnicodeDecodeError as error:
            reason = f"byte {error.start + 1} of it is not UTF-8; save the file as UTF-8"
        except (ValueError, RecursionError) as error:
            reason = str(error)
        raise DataError(
            f"the record cannot be used: {reason}; expected {self._task.expected}; mend the line "
            "or leave it out",
            self._source,
            number,
        )


def _record(line: bytes) -> Record:
    """The fields of a line, each as it is written."""
    try:
        return _RECORD.decode(line)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError as error:
        # half characters become U+FFFD, and the record is written anew
        try:
            return {
                name: msgspec.Raw(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())
                for name, value in decode(_ANY, line).items()
            }
        except ValueError:
            raise error from None


def _annotated(portion: Portion, annotator: Annotator) -> bytes:
    """The lines of a portion with what an annotator says."""
    found = added_fields(annotator, portion.inputs)
    # other fields stay as they are written, to the digit
    lines = [
        msgspec.json.encode({**record, **added})
        for record, added in zip(portion.records, found, strict=True)
    ]
    return b"\n".join([*lines, b""])


def added_fields(
    annotator: Annotator, inputs: Sequence[tuple[str, ...]]
) -> list[Mapping[str, Any]]:
    """What records get: fields by name.

    Args:
        annotator: An annotator.
        inputs: For each record, what the annotator's method takes.
    """
    columns = [list(column) for column in zip(*inputs, strict=True)]
    if isinstance(annotator, Quality | Argumentativeness):
        scores = annotator.score(*columns)
        return [{annotator.task: _rounded(score)} for score in scores]
    chances: Floats = annotator.probabilities(*columns)
    labels = annotator.labels(chances)
    return [
        {
            "stance": label,
            "probabilities": dict(zip(annotator.classes, map(_rounded, row), strict=True)),
        }
        for label, row in zip(labels, chances, strict=True)
    ]


def _rounded(value: Any) -> float:
    return round(float(value), _DIGITS)


def _field(record: Record, name: str) -> str:
    value = record.get(name)
    if value is None:
        raise ValueError(f"found no {name!r}")
    try:
        return decode(_TEXT, bytes(value))
    except msgspec.ValidationError:
        raise ValueError(f"{name!r} is no text") from None


def _text(record: Record) -> tuple[str, ...]:
    return (_field(record, "text"),)


def _text_and_topic(record: Record) -> tuple[str, ...]:
    return _field(record, "text"), _field(record, "topic")


def _text_and_objects(record: Record) -> tuple[str, ...]:
    text = _field(record, "text")
    if "question" in record and "first" not in record and "second" not in record:
        return text, *_objects(_field(record, "question"))
    return text, _field(record, "first"), _field(record, "second")


@functools.lru_cache(maxsize=4096)
def _objects(question: str) -> tuple[str, str]:
    found = parse_question(question)
    if found.first is None or found.second is None:
        raise ValueError(f"the question {question[:100]!r} names no two objects")
    return found.first, found.second


TASKS: dict[str, Task] = {
    "quality": Task(Quality, '{"text": "…"}', _text),
    "argumentativeness": Task(Argumentativeness, '{"text": "…"}', _text),
    "stance": Task(Stance, '{"text": "…", "topic": "…"}', _text_and_topic),
    "comparison": Task(
        Comparison,
        '{"text": "…", "first": "…", "second": "…"} or {"text": "…", "question": "…"}',
        _text_and_objects,
    ),
}
