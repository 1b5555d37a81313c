"""Sources of runs and judgments, and the messages for those that cannot be used."""

import gzip
import io
import subprocess
import sys
from collections import namedtuple

import numpy as np
import pytest

from sicetnon.errors import DataError, UsageError
from sicetnon.evaluation import check_corpus, evaluate, load_qrels, load_run, load_topics
from sicetnon.evaluation.inputs import dimension_of, order_by_score
from sicetnon.ranking.fusion import fuse
from sicetnon.records import Judgment, Ranking, RunLine, Topic
from sicetnon.validation import validate

RUN = "1 Q0 a 1 2.0 tag\n1 Q0 b 2 1.0 tag\n2 Q0 c 1 1.0 tag\n"
QRELS = "1 0 a 1\n1 0 b 0\n2 0 c 2.0\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "run.txt").write_text(RUN)
    (tmp_path / "task-quality.qrels").write_text(QRELS)
    return tmp_path / "run.txt", tmp_path / "task-quality.qrels"


class Frame:
    """As much of a data frame as every library's has."""

    def __init__(self, **columns):
        self._columns = columns
        self.columns = list(columns)

    def __getitem__(self, name):
        return self._columns[name]


def plain(scores):
    return [(score.mean, score.low, score.high, score.topics, score.judged) for score in scores]


def test_a_path(files):
    run, qrels = files
    [score] = evaluate(run, qrels)
    assert (score.run, score.tag, score.qrels) == (str(run), "tag", str(qrels))
    assert (score.dimension, score.measure, score.rule) == ("quality", "nDCG@5", "official")
    assert (score.mean, score.topics, score.judged) == (1.0, 2, 1.0)
    assert list(score.row()) == [
        *("run", "tag", "qrels", "dimension", "rule", "measure"),
        *("mean", "low", "high", "topics", "judged"),
    ]


def test_gzip_and_standard_input(files, tmp_path, monkeypatch):
    run, qrels = files
    (tmp_path / "run.gz").write_bytes(gzip.compress(RUN.encode()))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(RUN.encode())))
    expected = plain(evaluate(run, qrels))
    assert plain(evaluate(tmp_path / "run.gz", qrels)) == expected
    assert plain(evaluate("-", qrels)) == expected


def test_records_frames_and_the_tuples_of_ir_measures(files):
    expected = plain(evaluate(*files, rule="trec"))
    lines = [RunLine("1", "Q0", "a", 1, 2.0, "t"), RunLine("1", "Q0", "b", 2, 1.0, "t")]
    lines.append(RunLine("2", "Q0", "c", 1, 1.0, "t"))
    judgments = [Judgment("1", "a", 1), Judgment("1", "b", 0), Judgment("2", "c", 2)]
    scored = namedtuple("ScoredDoc", "query_id doc_id score")
    qrel = namedtuple("Qrel", "query_id doc_id relevance iteration")
    runs = [
        lines,
        iter(lines),
        [scored("1", "b", 1.0), scored("1", "a", 2.0), scored("2", "c", 1.0)],
        Frame(qid=[1, 1, 2], docno=["a", "b", "c"], rank=[0, 1, 0], score=[2, 1, 1]),
        Frame(query_id=["1", "1", "2"], doc_id=["a", "b", "c"], rank=[1, 2, 1]),
        {"1": {"b": 1.0, "a": 2.0}, "2": {"c": 1.0}},
        [
            Ranking(Topic("1", ""), ("a", "b"), np.array([2.0, 1.0])),
            Ranking(Topic("2", ""), ("c",), np.array([1.0])),
        ],
    ]
    qrels = [
        judgments,
        iter(judgments),
        [qrel("1", "a", 1, "0"), qrel("1", "b", 0, "0"), qrel("2", "c", 2, "0")],
        Frame(qid=[1, 1, 2], docno=["a", "b", "c"], label=[1, 0, 2.0]),
        {"1": {"a": 1, "b": 0}, "2": {"c": 2}},
    ]
    scores = evaluate(runs, qrels, rule="trec")
    assert len(scores) == 35
    assert plain(scores) == expected * 35
    for run, judged in zip(runs[3:], [*qrels[3:], *qrels[3:]], strict=False):
        assert plain(evaluate(run, judged, rule="trec")) == expected


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames(files, library):
    frame = pytest.importorskip(library).DataFrame
    run = frame({"qid": ["1", "1", "2"], "docno": list("abc"), "score": [2.0, 1.0, 1.0]})
    qrels = frame({"qid": ["1", "1", "2"], "docno": list("abc"), "label": [1, 0, 2]})
    assert plain(evaluate(run, qrels)) == plain(evaluate(*files))


def test_datasets_of_ir_datasets(files):
    ir_datasets = pytest.importorskip("ir_datasets")
    formats = ir_datasets.formats
    stream = ir_datasets.util.Cache(None, files[1])
    dataset = ir_datasets.Dataset(formats.TrecQrels(stream, {0: "no", 1: "yes", 2: "very"}))
    files[1].write_text(QRELS.replace("2.0", "2"))
    assert plain(evaluate(files[0], dataset)) == plain(evaluate(*files))
    with pytest.raises(UsageError, match="which has no scoreddocs; expected a path, a mapping"):
        evaluate(dataset, files[1])


def test_a_dataset_of_ir_datasets_by_its_id(monkeypatch, files):
    ir_datasets = pytest.importorskip("ir_datasets")
    qrel = namedtuple("Qrel", "query_id doc_id relevance iteration")
    qrels = [qrel("1", "a", 1, "0"), qrel("1", "b", 0, "0"), qrel("2", "c", 2, "0")]

    class Dataset:
        def qrels_iter(self):
            return iter(qrels)

    monkeypatch.setitem(ir_datasets.registry._registered, "mine/judged", Dataset())
    [score] = evaluate(files[0], "mine/judged")
    assert plain([score]) == plain(evaluate(*files))
    assert score.qrels == "mine/judged"
    with pytest.raises(DataError, match="mine/unknown"):
        evaluate("mine/unknown", files[1])


def test_what_has_been_read_already(files):
    run, qrels = load_run(files[0]), load_qrels(files[1])
    assert plain(evaluate(run, qrels)) == plain(evaluate(*files))
    scores = evaluate({"one": run, "two": files[0]}, {"judged": qrels}, baseline=run)
    assert [(score.run, score.qrels) for score in scores] == [("one", "judged"), ("two", "judged")]
    assert [score.comparison is None for score in scores] == [True, False]


def test_lines_in_any_order():
    lines = ["1 Q0 b 3 1.0 t", "2 Q0 c 1 1 t", "1 Q0 a 2 1.0 t", "1\tQ0\tx  1 9 a tag"]
    run = load_run(
        [
            RunLine(t, s, d, int(r), float(v), tag)
            for t, s, d, r, v, tag in (line.split(maxsplit=5) for line in lines)
        ]
    )
    ranking = run.rankings["1"]
    assert ranking.ids == ("x", "a", "b")
    assert [ranking.ids[place] for place in order_by_score(ranking)] == ["x", "b", "a"]
    assert list(run.rankings) == ["1", "2"]


def test_without_ranks_the_order_is_that_of_trec_eval():
    run = load_run(Frame(qid=["1"] * 3, docno=["a", "b", "c"], score=[1.0, 1.0, 2.0]))
    assert run.rankings["1"].ids == ("c", "b", "a")
    assert run.rankings["1"].scores.tolist() == [2.0, 1.0, 1.0]


def test_a_repeated_document_counts_once():
    lines = [RunLine("1", "Q0", "a", 2, 1.0, "t"), RunLine("1", "NO", "a", 1, 2.0, "t")]
    with pytest.warns(match="t: 1 line repeats a document of the same topic; the first counts"):
        [score] = evaluate(lines, [Judgment("1", "a", "NO")])
    assert (score.lines, score.mean) == (1, 0.25)


def test_unanswered_topics_are_told(files):
    with pytest.warns(match=r"t: answers 1 of the 2 topics that .*task-quality.qrels judges"):
        evaluate([RunLine("1", "Q0", "a", 1, 2.0, "t")], files[1])


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ("", r"run.txt: found no line; expected a run"),
        ("1 Q0 a 1 2.0\n", r"run.txt, line 1: found 5 columns; expected 6: qid Q0 doc rank score"),
        ("\n1 Q0 a one 2.0 t\n", r"run.txt, line 2: found rank 'one' and score '2.0'; expected a"),
        ("1 Q0 a 1 nan t\n", r"run.txt, line 1: found rank '1' and score 'nan'"),
    ],
)
def test_a_run_that_cannot_be_used(files, run, message):
    files[0].write_text(run)
    with pytest.raises(DataError, match=message):
        evaluate(*files)


@pytest.mark.parametrize(
    ("qrels", "message"),
    [
        ("", "quality.qrels: found no judgment"),
        ("1 0 a NO\n1 0 b 1\n", "quality.qrels: found both numbers and stances as labels"),
        ("1 0 a 0.5\n", "quality.qrels, line 1: found the label '0.5'"),
    ],
)
def test_judgments_that_cannot_be_used(files, qrels, message):
    files[1].write_text(qrels)
    with pytest.raises(DataError, match=message):
        evaluate(*files)


def test_frames_and_records_that_cannot_be_used(files):
    qrels = files[1]
    with pytest.raises(UsageError, match="no column 'document' among qid, score; expected one of"):
        evaluate(Frame(qid=["1"], score=[1.0]), qrels)
    with pytest.raises(UsageError, match="neither a column 'rank' nor a column 'score'"):
        evaluate(Frame(qid=["1"], docno=["a"]), qrels)
    frame = Frame(qid=["1", "1"], docno=["a", "b"], rank=[1, 2], score=[1.0, float("nan")])
    with pytest.raises(DataError, match="mine, line 2: found rank 2 and score nan"):
        evaluate({"mine": frame}, qrels)
    with pytest.raises(DataError, match=r"qrels, line 1: found the label 0\.5"):
        evaluate(files[0], Frame(qid=["1"], docno=["a"], label=[0.5]))
    with pytest.raises(UsageError, match="found nothing to evaluate"):
        evaluate([], qrels)
    with pytest.raises(DataError, match="found no line"):
        evaluate([Frame(qid=[], docno=[], rank=[])], qrels)


@pytest.mark.parametrize(
    ("name", "dimension"),
    [
        ("/quality/touche-2021-task-1-relevance.qrels", "relevance"),
        ("touche-task1-2022-Quality.qrels", "quality"),
        ("coherence.gz", "coherence"),
        ("qrels.txt", "relevance"),
        ("", "relevance"),
    ],
)
def test_what_a_file_judges(name, dimension):
    assert dimension_of(name, {"1": {"a": 1}}) == dimension


def test_stances_are_known_by_their_labels():
    assert load_qrels([Judgment("1", "a", "NO")], "quality.qrels").dimension == "stance"


def test_a_corpus_that_holds_most_judged_documents():
    qrels = load_qrels([Judgment("1", document, 1) for document in "abcd"])
    coverage = check_corpus(qrels, {"a", "b", "c"})
    assert (coverage.judged, coverage.present, coverage.absent) == (4, 3, ("d",))


def test_a_corpus_of_another_version():
    qrels = load_qrels([Judgment(topic, document, 1) for topic in "12" for document in "abcd"], "q")
    with pytest.warns(match=r"q: the corpus holds only 1 of the 4 judged documents \(25%; absent"):
        # an index answers with a number, and the first document's is 0
        check_corpus(qrels, {"a": 0}.get)


def test_pairs_are_looked_up_by_sentence_or_argument():
    pairs = ["S1-A1__PREMISE__1,S1-A1__CONC__1", "S1-A1__PREMISE__2,S2-A2__PREMISE__1"]
    qrels = load_qrels([Judgment("1", pair, 1) for pair in pairs])
    assert check_corpus(qrels, {"S1-A1", "S2-A2"}).share == 1.0
    assert check_corpus(qrels, {"S1-A1__PREMISE__1", "S1-A1__CONC__1"}).present == 1


def test_ir_measures_is_imported_only_when_it_is_asked():
    code = "import sicetnon.evaluation, sys; sys.exit('ir_measures' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_dictionaries_and_gaps_in_ids():
    pandas = pytest.importorskip("pandas")
    rows = [{"qid": 1.0, "docno": "a", "score": 2.0}, {"qid": 1.0, "docno": "b", "score": 3.0}]
    expected = load_run({"1": {"a": 2.0, "b": 3.0}}).rankings["1"].ids
    assert load_run(rows).rankings["1"].ids == expected == ("b", "a")
    assert load_run(pandas.DataFrame(rows)).rankings["1"].ids == expected
    labels = [{"query_id": "1", "doc_id": "b", "relevance": 1}]
    [score] = evaluate([rows], labels, "P@1")
    assert (score.mean, score.topics) == (1.0, 1)
    with pytest.raises(DataError, match="found nan in the place of an id"):
        load_run(pandas.DataFrame([{**rows[0], "qid": float("nan")}]))
    for score in (None, "high", float("nan")):
        with pytest.raises(DataError, match=r"found the score .* for topic '1'; expected a number"):
            load_run({"1": {"a": score}})


def test_runs_that_are_none_are_named():
    ranking = Ranking(Topic("1", ""), ("a",), np.array([1.0]))
    with pytest.raises(UsageError, match="run holds two rankings of one topic"):
        load_run([ranking, ranking])
    with pytest.raises(UsageError, match="found str; expected a Run"):
        fuse(["run.txt"])
    with pytest.raises(UsageError, match="found NoneType; expected a run"):
        validate(None, "touche-2020-task-1")
    found = validate({"1": {"S1-A1": 1.0}}, "touche-2020-task-1", topics=["1"])
    assert (found.lines, found.ok) == (1, True)


def test_topics_that_are_none_are_named():
    for topics in (["Should zoos exist?"], [("1", "Should zoos exist?")]):
        with pytest.raises(UsageError, match=r"among the topics; expected \{'1': 'Should"):
            load_topics(topics)
    with pytest.raises(UsageError, match="found a topic with the number 1 and the title 'x'"):
        load_topics([Topic(1, "x")])
