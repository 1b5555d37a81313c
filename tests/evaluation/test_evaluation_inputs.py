"""Inputs of an evaluation: sources, messages, Python objects; a gap is an error, not a score."""

from __future__ import annotations

import dataclasses
import gzip
import io
import subprocess
import sys
import warnings
from collections import namedtuple
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from sicetnon.app.index import Index
from sicetnon.errors import DataError, SicetnonError, UsageError
from sicetnon.evaluation import check_corpus, evaluate, load_qrels, load_run, load_topics
from sicetnon.evaluation.inputs import dimension_of, order_by_score
from sicetnon.formats.runs import write_run
from sicetnon.judging import JudgingFile, make_pool
from sicetnon.ranking.fusion import Fusion, fuse
from sicetnon.records import Entry, Judgment, Ranking, RunLine, Topic
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


OBJECT_QRELS = {"1": {"d1": 2, "d2": 1}, "2": {"d4": 2, "d1": 1}}
ROWS = [("1", "d1", 3.0, 1), ("1", "d2", 2.0, 2), ("2", "d4", 3.0, 1), ("2", "d1", 2.0, 2)]
RECORDS = [dict(zip(("qid", "docno", "score", "rank"), row, strict=True)) for row in ROWS]


@dataclasses.dataclass
class Line:
    qid: Any
    docno: Any
    score: Any


class Judged(NamedTuple):
    query_id: Any
    doc_id: Any
    relevance: Any


def lacking(key: str, place: int) -> list[dict[str, Any]]:
    return [
        {name: value for name, value in row.items() if not (name == key and at == place)}
        for at, row in enumerate(RECORDS)
    ]


def changed(key: str, value: Any, place: int = 2) -> list[dict[str, Any]]:
    return [row | ({key: value} if at == place else {}) for at, row in enumerate(RECORDS)]


@pytest.mark.parametrize(
    ("source", "part"),
    [
        (lacking("docno", 2), "line 3: found a record without 'docno'"),
        (lacking("qid", 2), "line 3: found a record without 'qid'"),
        (lacking("rank", 2), "line 3: found a record without 'rank'"),
        (lacking("score", 2), "line 3: found a record without 'score'"),
        (
            lacking("rank", 0),
            "line 1: found a record with 'rank'|line 2: found a record with 'rank'",
        ),
        ([*RECORDS, Line("3", "a", 1.0)], "line 5: found Line; expected records of one kind"),
        ([*RECORDS, None], "line 5: found NoneType"),
        ([Line("1", "a", 1.0), RECORDS[0]], "line 2: found dict"),
        ([None, *RECORDS], "no column 'topic'"),
        (changed("docno", None), "line 3: found None in the place of an id"),
        (changed("docno", ""), "line 3: the id '' is empty"),
        (changed("docno", "a b"), "line 3: the id 'a b'"),
        (changed("docno", "a\ufeff"), "line 3: the id 'a\\\\ufeff'"),
        (changed("docno", True), "line 3: found True in the place of an id"),
        (changed("docno", 1.5), "line 3: found 1.5 in the place of an id"),
        (changed("docno", b"d1"), "line 3: found b'd1' in the place of an id"),
        (changed("docno", ["d1"]), "line 3: found \\['d1'\\]"),
        (changed("docno", object), "line 3: found <class"),
        (changed("qid", np.nan), "line 3: found nan in the place of an id"),
        (changed("qid", np.inf), "line 3: found inf in the place of an id"),
        (changed("rank", 0.5), "line 3: found rank 0.5"),
        (changed("rank", np.float32(0.5)), "line 3: found rank"),
        (changed("rank", np.inf), "line 3: found rank inf"),
        (changed("rank", None), "line 3: found rank None"),
        (changed("rank", 10**30), "line 3: found rank 1000"),
        (changed("score", None), "line 3: found rank 1 and score None"),
        (changed("score", np.nan), "line 3: found rank 1 and score nan"),
        (changed("score", "high"), "line 3: found rank 1 and score 'high'"),
        ({"1": {"d1": 10**400}}, "found the score"),
        ({"1": {None: 1.0}}, "found None in the place of an id"),
        ({"1": {"d1": 1.0}, None: {"d1": 1.0}}, "found None in the place of an id"),
    ],
)
def test_a_run_with_a_gap_is_refused(source: Any, part: str) -> None:
    with pytest.raises(SicetnonError, match=part):
        load_run(source, "run")


def test_a_stance_that_is_missing_is_refused() -> None:
    rows = [row | {"stance": "PRO" if at else None} for at, row in enumerate(RECORDS)]
    with pytest.raises(DataError, match="line 1: found None"):
        load_run(rows)


def test_numpy_scalars_and_generators_are_read() -> None:
    rows = [
        {"qid": np.int64(1), "docno": np.str_("a"), "rank": np.int32(1), "score": np.float32(2)},
        {"qid": np.float64(1), "docno": np.int16(7), "rank": np.float64(2), "score": np.int8(1)},
    ]
    run = load_run(iter(rows))
    (ranking,) = run.rankings.values()
    assert (ranking.topic.number, ranking.ids) == ("1", ("a", "7"))
    assert all(type(each) is str for each in (ranking.topic.number, *ranking.ids))
    assert load_run(Line("1", name, score) for name, score in (("a", 1.0), ("b", 2.0)))
    judged = load_qrels([Judged(np.int64(1), np.str_("a"), np.uint8(2))])
    assert judged.grades == {"1": {"a": 2}}
    assert load_topics({np.int64(1): np.str_("Tenure?")}) == [Topic("1", "Tenure?")]


@pytest.mark.parametrize("label", [None, np.nan, np.inf, 0.5, "", "good", 10**6, 1j, [1]])
def test_a_label_that_is_none_is_refused(label: Any) -> None:
    with pytest.raises(DataError, match="qrels, line 2: found the label"):
        load_qrels([Judged("1", "a", 1), Judged("1", "b", label)])


FRAMES = {
    "two columns qid": (UsageError, "two columns 'qid'"),
    "two columns rank": (UsageError, "two columns 'rank'"),
    "NA as id": (DataError, "line 3: found <NA>"),
    "NaN as id": (DataError, "line 3: found nan"),
    "ranks 0.25 to 1": (DataError, "line 2: found rank 0.5"),
    "NaN among ranks": (DataError, "line 4: found rank nan"),
    "NA among scores": (DataError, "line 1: found rank 1 and score <NA>"),
}


@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_of_pandas_with_a_gap_is_refused(name: str) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(RECORDS)
    source = {
        "two columns qid": pd.concat([frame, frame[["qid"]]], axis=1),
        "two columns rank": pd.concat([frame, frame[["rank"]]], axis=1),
        "NA as id": frame.assign(docno=pd.array(["d1", "d2", None, "d1"], dtype="string")),
        "NaN as id": frame.assign(docno=["d1", "d2", np.nan, "d1"]),
        "ranks 0.25 to 1": frame.assign(rank=[1.0, 0.5, 1.0, 0.5]),
        "NaN among ranks": frame.assign(rank=[1, 2, 1, None]),
        "NA among scores": frame.assign(score=pd.array([None, 1, 2, 1], dtype="Int64")),
    }[name]
    kind, part = FRAMES[name]
    with pytest.raises(kind, match=part):
        evaluate(source, OBJECT_QRELS)
    if kind is UsageError or "id" in name:
        with pytest.raises(kind, match=part):
            validate(source, "touche-2020-task-1")


def test_frames_of_polars() -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(RECORDS)
    assert evaluate(frame, OBJECT_QRELS)[0].mean == 1.0
    with pytest.raises(DataError, match="line 3: found None"):
        load_run(frame.with_columns(pl.Series("docno", ["d1", "d2", None, "d1"])))
    with (
        warnings.catch_warnings(action="ignore"),
        pytest.raises(UsageError, match="LazyFrame; expected a data frame"),
    ):
        load_run(frame.lazy())


@pytest.mark.parametrize(
    ("source", "part"),
    [
        ({"1": "tenure", "2": None}, "topic '2'"),
        ({"1": "tenure", "2": np.nan}, "topic '2'"),
        ({"1": ["tenure", "uniforms"]}, "topic '1'"),
        ({"1": ""}, "topic '1'"),
        ({"1": " \n"}, "topic '1'"),
        ({"1": 42}, "topic '1'"),
        ({"query 1": "tenure"}, "the id 'query 1'"),
        ({"": "tenure"}, "the id ''"),
        ({None: "tenure"}, "found None"),
        ([{"qid": "1", "query": None}], "topic '1'"),
        ([{"qid": "1", "query": Decimal(1)}], "topic '1'"),
        ([Topic("1", "")], "topic '1'"),
        ([Topic("a b", "tenure")], "the id 'a b'"),
        ([{"qid": "1", "query": "a", "objects": 7}], "objects"),
        ([{"qid": "1", "query": "a", "narrative": ["b"]}], "narrative"),
        ([{"qid": "1", "query": "a"}, {"qid": 1.0, "query": "b"}], "two topics '1'"),
    ],
)
def test_a_topic_without_a_question_is_refused(source: Any, part: str) -> None:
    with pytest.raises(SicetnonError, match=part):
        load_topics(source)


def test_topics_of_frames() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"qid": ["1", "2"], "query": ["tenure", np.nan]})
    with pytest.raises(SicetnonError, match="topic '2'"):
        load_topics(frame)
    frame = pd.DataFrame({"qid": [1, 2.0], "query": ["a  \n b", "c"], "objects": ["x, y", None]})
    assert load_topics(frame) == [Topic("1", "a b", ("x", "y")), Topic("2", "c")]
    with pytest.raises(UsageError, match="two columns 'query'"):
        load_topics(pd.concat([frame, frame[["query"]]], axis=1))


def test_records_bring_objects_and_narratives() -> None:
    record = {"qid": "1", "query": "x or y?", "objects": ["x", "y"], "narrative": "why", "more": 1}
    assert load_topics([record]) == [Topic("1", "x or y?", ("x", "y"), "", "why")]


class TestDocuments:
    """Documents of an index."""

    @pytest.mark.parametrize(
        "source",
        [
            np.array(["Tenure protects", "money"]),
            [np.str_("Tenure protects"), "money"],
            ["Tenure protects", np.str_("money")],
            [{np.str_("id"): np.str_("0"), "text": np.str_("Tenure protects")},
             {"id": np.int64(1), "text": "money", "n": np.float32(2), "more": np.array([1])}],
            [{"id": 0, "text": "Tenure protects"}, {"id": 1.0, "text": "money", "n": np.nan}],
            [Entry(np.str_("0"), {"text": np.str_("Tenure protects")}),
             Entry("1", {"text": "money"}, {"of": {"n": [np.str_("x"), np.bool_(True)]}})],
        ],
    )  # fmt: skip
    def test_values_of_numpy(self, source: Any) -> None:
        index = Index.build(source)
        found = index.records(["0", "1"])
        assert [(each.id, each.default_text()) for each in found] == [
            ("0", "Tenure protects"),
            ("1", "money"),
        ]

    @pytest.mark.parametrize("library", ["pandas", "polars"])
    def test_gaps_of_frames_are_gaps(self, library: str) -> None:
        module = pytest.importorskip(library)
        columns = {
            "id": ["a", "b"],
            "title": ["Tenure", None],
            "text": ["x", "y"],
            "n": [1.5, None],
        }
        index = Index.build(module.DataFrame(columns))
        assert [each.default_text() for each in index.records(["a", "b"])] == ["Tenure\nx", "y"]
        with pytest.raises(DataError, match="document 1 cannot be used: found no id"):
            Index.build(module.DataFrame(columns | {"id": ["a", None]}))

    def test_times_and_gaps_of_pandas(self) -> None:
        pd = pytest.importorskip("pandas")
        columns = {"id": [1.0, 2.0], "text": ["Tenure", "money"]}
        times = {"when": pd.to_datetime(["2020-01-01", None]), "side": ["pro", np.nan]}
        index = Index.build(pd.DataFrame(columns | times), stance_field="side")
        first, second = index.records(["1", "2"])
        assert first.extra["when"] == "2020-01-01T00:00:00"
        assert second.extra["when"] is None
        assert (first.stance, second.stance) == ("PRO", None)

    def test_frames_that_cannot_be_read(self) -> None:
        pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
        frame = pd.DataFrame({"id": ["a"], "text": ["x"]})
        with pytest.raises(UsageError, match="two columns 'text'"):
            Index.build(pd.concat([frame, frame[["text"]]], axis=1))
        with (
            warnings.catch_warnings(action="ignore"),
            pytest.raises(UsageError, match="found a LazyFrame"),
        ):
            Index.build(pl.DataFrame({"id": ["a"], "text": ["x"]}).lazy())

    def test_ids_to_delete(self) -> None:
        index = Index.build(["Tenure", "money", "uniforms"]).delete(np.array([0.0]))
        assert len(index.delete([np.str_("1"), np.int64(7)])) == 1
        with pytest.raises(DataError, match="found None in the place of an id"):
            index.delete([None])


def test_weights_and_pools_take_values_of_numpy(tmp_path: Path) -> None:
    run = load_run({"1": {"a": 2.0, "b": 1.0}})
    assert fuse([run, run], Fusion(weights=np.array([1.0, 2]))).rankings["1"].ids == ("a", "b")
    ids = tuple(np.array(["a", "b"]))
    ranking = Ranking(Topic(np.str_("1"), np.str_("Tenure?")), ids, np.array([2, 1]))
    make_pool(tmp_path / "p", [[ranking]], [ranking.topic], dimensions=[np.str_("relevance")])
    with JudgingFile(tmp_path / "p") as file:
        assert {item.document for item in file.assigned("anna", 9)} == {"a", "b"}
    write_run([ranking], tmp_path / "run.txt", tag=np.str_("t"))
    assert load_run(tmp_path / "run.txt").rankings["1"].ids == ("a", "b")


SCORES = np.array([2.0, 1.0])


@pytest.mark.parametrize(
    "rankings",
    [
        [Ranking(Topic("query 1", "x"), ("a", "b"), SCORES)],
        [Ranking(Topic("", "x"), ("a", "b"), SCORES)],
        [Ranking(Topic("\ufeff1", "x"), ("a", "b"), SCORES)],
        [Ranking(Topic(1, "x"), ("a", "b"), SCORES)],  # type: ignore[arg-type]
        [Ranking(Topic("1", "x"), ("a", "b"), SCORES, ("Q 0", "Q0"))],
        [Ranking(Topic("1", "x"), ("a", "b"), SCORES, ("", "Q0"))],
        [Ranking(Topic("1", "x"), ("a", "b"), SCORES, (None, "Q0"))],  # type: ignore[arg-type]
        [Ranking(Topic("1", "x"), ("a", "b"), SCORES, ("PRO\u200b", "Q0"))],
        [Ranking(Topic("1", "x"), ("a", "a"), SCORES)],
        [Ranking(Topic("1", "x"), ("a", ""), SCORES)],
        [Ranking(Topic("1", "x"), ("a", "b\ufeff"), SCORES)],
        [Ranking(Topic("1", "x"), ("a", "b"), SCORES)] * 2,
        [Ranking(Topic("1", "x"), (), np.empty(0))],
        [],
    ],
)
def test_a_run_that_could_not_be_read_again_is_not_written(
    rankings: list[Ranking], tmp_path: Path
) -> None:
    with pytest.raises(UsageError):
        write_run(rankings, tmp_path / "run.txt", tag="t")
    assert not list(tmp_path.iterdir())


def test_numbers_and_lists_of_numpy_are_options(tmp_path: Path) -> None:
    run = {"1": {"a": 1.0}}
    for measures in (np.array(["P@1"]), [np.str_("P@1")], iter(["P@1"])):
        assert evaluate(run, {"1": {"a": 1}}, measures)[0].mean == 1.0
    size = make_pool(
        tmp_path / "p", [run], {"1": "Tenure?"}, depth=np.int64(2), votes=np.int32(1),
        quota=np.int64(3), seed=np.int64(7),
    )  # fmt: skip
    assert size.documents == 1
    assert Index.build([{"k": "a", "text": "x", "more": "y"}], fields=np.array(["text"]),
                       id_field=np.str_("k")).fields == ("text",)  # fmt: skip
    with pytest.raises(DataError, match="found None in the place of an id"):
        validate(run, "touche-2020-task-1", topics=[None])
