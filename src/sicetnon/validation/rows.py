"""The rows of a run, from a file, lines of text, rankings, records or a data frame.

Text is read line by line, with the tolerance of `formats.runs`; what needs tolerance is noted.
"""

from __future__ import annotations

import codecs
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from sicetnon.errors import DataError, UsageError, counted
from sicetnon.formats.entries import is_number
from sicetnon.formats.files import DamagedGzipError, open_bytes
from sicetnon.formats.runs import fault_of_line
from sicetnon.records import UNSTANCED, Ranking, Run
from sicetnon.validation import rules
from sicetnon.validation.rules import Log, shown

# A path, a run, rankings, lines of text, `{topic: {document: score}}`, records, or a data frame.
RunSource = str | Path | Run | Iterable[Any]
# The six columns of a line.
Row = list[str]

COLUMNS = "qid column2 doc rank score tag"
NO_NAME = "run"
_SEPARATOR_NAMES = {"\t": "a tab", "\r": "a carriage return", "\u00a0": "a no-break space"}
# A line that never ends must not fill the memory: it is cut into lines of so many bytes.
_LONGEST_LINE = 1 << 24


class RowReader:
    """Reads the lines of a run that have six columns, and notes what is wrong with their form.

    Attributes:
        lines: Number of lines read so far.
        blank: Number of lines without text among them.
        unusable: Number of lines with text among them that gave no row.
        is_complete: False once the file could not be read to its end. A line that was cut in two is
            left out then.
    """

    def __init__(self, run: RunSource, pairs: bool, log: Log):
        self.lines = self.blank = self.unusable = 0
        self.is_complete = True
        self._run, self._pairs, self._log = run, pairs, log

    def __iter__(self) -> Iterator[Row]:
        run: Any = self._run
        if isinstance(run, str | Path):
            return self._read(self._file_lines(run))
        if isinstance(run, Run):
            return self._take(_ranking_rows(run.rankings.values(), run.tag or NO_NAME))
        if isinstance(run, Mapping):
            return self._take(_scored_rows(run))
        if not isinstance(run, Iterable):
            raise UsageError(f"found {type(run).__name__}; expected a run, such as a path")
        if not isinstance(run, list) and _is_frame(run):
            return self._take(_record_rows(run))
        items = iter(run)
        first = next(items, None)
        run = itertools.chain(() if first is None else [first], items)
        if isinstance(first, str):
            return self._read(_encoded_lines(run))
        if isinstance(first, Ranking):
            return self._take(_ranking_rows(run, NO_NAME))
        return self._take(_record_rows(run))

    def _take(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Rows that were never text, unchanged; they must be able to stand in a line."""
        names = ("topic", "second column", "id", "rank", "score", "tag")
        for row in rows:
            self.lines += 1
            if " ".join(row).split() != row:
                for name, text in zip(names, row, strict=True):
                    if text.split() != [text]:
                        rule = rules.TAG_SPACE if name == "tag" else rules.COLUMNS
                        self._log.note(rule, self.lines, f"the {name} {shown(text)}", "one word")
            yield row

    def _file_lines(self, path: str | Path) -> Iterator[bytes]:
        try:
            with open_bytes(path) as file:
                yield from iter(partial(file.readline, _LONGEST_LINE), b"")
            return
        except DamagedGzipError:
            found, whole = (
                "gzip data that is damaged or cut short",
                "data up to the end of the file",
            )
            self._log.note(rules.DAMAGED_GZIP, self.lines + 1, found, whole)
        except DataError as error:
            self._note_unreadable(error.message)
        except OSError as error:
            self._note_unreadable(f"cannot be read: {error.strerror or error}")
        self.is_complete = False

    def _note_unreadable(self, message: str) -> None:
        line = self.lines + 1 if self.lines else None
        self._log.note(rules.UNREADABLE, line, f"a file that {message}", "a run")

    def _read(self, lines: Iterable[bytes]) -> Iterator[Row]:
        """The rows of lines of text."""
        for line in lines:
            self.lines += 1
            if self.lines == 1 and line.startswith(codecs.BOM_UTF8):
                line = line.removeprefix(codecs.BOM_UTF8)
                found = "a byte order mark"
                self._log.note(rules.BYTE_ORDER_MARK, 1, found, "the number of a topic first")
            line = line.removesuffix(b"\n")
            try:
                text = line.decode("utf-8")
            except UnicodeDecodeError as error:
                found = f"the byte 0x{line[error.start]:02x} at place {error.start + 1}"
                self._log.note(rules.NOT_UTF8, self.lines, found, "text in UTF-8")
                text = line.decode("utf-8", "replace")
            words = text.split()
            is_strict = len(words) == 6 and " ".join(words) == text
            row = words if is_strict else self._tolerated(text, words)
            if row:
                self._check_ids(row)
                yield row

    def _check_ids(self, row: Row) -> None:
        """Note a topic or a document with characters that nobody sees."""
        for what, name in (("topic", row[0]), ("id", row[2])):
            if not name.isprintable():
                found = f"the {what} {shown(name)}"
                self._log.note(rules.UNPRINTABLE, self.lines, found, "characters that print")

    def _tolerated(self, text: str, words: list[str]) -> Row | None:
        """The row of a line that is not six words with a space between, or None."""
        if not words:
            self.blank += 1
            self._log.note(rules.BLANK_LINES, self.lines, "a line without text", COLUMNS)
            return None
        rule, found, expected = rules.COLUMNS, counted(len(words), "column"), f"6: {COLUMNS}"
        if self._pairs and len(words) > 6 and (words[2].endswith(",") or words[3].startswith(",")):
            rule, expected = rules.PAIR_FORM, "two ids joined by one comma alone"
            found = f"white space in the pair {shown(f'{words[2]} {words[3]}')}"
        elif len(words) == 6 or (len(words) > 6 and words[3].isdecimal() and is_number(words[4])):
            row = words
            if len(words) > 6:
                row = [*words[:5], text.split(None, 5)[5].rstrip()]
                if fault_of_line(text, row[5]):
                    found, one = f"the tag {shown(row[5])}", "the end of the line after one word"
                    self._log.note(rules.JOINED_LINES, self.lines, found, one)
                    return row
                self._log.note(rules.TAG_SPACE, self.lines, f"the tag {shown(row[5])}", "one word")
            if " ".join(row) != text:
                self._log.note(rules.SEPARATORS, self.lines, _odd_separator(text), "single spaces")
            return row
        self.unusable += 1
        self._log.note(rule, self.lines, found, expected)
        return None


def _encoded_lines(lines: Iterable[str]) -> Iterator[bytes]:
    """Lines of text as a file would hold them."""
    for line in lines:
        yield from line.removesuffix("\n").encode("utf-8", "surrogatepass").split(b"\n")


def _ranking_rows(rankings: Iterable[Ranking], tag: str) -> Iterator[Row]:
    for ranking in rankings:
        topic = ranking.topic.number
        columns = zip(ranking.second_column, ranking.ids, ranking.scores.tolist(), strict=True)
        for rank, (second, document, score) in enumerate(columns, start=1):
            yield [topic, second, document, str(rank), str(score), tag]


# evaluation is loaded when a run is none of the above: text and rankings do without


def _scored_rows(run: Mapping[Any, Any]) -> Iterator[Row]:
    """The rows of `{topic: {document: score}}`."""
    from sicetnon.evaluation.inputs import load_run

    return _ranking_rows(load_run(run).rankings.values(), NO_NAME)


def _is_frame(run: Any) -> bool:
    from sicetnon.evaluation.inputs import is_frame

    return is_frame(run)


def _record_rows(run: Any) -> Iterator[Row]:
    """The rows of records or of a data frame."""
    from sicetnon.evaluation import inputs
    from sicetnon.evaluation.inputs import MISSING, identifier

    # it must have the first three; what else it lacks is taken as right
    fields = (
        *(inputs.TOPIC, inputs.DOCUMENT, inputs.SCORE),
        *(inputs.RANK, inputs.STANCE, inputs.TAG),
    )
    ranks: Counter[str] = Counter()
    rows = enumerate(inputs.table_rows(run, fields, required=3, name=NO_NAME), start=1)
    for number, (topic, document, score, rank, second, tag) in rows:
        # texts are checked as those of a file are
        name, document = (
            each if isinstance(each, str) else identifier(each, NO_NAME, number)
            for each in (topic, document)
        )
        ranks[name] += 1
        place = ranks[name] if rank is MISSING else rank
        word = UNSTANCED if second is MISSING else second
        yield [name, *map(str, (word, document, place, score, NO_NAME if tag is MISSING else tag))]


def _odd_separator(line: str) -> str:
    for mark, name in _SEPARATOR_NAMES.items():
        if mark in line:
            return name
    return "several spaces" if "  " in line.strip() else "a space before or after the columns"
