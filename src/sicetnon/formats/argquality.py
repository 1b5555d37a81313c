"""Arguments with judged quality: Dagstuhl-15512 and Webis-ArgQuality-20.

Dagstuhl-15512 ArgQuality (Wachsmuth et al., 2017): 320 arguments of 16 issues, 15 dimensions from
1 (low) to 3 (high) by three annotators, as a table with a line per annotator; also as JSON with the
means. Webis-ArgQuality-20 (Gienapp et al., 2020): 1,610 arguments of args.me for 20 topics, with
rhetorical, logical, dialectical and combined quality as standardised scores.
"""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from sicetnon.errors import DataError
from sicetnon.formats.files import open_bytes, read_all, refuse_pipe
from sicetnon.formats.tables import check_header, read_table

DIMENSIONS = ("cogency", "effectiveness", "reasonableness", "overall")
_JSON_NAMES = {
    "Cogency": "cogency",
    "Effectiveness": "effectiveness",
    "Reasonableness": "reasonableness",
    "ArgumentationQuality": "overall",
}
_TABLE_NAMES = {"overall quality": "overall"} | {name: name for name in DIMENSIONS[:3]}
_WEBIS_NAMES = {
    "Rhetorical Quality": "rhetorical",
    "Logical Quality": "logical",
    "Dialectical Quality": "dialectical",
    "Combined Quality": "combined",
}
_WEBIS_TEXT, _WEBIS_TOPIC = "Premise", "Topic ID"


class JudgedArgument(msgspec.Struct, frozen=True):
    """An argument with its quality.

    Attributes:
        id: As in its corpus.
        topic: The topic; arguments are ranked within one.
        text: The argument.
        scores: Quality by dimension, the higher the better.
        labels: Of Dagstuhl-15512, the label by dimension that most annotators chose, 1 to 3.
    """

    id: str
    topic: str
    text: str
    scores: Mapping[str, float]
    labels: Mapping[str, int] = {}


class _Dagstuhl(msgspec.Struct):
    issue: str
    stance: str
    id: str
    text: str
    scores_mean: dict[str, float]


def read_dagstuhl(path: Path | str) -> list[JudgedArgument]:
    """The arguments of Dagstuhl-15512: the official table, or JSON with means.

    A mean of three labels stands for the nearest label, which is the majority's unless it was
    1, 1 and 3 or 1, 3 and 3. Where three annotators disagree, the middle label is taken.

    Raises:
        DataError: The file is neither.
    """
    data = read_all(path)
    if data.lstrip()[:1] in (b"[", b"{"):
        try:
            found = msgspec.json.decode(data, type=list[_Dagstuhl])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise DataError(f"no arguments of Dagstuhl-15512: {error}", path) from None
        return [_with_means(argument) for argument in found]
    return list(_from_table(data, path))


def read_webis(path: Path | str) -> list[JudgedArgument]:
    """The arguments of Webis-ArgQuality-20 that were judged to be arguments.

    Raises:
        DataError: The table lacks a column or holds something that is no number.
    """
    rows = read_table(path)
    line, header = next(rows, (1, []))
    wanted = (_WEBIS_TEXT, _WEBIS_TOPIC, "Discussion ID", "Argument ID", *_WEBIS_NAMES)
    check_header(header, path, line, wanted=wanted)
    found = []
    for line, values in rows:
        row = dict(zip(header, values, strict=False))
        _check_columns(row, wanted, path, line)
        if row.get("Is Argument?", "True").strip().lower() in ("false", "0"):
            continue
        try:
            scores = {name: float(row[column]) for column, name in _WEBIS_NAMES.items()}
        except ValueError as error:
            raise DataError(f"found {error}; expected a number", path, line) from None
        identifier = f"{row['Discussion ID']}/{row['Argument ID']}"
        found.append(JudgedArgument(identifier, row[_WEBIS_TOPIC], row[_WEBIS_TEXT], scores))
    if not found:
        raise DataError("the table holds no argument", path)
    return found


def read_quality(path: Path | str) -> list[JudgedArgument]:
    """The arguments of a file of either corpus; its content shows which.

    Raises:
        DataError: As the others.
        UsageError: The file is a pipe, which can be read only once.
    """
    refuse_pipe(path)
    with open_bytes(path) as file:
        head = file.readline(1 << 16).decode("utf-8", "replace")
    if _WEBIS_TEXT in head and _WEBIS_TOPIC in head:
        return read_webis(path)
    return read_dagstuhl(path)


def _with_means(found: _Dagstuhl) -> JudgedArgument:
    scores = {name: found.scores_mean[key] for key, name in _JSON_NAMES.items()
              if key in found.scores_mean}  # fmt: skip
    labels = {name: int(score + 0.5) for name, score in scores.items()}
    topic = f"{found.issue}/{found.stance}"
    return JudgedArgument(found.id, topic, found.text, scores, labels)


def _from_table(data: bytes, path: Path | str) -> Iterator[JudgedArgument]:
    # the official file is in the encoding of Windows
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter="\t")
    groups: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in reader:
        _check_columns(row, ("#id", "issue", "argument", *_TABLE_NAMES), path, reader.line_num)
        groups[row["#id"]].append(row)
    if not groups:
        raise DataError("the table holds no argument", path)
    for identifier, rows in groups.items():
        given = {
            name: [label for row in rows if (label := _label(row[column]))]
            for column, name in _TABLE_NAMES.items()
        }
        known = {name: labels for name, labels in given.items() if labels}
        if known:
            first = rows[0]
            yield JudgedArgument(
                identifier,
                f"{first['issue']}/{first.get('stance') or ''}",
                first["argument"],
                {name: sum(labels) / len(labels) for name, labels in known.items()},
                {name: majority(labels) for name, labels in known.items()},
            )


def majority(labels: Sequence[int]) -> int:
    """The label that most have chosen; the middle one where none is ahead."""
    (first, votes), *rest = Counter(labels).most_common()
    if rest and rest[0][1] == votes:
        return sorted(labels)[len(labels) // 2]
    return first


def _label(text: str) -> int:
    """1 to 3 of `2 (Average)`; 0 where the annotator could not judge."""
    return int(text[0]) if text[:1] in "123" and text else 0


def _check_columns(
    row: Mapping[str, str], wanted: Sequence[str], path: Path | str, line: int
) -> None:
    if missing := [name for name in wanted if row.get(name) is None]:
        raise DataError(
            f"found no column {', '.join(missing)}; expected {', '.join(wanted)}", path, line
        )
