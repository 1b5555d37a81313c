"""Questions: official titles against gold by number, many forms of our own, any text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sicetnon.arguments.comparative.question_parser import choice_in, parse_question
from sicetnon.cli import main
from sicetnon.formats.topics import read_topics

# facts about the official titles, by topic number; a number without objects asks about all of a
# kind. The objects of the other topics are in the official file of 2022
GOLD_2020 = {
    1: "sex | love",
    4: None,
    5: None,
    6: None,
    7: "coffee | green tea",
    10: None,
    11: "LCD TV | plasma TV",
    13: None,
    15: None,
    16: "buy | rent",
    20: "brush | sponge",
    21: "Linux | Microsoft",
    24: "Netflix | Blockbuster",
    29: "Disneyland | Disney World",
    31: "coffee | tea",
    32: "LED Reception Displays | LCD Reception Displays",
    35: "tampons | pads",
    38: "MySQL | PostgreSQL",
    39: "Java code | code written in Scala",
    40: "Windows 7 | Windows 8",
    41: "Xperia | iPhone",
    44: "Apple | Microsoft",
    45: "HP | Dell",
    46: "beer | cider",
    47: "Stanford | MIT",
    49: "San Francisco | New York",
    50: "basketball players | soccer players",
}
GOLD_2021 = {
    52: None,
    57: "Master's degree | Bachelor's degree",
    63: None,
    64: None,
    65: "dogs | humans",
    66: None,
    71: "gold | platinum",
    73: "coffee | espresso",
    75: "conditioner | moisturizer",
    79: "computer science | computer engineering",
    80: "vegan | vegetarian",
    81: "unpasteurized cheese | pasteurized cheese",
    82: "incandescent | fluorescent",
    83: "quantum physics | quantum mechanics",
    85: "Psoriasis | Eczema",
    87: "Obamacare | Medicare",
    89: "biodegradable wastes | non-biodegradable wastes",
    90: None,
    94: "hard suitcases | soft suitcases",
    96: "boxers | briefs",
    97: "blender | food processor",
    98: "rock | rap",
    99: "imagination | knowledge",
}
OURS = """
Trams vs buses -> trams | buses
trams vs. buses: what's the difference? -> trams | buses
Trams versus buses for a small town -> trams | buses | small town
Ferry or tunnel? -> ferry | tunnel
a kayak or a canoe for a calm lake? -> kayak | canoe | calm lake
Is a kayak better than a canoe? -> kayak | canoe
Is a kayak a better boat than a canoe? -> kayak | canoe
Are kayaks really much faster than canoes? -> kayaks | canoes
Is rye bread healthier than white bread for diabetics? -> rye bread | white bread | diabetics
Why are violins more expensive than violas? -> violins | violas
When is a bike faster than a car? -> bike | car
Do hens lay more eggs than ducks? -> hens | ducks
Does a llama carry more than a donkey? -> llama | donkey
Do candles burn longer than torches? -> candles | torches
Is it cheaper to knit than to sew? -> knit | sew
Is it better to rent or to own a boat? -> rent | own a boat
Should I rent or buy a house? -> rent | buy a house
What are the differences between moths and butterflies? -> moths | butterflies
What is the difference in taste between dill and fennel? -> dill | fennel | taste
difference between a fjord and a bay -> fjord | bay
What is the distinction between lager and ale? -> lager | ale
How are moths different from butterflies? -> moths | butterflies
How do moths and butterflies differ? -> moths | butterflies
How does Rust compare to Go? -> Rust | Go
Compare slate with thatch -> slate | thatch
Which of slate and thatch is better? -> slate | thatch
pros and cons of slate and thatch -> slate | thatch
Pros and cons of linen vs hemp? -> linen | hemp
What are the advantages of linen over hemp? -> linen | hemp
What are the benefits of trains compared to planes? -> trains | planes
Should I buy a kayak or a canoe? -> kayak | canoe
Should I get a kayak or a canoe for fishing? -> kayak | canoe | fishing
Should we visit Oslo or Bergen in winter? -> Oslo | Bergen | winter
Should one learn the oboe or the bassoon? -> oboe | bassoon
Where should I buy or rent? -> buy | rent
Should beginners learn Pascal or Basic? -> Pascal | Basic
Would you rather ski or skate? -> ski | skate
Do you like figs or dates more? -> figs | dates
Do you prefer red or white wine? -> red wine | white wine
Do you prefer jam over honey? -> jam | honey
Why choose oak over pine for a table? -> oak | pine | table
Should I use glue instead of nails? -> glue | nails
I can't decide between a fern and a cactus -> fern | cactus
Is honey as sweet as sugar? -> honey | sugar
Is the oboe harder to play than the flute? -> oboe | flute
Which is harder, the oboe or the flute? -> oboe | flute
Which is better: oboe or flute? -> oboe | flute
Which is better - oboe or flute? -> oboe | flute
Which is better oboe or flute -> oboe | flute
Which is better an oboe or a flute for a child -> oboe | flute | child
What is best for a beginner: oboe or flute? -> oboe | flute | beginner
Oboe or flute, which one sounds better? -> oboe | flute
Oboe or flute? Which should I learn? -> oboe | flute
Who wins, bears or tigers? -> bears | tigers
Who is faster: a hare or a fox? -> hare | fox
In winter, is wool warmer than fleece? -> wool | fleece
Is gas or electric heating cheaper? -> gas heating | electric heating
Are oak or pine floors better for a kitchen? -> oak floors | pine floors | kitchen
Do figs or dates keep longer? -> figs | dates
Would it be better to walk or to swim? -> walk | swim
Is it true that figs are sweeter than dates? -> figs | dates
I wonder if figs are sweeter than dates. -> figs | dates
Can you tell me the difference between figs and dates? -> figs | dates
Which has more sugar, figs, dates or plums? -> figs | dates
What tastes better: figs or dates? -> figs | dates
Cats: long-haired or short-haired? -> long-haired cats | short-haired cats
Between oak and pine, which is better for a table? -> oak | pine
Which should I choose, a two-seat or a three-seat sofa? -> two-seat sofa | three-seat sofa
Hot or cold milk before bed? -> hot milk | cold milk | bed
Who would win in a fight between a bear and a tiger? -> bear | tiger
Can owls see better than hawks? -> owls | hawks
Why do people prefer rye to oats? -> rye | oats
Are boats really better for freight than planes? -> boats | planes
Slate vs thatch vs tiles for a barn -> slate | thatch
What is the best wood for a table? -> -
Which is the tallest tree? -> -
best wood for a table -> -
How can I learn the oboe faster? -> -
"""
CONTROVERSIAL = """
Should zoos be closed?
Should public or private zoos be closed?
Is tourism good or bad?
Is tourism right or wrong for islands?
Is chess a sport or a game?
Can tidal power replace coal?
Why should zoos be closed?
How should museums be paid for?
Are zoos cruel?
Should zoos keep more than five bears?
Is a crown worth more than ever?
Should I quit or not?
Should mopeds be available over the counter?
Is monarchism better than republicanism?
zoos
Do bears have rights?
"""


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]


@pytest.mark.parametrize("line", lines(OURS))
def test_comparative_questions_of_many_forms(line: str) -> None:
    text, _, expected = line.partition(" -> ")
    found = parse_question(text)
    assert found.kind == "comparative"
    names = [name.lower() for name in (found.first, found.second, *found.aspects) if name]
    wanted = [name.lower() for name in expected.split(" | ")]
    if expected == "-":
        assert (found.first, found.second) == (None, None)
    else:
        assert names[: len(wanted)] == wanted


@pytest.mark.parametrize("text", lines(CONTROVERSIAL))
def test_controversial_questions(text: str) -> None:
    assert parse_question(text).kind == "controversial"


@pytest.mark.parametrize(
    ("text", "objects"),
    [
        ("School uniforms or free clothing?", ("School uniforms", "free clothing")),
        ("Which is better, tea or coffee, for sleep?", ("tea", "coffee")),
        ("What is better: a laptop or a desktop?", ("laptop", "desktop")),
        ("coal vs gas", ("coal", "gas")),
        ("Is tea better than coffee?", None),
        ("Which is worse, war or tyranny?", None),
        ("Zoos: education or prison?", None),
        ("School uniforms or not?", None),
        ("Should zoos be closed?", None),
        ("", None),
    ],
)
def test_the_objects_of_a_choice(text: str, objects: tuple[str, str] | None) -> None:
    assert choice_in(text) == objects


def test_predicates_and_aspects() -> None:
    assert parse_question("Which is more durable, oak or pine?").predicate == "more durable"
    found = parse_question("Is oak better than pine in terms of weight?")
    assert (found.predicate, found.aspects) == ("better", ("weight",))
    assert parse_question("Should zoos be closed?").predicate is None


def test_official_titles(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right = total = 0
    missed = []
    objects = {topic.number: topic.objects for topic in _topics(data, "touche-2022-task-2")}
    golds = {"touche-2020-task-2": GOLD_2020, "touche-2021-task-2": GOLD_2021}
    golds["touche-2022-task-2"] = {}
    for task, gold in golds.items():
        for topic in _topics(data, task):
            found = parse_question(topic.title)
            if int(topic.number) in gold:
                names = gold[int(topic.number)]
                expected = tuple(names.split(" | ")) if names else (None, None)
            else:
                expected = objects[topic.number]
            total += 1
            if (found.kind, found.first, found.second) == ("comparative", *expected):
                right += 1
            else:
                missed.append(f"{task} {topic.number}")
    with capsys.disabled():
        print(f"\nobjects of {right} of {total} official titles are right")  # noqa: T201
    assert missed == []
    assert total == 150


def test_official_controversial_titles(data: Path) -> None:
    found = [
        (topic.number, parse_question(topic.title).kind)
        for task in ("touche-2020-task-1", "touche-2021-task-1")
        for topic in _topics(data, task)
    ]
    assert len(found) == 99
    assert {kind for _, kind in found} == {"controversial"}


def _topics(data: Path, task: str) -> list:  # type: ignore[type-arg]
    return read_topics(data / "topics" / f"{task}.xml")


@given(st.text(max_size=300))
def test_any_text_is_legal(text: str) -> None:
    found = parse_question(text)
    assert found == parse_question(text)
    assert (found.first is None) == (found.second is None)
    if found.first is not None:
        assert found.first
        assert found.second
        assert found.first.lower() != found.second.lower()


WORDS = "which is better than A or the vs over , ? : and between more of difference should I by : /"


@given(st.lists(st.sampled_from(WORDS.split()), max_size=30))
def test_any_words_of_questions_are_legal(words: list[str]) -> None:
    parse_question(" ".join(words))


@pytest.mark.parametrize(
    "text",
    # letters whose lower case is another letter, in the word that compares
    [
        "\ndifference\u212a\u2460\twhat's\x1b[31morforJava/?\u2013isthan",
        "DIFFERENCE\u0130 x/?-isthan",
    ],
)
def test_a_word_that_compares_is_found_in_any_case(text: str) -> None:
    assert parse_question(text).kind in ("comparative", "controversial")


def test_long_text_is_no_trouble() -> None:
    assert parse_question("is it better to " * 100_000).kind in ("comparative", "controversial")


def test_parse_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", "Which", "is better, a kayak or a canoe?"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "kind": "comparative",
        "first": "kayak",
        "second": "canoe",
        "aspects": [],
        "predicate": "better",
    }
