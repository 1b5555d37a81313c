"""Files that are no sound text, runs that are no files, and content of every kind."""

from __future__ import annotations

import gzip
import math
import re
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sicetnon.contracts import CONTRACTS
from sicetnon.errors import UsageError
from sicetnon.evaluation import load_run
from sicetnon.formats.runs import read_run, run_text
from sicetnon.records import Ranking, Run, Topic
from sicetnon.validation import validate
from sicetnon.validation.validator import is_sound
from support.validation_cases import (
    ARGUMENTS,
    PAIRS,
    TOPICS,
    Validated,
    changed,
    only,
    pair_lines,
    sound_lines,
    validator,
)


@pytest.fixture
def validated(tmp_path: Path) -> Validated:
    return validator(tmp_path)


@pytest.mark.parametrize(
    ("content", "found"), [(b"", "no line"), (b"\n  \n", "no line with text"), (b"\n", "no line")]
)
def test_empty_file(validated: Validated, content: bytes, found: str) -> None:
    validation = validated(content)
    assert not validation.ok
    assert validation.errors[0].rule == "empty-file"
    assert validation.errors[0].found.startswith(found)
    assert "missing-topics" not in str(validation)


def test_not_utf8(validated: Validated) -> None:
    content = "".join(f"{line}\n" for line in changed(4, "mine", "minée")).encode("latin-1")
    validation = validated(content)
    finding = validation.errors[0]
    assert (finding.rule, finding.line, finding.count) == ("not-utf-8", 4, 1)
    assert (finding.found, finding.expected) == ("the byte 0xe9 at place 21", "text in UTF-8")
    assert validated(changed(1, "mine", "minée")).ok


def test_byte_order_mark(validated: Validated) -> None:
    content = "".join(f"{line}\n" for line in sound_lines()).encode("utf-8-sig")
    assert only(validated(content), "byte-order-mark").line == 1


def test_joined_lines_and_ids_that_nobody_sees(validated: Validated) -> None:
    lines = sound_lines()
    content = "".join(f"{line}\n" for line in lines)
    joined = validated(content.replace("\n", "", 1).encode())
    assert (joined.errors[0].rule, joined.errors[0].line) == ("joined-lines", 1)
    marked = validated(content.replace("\n1 Q0", "\n\ufeff1 Q0", 1).encode())
    assert ("unprintable-id", 2) in {(each.rule, each.line) for each in marked.errors}


def test_gzip(validated: Validated) -> None:
    content = gzip.compress("".join(f"{line}\n" for line in sound_lines()).encode())
    assert validated(content).findings == ()


def test_gzip_cut_short(validated: Validated) -> None:
    rng = np.random.default_rng(1)
    lines = [f"1 Q0 {rng.integers(10**12)} {rank} {1000 - rank} t" for rank in range(1, 1000)]
    lines[3] = lines[3].replace("Q0", "PRO")
    content = gzip.compress("".join(f"{line}\n" for line in lines).encode())
    validation = validated(content[: len(content) // 2])
    assert [finding.rule for finding in validation.findings] == ["second-column", "damaged-gzip"]
    finding = validation.findings[1]
    assert finding.line == validation.lines + 1 > 300
    assert finding.found == "gzip data that is damaged or cut short"


@pytest.mark.parametrize("size", [3, 12, 30, -4])
def test_gzip_cut_anywhere(validated: Validated, size: int) -> None:
    content = gzip.compress("".join(f"{line}\n" for line in sound_lines()).encode())
    assert only(validated(content[:size]), "damaged-gzip").line is not None


def test_missing_file(tmp_path: Path) -> None:
    for path in (tmp_path / "no such.txt", tmp_path):
        finding = only(validate(path, ARGUMENTS, TOPICS), "unreadable-file")
        assert (finding.line, finding.file) == (None, str(path))
        assert finding.found.startswith("a file that cannot be read: ")


def test_two_runs_side_by_side(tmp_path: Path) -> None:
    text = "".join(f"{line}\n" for line in sound_lines())
    (tmp_path / "run.txt").write_text(text)
    assert validate(tmp_path / "run.txt", ARGUMENTS, TOPICS).findings == ()
    (tmp_path / "run.txt.gz").write_bytes(gzip.compress(text.encode()))
    finding = only(validate(tmp_path / "run.txt", ARGUMENTS, TOPICS), "two-runs", "warning")
    assert finding.found == "run.txt beside run.txt.gz"


def test_one_line_can_break_several_rules_and_errors_come_first(validated: Validated) -> None:
    lines = changed(6, "mine", "yours", changed(9, "S2-A4 4 2.5", "S2-A1 9 9"))
    found = [(finding.rule, finding.line) for finding in validated(lines).findings]
    assert found == [
        ("rank-order", 9),
        ("score-rising", 9),
        ("duplicate-document", 9),
        ("several-tags", 6),
    ]


def test_messages_cannot_carry_control_characters(validated: Validated) -> None:
    validation = validated(changed(6, "Q0", "\x1b[31mQ0"))
    assert "\x1b" not in str(validation)
    assert "\\x1b[31mQ0" in str(validation)


def test_long_texts_are_cut(validated: Validated) -> None:
    assert len(str(validated(changed(6, "Q0", "Q" * 9999)).findings[0])) < 300


def test_unknown_task(validated: Validated) -> None:
    with pytest.raises(UsageError, match=r"found the task 'x'; expected one of touche-2020-task-1"):
        validated(sound_lines(), "x")


def test_lines_records_and_frames(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")

    path = tmp_path / "run.txt"
    broken = changed(9, "2.5", "4.0")
    path.write_text("\n".join(broken))
    records = list(read_run(path))
    frame = pandas.DataFrame([line.split() for line in broken])
    frame.columns = ["qid", "q0", "docno", "rank", "score", "tag"]
    for run in (path, broken, [f"{line}\n" for line in broken], records, iter(records), frame):
        validation = validate(run, ARGUMENTS, TOPICS)
        assert [(f.rule, f.line) for f in validation.findings] == [("score-rising", 9)]
    assert validate(frame[["qid", "docno", "score"]], ARGUMENTS, TOPICS).errors
    assert validate([], ARGUMENTS, TOPICS).errors[0].rule == "empty-file"
    assert validate(records, ARGUMENTS, TOPICS, name="made").errors[0].file == "made"
    frame.loc[8, "docno"] = "two words"
    finding = validate(frame, ARGUMENTS, TOPICS).errors[0]
    assert (finding.rule, finding.line, finding.found) == ("column-count", 9, "the id 'two words'")


def test_a_file_a_zipped_file_and_lines_give_the_same_findings(validated: Validated) -> None:
    lines = sorted(pair_lines(), key=lambda line: int(line.split()[3]))
    lines[150:150] = ["", "1 PRO x 51", "1 PRO a,a 1 nan other", lines[3], " ".join(lines[9])]
    expected = validated(lines, PAIRS)
    assert len(expected.findings) > 5
    zipped = gzip.compress("".join(f"{line}\n" for line in lines).encode())
    assert validated(zipped, PAIRS) == expected
    for given_lines in (lines, iter(lines), [f"{line}\n" for line in lines]):
        assert validate(given_lines, PAIRS, TOPICS, name=expected.file) == expected


def test_a_long_run_does_not_fill_the_memory() -> None:
    def peak(topics: int) -> int:
        numbers = [str(number) for number in range(topics)]
        lines = (
            f"{number} Q0 document-{rank}-of-{number} {rank} {-rank} t"
            for number in numbers
            for rank in range(1, 501)
        )
        tracemalloc.start()
        try:
            assert validate(lines, ARGUMENTS, numbers).findings == ()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(1)  # what is allocated once for all
    bytes_per_line = (peak(22) - peak(2)) / (20 * 500)
    assert bytes_per_line < 16


def test_a_corpus_is_asked_for_many_ids_at_once(validated: Validated) -> None:
    batches: list[int] = []

    def known(identifiers: Sequence[str]) -> Sequence[str]:
        batches.append(len(identifiers))
        return identifiers

    lines = [f"1 Q0 d{rank} {rank} {-rank} t" for rank in range(1, 1001)]
    lines += [f"2 Q0 e{rank} {rank} {-rank} t" for rank in range(1, 301)]
    assert validated(lines, topics=["1", "2"], known_documents=known).findings == ()
    assert batches == [1000, 300]
    assert validated(sound_lines(), known_documents=known).findings == ()
    assert batches == [1000, 300, 15]


def test_a_line_without_end_does_not_fill_the_memory(validated: Validated) -> None:
    validation = validated(b"x" * 20_000_000)
    assert validation.errors[0].rule == "column-count"
    assert validation.lines == 2


def a_ranking(topic: str, *scores: float, ids: tuple[str, ...] = ()) -> Ranking:
    ids = ids or tuple(f"d{place}" for place in range(len(scores)))
    return Ranking(Topic(topic, ""), ids, np.array(scores))


def test_rankings_and_runs_are_validated_as_they_are() -> None:
    sound = [a_ranking(topic, 3.0, 2.0, 1.0) for topic in TOPICS]
    run = Run("my run", "mine", {ranking.topic.number: ranking for ranking in sound})
    for found_run in (sound, run):
        validation = validate(found_run, ARGUMENTS, TOPICS)
        assert (validation.findings, validation.lines, validation.topics) == ((), 9, 3)
    assert validate(run, ARGUMENTS, TOPICS).file == "my run"
    faulty = [
        a_ranking("1", 1.0, 2.0, 2.0),
        a_ranking("2", 2.0, float("nan"), ids=("a", "a")),
        a_ranking("3", 2.0, ids=("a b",)),
    ]
    found = {f.rule: (f.line, f.found) for f in validate(faulty, ARGUMENTS, TOPICS).findings}
    assert found == {
        "score-rising": (2, "score 2.0 in topic '1'"),
        "tied-scores": (3, "score 2.0 in topic '1'"),
        "score-number": (5, "the score 'nan'"),
        "duplicate-document": (5, "'a' again for topic '2'"),
        "column-count": (6, "the id 'a b'"),
    }
    for empty in (Run("none", "t", {}), [a_ranking("1")]):
        assert "empty-file" in [f.rule for f in validate(empty, ARGUMENTS, ["1"]).errors]
    spaced = Run("r", "two words", {"1": sound[0]})
    assert [f.rule for f in validate(spaced, ARGUMENTS, ["1"]).errors] == ["tag-white-space"]


def test_a_run_that_was_read_is_as_sound_as_its_file(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text("".join(f"{line}\n" for line in changed(9, "2.5", "4.0")))
    from_file = validate(path, ARGUMENTS, TOPICS)
    assert str(validate(load_run(path), ARGUMENTS, TOPICS)) == str(from_file)


scores = st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=30)


tasks = st.sampled_from(list(CONTRACTS))


@given(st.dictionaries(st.integers(1, 99), scores, min_size=1, max_size=5), tasks)
def test_what_the_product_writes_is_sound(runs: dict[int, list[float]], task: str) -> None:
    contract = CONTRACTS[task]
    rankings = []
    for topic, values in runs.items():
        values = sorted((values * 100)[: max(len(values), contract.minimum)], reverse=True)
        documents = [
            f"a{n},b{n}" if contract.unit == "pair" else f"d{n}" for n in range(len(values))
        ]
        stances = tuple(
            contract.second_columns[n % len(contract.second_columns)] for n in range(len(values))
        )
        scores = np.array(values)
        rankings.append(Ranking(Topic(str(topic), ""), tuple(documents), scores, stances))
    text = run_text(rankings, "tag")
    validation = validate(text.splitlines(), task, map(str, runs), known_documents=Everything())
    assert validation.findings == ()
    assert is_sound(rankings, task, map(str, runs))


NAMES = [
    "d1",
    "d2",
    "a,b",
    "b,a",
    "a,a",
    "a,b,c",
    "clueweb12-0000tw-00-00001",
    "S1234abcd-A12345678",
]
NAMES += [f"{NAMES[-2]}___3", "1 2", "é", ""]
SECOND = ["Q0", "PRO", "FIRST", "NO", "x"]


@settings(max_examples=300)
@given(
    tasks,
    st.lists(
        st.tuples(
            st.sampled_from(["1", "2", "3", "\ufeff1", "1 2"]),
            st.lists(st.sampled_from(NAMES), max_size=3) | st.just([f"a,{n}" for n in range(1001)]),
            st.sampled_from(SECOND),
            st.sampled_from([0.0, 5e38, math.inf, math.nan]),
        ),
        min_size=1,
        max_size=3,
    ),
)
def test_columns_of_a_run_that_is_not_sound_are_not(
    task: str, given: list[tuple[str, list[str], str, float]]
) -> None:
    rankings = [
        Ranking(Topic(topic, ""), tuple(ids), np.full(len(ids), score), (second,) * len(ids))
        for topic, ids, second, score in given
    ]
    text = run_text(rankings, "tag").splitlines(keepends=True)
    if is_sound(rankings, task, ["1", "2"]):
        assert validate(text, task, ["1", "2"]).findings == ()


class Everything:
    def __contains__(self, _: object) -> bool:
        return True


token = st.text(st.sampled_from("ab1,.-_é\x0b\x1f\u2003 \t\r"), max_size=6)


@given(st.lists(st.lists(token, max_size=8).map(" ".join), max_size=12))
@settings(max_examples=200)
def test_no_content_is_too_odd(lines: list[str]) -> None:
    for task in (ARGUMENTS, PAIRS):
        validation = validate(lines, task, TOPICS, known_documents=["a"])
        assert validation.lines == len(lines)
        assert not validation.ok
        assert str(validation)


columns = st.sampled_from(["1", "2", "Q0", "d", "d2", "1.5", "-3", "x", "t", ""])


@given(st.lists(st.lists(columns, min_size=4, max_size=8).map(" ".join), max_size=6))
@settings(max_examples=300)
def test_what_tira_refuses_is_refused(lines: list[str]) -> None:
    if refused_by_tira(lines):
        assert not validate(lines, ARGUMENTS, ["1", "2"]).ok


def refused_by_tira(lines: list[str]) -> bool:
    """What TIRA's check of a run says of its lines."""
    seen = set()
    for line in lines:
        parts = re.split(r"\s+", line.strip())
        try:
            topic, _, document, rank, score, _ = parts
            int(rank), float(score)
        except ValueError:
            return True
        if (topic, document) in seen:
            return True
        seen.add((topic, document))
    return False


@given(st.binary(max_size=200))
def test_no_bytes_are_too_odd(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "odd.txt"
    path.write_bytes(content)
    assert not validate(path, ARGUMENTS, TOPICS).ok
