"""Every rule of the validator on a broken variant of a small run, and on the official runs."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sicetnon.errors import DataError, UsageError
from sicetnon.evaluation import validation_lines
from sicetnon.evaluation.validation import Report, validate
from sicetnon.evaluation.validation_rules import RULES, Finding
from sicetnon.formats.runs import read_run, run_lines
from sicetnon.tasks.contracts import CONTRACTS, TASKS, contract_of

ARGUMENTS, PAIRS, PASSAGES = "touche-2020-task-1", "touche-2022-task-1", "touche-2022-task-2"
TOPICS = ("1", "2", "3")
DATA = Path(os.environ.get("SICETNON_DATA", Path(__file__).parents[1] / "../shared/data"))
RUNS = DATA / "runs"
needs_data = pytest.mark.skipif(not RUNS.is_dir(), reason=f"there are no official runs in {RUNS}")

Validated = Callable[..., Report]


def sound_lines() -> list[str]:
    """A sound run of five results for each of three topics."""
    return [
        f"{topic} Q0 S{topic}-A{rank} {rank} {6.5 - rank} mine"
        for topic in TOPICS
        for rank in range(1, 6)
    ]


def pair_lines(count: int = 100) -> list[str]:
    """A sound run of pairs."""
    return [
        f"{topic} PRO S{topic}-A1__CONC__1,S{topic}-A1__PREMISE__{rank} {rank} {999 - rank} mine"
        for topic in TOPICS
        for rank in range(1, count + 1)
    ]


@pytest.fixture
def validated(tmp_path: Path) -> Validated:
    """Writes lines to a file and validates that."""

    def run(lines: Iterable[str] | bytes, task: str = ARGUMENTS, **more: object) -> Report:
        path = tmp_path / "a run.txt"
        if isinstance(lines, bytes):
            path.write_bytes(lines)
        else:
            path.write_text("".join(f"{line}\n" for line in lines), "utf-8", newline="")
        return validate(path, task, **{"topics": TOPICS, **more})  # type: ignore[arg-type]

    return run


def changed(line: int, old: str, new: str, lines: list[str] | None = None) -> list[str]:
    """The sound run with one line changed; lines count from 1."""
    lines = sound_lines() if lines is None else lines
    assert old in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(old, new, 1)
    return lines


def only(report: Report, rule: str, severity: str = "error") -> Finding:
    """The one finding, whose message must name all that a message must name."""
    assert [finding.rule for finding in report.findings] == [rule], str(report)
    finding = report.findings[0]
    assert finding.severity == severity
    assert report.ok is (severity == "warning")
    assert report.exit_status == (0 if report.ok else 1)
    message = str(finding)
    place = report.file if finding.line is None else f"{report.file}, line {finding.line}"
    assert message.startswith(f"{place}: found {finding.found}; expected {finding.expected} (")
    assert message.endswith(RULES[rule].advice)
    assert "\n" not in message
    return finding


# a rule each


def test_a_sound_run_has_no_findings(validated: Validated) -> None:
    report = validated(sound_lines())
    assert report.findings == ()
    assert report.ok
    assert (report.lines, report.topics) == (15, 3)
    assert "15 lines, 3 topics, 0 errors, 0 warnings" in str(report)
    assert validated(pair_lines(), PAIRS).findings == ()


@pytest.mark.parametrize(
    ("line", "count"), [("1 Q0 S1-A3 3 3.5", 5), ("S1-A3", 1), ("1 Q0 S1 -A3 3 3.5 mine x", 8)]
)
def test_column_count(validated: Validated, line: str, count: int) -> None:
    lines = sound_lines()
    lines[2] = line
    finding = only(validated(lines), "column-count")
    assert (finding.line, finding.count) == (3, 1)
    assert finding.found == f"{count} columns"
    assert finding.expected == "6: qid column2 doc rank score tag"


def test_tag_with_white_space(validated: Validated) -> None:
    finding = only(validated([f"{line} run" for line in sound_lines()]), "tag-white-space")
    assert (finding.line, finding.count) == (1, 15)
    assert (finding.found, finding.expected) == ("the tag 'mine run'", "one word")


@pytest.mark.parametrize(
    ("task", "word", "expected"),
    [
        (ARGUMENTS, "PRO", "Q0"),
        (PASSAGES, "PRO", "FIRST, SECOND, NEUTRAL, NO or Q0"),
        (PASSAGES, "first", "FIRST, SECOND, NEUTRAL, NO or Q0"),
    ],
)
def test_second_column(validated: Validated, task: str, word: str, expected: str) -> None:
    finding = only(validated(changed(7, "Q0", word), task), "second-column")
    assert (finding.line, finding.count) == (7, 1)
    assert finding.found == f"{word!r} in the second column"
    assert finding.expected == expected


def test_second_column_of_pairs(validated: Validated) -> None:
    finding = only(validated(changed(7, "PRO", "FIRST", pair_lines()), PAIRS), "second-column")
    assert finding.expected == "PRO, CON or Q0"


def test_legal_second_columns(validated: Validated) -> None:
    for task in TASKS:
        for word in contract_of(task).second_columns:
            lines = pair_lines() if task == PAIRS else sound_lines()
            lines = [line.replace("PRO", "Q0").replace("Q0", word) for line in lines]
            assert validated(lines, task).findings == ()


def test_unknown_topic(validated: Validated) -> None:
    finding = only(validated([*sound_lines(), "4 Q0 S4-A1 1 1.0 mine"]), "unknown-topic")
    assert (finding.line, finding.found, finding.expected) == (
        16,
        "the topic '4'",
        "one of 1, 2, 3",
    )


def test_missing_topics(validated: Validated) -> None:
    finding = only(validated(sound_lines()[:5]), "missing-topics")
    assert (finding.line, finding.count) == (None, 2)
    assert finding.found == "no line for topic 2, 3"
    assert finding.expected == "results for all 3 topics"


def test_official_topics_stand_in_for_none_and_give_warnings(validated: Validated) -> None:
    report = validated([*sound_lines(), "77 Q0 S4-A1 1 1.0 mine"], topics=None)
    assert report.ok
    assert [(finding.rule, finding.line, finding.count) for finding in report.warnings] == [
        ("missing-topics", None, 46),
        ("unknown-topic", 16, 1),
    ]


def test_topics_from_a_file(validated: Validated, tmp_path: Path) -> None:
    topics = tmp_path / "topics.xml"
    entries = [f"<topic><number>{n}</number><title>Why?</title></topic>" for n in TOPICS]
    topics.write_text(f"<topics>{''.join(entries)}</topics>")
    assert validated(sound_lines(), topics=topics).findings == ()
    assert not validated(sound_lines()[:5], topics=topics).ok
    with pytest.raises(DataError, match="cannot be read"):
        validated(sound_lines(), topics=tmp_path / "none.xml")


def test_unknown_document(validated: Validated) -> None:
    known = {line.split()[2] for line in sound_lines()} - {"S1-A4", "S3-A1"}
    for corpus in (known, list(known), lambda asked: [one for one in asked if one in known]):
        finding = only(validated(sound_lines(), known_documents=corpus), "unknown-document")
        assert (finding.line, finding.count) == (4, 2)
        assert (finding.found, finding.expected) == (
            "the id 'S1-A4'",
            "the id of a document of the corpus",
        )


def test_unknown_sentence_of_a_pair(validated: Validated) -> None:
    known = {half for line in pair_lines() for half in line.split()[2].split(",")}
    assert validated(pair_lines(), PAIRS, known_documents=known).findings == ()
    known.remove("S2-A1__PREMISE__7")
    finding = only(validated(pair_lines(), PAIRS, known_documents=known), "unknown-document")
    assert (finding.line, finding.found) == (107, "the id 'S2-A1__PREMISE__7'")


def test_without_a_corpus_the_report_says_what_was_not_checked(validated: Validated) -> None:
    assert "not checked: whether the documents are in the corpus" in str(validated(sound_lines()))


@pytest.mark.parametrize("rank", ["two", "2.0", "1_0", "２", "9" * 400])
def test_rank_is_no_number(validated: Validated, rank: str) -> None:
    finding = only(validated(changed(2, " 2 ", f" {rank} ")), "rank-number")
    assert (finding.line, finding.expected) == (2, "a whole number")
    assert finding.found.startswith(f"the rank '{rank[:20]}")


@pytest.mark.parametrize("score", ["nan", "inf", "-inf", "1e999", "high", "1,5", "4_5"])
def test_score_is_no_number(validated: Validated, score: str) -> None:
    finding = only(validated(changed(2, "4.5", score)), "score-number")
    assert (finding.line, finding.found) == (2, f"the score '{score}'")
    assert finding.expected == "a finite number"


@pytest.mark.parametrize(
    ("first", "second", "line", "count"),
    [("1", "0", 1, 2), ("2", "1", 2, 2), ("3", "7", 3, 2), ("5", "6", 5, 1)],
)
def test_rank_order(validated: Validated, first: str, second: str, line: int, count: int) -> None:
    finding = only(validated(changed(int(first), f" {first} ", f" {second} ")), "rank-order")
    assert (finding.line, finding.count) == (line, count)
    assert finding.found == f"rank {second} in topic '1'"
    assert finding.expected == f"rank {line}"


def test_ranks_from_zero_count_once_a_topic(validated: Validated) -> None:
    lines = [line.split() for line in sound_lines()]
    finding = only(
        validated(" ".join((*a[:3], str(int(a[3]) - 1), *a[4:])) for a in lines), "rank-order"
    )
    assert (finding.line, finding.count, finding.found) == (1, 3, "rank 0 in topic '1'")


def test_a_line_left_out_is_no_gap(validated: Validated) -> None:
    only(validated(changed(3, " mine", "")), "column-count")
    only(validated(changed(6, " mine", "")), "column-count")


def test_score_rising(validated: Validated) -> None:
    finding = only(validated(changed(9, "2.5", "4.0")), "score-rising")
    assert (finding.line, finding.count) == (9, 1)
    assert finding.found == "score 4.0 in topic '2'"
    assert finding.expected == "at most 3.5, the score before it"


def test_ties_are_a_warning(validated: Validated) -> None:
    finding = only(validated(changed(9, "2.5", "3.50")), "tied-scores", "warning")
    assert (finding.line, finding.count) == (9, 1)
    assert finding.found == "score 3.50 in topic '2'"
    assert finding.expected == "less than 3.5, the score before it"


def test_scores_that_single_precision_cannot_tell_apart(validated: Validated) -> None:
    finding = only(validated(changed(9, "2.5", "3.4999999999")), "scores-too-close", "warning")
    assert (finding.line, finding.count) == (9, 1)


def test_scores_beyond_single_precision(validated: Validated) -> None:
    lines = changed(1, "5.5", "2e60", changed(2, "4.5", "1e60"))
    assert only(validated(lines), "scores-too-close", "warning").line == 2


def test_duplicate_document(validated: Validated) -> None:
    finding = only(validated(changed(9, "S2-A4", "S2-A1")), "duplicate-document")
    assert (finding.line, finding.count) == (9, 1)
    assert finding.found == "'S2-A1' again for topic '2'"
    assert finding.expected == "each document once a topic"


def test_documents_of_one_letter_can_be_duplicates(validated: Validated) -> None:
    lines = ["1 Q0 a 1 2.0 t", "1 Q0 a 2 1.0 t"]
    only(validated(lines, topics=["1"]), "duplicate-document")


def test_a_document_may_answer_two_topics(validated: Validated) -> None:
    assert validated(changed(9, "S2-A4", "S1-A1")).findings == ()


def test_duplicate_pair(validated: Validated) -> None:
    lines = changed(5, "PREMISE__5", "PREMISE__1", pair_lines())
    assert only(validated(lines, PAIRS), "duplicate-document").line == 5


def test_reversed_pair(validated: Validated) -> None:
    old, new = "S1-A1__CONC__1,S1-A1__PREMISE__5", "S1-A1__PREMISE__1,S1-A1__CONC__1"
    finding = only(validated(changed(5, old, new, pair_lines()), PAIRS), "reversed-pair")
    assert (finding.line, finding.count) == (5, 1)
    assert finding.found == f"'{new}' for topic '1', the pair 'S1-A1__CONC__1,{new[:17]}' reversed"
    assert finding.expected == "each pair in one order only"


@pytest.mark.parametrize("pair", ["a", "a,", ",a", "a,b,c", "a,a", "a;b"])
def test_pair_form(validated: Validated, pair: str) -> None:
    old = "S1-A1__CONC__1,S1-A1__PREMISE__5"
    finding = only(validated(changed(5, old, pair, pair_lines()), PAIRS), "pair-form")
    assert (finding.line, finding.found) == (5, f"the pair '{pair}'")
    assert finding.expected == "two different ids, one comma between"


@pytest.mark.parametrize("pair", ["a, b", "a ,b"])
def test_white_space_in_a_pair(validated: Validated, pair: str) -> None:
    old = "S1-A1__CONC__1,S1-A1__PREMISE__5"
    finding = only(validated(changed(5, old, pair, pair_lines(101)), PAIRS), "pair-form")
    assert (finding.line, finding.found) == (5, f"white space in the pair '{pair}'")


def test_too_many_results(validated: Validated) -> None:
    lines = [f"2 Q0 d{rank} {rank} {-rank} mine" for rank in range(1, 1002)]
    finding = only(validated(lines, topics=["2"]), "too-many-results")
    assert (finding.line, finding.count) == (1001, 1)
    assert (finding.found, finding.expected) == (
        "result number 1,001 of topic '2'",
        "at most 1,000",
    )
    assert validated(lines[:1000], topics=["2"]).findings == ()


def test_too_few_pairs(validated: Validated) -> None:
    finding = only(validated(pair_lines(99), PAIRS), "too-few-results")
    assert (finding.line, finding.count) == (1, 3)
    assert (finding.found, finding.expected) == ("99 results for topic '1'", "at least 100")


def test_split_topics(validated: Validated) -> None:
    lines = sound_lines()
    finding = only(validated([*lines[:4], *lines[5:], lines[4]]), "split-topics", "warning")
    assert (finding.line, finding.count, finding.found) == (15, 1, "topic '1' again")
    assert finding.expected == "each topic's lines together"


def test_rules_hold_across_the_parts_of_a_split_topic(validated: Validated) -> None:
    lines = sorted(sound_lines(), key=lambda line: int(line.split()[3]))
    assert [f.rule for f in validated(lines).findings] == ["split-topics"]
    lines[12] = "1 Q0 S1-A1 6 9 mine"
    found = {finding.rule: finding.line for finding in validated(lines).errors}
    assert found == {"rank-order": 13, "score-rising": 13, "duplicate-document": 13}


def test_several_tags(validated: Validated) -> None:
    finding = only(validated(changed(6, "mine", "yours")), "several-tags", "warning")
    assert (finding.line, finding.count) == (6, 1)
    assert (finding.found, finding.expected) == ("the tag 'yours'", "'mine', as before")


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        (" Q0 ", "\tQ0 ", "a tab"),
        (" Q0 ", "  Q0 ", "several spaces"),
        ("1 Q0", " 1 Q0", "a space before or after the columns"),
        ("mine", "mine ", "a space before or after the columns"),
        ("mine", "mine\r", "a carriage return"),
        (" Q0 ", "\u00a0Q0 ", "a no-break space"),
    ],
)
def test_separators(validated: Validated, old: str, new: str, found: str) -> None:
    finding = only(validated(changed(3, old, new)), "separators", "warning")
    assert (finding.line, finding.count, finding.found) == (3, 1, found)
    assert finding.expected == "single spaces"


def test_blank_lines(validated: Validated) -> None:
    lines = sound_lines()
    finding = only(validated(["", *lines[:3], " ", *lines[3:]]), "blank-lines")
    assert (finding.line, finding.count) == (1, 2)


@pytest.mark.parametrize(
    ("content", "found"), [(b"", "no line"), (b"\n  \n", "no line with text"), (b"\n", "no line")]
)
def test_empty_file(validated: Validated, content: bytes, found: str) -> None:
    report = validated(content)
    assert not report.ok
    assert report.errors[0].rule == "empty-file"
    assert report.errors[0].found.startswith(found)
    assert "missing-topics" not in str(report)


def test_not_utf8(validated: Validated) -> None:
    content = "".join(f"{line}\n" for line in changed(4, "mine", "minée")).encode("latin-1")
    report = validated(content)
    finding = report.errors[0]
    assert (finding.rule, finding.line, finding.count) == ("not-utf-8", 4, 1)
    assert (finding.found, finding.expected) == ("the byte 0xe9 at place 21", "text in UTF-8")
    assert validated(changed(1, "mine", "minée")).ok


def test_byte_order_mark(validated: Validated) -> None:
    content = "".join(f"{line}\n" for line in sound_lines()).encode("utf-8-sig")
    assert only(validated(content), "byte-order-mark").line == 1


def test_gzip(validated: Validated) -> None:
    content = gzip.compress("".join(f"{line}\n" for line in sound_lines()).encode())
    assert validated(content).findings == ()


def test_gzip_cut_short(validated: Validated) -> None:
    rng = np.random.default_rng(1)
    lines = [f"1 Q0 {rng.integers(10**12)} {rank} {1000 - rank} t" for rank in range(1, 1000)]
    lines[3] = lines[3].replace("Q0", "PRO")
    content = gzip.compress("".join(f"{line}\n" for line in lines).encode())
    report = validated(content[: len(content) // 2])
    assert [finding.rule for finding in report.findings] == ["second-column", "damaged-gzip"]
    finding = report.findings[1]
    assert finding.line == report.lines + 1 > 300
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


def test_every_rule_is_tested_here() -> None:
    source = Path(__file__).read_text("utf-8")
    assert [name for name in RULES if f'"{name}"' not in source] == []
    assert all(rule.advice.endswith(".") and rule.why.endswith(".") for rule in RULES.values())


# the rest


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
    report = validated(changed(6, "Q0", "\x1b[31mQ0"))
    assert "\x1b" not in str(report)
    assert "\\x1b[31mQ0" in str(report)


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
        report = validate(run, ARGUMENTS, TOPICS)
        assert [(f.rule, f.line) for f in report.findings] == [("score-rising", 9)]
    assert validate(frame[["qid", "docno", "score"]], ARGUMENTS, TOPICS).errors
    assert validate([], ARGUMENTS, TOPICS).errors[0].rule == "empty-file"
    assert validate(records, ARGUMENTS, TOPICS, name="made").errors[0].file == "made"


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_the_size_of_blocks_does_not_matter(
    validated: Validated, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    lines = sorted(pair_lines(), key=lambda line: int(line.split()[3]))
    lines[150:150] = ["", "1 PRO x 51", "1 PRO a,a 1 nan other", lines[3], " ".join(lines[9])]
    expected = str(validated(lines, PAIRS))
    monkeypatch.setattr(validation_lines, "BLOCK_BYTES", size)
    assert str(validated(lines, PAIRS)) == expected


def test_a_line_without_end_does_not_fill_the_memory(
    validated: Validated, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validation_lines, "BLOCK_BYTES", 100)
    monkeypatch.setattr(validation_lines, "_LONGEST_LINE", 1000)
    report = validated(b"x" * 10_000)
    assert report.errors[0].rule == "column-count"


scores = st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=30)


@given(st.dictionaries(st.integers(1, 99), scores, min_size=1, max_size=5), st.sampled_from(TASKS))
def test_what_the_product_writes_is_sound(runs: dict[int, list[float]], task: str) -> None:
    contract = CONTRACTS[task]
    text = ""
    for topic, values in runs.items():
        values = sorted((values * 100)[: max(len(values), contract.minimum)], reverse=True)
        documents = [
            f"a{n},b{n}" if contract.unit == "pair" else f"d{n}" for n in range(len(values))
        ]
        stances = [
            contract.second_columns[n % len(contract.second_columns)] for n in range(len(values))
        ]
        text += run_lines(str(topic), documents, np.array(values), "tag", stances)
    report = validate(text.splitlines(), task, map(str, runs), known_documents=Everything())
    assert report.findings == ()


class Everything:
    def __contains__(self, _: object) -> bool:
        return True


token = st.text(st.sampled_from("ab1,.-_é\x0b\x1f\u2003 \t\r"), max_size=6)


@given(st.lists(st.lists(token, max_size=8).map(" ".join), max_size=12))
@settings(max_examples=200)
def test_no_content_is_too_odd(lines: list[str]) -> None:
    for task in (ARGUMENTS, PAIRS):
        report = validate(lines, task, TOPICS, known_documents=["a"])
        assert report.lines == len(lines)
        assert not report.ok
        assert str(report)


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


# the official runs: rule, count

TIES, CLOSE, RANKS = "tied-scores", "scores-too-close", "rank-order"
OFFICIAL_FAULTS: dict[str, dict[str, int]] = {
    "touche-2020-task-1/elrond/ElrondKRun": {RANKS: 49, "separators": 49000, TIES: 5739},
    "touche-2020-task-1/elrond/ElrondOpenNlpRun": {RANKS: 49, "separators": 49000, TIES: 3474},
    "touche-2020-task-1/elrond/ElrondSimpleRun": {RANKS: 49, "separators": 49000, TIES: 7457},
    "touche-2020-task-1/elrond/ElrondTaskBodyRun": {RANKS: 49, "separators": 49000, TIES: 7874},
    "touche-2021-task-1/elrond/ElrondKRun": {RANKS: 50, "separators": 50000, TIES: 9738},
    "touche-2021-task-1/elrond/ElrondOpenNlpRun": {RANKS: 50, "separators": 50000, TIES: 6293},
    "touche-2021-task-1/elrond/ElrondSimpleRun": {RANKS: 50, "separators": 50000, TIES: 10322},
    "touche-2021-task-1/elrond/ElrondTaskBodyRun": {RANKS: 50, "separators": 50000, TIES: 11406},
    "touche-2022-task-1/lgtm/seupd2122-lgtm_QE_NRR": {TIES: 25971},
    "touche-2022-task-1/lgtm/seupd2122-lgtm_QE_NRR_ONLY_TITLE": {TIES: 28376},
    "touche-2022-task-2/Aldo-Nadi/run3": {TIES: 95},
    "touche-2022-task-2/Aldo-Nadi/run4": {TIES: 1789},
    "touche-2022-task-2/Aldo-Nadi/run5": {TIES: 2425},
    "touche-2022-task-2/Asuna/run1": {RANKS: 7, TIES: 18},
    "touche-2022-task-2/Captain-Levi/run1": {TIES: 100},
    "touche-2022-task-2/Captain-Levi/run5": {TIES: 37, CLOSE: 4},
    "touche-2022-task-2/Captain-Tempesta/run1": {TIES: 171, CLOSE: 5},
    "touche-2022-task-2/Captain-Tempesta/run2": {TIES: 171, CLOSE: 7},
    "touche-2022-task-2/Captain-Tempesta/run3": {TIES: 171, CLOSE: 6},
    "touche-2022-task-2/Captain-Tempesta/run4": {TIES: 172, CLOSE: 7},
    "touche-2022-task-2/Captain-Tempesta/run5": {TIES: 15501},
    "touche-2022-task-2/Grimjack/run1": {TIES: 2, CLOSE: 1},
    "touche-2022-task-2/Grimjack/run2": {TIES: 2},
    "touche-2022-task-2/Grimjack/run3": {TIES: 2},
    "touche-2022-task-2/Grimjack/run4": {TIES: 77},
    "touche-2022-task-2/Grimjack/run5": {TIES: 113},
    "touche-2022-task-2/Katana/run1": {"tag-white-space": 5000},
    "touche-2022-task-2/Katana/run2": {"tag-white-space": 5000},
    "touche-2022-task-2/Katana/run3": {"tag-white-space": 5000},
    "touche-2022-task-2/Olivier-Armstrong/run1": {TIES: 268, CLOSE: 16},
    "touche-2022-task-2/Puss-in-Boots/run1": {TIES: 1},
}


@needs_data
@pytest.mark.parametrize("name", OFFICIAL_FAULTS)
def test_official_runs_have_these_faults_and_no_others(name: str) -> None:
    report = validate(RUNS / f"{name}.txt.gz", name.split("/")[0])
    assert {finding.rule: finding.count for finding in report.findings} == OFFICIAL_FAULTS[name]
    broken = {RANKS, "tag-white-space"} & set(OFFICIAL_FAULTS[name])
    assert report.ok is not bool(broken)


@needs_data
def test_every_official_run_is_tested() -> None:
    found = {str(path.relative_to(RUNS)).removesuffix(".txt.gz") for path in RUNS.rglob("*.txt.gz")}
    assert found == set(OFFICIAL_FAULTS)


# contracts


def test_contracts() -> None:
    assert len(TASKS) == 6
    assert {task: len(contract.topics) for task, contract in CONTRACTS.items()} == {
        "touche-2020-task-1": 49,
        "touche-2021-task-1": 50,
        "touche-2022-task-1": 50,
        "touche-2020-task-2": 50,
        "touche-2021-task-2": 50,
        "touche-2022-task-2": 50,
    }
    assert {task for task in TASKS if CONTRACTS[task].minimum} == {PAIRS}
    assert {contract.maximum for contract in CONTRACTS.values()} == {1000}


@needs_data
def test_contracts_know_the_topics_of_the_files() -> None:
    from sicetnon.formats.topics import read_topics

    for path in (DATA / "topics").glob("*.xml"):
        numbers = tuple(topic.number for topic in read_topics(path))
        assert numbers == CONTRACTS[path.stem].topics
