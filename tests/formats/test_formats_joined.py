"""Files that were joined or converted badly: no result of theirs is lost in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from sicetnon.errors import DataError
from sicetnon.evaluation import evaluate
from sicetnon.formats.qrels import read_qrels
from sicetnon.formats.runs import read_run
from sicetnon.validation import validate

FIRST = "1 Q0 d1 1 3.0 t\n1 Q0 d2 2 2.0 t"
SECOND = "2 Q0 d4 1 3.0 t\n2 Q0 d1 2 2.0 t\n"
TASK = "touche-2020-task-1"


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        (FIRST + SECOND, 2, "two lines in one"),
        (f"{FIRST} {SECOND}", 2, "two lines in one"),
        (f"{FIRST} of mine{SECOND}", 2, "two lines in one"),
        (f"{FIRST} of mine {SECOND}", 2, "two lines in one"),
        (f"1 Q0 d1 1 3.0{SECOND}", 1, "two lines in one"),  # a cut line without a tag
        (f"1 PRO d1 1 3.0 CON d2 2 -1e3 t\n{SECOND}", 1, "two lines in one"),
        (f"{FIRST}2 Q0 d2 1 2.0\n", 2, "two lines in one"),
        (f"{FIRST}2 Q0 d2 1.0 2.0 t\n", 2, "two lines in one"),
        (f"{FIRST}\u2028{SECOND}", 2, "two lines in one"),
        (f"{FIRST}\ufeff{SECOND}", 2, "two lines in one"),
        (FIRST.replace("\n", "\r"), 1, "carriage return"),
        (f"{FIRST}\n\ufeff{SECOND}", 3, "topic '\\ufeff2'"),
        (f"\ufeff\ufeff{SECOND}", 1, "topic '\\ufeff2'"),
        ("1 Q0 d\u200b1 1 3.0 t\n", 1, "document 'd\\u200b1'"),
    ],
)
def test_a_run_that_hides_results_is_refused(
    tmp_path: Path, text: str, line: int, part: str
) -> None:
    path = tmp_path / "run.txt"
    path.write_bytes(text.encode())
    with pytest.raises(DataError) as raised:
        list(read_run(path))
    assert raised.value.line == line
    assert part in str(raised.value)
    rules = {finding.rule for finding in validate(path, TASK).errors}
    assert rules & {"joined-lines", "unprintable-id"}


@pytest.mark.parametrize(
    "tag",
    [
        "Colbert fine tune",
        "BM25 k1 2 0.4",
        "BM25 with k1 2 0.4",
        "a run of 7 July 2020 at 3",
        "v 1 2",
        "t\tag\r",
    ],
)
def test_tags_with_spaces_stay_legal(tmp_path: Path, tag: str) -> None:
    path = tmp_path / "run.txt"
    path.write_bytes(f"1 Q0 d1 1 3.0 {tag}\n1 Q0 d2 2 2.0 {tag}\r\n".encode())
    assert [each.tag for each in read_run(path)] == [tag.rstrip()] * 2
    assert "joined-lines" not in {each.rule for each in validate(path, TASK).findings}


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        ("1 0 d1 22 0 d4 2\n", 1, "7 columns"),
        ("1 0 d1 2\r2 0 d4 2\r", 1, "carriage return"),
        ("1 0 d1 2\n\ufeff2 0 d4 2\n", 2, "topic '\\ufeff2'"),
        ("1 0 d1 2\n1 0 d\u200b2 2\n", 2, "document 'd\\u200b2'"),
        ("1 0 d1 2\n2 0 d1 1\n1 0 d1 0\n", 3, "line 1 has 2"),
        ("1 0 p NO\n1 0 p FIRST\n", 2, "line 1 has NO"),
    ],
)
def test_judgments_that_hide_or_contradict_are_refused(
    tmp_path: Path, text: str, line: int, part: str
) -> None:
    path = tmp_path / "a.qrels"
    path.write_bytes(text.encode())
    with pytest.raises(DataError) as raised:
        list(read_qrels(path))
    assert raised.value.line == line
    assert part in str(raised.value)


def test_a_judgment_twice_is_one() -> None:
    records = [{"qid": 1, "docno": "a", "label": 2}] * 2
    (score,) = evaluate({"1": {"a": 1.0}}, records)
    assert score.mean == 1.0
    with pytest.raises(DataError, match="qrels, line 2: found the label 1 for document 'a'"):
        evaluate({"1": {"a": 1.0}}, [*records[:1], {"qid": "1", "docno": "a", "label": 1}])
