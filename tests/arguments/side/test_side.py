"""The side of texts towards a question."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from sicetnon.arguments.side import lexicon
from sicetnon.arguments.side.classifier import SHIPPED, Side
from sicetnon.arguments.side.evidence import sentences_about
from sicetnon.arguments.side.question_rewriting import has_sides, matter_of
from sicetnon.errors import DataError, UsageError

BAN = "Should smoking be banned in public places?"
LONG = "The smoke of others makes people ill, and nobody asked them. " * 8


@pytest.fixture(scope="module")
def judge() -> Side:
    return Side(threads=1)


@pytest.mark.parametrize(
    ("conclusion", "stance", "side"),
    [
        ("Smoking should be banned in public places", "PRO", "FOR"),
        ("Smoking should be banned in public places", "CON", "AGAINST"),
        ("Smoking should not be banned in public places", "PRO", "AGAINST"),
        ("Smoking should not be banned in public places", "CON", "FOR"),
        ("Hockey is a better sport than football", "PRO", "NONE"),
    ],
)
def test_conclusion_and_stance_decide(judge: Side, conclusion: str, stance: str, side: str) -> None:
    (found,) = judge.classify(
        [LONG if side != "NONE" else "Sport. " * 60], BAN, [conclusion], [stance]
    )
    assert found.side == side
    assert found.probability == max(found.probabilities)


def test_a_title_tells_whose_side_a_point_is_on(judge: Side) -> None:
    point, text = ["It costs money"], ["It costs money, and money is short. " * 10]
    title = [BAN.removesuffix("?").replace("Should smoking", "Smoking should")]
    pro, con = (judge.probabilities(text, BAN, point, [tag], title)[0] for tag in ("PRO", "CON"))
    assert pro[0] > con[0]
    assert con[1] > pro[1]


def test_probabilities_are_a_distribution_for_every_text(judge: Side) -> None:
    texts = ["", "👍", LONG, "no " * 3000, "\x00[SEP]"]
    found = judge.probabilities(texts, "Tea or coffee?", ["", None, "Tea", "tea", "Coffee"])
    assert found.shape == (5, 4)
    assert found.min() >= 0
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-5)
    assert judge.probabilities([], BAN).shape == (0, 4)


def test_a_text_is_judged_alike_alone_and_among_others(judge: Side) -> None:
    texts = [LONG, "Bans work.", "On the other hand, bans are hard to enforce. " * 9]
    together = judge.probabilities(texts, BAN, ["Ban it", None, None], ["PRO", None, None])
    alone = judge.probabilities(texts[2:], BAN)
    np.testing.assert_allclose(together[2:], alone, atol=1e-4)


def test_choices_favour_the_object_that_is_praised(judge: Side) -> None:
    conclusions = ["Tablets are better than textbooks", "Textbooks are better than tablets"]
    found = judge.probabilities(conclusions, "Are tablets better than textbooks?")
    assert found[0, 0] > found[0, 1]
    assert found[1, 1] > found[1, 0]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Should teachers get tenure?", True),
        ("gun control", True),
        ("Tea or coffee?", True),
        ("Vaccines do harm", True),
        ("What are the pros and cons of fracking?", True),
        ("Who should lead, Clinton or Obama?", True),
        ("What is insider trading?", False),
        ("Who invented the telephone?", False),
        ("How many people smoke?", False),
        ("", False),
        ("???", False),
    ],
)
def test_questions_for_facts_have_no_sides(question: str, expected: bool) -> None:
    assert has_sides(question) is expected


@pytest.mark.parametrize(
    ("question", "matter"),
    [
        ("best argument against teacher tenure", "teacher tenure"),
        ("What are the strongest arguments for school uniforms?", "school uniforms?"),
        ("the case for and against nuclear power", "nuclear power"),
        ("reasons in favour of zoos", "zoos"),
        ("Should teachers get tenure?", "Should teachers get tenure?"),
        ("Is there an argument for war?", "Is there an argument for war?"),
        ("arguments against", "arguments against"),
    ],
)
def test_a_question_for_arguments_is_about_its_matter(question: str, matter: str) -> None:
    assert matter_of(question) == matter


def test_columns_must_be_as_long_as_the_texts(judge: Side) -> None:
    with pytest.raises(UsageError, match="2 values for 1 text"):
        judge.classify(["a"], BAN, ["b", "c"])


def test_damaged_weights_are_one_line(tmp_path: Path) -> None:
    damaged = json.loads(SHIPPED.read_text())
    damaged["tagged"]["sided"]["weights"] = {"similarity": "much"}
    path = tmp_path / "sides.json"
    path.write_text(json.dumps(damaged))
    with pytest.raises(DataError, match=r"sides\.json"):
        Side(weights=path)


CLAIM = "Tenure protects lazy teachers from being fired."


def test_what_says_a_claim_again_is_for_it(judge: Side) -> None:
    again, denied = "Tenure makes teachers lazy", "Tenure does not make teachers lazy"
    assert lexicon.repeats(again, CLAIM)
    for other in (denied, "Lazy teachers", "Does tenure make teachers lazy?"):
        assert not lexicon.repeats(other, CLAIM)
    assert not lexicon.repeats(again, "Does tenure protect lazy teachers?")
    pro, con = judge.classify(
        ["Once they get tenure they just sit there and hand out work sheets all day. " * 4] * 2,
        CLAIM, [again] * 2, ["PRO", "CON"],
    )  # fmt: skip
    assert (pro.side, con.side) == ("FOR", "AGAINST")


@pytest.mark.parametrize("letter", ["核", "か", "tenure-", "x"])
def test_of_a_text_without_blanks_both_ends_are_read(letter: str) -> None:
    text = f"Begin{letter * 20_000}end"
    read = lexicon.ends(text, 150, "…")
    assert len(read) <= 2 * 150 * lexicon.WORD_LETTERS + 3
    assert read.startswith("Begin")
    assert read.endswith("end")
    assert not lexicon.has_at_most(text, 40)


def test_words_of_usual_size_are_counted_by_blanks() -> None:
    text = " ".join(f"word{number}" for number in range(400))
    assert lexicon.ends(text, 150, "…") == " ".join(
        [*text.split()[:150], "…", *text.split()[-150:]]
    )
    assert lexicon.separate("Straßen und Θέατρο") == ["Straßen", "und", "Θέατρο"]
    assert lexicon.separate("核能 is good") == ["核", "能", "is", "good"]
    assert lexicon.has_at_most(" ".join(["word"] * 40), 40)
    assert not lexicon.has_at_most(" ".join(["word"] * 41), 40)


BAGS = "Should plastic bags be banned?"
FOR_BAN = [
    "Plastic bags choke turtles and litter every beach. They should be banned at once.",
    "A ban on plastic bags works: the rivers of the towns that banned them are clean.",
    "Bags of plastic outlive us by centuries. Ban them.",
]
AGAINST_BAN = [
    "Plastic bags are the cleanest way to carry food. A ban on them only harms poor shoppers.",
    "Banning plastic bags makes people buy heavier ones. Do not ban them.",
]
POLITE = (
    "I look forward to this debate about the bags we carry home, and thank everyone who reads it "
    "to the end."
)


@pytest.mark.parametrize(("stance", "side"), [("PRO", 0), ("CON", 1)])
def test_the_texts_of_a_debate_tell_what_pro_stands_for(
    judge: Side, stance: str, side: int
) -> None:
    other = "CON" if stance == "PRO" else "PRO"
    texts = [*FOR_BAN, *AGAINST_BAN, POLITE]
    stances = [stance] * 3 + [other] * 2 + ["PRO"]
    found = judge.probabilities(texts, BAGS, ["Plastic bags, yes or no"] * 6, stances)
    assert found[:, :2].argmax(axis=1).tolist() == [0, 0, 0, 1, 1, side]
    alone = judge.probabilities([POLITE], BAGS, ["Plastic bags, yes or no"], ["PRO"])
    told, guessed = (each[-1, side] / each[-1, :2].sum() for each in (found, alone))
    assert told > guessed + 0.2


def test_a_text_twice_is_no_debate(judge: Side) -> None:
    once, twice = (
        judge.probabilities([POLITE] * count, BAGS, ["Plastic bags"] * count, ["PRO"] * count)
        for count in (1, 2)
    )
    np.testing.assert_allclose(twice, np.repeat(once, 2, axis=0), atol=1e-4)


def test_the_sentences_about_the_question_tell_the_side_of_a_text(judge: Side) -> None:
    told = "We met on a Tuesday. It rained. " * 12
    texts = [
        f"{told}Plastic bags {should}. {told}"
        for should in ("should be banned, for they choke turtles", "should never be banned")
    ]
    found = judge.probabilities(texts, BAGS)
    assert found[0, 0] > found[0, 1] + 0.1
    assert found[1, 1] > found[1, 0] + 0.1


def test_the_sentences_that_share_most_with_the_question_are_read() -> None:
    many = [f"Bags number {number} are banned." for number in range(8)]
    text = " ".join(
        ["Yes.", "It rained all day.", *many, "Plastic bags are banned here.", "A b c."]
    )
    chosen = sentences_about(text, BAGS)
    assert chosen == ["It rained all day.", *many, "Plastic bags are banned here."]
    assert sentences_about("", BAGS) == sentences_about("Yes. No!", BAGS) == []
    (long,) = sentences_about("bags " * 500, BAGS)
    assert len(long.split()) == 60
    ends = sentences_about(f"First we ban. {'It rained. ' * 9_000} Last we ban.", BAGS)
    assert (ends[0], ends[-1]) == ("First we ban.", "Last we ban.")


def test_empty_texts_and_other_resolutions_are_no_part_of_a_debate(judge: Side) -> None:
    alone = judge.probabilities([POLITE], BAGS, ["Plastic bags"], ["PRO"])
    with_empty = judge.probabilities([POLITE, " "], BAGS, ["Plastic bags"] * 2, ["PRO", "CON"])
    np.testing.assert_allclose(with_empty[:1], alone, atol=1e-4)
    with_others = judge.probabilities(
        [POLITE, *AGAINST_BAN], BAGS, ["Plastic bags"] * 3, ["PRO"] * 3,
        ["", *["This house would close all supermarkets"] * 2],
    )  # fmt: skip
    np.testing.assert_allclose(with_others[:1], alone, atol=1e-4)


@pytest.mark.parametrize("conclusion", [None, "", " \n"])
def test_a_stance_towards_nothing_tells_nothing(judge: Side, conclusion: str | None) -> None:
    text = [" ".join(FOR_BAN) * 2]
    without, pro, con = (
        judge.probabilities(text, BAGS, [conclusion], [stance]) for stance in (None, "PRO", "CON")
    )
    np.testing.assert_allclose(pro, without, atol=1e-5)
    np.testing.assert_allclose(con, without, atol=1e-5)


def test_of_a_long_conclusion_the_beginning_is_read(judge: Side) -> None:
    long = "Plastic bags should be banned. " * 2_000
    (cut,), (whole,) = (
        judge.probabilities([POLITE], BAGS, [text], ["PRO"]) for text in (long[:1_000], long)
    )
    assert whole.tolist() == cut.tolist()
