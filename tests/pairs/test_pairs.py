"""Pairs of sentences: 2022 task 1 from the command to the run, and each part of it alone."""

from __future__ import annotations

import itertools
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sicetnon.arguments.side.classifier import Side
from sicetnon.cli import main
from sicetnon.errors import BrokenIndexError
from sicetnon.formats.corpora import open_corpus
from sicetnon.formats.entries import read_arguments
from sicetnon.formats.runs import read_run
from sicetnon.index.reader import IndexReader
from sicetnon.index.writing import BuildOptions, build_index
from sicetnon.pairs.candidates import CandidateReader, Candidates
from sicetnon.pairs.pairing import (
    LearnedSides,
    Pairing,
    Pairs,
    SentencePairs,
    Worth,
    cohesion,
    contradicts,
    fold,
    on_one_side,
    spread,
)
from sicetnon.ranking.system import System
from sicetnon.records import Topic
from sicetnon.tasks.touche_2022_task_1 import TASK, default
from sicetnon.text.analysis import named_analysis
from support.corpus_files import put, row, table

modestly = settings(max_examples=60, derandomize=True)
WORDS = ["uniforms", "save", "money", "because", "children", "should", "wear", "tax", "never"]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=14).map(
    lambda words: " ".join(words).capitalize() + "."
)


def processed(
    identifier: str, conclusion: str, sentences: list[str], stance: str
) -> dict[str, str]:
    """A row of the 2022 corpus."""
    numbered = [
        {"sent_id": f"{identifier}__PREMISE__{number}", "sent_text": sentence}
        for number, sentence in enumerate(sentences, start=1)
    ]
    last = {"sent_id": f"{identifier}__CONC__1", "sent_text": conclusion}
    return row(
        id=identifier,
        conclusion=conclusion,
        premises=repr([{"text": " ".join(sentences), "stance": stance, "annotations": []}]),
        context=repr({"discussionTitle": conclusion}),
        sentences=repr([*numbered, last]),
    )


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample in the layout of 2022."""
    folder = tmp_path_factory.mktemp("touche-2022-task-1")
    source = Path(__file__).parents[2] / "examples" / "touche-2020-task-1" / "input"
    rows = [
        processed(
            a.id, a.conclusion, re.split(r"(?<=[.!?])\s+", a.premise.strip()), a.stance or "PRO"
        )
        for file in sorted(source.glob("*.json"))
        for a in read_arguments(file)
    ]
    put(folder, "args_processed_04_01.csv", table(*rows))
    shutil.copy(source / "topics.xml", folder)
    return folder


@pytest.fixture(scope="module")
def index(directory: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexReader]:
    folder = tmp_path_factory.mktemp("index")
    build_index(open_corpus([directory]), folder, BuildOptions(named_analysis(TASK.analysis)))
    with IndexReader.open(folder) as opened:
        yield opened


@pytest.fixture(scope="module")
def system(index: IndexReader) -> System:
    return TASK.system("default", index, "rules")


@pytest.fixture(scope="module")
def candidates(index: IndexReader) -> Candidates:
    return read(index, "Should public libraries stay open on Sundays?")


def indexed(folder: Path, *rows: dict[str, str]) -> IndexReader:
    put(folder, "args_processed.csv", table(*rows))
    build_index(open_corpus([folder]), folder / "ix", BuildOptions(named_analysis(TASK.analysis)))
    return IndexReader.open(folder / "ix")


# the command


def test_the_command_writes_a_valid_run(
    directory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["run", TASK.id, "-i", str(directory), "-o", str(tmp_path / "out")]
    arguments += ["--stance", "rules"]  # the model takes ten milliseconds for each argument
    assert main(arguments) == 0
    run = tmp_path / "out" / "run.txt"
    checked = ["validate", str(run), "--task", TASK.id, "--topics", str(directory / "topics.xml")]
    assert main(checked) == 0, capsys.readouterr()
    index = ["--index", str(tmp_path / "out.index")]
    assert main([*checked, *index]) == 0, capsys.readouterr()
    strange = tmp_path / "strange.txt"
    strange.write_text(run.read_text().replace("__PREMISE__1,", "__PREMISE__999,", 1))
    capsys.readouterr()
    assert main(["validate", str(strange), *checked[2:], *index]) == 1
    assert "expected the id of a sentence of the corpus" in capsys.readouterr().out
    lines = list(read_run(run))
    pairs = Counter((line.topic, frozenset(line.document.split(","))) for line in lines)
    assert set(pairs.values()) == {1}
    assert all(len(pair) == 2 for _, pair in pairs)
    assert {line.stance for line in lines} == {"PRO", "CON", "Q0"}
    a_topic = Counter(line.topic for line in lines)
    assert all(100 <= count <= 1000 for count in a_topic.values())
    before = run.read_bytes()
    assert main(arguments) == 0
    assert run.read_bytes() == before


def test_the_model_judges_the_stances_and_nothing_else(index: IndexReader) -> None:
    topics = [Topic("1", "Should public libraries stay open on Sundays?")]
    (found,) = default(index).retrieve(topics, 40)
    (by_rules,) = TASK.system("default", index, "rules").retrieve(topics, 40)
    assert (found.ids, found.scores.tolist()) == (by_rules.ids, by_rules.scores.tolist())
    (learned,) = TASK.system("default", index, "learned").retrieve(topics, 40)
    assert found.stances == learned.stances != by_rules.stances
    assert {*found.second_column} <= {"PRO", "CON", "Q0"}
    labelling = default(index).labelling
    assert labelling is not None
    assert labelling.method.startswith("learned (debate ")


def test_each_argument_of_a_run_is_judged_once(index: IndexReader) -> None:
    class Judge(Side):
        def probabilities(self, texts: Sequence[str], *rest: Any) -> Any:
            read.extend(texts)
            return np.full((len(texts), 4), 0.25, dtype=np.float32)

    read: list[str] = []
    (ranking,) = TASK.system("default", index, "rules").retrieve([Topic("1", "libraries")], 5)
    LearnedSides(index, Judge()).apply(ranking.topic, ranking)
    halves = {name.rsplit("__", 2)[0] for pair in ranking.ids for name in pair.split(",")}
    assert len(read) == len(halves)


def test_search_shows_whole_arguments_of_such_an_index(
    index: IndexReader, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["search", "public libraries", "--index", str(index.folder), "-k", "2"]) == 0
    assert "librar" in capsys.readouterr().out


def test_an_index_without_sentences_is_refused(sample: Path, tmp_path: Path) -> None:
    corpus = open_corpus([sample / "input"])
    build_index(corpus, tmp_path / "ix", BuildOptions(named_analysis("forms")))
    with (
        IndexReader.open(tmp_path / "ix") as opened,
        pytest.raises(BrokenIndexError, match="sentences"),
    ):
        default(opened)


# the system


@settings(modestly, max_examples=25)
@given(k=st.integers(1, 40), words=st.lists(st.sampled_from(WORDS), max_size=4))
def test_any_question_has_at_most_k_distinct_pairs(
    k: int, words: list[str], system: System
) -> None:
    topic = Topic("1", " ".join(["public", *words]))
    (ranking,) = system.retrieve([topic], k)
    assert ranking.stances is not None
    assert len(ranking) == len(ranking.ids) == len(ranking.stances) <= k
    assert (np.diff(ranking.scores) <= 0).all()
    assert len({frozenset(name.split(",")) for name in ranking.ids}) == len(ranking)
    assert {*ranking.stances} <= {"PRO", "CON", "Q0"}


def test_no_result_for_a_question_of_unknown_words(index: IndexReader) -> None:
    for title in ("", "?", "xyzzy plugh"):
        (ranking,) = default(index).retrieve([Topic("1", title)], 1000)
        assert len(ranking) == 0
        assert ranking.ids == ()


def test_no_argument_floods_the_top(index: IndexReader) -> None:
    (ranking,) = default(index).retrieve([Topic("1", "Should public libraries stay open?")], 20)
    used = Counter(name.split("__")[0] for pair in ranking.ids for name in pair.split(","))
    assert len(used) >= 5
    assert used.most_common(1)[0][1] <= 12


def test_unfit_sentences_are_used_where_there_are_too_few_pairs(tmp_path: Path) -> None:
    texts = ["Uniforms.", "Good uniforms!", "Uniforms save families money every year."]
    with indexed(tmp_path, processed("a", "School uniforms are good", texts, "PRO")) as opened:
        (ranking,) = default(opened).retrieve([Topic("1", "Are school uniforms good?")], 1000)
    assert len(ranking.ids) == 6
    assert set(ranking.ids[0].split(",")) == {"a__PREMISE__3", "a__CONC__1"}


def test_older_ids_and_the_side_of_a_pair(tmp_path: Path) -> None:
    def old(name: str, stance: str, *texts: str) -> dict[str, str]:
        changed = processed(name, "School uniforms should be banned", list(texts), stance)
        return changed | {
            "sentences": repr(
                [
                    {"sent_id": f"{name}_sent{number}", "sent_text": text}
                    for number, text in enumerate([*texts, changed["conclusion"]], start=1)
                ]
            )
        }

    against = "School uniforms take away the freedom of children."
    cost = "School uniforms cost poor families more than they have."
    equal = "School uniforms make rich and poor children equal."
    proud = "School uniforms make children proud of their school."
    rows = old("a", "PRO", against, cost), old("b", "CON", equal, proud)
    with indexed(tmp_path, *rows) as opened:
        worn = Topic("1", "Should school uniforms be worn?")
        (ranking,) = TASK.system("default", opened, "rules").retrieve([worn], 1000)
        banned = Topic("1", "Should school uniforms be banned?")
        learned = LearnedSides(opened, Side()).apply(banned, ranking)
    sides = dict(zip(map(frozenset, (n.split(",") for n in ranking.ids)),
                     ranking.stances or (), strict=True))  # fmt: skip
    assert sides[frozenset({"a_sent1", "a_sent2"})] == "CON"
    assert sides[frozenset({"b_sent1", "b_sent2"})] == "PRO"
    assert sides[frozenset({"a_sent1", "a_sent3"})] == "CON"
    assert learned.ids == ranking.ids
    by_pair = dict(zip(learned.ids, learned.stances or (), strict=True))
    assert {by_pair[name] for name in by_pair if name.startswith("a_sent")} == {"PRO"}
    assert {by_pair[name] for name in by_pair if name.count("b_sent") == 2} == {"CON"}
    # neither across the sides, nor a reason beside the conclusion that it is against
    mixed = [pair for pair in sides if {name[0] for name in pair} == {"a", "b"}]
    assert all("a_sent3" in pair or "b_sent3" in pair for pair in mixed) or not mixed
    assert frozenset({"b_sent1", "b_sent3"}) not in sides


# the parts


def read(index: IndexReader, title: str) -> Candidates:
    topic = Topic("1", title)
    (ranking,) = default(index).retriever.retrieve([topic], 30)
    return CandidateReader(index).read(topic, ranking)


def test_sentences_are_read_as_columns(candidates: Candidates) -> None:
    found = candidates
    size = len(found)
    assert size > 100
    assert len(set(found.ids)) == size
    for name in ("coverage", "salience"):
        assert (getattr(found, name) >= 0).all()
        assert (getattr(found, name) <= 1 + 1e-9).all()
    assert (found.relevance <= 0).all()
    assert found.conclusions.sum() == len(set(found.arguments.tolist()))
    assert (found.sides[~found.conclusions] != 0).any()


@modestly
@given(drawn=st.data())
def test_taking_sentences_keeps_what_is_known_of_them(
    drawn: st.DataObject, candidates: Candidates
) -> None:
    found = candidates
    places = np.array(drawn.draw(st.lists(st.integers(0, len(found) - 1), unique=True)), dtype=int)
    taken = found.taken(places)
    assert taken.ids == [found.ids[place] for place in places]
    assert (taken.strength == found.strength[places]).all()
    for new, old in enumerate(places.tolist()):
        stems = taken.terms[taken.terms[:, 0] == new, 1]
        assert stems.tolist() == found.terms[found.terms[:, 0] == old, 1].tolist()
    cosines = taken.cosines()
    assert cosines.shape == (len(places), len(places))
    assert np.allclose(cosines, cosines.T)
    assert (cosines <= 1 + 1e-5).all()


def test_cosines_are_those_of_the_weighted_stems(candidates: Candidates) -> None:
    found = candidates.taken(np.arange(40))
    vectors = np.zeros((40, len(found.weights)))
    vectors[found.terms[:, 0], found.terms[:, 1]] = found.weights[found.terms[:, 1]]
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    off = ~np.eye(40, dtype=bool)
    assert np.allclose((vectors @ vectors.T)[off], found.cosines()[off], atol=1e-5)


def test_pairing_within_and_across(candidates: Candidates) -> None:
    found = candidates
    pairing = Pairing(per_argument=3, across=10, across_per_argument=1)
    places = pairing.represent(found, Worth().alone(found), fit_only=True)
    chosen = found.taken(places)
    assert max(Counter(chosen.arguments.tolist()).values()) <= 3
    assert chosen.fit.all()
    first, second = pairing.pair(chosen, np.ones(len(chosen), dtype=bool))
    assert (first < second).all()
    assert len({*zip(first.tolist(), second.tolist(), strict=True)}) == len(first)
    across = chosen.arguments[first] != chosen.arguments[second]
    assert across.any()
    assert (~across).any()
    assert on_one_side(chosen, first[across], second[across]).all()
    assert len({*first[across].tolist(), *second[across].tolist()}) <= 10
    within = sum(len(list(itertools.combinations(range(n), 2)))
                 for n in Counter(chosen.arguments.tolist()).values())  # fmt: skip
    assert (~across).sum() == within


def three(**changes: object) -> Candidates:
    """Two reasons and the conclusion of one argument."""
    columns = {
        "texts": ["r", "s", "c"], "ids": ["r", "s", "c"], "arguments": np.zeros(3, dtype=int),
        "debates": np.zeros(3, dtype=int),
        "positions": np.arange(3), "conclusions": np.array([False, False, True]),
        "fit": np.ones(3, dtype=bool), "relevance": np.zeros(3), "coverage": np.zeros(3),
        "strength": np.zeros(3), "salience": np.zeros(3), "negated": np.zeros(3, dtype=bool),
        "premise_sides": np.ones(3, dtype=int), "sides": np.ones(3, dtype=int),
        "terms": np.zeros((0, 2), dtype=int), "weights": np.zeros(0),
    }  # fmt: skip
    return replace(Candidates(**columns), **changes)  # type: ignore[arg-type]


REASONS, WITH_CONCLUSION = (np.array([0]), np.array([1])), (np.array([0]), np.array([2]))


def test_what_contradicts_itself() -> None:
    some, much = np.array([0.2]), np.array([0.6])
    assert not contradicts(three(), *REASONS, much)
    assert not contradicts(three(), *WITH_CONCLUSION, much)
    against = three(premise_sides=-np.ones(3, dtype=int), sides=np.array([-1, -1, 1]))
    assert contradicts(against, *WITH_CONCLUSION, some)
    assert not contradicts(against, *REASONS, some)
    negated = three(negated=np.array([True, False, False]))
    assert contradicts(negated, *REASONS, much)
    assert not contradicts(negated, *REASONS, some)
    elsewhere = {"arguments": np.array([0, 1, 1]), "debates": np.array([0, 1, 1])}
    assert contradicts(three(**elsewhere, sides=np.array([1, -1, 1])), *REASONS, some)
    assert not contradicts(three(**elsewhere, sides=np.array([1, 0, 1])), *REASONS, some)
    assert not on_one_side(three(**elsewhere, sides=np.array([0, 0, 1])), *REASONS)


def test_what_belongs_together() -> None:
    def held(similar: float, **changes: object) -> float:
        return float(cohesion(three(**changes), *REASONS, np.array([similar]))[0])

    assert held(0.0) < held(0.2) == held(0.4)
    assert held(0.4) > held(0.8) > held(1.0)
    apart = {"positions": np.array([0, 9, 10])}
    assert held(0.2) > held(0.2, **apart)
    assert held(0.2, **apart) == held(0.2, arguments=np.array([0, 1, 1]))


def test_parts_of_the_worth_can_be_switched() -> None:
    sentences = three(coverage=np.array([0.5, 1.0, 0.0]), strength=np.array([1.0, 2.0, 0.0]))
    pairs = Pairs(sentences, *REASONS, np.array([0.0]))
    none = dict.fromkeys(Worth.__dataclass_fields__, 0.0)
    parts = {"weakest": 0.5, "strongest": 1.0, "strength": 3.0, "coherence": 0.5, "summary": 0.0}
    for part, value in parts.items():
        assert Worth(**none | {part: 1.0})(pairs) == pytest.approx([value])


@modestly
@given(st.lists(TEXTS, min_size=1, max_size=12))
def test_folding_leaves_no_near_duplicates(texts: list[str]) -> None:
    vectors = np.array([[text.lower().split().count(word) for word in WORDS] for text in texts])
    vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    cosines = (vectors @ vectors.T).astype(np.float32)
    worth = np.arange(len(texts), dtype=float)
    kept = fold(cosines, worth)
    assert kept[0] == len(texts) - 1
    assert (np.diff(kept) < 0).all()
    assert all(cosines[a, b] < 0.85 for a, b in itertools.combinations(kept.tolist(), 2))
    assert all(cosines[place, kept].max() >= 0.85 or place in kept for place in range(len(texts)))


SCORED = st.lists(
    st.tuples(st.integers(0, 30), st.lists(st.integers(0, 4), min_size=1, max_size=3, unique=True)),
    max_size=25,
)


@modestly
@given(SCORED, st.integers(0, 5), st.integers(1, 30))
def test_spreading_takes_the_best_after_paying(
    results: list[tuple[int, list[int]]], cost: int, count: int
) -> None:
    scores = np.array([float(score) for score, _ in results])
    uses = [used for _, used in results]
    places, worths = spread(scores, uses, float(cost), count)
    assert len(places) == min(count, len(results))
    assert len(set(places.tolist())) == len(places)
    assert (np.diff(worths) <= 0).all()
    # the plain way: look at all that are left each time
    used: Counter[int] = Counter()
    left = list(range(len(results)))
    for place, worth in zip(places.tolist(), worths.tolist(), strict=True):
        paid = {other: scores[other] - cost * sum(used[u] for u in uses[other]) for other in left}
        best = max(left, key=lambda other: (paid[other], -other))
        assert worth == paid[best] == paid[place]
        used.update(uses[place])
        left.remove(place)
    if not cost:
        assert places.tolist() == np.argsort(-scores, kind="stable")[:count].tolist()


def test_stages_are_deterministic(index: IndexReader) -> None:
    topic = Topic("1", "Should homework be abolished?")
    system = TASK.system("default", index, "rules")
    stage = system.stages[-1]
    assert isinstance(stage, SentencePairs)
    first, second = (system.retrieve([topic], 1000)[0] for _ in range(2))
    assert first.ids == second.ids
    assert first.scores.tolist() == second.scores.tolist()
