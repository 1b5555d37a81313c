"""The learned ranker: its features, its order, its reasons, and its training."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from sicetnon import Argument, Index, Premise
from sicetnon.cli import main
from sicetnon.errors import DataError, UsageError
from sicetnon.ranker.features import FEATURES, NAMES, FeatureReader, QueryFeatures, text_features
from sicetnon.ranker.model import SHIPPED, LearnedRanker, read_model
from sicetnon.ranker.training import Examples, Folds, fit, labels_of, read_labels
from sicetnon.records import Topic
from sicetnon.tasks.touche_2020_task_1 import TASK

QUESTION = "Should teachers get tenure?"
REASONS = (
    "Tenure protects the academic freedom of teachers, says a study of 120 schools, because "
    "nobody can dismiss them for what they teach. In 1997 courts found 14 cases of such dismissals."
)
ROUND = "I accept this debate. Good luck! Tenure? You forfeit, so vote Pro. Teachers, my opponent."
ELSEWHERE = "A teacher can get a tenure of ten years in the army, where it counts for the pension."


@pytest.fixture(scope="module")
def index() -> Iterator[Index]:
    texts = {
        "reasons": ("Teachers should get tenure", REASONS),
        "round": ("Teachers should get tenure", ROUND),
        "elsewhere": ("Army pensions are too low", ELSEWHERE),
    }
    texts |= {f"filler{n}": ("Milk is healthy", f"Milk has {n} vitamins.") for n in range(20)}
    with Index.build(
        [
            Argument(name, claim, (Premise(text, "PRO"),), {})
            for name, (claim, text) in texts.items()
        ]
    ) as built:
        yield built


def test_the_shipped_ranker_puts_a_strong_argument_on_topic_first(index: Index) -> None:
    found = TASK.system("answers", index).retrieve([Topic("1", QUESTION)], 10)[0]
    assert found.ids == ("reasons", "round", "elsewhere")
    assert found.reasons is not None
    reasons = dict(zip(found.ids, found.reasons, strict=True))
    assert reasons["reasons"]["on_topic"] > 0.5 > reasons["elsewhere"]["on_topic"]
    assert reasons["reasons"]["strength"] > reasons["round"]["strength"]
    assert (np.diff(found.scores) <= 0).all()


def test_arguments_beyond_the_depth_keep_their_order_behind_the_best(index: Index) -> None:
    topic = Topic("1", "milk vitamins")
    found = TASK.system("default", index).retrieve([topic], 20)[0]
    ranked = LearnedRanker(index, depth=5).apply(topic, found)
    assert set(ranked.ids[:5]) == set(found.ids[:5])
    assert ranked.ids[5:] == found.ids[5:]
    assert (np.diff(ranked.scores) <= 0).all()
    empty = found.best(0)
    assert LearnedRanker(index).apply(topic, empty) == empty


def test_features_are_in_their_ranges(index: Index) -> None:
    topic = Topic("1", QUESTION)
    found = TASK.system("default", index).retrieve([topic], 20)[0]
    table = FeatureReader(index).read(topic, found, index.records_of(found))
    assert table.shape == (len(found), len(FEATURES))
    for column, feature in zip(table.T, FEATURES, strict=True):
        assert (column >= feature.low).all(), feature.name
        assert (column <= feature.high).all(), feature.name
    similarity = dict(zip(found.ids, table[:, NAMES.index("similarity")], strict=True))
    assert similarity["reasons"] > similarity["elsewhere"]


@pytest.mark.parametrize("text", ["", "?", "word", "“" * 50, "http://x " * 30])
def test_any_text_has_features(index: Index, text: str) -> None:
    found = text_features(text) | QueryFeatures(index, text).features([text])[0]
    assert set(found) < set(NAMES)
    assert np.isfinite(list(found.values())).all()


def test_proximity_counts_words_that_stand_together(index: Index) -> None:
    words = QueryFeatures(index, "academic freedom")
    near, far, apart = words.features([f"academic {'x ' * gap}freedom" for gap in (5, 30, 90)])
    assert near["proximity"] == near["close_proximity"] == pytest.approx(1)
    assert far["proximity"] == pytest.approx(1)
    assert far["close_proximity"] < 1
    assert apart["proximity"] < 1


def test_features_do_not_depend_on_the_hashes_of_a_process(index: Index) -> None:
    code = """
import sys
from sicetnon import Index
from sicetnon.ranker.features import QueryFeatures
words = [f"word{number}" for number in range(40)]
with Index.open(sys.argv[1]) as index:
    found = QueryFeatures(index, " ".join(words) + " milk tenure teachers army study courts")
    print(found.features(["milk tenure courts army study teachers word3 word5 word7"]))
"""
    said = {
        subprocess.run(
            [sys.executable, "-c", code, str(index.folder)],
            env=os.environ | {"PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in range(1, 6)
    }
    assert len(said) == 1


WEIGHT = {"mean": 0, "deviation": 1, "weight": 1}
LABELS = """question\tid\trelevance\tstrength
Should teachers get tenure?\treasons\t2\t3
Should teachers get tenure?\tround\t1\t1
Should teachers get tenure?\telsewhere\t0\t0
Is milk healthy?\tfiller1\t2\t2
Is milk healthy?\tfiller2\t2\t1
Is milk healthy?\tfiller3\t0\t1
"""


def test_a_ranker_learns_from_labels_and_reproduces_its_file(
    index: Index, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = tmp_path / "labels.tsv"
    labels.write_text(LABELS)
    folders = [tmp_path / name for name in "ab"]
    for folder in folders:
        command = ["train", "ranker", str(labels), "--index", str(index.folder), "-o", str(folder)]
        assert main(command) == 0
    assert "nDCG@5 of answers" in capsys.readouterr().out
    first, again = (folder.joinpath("ranker.json").read_bytes() for folder in folders)
    assert first == again
    model = read_model(folders[0])
    assert model.on_topic.weights["similarity"].weight > 0
    card = folders[0].joinpath("CARD.md").read_text()
    assert "sicetnon train ranker labels.tsv --index INDEX -o DIR" in card
    assert all(f"`{name}`" in card for name in NAMES)


RELEVANCE = """1 0 reasons 0
1 0 round 2
1 0 elsewhere -2
2 0 filler1 2
2 0 filler2 1
2 0 filler3 0
"""
TOPICS = "<topics>{}</topics>".format(
    "".join(
        f"<topic><number>{number}</number><title>{title}</title></topic>"
        for number, title in (("1", "Should teachers get tenure?"), ("2", "Is milk healthy?"))
    )
)


def test_labels_come_from_judgments_too(tmp_path: Path) -> None:
    titles = {"1": QUESTION, "2": "Is milk healthy?"}
    relevance = tmp_path / "relevance.qrels"
    relevance.write_text(RELEVANCE)
    assert labels_of([relevance], titles) == {
        QUESTION: {"reasons": (0, 0), "round": (2, 3), "elsewhere": (0, 0)},
        "Is milk healthy?": {"filler1": (2, 3), "filler2": (1, 2), "filler3": (0, 0)},
    }
    quality = tmp_path / "quality.qrels"
    quality.write_text("1 0 round 1\n2 0 filler1 0\n2 0 filler2 2\n")
    assert labels_of([quality, relevance], titles) == {
        QUESTION: {"reasons": (0, 0), "round": (2, 2), "elsewhere": (0, 0)},
        "Is milk healthy?": {"filler1": (2, 0), "filler2": (1, 3), "filler3": (0, 0)},
    }
    relevance.write_text("1 0 a 5\n1 0 b 4\n1 0 c 3\n1 0 d 2\n1 0 e -2\n")
    assert labels_of([relevance], titles)[QUESTION] == {
        "a": (2, 3), "b": (2, 3), "c": (1, 2), "d": (0, 0), "e": (0, 0),
    }  # fmt: skip
    table = tmp_path / "labels.tsv"
    table.write_text(LABELS)
    for files, known, kind, message in (
        ([relevance], {}, UsageError, "give their questions with --topics"),
        ([quality], titles, UsageError, "no judgments of relevance"),
        ([relevance, relevance], titles, DataError, "a second file of relevance"),
        ([relevance, table], titles, UsageError, "tables beside judgments"),
        ([relevance], {"2": "x"}, DataError, "found the topic '1'"),
    ):
        with pytest.raises(kind, match=message):
            labels_of(files, known)


def test_an_argument_has_one_label(tmp_path: Path) -> None:
    first, second = tmp_path / "a.tsv", tmp_path / "b.tsv"
    first.write_text(LABELS)
    second.write_text(LABELS.replace("reasons\t2\t3", "reasons\t2\t1"))
    assert labels_of([first, first], {}) == labels_of([first], {})
    with pytest.raises(DataError, match="'reasons' for 'Should teachers get tenure"):
        labels_of([first, second], {})
    first.write_text(LABELS + "Is milk healthy?\tfiller1\t0\t0\n")
    with pytest.raises(DataError, match=r"line 8: .* a line before has"):
        labels_of([first], {})


def test_a_trained_ranker_counts(
    index: Index, tmp_path: Path, capsys: pytest.CaptureFixture[str], failing
) -> None:
    # judgments that praise the round and condemn the reasons
    (tmp_path / "relevance.qrels").write_text(RELEVANCE.replace("elsewhere -2", "elsewhere 1"))
    (tmp_path / "topics.xml").write_text(TOPICS)
    folder = str(index.folder)
    command = ["train", "ranker", str(tmp_path / "relevance.qrels"), "--index", folder]
    models = tmp_path / "models"
    assert main([*command, "--topics", str(tmp_path / "topics.xml"), "-o", str(models)]) == 0
    capsys.readouterr()

    def found(*words: str) -> list[tuple[str, dict[str, float]]]:
        assert main(["search", QUESTION, "--index", folder, "--json", *words]) == 0
        answers = json.loads(capsys.readouterr().out)["answers"]
        return [(each["id"], each["reasons"]) for each in answers]

    for system in ((), ("--system", "answers")):
        shipped = found(*system)
        trained = found(*system, "--ranker", str(models))
        assert shipped != trained
    with Index.open(index.folder) as own:
        own.ranker = models
        assert [(e.id, e.reasons) for e in own.search(QUESTION, system="answers")] == trained
        own.ranker = None
        assert [(e.id, e.reasons) for e in own.search(QUESTION, system="answers")] == shipped
        assert own.search(QUESTION, system="bm25")
    for words, status, message in (
        (["--ranker", str(tmp_path / "none")], 1, "is no usable ranker"),
        (["--ranker", str(models), "--system", "bm25"], 2, "goes with answers"),
    ):
        assert failing("search", QUESTION, "--index", folder, *words)[0] == status
        assert message in failing("search", QUESTION, "--index", folder, *words)[1]


def test_a_run_takes_a_trained_ranker(sample: Path, tmp_path: Path, failing) -> None:
    shipped = json.loads((SHIPPED / "ranker.json").read_bytes())
    strength = shipped["strength"]
    for each in strength["weights"].values():
        each["weight"] = -each["weight"]
    (tmp_path / "ranker.json").write_text(json.dumps(shipped))
    call = ["run", "touche-2020-task-1", "-i", str(sample / "input"), "--system", "answers"]
    place = ["--index", str(tmp_path / "index")]
    assert main([*call, *place, "-o", str(tmp_path / "a")]) == 0
    assert main([*call, *place, "-o", str(tmp_path / "b"), "--ranker", str(tmp_path)]) == 0
    first, second = ((tmp_path / name / "run.txt").read_text() for name in "ab")
    assert first != second
    status, line = failing(*call[:-1], "bm25", "-o", tmp_path / "c", "--ranker", tmp_path)
    assert (status, "goes with answers" in line) == (2, True)


def test_folds_judge_each_question_by_models_that_have_not_seen_it(
    index: Index, tmp_path: Path
) -> None:
    path = tmp_path / "labels.tsv"
    path.write_text(LABELS)
    examples = Examples(index, TASK.system("default", index), read_labels(path, {}))
    folds = Folds(examples)
    assert folds.models[0] == fit(examples, examples.groups != 0)
    assert folds.models[0] != folds.models[1]
    assert examples.gains() == {
        "1": {"reasons": 3, "round": 0, "elsewhere": 0},
        "2": {"filler1": 2, "filler2": 1, "filler3": 0},
    }
    assert 0 <= folds.score().mean <= 1


def test_labels_have_no_quotes(tmp_path: Path) -> None:
    path = tmp_path / "labels.tsv"
    path.write_text(
        'question\tid\trelevance\tstrength\n"Is milk" healthy?\ta\t2\t2\n'
        '"Is tea?\tb\t1\t0\nIs it?\tc"\t2\t1\n'
    )
    assert read_labels(path, {}) == {
        '"Is milk" healthy?': {"a": (2, 2)},
        '"Is tea?': {"b": (1, 0)},
        "Is it?": {'c"': (2, 1)},
    }


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("question,id,relevance,strength\n", "',' between them; expected tabs"),
        ("question\tid\tid\trelevance\tstrength\n", "found 2 columns of the name 'id'"),
        ("id\trelevance\tstrength\n", "found no column 'question'"),
        ("question\tid\trelevance\tstrength\nq\ta\t3\t1\n", "found the relevance '3'"),
        ("question\tid\trelevance\tstrength\nq\ta\t1\n", "found 3 columns; expected 4"),
        ("topic\tid\trelevance\tstrength\n7\ta\t1\t1\n", "found the topic '7'"),
    ],
)
def test_wrong_labels_are_named(tmp_path: Path, table: str, message: str) -> None:
    path = tmp_path / "labels.tsv"
    path.write_text(table)
    with pytest.raises(DataError, match=message):
        read_labels(path, {})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"enough": 0}, "not above 0"),
        ({"lexical": "much"}, "Expected `float`"),
        ({"strength": {"intercept": 0, "weights": {"x": [0, 1, 1]}}}, "Expected `object`"),
        (
            {"strength": {"intercept": 0, "weights": {"x": WEIGHT}}},
            "names x, which is no feature",
        ),
    ],
)
def test_a_damaged_ranker_is_refused(tmp_path: Path, change: dict, message: str) -> None:
    shipped = json.loads((SHIPPED / "ranker.json").read_bytes())
    (tmp_path / "ranker.json").write_text(json.dumps(shipped | change))
    with pytest.raises(DataError, match=message):
        read_model(tmp_path)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["ranker", "x"], "ranker needs --index"),
        (["ranker", "x", "--index", "i", "-o", "o", "--others", "y"], "do not go with ranker"),
        (["uva-ranker", "x", "--index", "i"], "--index and --topics go with ranker"),
    ],
)
def test_options_that_do_not_fit(failing, words: list[str], message: str) -> None:
    status, line = failing("train", *words)
    assert status == 2
    assert message in line
