"""One call from systems to a table: what it takes, what it says, how it shows itself."""

import sys
from collections import namedtuple

import numpy as np
import pytest

from sicetnon.cli import main
from sicetnon.errors import DataError, MissingExtraError, UsageError
from sicetnon.evaluation import evaluate, experiment, load_run
from sicetnon.evaluation.experiment import TopicScore
from sicetnon.records import Ranking, Topic

NUMBERS = [str(number) for number in range(1, 11)]
TOPICS = {number: f"Question {number}?" for number in NUMBERS}
QRELS = {number: {"good": 1, "bad": 0} for number in NUMBERS}
XML = "".join(f"<topic><number>{n}</number><title>{t}</title></topic>" for n, t in TOPICS.items())


class Finds:
    """A system that finds the good document first for its first topics."""

    def __init__(self, good, name=""):
        self.good, self.name, self.asked = good, name, []

    def retrieve(self, topics, k):
        self.asked += topics
        return [
            Ranking(
                topic,
                ("good", "bad")[:: 1 if place < self.good else -1],
                np.array([2.0, 1.0]),
            )
            for place, topic in enumerate(topics)
        ]


def run_of(good):
    return {n: {"good": 2.0 if at < good else 0.0, "bad": 1.0} for at, n in enumerate(NUMBERS)}


def test_systems_with_a_baseline():
    found = experiment([Finds(3, "old"), Finds(9, "new")], TOPICS, QRELS, baseline=0)
    new, old = found.scores
    assert (new.run, new.comparison.baseline, old.run) == ("new", "old", "old")
    assert (new.comparison.wins, new.comparison.ties, new.comparison.losses) == (6, 4, 0)
    assert new.comparison.p_randomisation_corrected == new.comparison.p_randomisation
    assert new.low <= new.mean <= new.high
    scores = evaluate({"old": run_of(3), "new": run_of(9)}, QRELS, baseline="old")
    assert [s.row() | {"tag": s.run} for s in scores] == [s.row() for s in found.scores]


def test_any_mixture_of_systems_and_runs(tmp_path):
    path = tmp_path / "run.txt"
    path.write_text("".join(f"{n} Q0 good 1 2.0 tag\n{n} Q0 bad 2 1.0 tag\n" for n in NUMBERS))
    lines = namedtuple("ScoredDoc", "query_id doc_id score")
    records = [lines(n, d, s) for n in NUMBERS for d, s in (("good", 2.0), ("bad", 1.0))]
    given = [Finds(10), path, str(path), load_run(path), run_of(10), records]
    for library in ("pandas", "polars"):
        frame = pytest.importorskip(library).DataFrame
        given.append(frame([tuple(r) for r in records], **frame_options(library)))
    found = experiment(given, TOPICS, QRELS, names=[f"system {n}" for n in range(len(given))])
    assert [score.mean for score in found.scores] == [1.0] * 8
    assert len({score.run for score in found.scores}) == 8


def frame_options(library):
    names = ["qid", "docno", "score"]
    return {"columns": names} if library == "pandas" else {"schema": names, "orient": "row"}


def test_one_system_a_list_or_names_for_each():
    for systems in (Finds(5), [Finds(5)], {"Finds": Finds(5)}, [run_of(5)], run_of(5)):
        [score] = experiment(systems, TOPICS, QRELS).scores
        assert score.run in ("Finds", "run")
        assert score.values["1"] == 1.0


def test_names_are_distinct():
    systems = [Finds(1), Finds(2), Finds(3, "own"), Finds(4, "own"), run_of(5), run_of(6)]
    found = experiment(systems, TOPICS, QRELS)
    assert [score.run for score in found.scores] == [
        *("run (2)", "run", "own (2)", "own", "Finds (2)", "Finds"),
    ]


def test_topics_of_every_kind(tmp_path):
    (tmp_path / "topics.xml").write_text(f"<topics>{XML}</topics>")
    query = namedtuple("Query", "query_id title description")

    class Dataset:
        def queries_iter(self):
            return (query(number, text, "described") for number, text in TOPICS.items())

        def qrels_iter(self):
            qrel = namedtuple("Qrel", "query_id doc_id relevance")
            return (qrel(n, d, label) for n in QRELS for d, label in QRELS[n].items())

    topics = [Topic(number, text) for number, text in TOPICS.items()]
    kinds = [TOPICS, topics, iter(topics), tmp_path / "topics.xml", str(tmp_path / "topics.xml")]
    for library in ("pandas", "polars"):
        frame = pytest.importorskip(library).DataFrame
        kinds.append(frame({"qid": NUMBERS, "query": list(TOPICS.values())}))
    for kind in kinds:
        system = Finds(2)
        experiment([system], kind, QRELS)
        assert system.asked == topics
    system = Finds(2)
    [score] = experiment([system], Dataset()).scores
    assert system.asked == [Topic(n, t, description="described") for n, t in TOPICS.items()]
    assert len(score.values) == 10


def test_measures_of_ir_measures_and_judged_as_any_other():
    ir_measures = pytest.importorskip("ir_measures")
    measures = [ir_measures.nDCG @ 5, "judged@1", ir_measures.P(rel=1) @ 1]
    found = experiment(run_of(7), None, QRELS, measures)
    assert [(score.measure, score.rule) for score in found.scores] == [
        *(("nDCG@5", "official"), ("Judged@1", "official"), ("P@1", "official")),
    ]
    assert [score.mean for score in found.scores][1:] == pytest.approx([1.0, 0.7])
    assert experiment(run_of(7), None, QRELS, ir_measures.RR).scores[0].measure == "RR"


def test_topics_without_an_answer_and_repeated_documents():
    class Careless(Finds):
        def retrieve(self, topics, k):
            twice = Ranking(topics[0], ("good", "good"), np.array([2.0, 1.0]))
            return [twice, *(Ranking(topic, (), np.zeros(0)) for topic in topics[1:])]

    with pytest.warns() as told:
        [score] = experiment([Careless(9)], TOPICS, QRELS, rule="trec").scores
    assert score.mean == 0.1
    said = " ".join(str(each.message) for each in told)
    assert "1 line repeats a document" in said
    assert "answers 1 of the 10 topics" in said


def test_rankings_are_kept_on_request():
    assert not experiment([Finds(1)], TOPICS, QRELS).runs
    kept = experiment([Finds(1)], TOPICS, QRELS, keep_rankings=True).runs
    assert kept["Finds"].rankings["2"].ids == ("bad", "good")
    # and what was kept is a run like any other
    assert experiment(kept, None, QRELS).scores == experiment([Finds(1)], TOPICS, QRELS).scores


def test_topic_by_topic():
    found = experiment({"one": run_of(1)}, None, {"judged": QRELS}, ["P@1"])
    assert found.per_topic()[:2] == [
        TopicScore("one", "judged", "P@1", "1", 1.0),
        TopicScore("one", "judged", "P@1", "2", 0.0),
    ]


def test_to_pandas(monkeypatch):
    pandas = pytest.importorskip("pandas")
    found = experiment([Finds(1), Finds(2)], TOPICS, QRELS, ["nDCG@5", "P@1"], baseline="Finds")
    frame = found.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert len(frame) == 4
    assert {"run", "measure", "mean", "low", "high", "judged", "wins", "baseline"} <= set(frame)
    assert len(found.to_pandas(per_topic=True)) == 40
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match="pandas"):
        found.to_pandas()


def test_it_prints_what_the_command_prints(tmp_path, capsys):
    for name, good in (("old", 3), ("new", 9)):
        lines = [f"{n} Q0 {d} {r} {-r} {name}\n" for n in NUMBERS for r, d in ranks(n, good)]
        (tmp_path / f"{name}.txt").write_text("".join(lines))
    labels = [f"{n} 0 {d} {label}\n" for n in NUMBERS for d, label in QRELS[n].items()]
    (tmp_path / "relevance.qrels").write_text("".join(labels))
    runs = [str(tmp_path / "old.txt"), str(tmp_path / "new.txt")]
    qrels, measures = str(tmp_path / "relevance.qrels"), ["nDCG@5", "Judged@5", "AP"]
    main(["evaluate", *runs, "--qrels", qrels, "--measure", *measures, "--baseline", runs[0]])
    printed = capsys.readouterr().out
    found = experiment(runs, None, qrels, measures, baseline=0)
    assert str(found) == printed.strip("\n")
    assert "corrected for the" in str(found)
    assert max(map(len, str(found).splitlines())) <= 80


def ranks(number, good):
    order = ("good", "bad") if int(number) <= good else ("bad", "good")
    return enumerate(order, start=1)


def test_it_shows_itself_in_a_notebook():
    found = experiment({"<b>mine</b>": run_of(3), "other": run_of(5)}, None, QRELS, baseline=1)
    page = found._repr_html_()
    assert "&lt;b&gt;mine&lt;/b&gt;" in page
    assert "<b>mine" not in page
    assert page.count("<table>") == 2
    cells = [cell for score in found.scores for cell in (f"{score.mean:.3f}", f"{score.low:.3f}")]
    assert all(cell in page and cell in str(found) for cell in cells)
    assert "\x1b" not in str(experiment({"\x1b[31mred": run_of(3)}, None, QRELS))


def test_several_measures_share_one_note_and_name_the_depth_of_what_is_judged():
    found = experiment(
        {"one": run_of(3), "other": run_of(5)},
        None,
        QRELS,
        measures=["nDCG@5", "AP", "Judged@5"],
        baseline=1,
    )
    page, shown = found._repr_html_(), str(found)
    for text in (page, " ".join(shown.split())):
        assert text.count("corrected for the number of runs") == 1
        assert text.count("judged@5") == 1
    heads = [line.split() for line in shown.splitlines() if line.split()[:1] == ["run"]]
    assert [head[-1] for head in heads] == ["judged@5", "topics", "topics"]


def test_numbers_stand_to_the_right_in_a_notebook():
    page = experiment({"one": run_of(3)}, None, QRELS)._repr_html_()
    assert page.startswith('<div class="sicetnon-scores">')
    style, _, _ = page.partition("</style>")
    assert "text-align: right" in style
    # the colours are those of the notebook
    assert "color" not in style


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([Finds(1)], None, QRELS), "found the system Finds and no topics; give topics"),
        (([Finds(1)], TOPICS), "found no judgments; give qrels"),
        (([run_of(1)],), "found no judgments; give qrels"),
        (([], TOPICS, QRELS), "found nothing to evaluate"),
        (([Finds(1)], [], QRELS), "found no topic"),
        (([3], TOPICS, QRELS), "found 3, which has no scoreddocs; expected a path, a mapping"),
    ],
)
def test_what_cannot_be_used(arguments, message):
    with pytest.raises((UsageError, DataError), match=message):
        experiment(*arguments)


def test_a_baseline_or_names_that_do_not_fit():
    with pytest.raises(UsageError, match="found the baseline 2; expected a place below 2, or one"):
        experiment([Finds(1), Finds(2)], TOPICS, QRELS, baseline=2)
    with pytest.raises(UsageError, match=r"found the baseline 'no'; expected .* of Finds, Finds"):
        experiment([Finds(1), Finds(2)], TOPICS, QRELS, baseline="no")
    with pytest.raises(UsageError, match="found 1 name for 2 systems; give one for each"):
        experiment([Finds(1), Finds(2)], TOPICS, QRELS, names=["one"])
