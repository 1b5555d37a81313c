"""Runs, judgments and topics from Python objects: a gap is an error, not a score."""

from __future__ import annotations

import dataclasses
import warnings
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from sicetnon.app.index import Index
from sicetnon.errors import DataError, SicetnonError, UsageError
from sicetnon.evaluation import evaluate, load_qrels, load_run, load_topics
from sicetnon.formats.runs import write_run
from sicetnon.judging import JudgingFile, make_pool
from sicetnon.ranking.fusion import Fusion, fuse
from sicetnon.records import Entry, Ranking, Topic
from sicetnon.validation import validate

QRELS = {"1": {"d1": 2, "d2": 1}, "2": {"d4": 2, "d1": 1}}
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
        evaluate(source, QRELS)
    if kind is UsageError or "id" in name:
        with pytest.raises(kind, match=part):
            validate(source, "touche-2020-task-1")


def test_frames_of_polars() -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(RECORDS)
    assert evaluate(frame, QRELS)[0].mean == 1.0
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
