"""Runs, judgments, topics, and files written whole: read tolerantly, written strictly."""

from __future__ import annotations

import gzip
import io
import itertools
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sicetnon.errors import DataError, UsageError
from sicetnon.formats.files import write_atomic
from sicetnon.formats.qrels import read_qrels
from sicetnon.formats.runs import check_tag, falling_scores, read_run, run_text, write_run
from sicetnon.formats.topics import read_topics
from sicetnon.records import Judgment, Ranking, Run, RunLine, Topic
from support.patience import HANGS

modestly = settings(max_examples=100, derandomize=True)
Write = Callable[[str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(text: str | bytes) -> Path:
        path = tmp_path / "file"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write_file


# runs


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("1 Q0 d1 1 2.5 tag", RunLine("1", "Q0", "d1", 1, 2.5, "tag")),
        ("1\tPRO\td1\t0\t-1e3\ttag", RunLine("1", "PRO", "d1", 0, -1000.0, "tag")),
        (" 1   NO a,b  01 +.5   my own tag ", RunLine("1", "NO", "a,b", 1, 0.5, "my own tag")),
        ("q-1 Q0 ü 1 7 t\tag\r", RunLine("q-1", "Q0", "ü", 1, 7.0, "t\tag")),
    ],
)  # fmt: skip
def test_runs_are_read_tolerantly(line: str, expected: RunLine, write: Write) -> None:
    text = f"\n{line}\n\n{line}"
    assert list(read_run(write(text))) == [expected, expected]
    assert list(read_run(write(b"\xef\xbb\xbf" + text.encode()))) == [expected, expected]
    assert list(read_run(write(gzip.compress(text.encode())))) == [expected, expected]


def test_runs_are_read_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    piped = io.TextIOWrapper(io.BytesIO(b"1 Q0 d1 1 2.5 tag\n1 Q0 d2 x 2 tag\n"))
    monkeypatch.setattr(sys, "stdin", piped)
    lines = read_run("-")
    assert next(lines).document == "d1"
    with pytest.raises(DataError, match="-, line 2: "):
        next(lines)


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("1 Q0 d1 1 2.5", "found 5 columns; expected 6: qid Q0 doc rank score tag"),
        ("1", "found 1 column;"),
        ("1 Q0 d1 first 2.5 tag", "found rank 'first' and score '2.5'"),
        ("1 Q0 d1 1.5 2.5 tag", "found rank '1.5'"),
        ("1 Q0 d1 1 high tag", "score 'high'; expected a whole number and a number"),
        ("1 Q0 d1 1 nan tag", "score 'nan'"),
        (b"1 Q0 d\xe9 1 2.5 tag", "byte 7 of the line is not UTF-8"),
    ],
)
def test_bad_run_lines_are_named(line: str | bytes, part: str, write: Write) -> None:
    data = line if isinstance(line, bytes) else line.encode()
    path = write(b"1 Q0 d0 1 3 tag\n\n" + data + b"\n")
    with pytest.raises(DataError) as caught:
        list(read_run(path))
    assert (caught.value.file, caught.value.line) == (path, 3)
    assert part in str(caught.value)


SCORES = st.lists(
    st.floats(allow_nan=False, allow_infinity=False)
    | st.integers(-3, 3).map(float)
    | st.sampled_from([1e39, 3.4028235e38, -3.4028235e38, -1e300, 1e-46, -0.0, 1 + 2**-40]),
    max_size=40,
)


@modestly
@given(scores=SCORES)
@example(scores=[0.0, -0.0, 0.0])
@example(scores=[-1e300] * 5)
@example(scores=[1e300, 1e300, 1.0, 1.0])
def test_written_runs_fall_strictly_in_single_precision(scores: list[float]) -> None:
    given_scores = np.array(sorted(scores, reverse=True), dtype=np.float64)
    documents = [f"d{number}" for number in range(len(scores))]
    text = run_text([Ranking(Topic("7", ""), tuple(documents), given_scores)], "tag")
    rows = [line.split(" ") for line in text.splitlines()]
    assert [row[:4] for row in rows] == [
        ["7", "Q0", document, str(rank)] for rank, document in enumerate(documents, 1)
    ]
    single = np.array([row[4] for row in rows], dtype=np.float32)
    assert np.all(single[1:] < single[:-1])
    assert np.all(np.isfinite(single))
    assert [row[5:] for row in rows] == [["tag"]] * len(rows)
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_text(text)
        lines = list(read_run(file.name))
    assert [line.document for line in lines] == documents
    assert [line.rank for line in lines] == list(range(1, len(documents) + 1))
    found = [line.score for line in lines]
    assert all(low < high for high, low in itertools.pairwise(found))


def test_scores_that_fall_already_are_only_rounded() -> None:
    scores = np.array([9.87654321, 1.5, 0.1, -2.0])
    assert falling_scores(scores).tolist() == scores.astype(np.float32).tolist()


def test_ties_are_broken_by_the_smallest_step() -> None:
    stances = ("PRO", "CON", "Q0")
    tied = Ranking(Topic("1", ""), ("a", "b", "c"), np.array([1.0, 1.0, 0.5]), stances)
    expected = "1 PRO a 1 1.0 t\n1 CON b 2 0.99999994 t\n1 Q0 c 3 0.5 t\n"
    assert run_text([tied], "t") == expected


def test_no_documents_are_no_lines() -> None:
    assert run_text([Ranking(Topic("1", ""), (), np.empty(0))], "tag") == ""
    assert run_text([], "tag") == ""


def test_columns_of_unequal_length_are_a_mistake() -> None:
    with pytest.raises(ValueError):
        run_text([Ranking(Topic("1", ""), ("a",), np.array([2.0, 1.0]))], "tag")


def test_a_written_run_is_read_back_and_gzipped_where_its_name_says(tmp_path: Path) -> None:
    rankings = [
        Ranking(Topic(number, ""), ("a", "b"), np.array([2.0, 1.0]), stances)
        for number, stances in (("1", None), ("2", ("PRO", "CON")))
    ]
    for name in ("run.txt", "run.txt.gz"):
        write_run(rankings, tmp_path / name, "tag")
        lines = list(read_run(tmp_path / name))
        assert [(line.topic, line.stance, line.document, line.rank) for line in lines] == [
            ("1", "Q0", "a", 1), ("1", "Q0", "b", 2), ("2", "PRO", "a", 1), ("2", "CON", "b", 2),
        ]  # fmt: skip
    assert (tmp_path / "run.txt.gz").read_bytes()[:2] == b"\x1f\x8b"
    with pytest.raises(UsageError, match="use one word"):
        write_run(rankings, tmp_path / "run.txt", "two words")


@pytest.mark.parametrize("tag", ["", " ", "two words", "line\n", "a\u00a0b"])
def test_a_tag_is_one_word(tag: str) -> None:
    assert check_tag("my-tag_1") == "my-tag_1"
    with pytest.raises(UsageError, match="is empty or holds white space; use one word"):
        check_tag(tag)


# judgments


def test_qrels_have_numbers_and_stances(write: Write) -> None:
    text = "1 0 a 4.0\n1\t0\tb\t-2\n\n 2 Q0 c,d  0 \r\n2 0 e NEUTRAL\n2 0 f NO\n3 0 g 1e0"
    expected = [
        Judgment("1", "a", 4), Judgment("1", "b", -2), Judgment("2", "c,d", 0),
        Judgment("2", "e", "NEUTRAL"), Judgment("2", "f", "NO"), Judgment("3", "g", 1),
    ]  # fmt: skip
    found = list(read_qrels(write(text)))
    assert found == expected
    assert all(isinstance(item.label, int | str) for item in found)


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("1 0 a", "found 3 columns; expected 4: qid 0 doc label"),
        ("1 0 a 1 x", "found 5 columns"),
        ("1 0 a 1.5", "found the label '1.5'; expected a whole number or one of FIRST"),
        ("1 0 a MAYBE", "'MAYBE'"),
        ("1 0 a nan", "'nan'"),
        ("1 0 a inf", "'inf'"),
    ],
)
def test_bad_judgments_are_named(line: str, part: str, write: Write) -> None:
    path = write(f"1 0 z 1\n{line}\n")
    with pytest.raises(DataError) as caught:
        list(read_qrels(path))
    assert (caught.value.file, caught.value.line) == (path, 2)
    assert part in str(caught.value)


# topics


def topics_file(*topics: str, head: str = "") -> str:
    return f"{head}<topics>{''.join(f'<topic>{topic}</topic>' for topic in topics)}</topics>"


def test_topics_are_folded_and_keep_their_order(write: Write) -> None:
    text = topics_file(
        "<number> 10\n</number><title>\n  Which is better,\n\ta laptop &amp; a <i>desktop</i>?"
        "\n</title>"
        "<objects> laptop,\n desktop </objects><description>Who\nasks</description>",
        "<number>2</number><title>&#201;clair?</title><narrative> What\r\n counts </narrative>",
        head='<?xml version="1.0" encoding="utf-8"?><!-- no & matter -->',
    )
    expected = [
        Topic("10", "Which is better, a laptop & a desktop?", ("laptop", "desktop"), "Who asks"),
        Topic("2", "Éclair?", narrative="What counts"),
    ]
    assert read_topics(write(text)) == expected
    assert read_topics(write(b"\xef\xbb\xbf" + text.encode())) == expected
    assert read_topics(write(gzip.compress(text.encode()))) == expected


@pytest.mark.parametrize("encoding", ["utf-16", "iso-8859-1"])
def test_topics_in_other_encodings(encoding: str, write: Write) -> None:
    head = f'<?xml version="1.0" encoding="{encoding}"?>'
    text = topics_file("<number>1</number><title>Café?</title>", head=head)
    assert read_topics(write(text.encode(encoding))) == [Topic("1", "Café?")]


ONE = "<number>1</number><title>t</title>"
LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
HOSTILE = {
    "own entity": '<!DOCTYPE t [<!ENTITY mine "text">]>',
    "billion laughs": f'<!DOCTYPE t [<!ENTITY l0 "ha">{LAUGHS}]>',
    "file": '<!DOCTYPE t [<!ENTITY f SYSTEM "file:///etc/hostname">]>',
    "parameter": '<!DOCTYPE t [<!ENTITY % p "x">]>',
}


@pytest.mark.parametrize("case", HOSTILE)
def test_entities_of_ones_own_are_refused(case: str, write: Write) -> None:
    use = {"own entity": "&mine;", "billion laughs": "&l11;", "file": "&f;"}.get(case, "")
    text = topics_file(f"<number>1</number><title>t {use}</title>", head=HOSTILE[case])
    with pytest.raises(DataError, match="declares entities of its own") as caught:
        read_topics(write(text))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "part"),
    [
        ("", "no well-formed XML"),
        ("just text", "no well-formed XML"),
        (topics_file(ONE)[:-3], "no well-formed XML"),
        (topics_file("<number>1</number><title>a & b</title>"), "no well-formed XML"),
        (topics_file("<number>1</number><title>&nbsp;</title>"), "no well-formed XML"),
        (topics_file("<number>1</number><title>é</title>").encode("latin-1"), "no well-formed XML"),
        ('<?xml version="1.0" encoding="klingon"?><topics/>', "cannot be decoded|well-formed"),
        ('<?xml version="1.0" encoding="shift_jis"?><topics/>', "cannot be decoded|well-formed"),
        ("<queries/>", "found no topic in <queries>"),
        ("<topics></topics>", "found no topic"),
        (topics_file(ONE, "<title>t</title>"), "topic 2 in the file has no <number>"),
        (
            topics_file("<number>1 2</number><title>t</title>"),
            "topic 1 in the file has no <number>",
        ),
        (topics_file("<number>7</number><title> \n</title>"), "topic 7 has no <title>"),
        (topics_file("<number>7</number>"), "topic 7 has no <title>"),
        (topics_file(ONE, ONE), "topic number 1 occurs more than once"),
    ],
)
def test_bad_topics_are_refused(data: str | bytes, part: str, write: Write) -> None:
    path = write(data)
    with pytest.raises(DataError, match=part) as caught:
        read_topics(path)
    assert caught.value.file == path


QUERIES = """{"qid": "1", "query": "Tea or\\n coffee?", "original_query": {"objects": ["tea"]}}
{"qid": 2, "query": "Zoos?", "original_query": {"objects": "a, b", "narrative": "why"}}

{"qid": "q-3", "query": "Tenure?", "original_query": "Tenure?"}
"""


def test_topics_of_tirex(write: Write) -> None:
    expected = [
        Topic("1", "Tea or coffee?", ("tea",)),
        Topic("2", "Zoos?", ("a", "b"), narrative="why"),
        Topic("q-3", "Tenure?"),
    ]
    for text in (QUERIES, f"\n {QUERIES}", f"\ufeff{QUERIES}"):
        assert read_topics(write(text)) == expected
    assert read_topics(write(gzip.compress(QUERIES.encode()))) == expected


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ('{"qid": "8", "query": " "}', "line 5: the qid '8' has no query"),
        ('{"qid": "2", "query": "x"}', "line 5: the qid '2' occurs more than once"),
        ('{"qid": "a b", "query": "x"}', "line 5: .*white space"),
        ('{"qid": "9", "query": null}', "line 5: the line cannot be used"),
    ],
)
def test_bad_queries_are_named(line: str, part: str, write: Write) -> None:
    with pytest.raises(DataError, match=part):
        read_topics(write(QUERIES + line))


def test_missing_topics_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"topics\.xml: cannot be read: No such file"):
        read_topics(tmp_path / "topics.xml")


# files written whole


def test_write_whole_writes_all_and_leaves_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    write_atomic({tmp_path / "a": "new é\n", tmp_path / "b": ""})
    assert {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()} == {
        "a": "new é\n",
        "b": "",
    }
    mask = os.umask(0)
    os.umask(mask)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o666 & ~mask


def test_a_missing_folder_changes_no_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    with pytest.raises(OSError):
        write_atomic({tmp_path / "a": "new", tmp_path / "missing" / "b": "new"})
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_text() == "old"


def test_a_folder_in_the_place_of_a_file_changes_no_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    (tmp_path / "b").mkdir()
    with pytest.raises(IsADirectoryError):
        write_atomic({tmp_path / "a": "new", tmp_path / "b": "new"})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]
    assert (tmp_path / "a").read_text() == "old"


def test_what_cannot_be_encoded_changes_no_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_atomic({tmp_path / "a": "new", tmp_path / "b": "\ud83d"})
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_text() == "old"


WRITER = """
import os, resource, sys
from pathlib import Path
from sicetnon.formats.files import write_atomic
folder = Path(sys.argv[1])
{limit}
try:
    write_atomic({{folder / "a": "new", folder / "b": "x" * 100_000}})
except OSError as error:
    sys.exit(f"{{type(error).__name__}} {{error.errno}}")
"""


def write_in_another_process(folder: Path, limit: str) -> str:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", WRITER.format(limit=limit), str(folder)],
        env=environment, capture_output=True, text=True, timeout=HANGS, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    return done.stderr.strip()


def test_a_full_disk_changes_no_file(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text("old")
    limit = (
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)); sys.dont_write_bytecode = True"
    )
    assert write_in_another_process(tmp_path, limit).startswith("OSError")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "old", "b": "old"}


def test_an_unwritable_folder_changes_no_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    tmp_path.chmod(0o555)
    try:
        # the superuser may write anywhere, so it must become somebody else first
        found = write_in_another_process(tmp_path, "os.geteuid() or os.setuid(65534)")
    finally:
        tmp_path.chmod(0o755)
    assert found.startswith("PermissionError")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "old"}


def test_a_run_is_written_with_its_own_tag(tmp_path: Path) -> None:
    ranking = Ranking(Topic("1", ""), ("a", "b"), np.array([2.0, 1.0]))
    write_run(Run("name", "own", {"1": ranking}), str(tmp_path / "run.txt"))
    assert {line.tag for line in read_run(tmp_path / "run.txt")} == {"own"}
    with pytest.raises(UsageError, match="found rankings and no tag"):
        write_run([ranking], tmp_path / "other.txt")
    with pytest.raises(UsageError, match="scores of shape"):
        write_run([replace(ranking, ids=("a",))], tmp_path / "other.txt", "tag")
    assert not (tmp_path / "other.txt").exists()
