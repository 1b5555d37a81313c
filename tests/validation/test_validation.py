"""Every rule on what the lines of a run say, each on a broken variant of a small run."""

from __future__ import annotations

from pathlib import Path

import pytest

from sicetnon.contracts import CONTRACTS, contract_of
from sicetnon.errors import DataError
from support.validation_cases import (
    ARGUMENTS,
    PAIRS,
    PASSAGES,
    RULES,
    TOPICS,
    Validated,
    changed,
    only,
    pair_lines,
    sound_lines,
    validator,
)

ARGUMENT_TASKS = (ARGUMENTS, "touche-2021-task-1")


@pytest.fixture
def validated(tmp_path: Path) -> Validated:
    return validator(tmp_path)


def test_a_sound_run_has_no_findings(validated: Validated) -> None:
    validation = validated(sound_lines())
    assert validation.findings == ()
    assert validation.ok
    assert (validation.lines, validation.topics) == (15, 3)
    assert "15 lines, 3 topics, 0 errors, 0 warnings" in str(validation)
    assert validated(pair_lines(), PAIRS).findings == ()


@pytest.mark.parametrize(
    ("line", "count"), [("1 Q0 S1-A3 3 3.5", 5), ("S1-A3", 1), ("1 Q0 S1 -A3 3 3.5 mine x", 8)]
)
def test_column_count(validated: Validated, line: str, count: int) -> None:
    lines = sound_lines()
    lines[2] = line
    finding = only(validated(lines), "column-count")
    assert (finding.line, finding.count) == (3, 1)
    assert finding.found == f"{count} column{'s' * (count > 1)}"
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
    for task in CONTRACTS:
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
    assert finding.found == "no line for 2 topics: 2, 3"
    assert finding.expected == "results for all 3 topics"


def test_official_topics_stand_in_for_none_and_give_warnings(validated: Validated) -> None:
    validation = validated([*sound_lines(), "77 Q0 S4-A1 1 1.0 mine"], topics=None)
    assert validation.ok
    assert [(finding.rule, finding.line, finding.count) for finding in validation.warnings] == [
        ("missing-topics", None, 46),
        ("unknown-topic", 16, 1),
    ]


def test_a_run_that_answers_no_topic_of_the_task_is_of_another(validated: Validated) -> None:
    validation = validated(sound_lines(), "touche-2021-task-1", topics=None)
    assert {finding.rule for finding in validation.errors} == {"unknown-topic", "missing-topics"}
    assert "Check that the run belongs to this task" in str(validation)


@pytest.mark.parametrize(
    ("identifier", "of", "tasks"),
    [
        ("S2564c00-A1bcea566", "an argument", ARGUMENT_TASKS),
        ("c67482b-2019-04-18T13:32:05Z-00000-000", "an argument", ARGUMENT_TASKS),
        ("clueweb12-0002wb-18-34442", "a document", ("touche-2020-task-2", "touche-2021-task-2")),
        ("clueweb12-0002wb-18-34442___12", "a passage of a document", (PASSAGES,)),
        ("S1-A1__CONC__1,S1-A1__PREMISE__5", "a pair of sentences", (PAIRS,)),
        ("my-own-id", "", tuple(set(CONTRACTS) - {PAIRS})),
    ],
)
def test_ids_of_another_task(
    validated: Validated, identifier: str, of: str, tasks: tuple[str, ...]
) -> None:
    for task in set(CONTRACTS) - {PAIRS}:
        validation = validated([f"1 Q0 {identifier} 1 1.0 mine"], task, topics=["1"])
        if task in tasks:
            assert validation.findings == ()
        elif of:
            finding = only(validation, "id-of-another-task")
            assert finding.found == f"the id '{identifier}' of {of}"
            assert (finding.line, finding.count) == (1, 1)


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
    assert finding.expected == "each document once per topic"


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


def test_a_pair_of_bad_form_counts_each_time(validated: Validated) -> None:
    lines = [f"1 PRO a;b {rank} {-rank} mine" for rank in range(1, 101)]
    found = {
        finding.rule: finding.count for finding in validated(lines, PAIRS, topics=["1"]).errors
    }
    assert found == {"pair-form": 100, "duplicate-document": 99}


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


def test_every_rule_is_tested() -> None:
    files = Path(__file__).parent.glob("test_validation*.py")
    source = "".join(path.read_text("utf-8") for path in files)
    assert [name for name in RULES if f'"{name}"' not in source] == []
    assert all(rule.advice.endswith(".") for rule in RULES.values())
