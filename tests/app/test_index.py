"""`sicetnon.Index`: built from anything, searched, changed, and made into systems."""

from __future__ import annotations

import gc
import json
import multiprocessing
import pickle
import tracemalloc
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import sicetnon
from sicetnon import Index, System
from sicetnon.errors import SicetnonError, UsageError
from support.debates import both_sides
from support.passages import boats

TEXTS = [
    "Tenure protects academic freedom.",
    "Tenure costs money that schools need.",
    "School uniforms save parents money.",
]


def found(index: Index, question: str = "tenure money", **options: Any) -> list[str]:
    return [answer.id for answer in index.search(question, **options)]


def test_texts_have_their_places_for_ids() -> None:
    with Index.build(TEXTS) as index:
        answers = index.search("Should teachers get tenure?", k=5)
        assert {answer.id for answer in answers} == {"0", "1"}
        assert [answer.rank for answer in answers] == [1, 2]
        assert answers[0].score >= answers[1].score
        assert all("tenure" in answer.snippet.text.lower() for answer in answers)


def test_own_fields_take_the_place_of_no_key() -> None:
    own = {"rank": "first", "score": "high", "stance": "odd", "snippet": "own", "source": "paper"}
    with Index.build([{"id": "a", "text": "tenure", "year": 1999, **own}]) as index:
        (answer,) = index.search("tenure")
    shown = answer.as_json()
    assert (shown["rank"], shown["id"], shown["stance"]) == (1, "a", None)
    assert shown["score"] == answer.score
    assert shown["fields"] == {"text": "tenure", "year": 1999, **own}
    assert json.loads(json.dumps(shown)) == shown


def test_records_and_chosen_fields() -> None:
    records = [
        sicetnon.Argument(f"a{n}", "Tenure", (sicetnon.Premise(text, "PRO"),), {})
        for n, text in enumerate(TEXTS)
    ]
    with Index.build(records) as index:
        assert found(index, k=1) == ["a1"]
        assert index.search("tenure")[0].stance == "PRO"
    documents = [{"name": str(n), "claim": text, "note": "x"} for n, text in enumerate(TEXTS)]
    with Index.build(documents, fields=["claim"], id_field="name") as index:
        assert index.fields == ("claim",)
        assert found(index, "x") == []


def test_a_path_or_several(tmp_path: Path) -> None:
    paths = []
    for place, text in enumerate(TEXTS):
        paths.append(tmp_path / f"{place}.jsonl")
        paths[-1].write_text(json.dumps({"id": f"d{place}", "text": text}))
    for source, count in ((paths[0], 1), (str(paths[0]), 1), (paths, 3)):
        with Index.build(source) as index:
            assert index.document_count == count
            assert "d0" in found(index, "tenure")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ([], "found no document; expected at least one"),
        ({"id": "a", "text": "x"}, "found one dictionary; expected an iterable of documents"),
        (["text", {"text": "x"}], "document 1 cannot be used: found dict among"),
        ([{"id": "a", "text": "x"}, {"id": "a", "text": "y"}], "a"),
        ([{"text": 7}], "expected one with a text"),
        ([7], "found int; expected a text, dictionary or record"),
        ("no/such/file.jsonl", "there is no such file or directory"),
        (Path("no-such-folder"), "there is no such file or directory"),
        ("Tenure protects academic freedom. " * 200, "or a list of texts, such as"),
    ],
)
def test_what_cannot_be_indexed_is_one_line(source: Any, message: str) -> None:
    with pytest.raises(SicetnonError) as caught:
        Index.build(source)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_temporary_folder_goes_with_its_index() -> None:
    index = Index.build(TEXTS)
    folder = index.folder
    assert folder.is_dir()
    index.close()
    assert not folder.exists()
    index = Index.build(TEXTS)
    folder = index.folder
    del index
    gc.collect()
    assert not folder.exists()


def test_a_named_folder_is_kept(tmp_path: Path) -> None:
    with Index.build(TEXTS, tmp_path / "index") as index:
        expected = found(index)
    with Index.open(tmp_path / "index") as index:
        assert found(index) == expected


def test_changes_give_a_new_index_and_leave_the_old_one(tmp_path: Path) -> None:
    for folder in (None, tmp_path / "index"):
        old = Index.build([{"id": "a", "text": "tenure"}], folder)
        added = old.add([{"id": "b", "text": "tenure tenure"}])
        assert sorted(found(added, "tenure")) == ["a", "b"]
        deleted = added.delete(["a", "unknown"])
        assert found(deleted, "tenure") == ["b"]
        assert found(old, "tenure") == ["a"]
        with pytest.raises(SicetnonError, match="b"):
            deleted.add([{"id": "b", "text": "other"}])
        replaced = deleted.add([{"id": "b", "text": "uniforms"}], replace=True)
        assert found(replaced, "tenure") == []
        for index in (replaced, deleted, added, old):
            index.close()


def test_retrievers_take_models_fields_and_feedback() -> None:
    documents = [{"title": "money", "text": text} for text in TEXTS]
    topics = [sicetnon.Topic("1", "money")]
    with Index.build(documents) as index:
        for model in (None, sicetnon.BM25(k1=0.9, b=0.4), sicetnon.DirichletLM(mu=2000)):
            (ranking,) = sicetnon.System(index.retriever(model)).retrieve(topics, 10)
            assert len(ranking) == 3
        (ranking,) = index.retriever(fields={"text": 1.0}).retrieve(topics, 10)
        assert sorted(ranking.ids) == ["1", "2"]
        (ranking,) = index.retriever(feedback=sicetnon.RM3()).retrieve(topics, 10)
        assert len(ranking) == 3
        with pytest.raises(SicetnonError, match="no field premise"):
            index.retriever(fields={"premise": 1.0})


def test_systems_have_names() -> None:
    with Index.build(TEXTS) as index:
        for name in ("default", "bm25", "dirichlet", "dph"):
            assert index.system(name).name == name
            assert sorted(found(index, "tenure", system=name)) == ["0", "1"]
        with pytest.raises(SicetnonError, match="'bm52'; choose one of"):
            index.system("bm52")
        with pytest.raises(SicetnonError, match="sicetnon index annotate"):
            index.system("dense")


def test_threads_share_an_index() -> None:
    with Index.build(TEXTS) as index, ThreadPoolExecutor(8) as threads:
        expected = found(index)
        assert all(each == expected for each in threads.map(lambda _: found(index), range(64)))


def test_the_temporary_folder_stays_until_its_last_index_is_closed() -> None:
    first = Index.build([{"id": "a", "text": "cats sleep"}])
    second = first.add([{"id": "b", "text": "dogs bark"}])
    first.close()
    third = second.add([{"id": "c", "text": "birds sing"}])
    second.close()
    assert len(third) == 3
    folder = third.folder
    third.close()
    assert not folder.exists()


def test_one_text_is_no_list_of_ids() -> None:
    index = Index.build(["cats sleep", "dogs bark"])
    with pytest.raises(UsageError, match="found '01'; expected a list of ids"):
        index.delete("01")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_data_frame_is_read_row_by_row(library: str) -> None:
    frames = pytest.importorskip(library)
    frame = frames.DataFrame({"id": ["x", "y"], "text": ["cats sleep", "dogs bark"]})
    with Index.build(frame) as index:
        assert [answer.id for answer in index.search("dogs")] == ["y"]


def test_a_system_of_its_own_searches() -> None:
    with Index.build(["cats sleep", "dogs bark"]) as index:
        (answer,) = index.search("dogs", system=System(index.retriever()))
        assert answer.id == "1"
        with pytest.raises(UsageError, match=r"such as index\.retriever\(BM25\(\)\)"):
            System(index)
        with pytest.raises(UsageError, match="found k = -1; expected a whole number of 1 or more"):
            index.search("dogs", k=-1)
        with pytest.raises(UsageError, match=r"found Index as a stage; expected .* with `apply`"):
            System(index.retriever(), [Index])


def test_added_texts_get_numbers_that_are_free() -> None:
    with (
        Index.build(TEXTS) as first,
        first.delete(["0"]) as less,
        less.add(["more tenure"]) as more,
    ):
        assert set(found(more, "tenure", k=5)) == {"1", "3"}


def test_names_of_fields_are_a_list() -> None:
    with pytest.raises(UsageError, match=r"found the text 'title,text'; expected a list of fields"):
        Index.build([{"id": "a", "title": "x", "text": "y"}], fields="title,text")


def test_texts_and_records_have_no_named_fields() -> None:
    with pytest.raises(SicetnonError, match="found documents of type str; expected dictionaries"):
        Index.build(TEXTS, fields=["title"])


def test_entries_of_other_fields_are_refused() -> None:
    entries = [sicetnon.Entry(str(n), {"text": "tenure"}) for n in range(120)]
    with Index.build([*entries, sicetnon.Entry("new", {"text": "x"})]) as index:
        assert len(index) == 121
    with pytest.raises(SicetnonError, match="found the fields title; expected text"):
        Index.build(iter([*entries, sicetnon.Entry("new", {"title": "tenure"})]))
    # all documents of a list tell the fields
    with Index.build([*entries, sicetnon.Entry("new", {"title": "title"})]) as index:
        assert found(index, "title") == ["new"]


def test_columns_of_numbers_are_kept_beside_the_texts(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,text,year\n1,tenure,1999\n2,money,2001\n")
    with Index.build(tmp_path / "a.csv") as index:
        assert index.fields == ("text",)
        assert index.search("tenure")[0].as_json()["fields"] == {"text": "tenure", "year": "1999"}


def test_a_closed_index_is_said_to_be_closed() -> None:
    index = Index.build(TEXTS)
    retriever = index.retriever()
    index.close()
    for use in (
        lambda: index.search("tenure"),
        lambda: index.add(["more"]),
        lambda: index.delete(["0"]),
        lambda: retriever.retrieve([sicetnon.Topic("1", "tenure")], 5),
    ):
        with pytest.raises(UsageError, match="the index is closed; open it again"):
            use()


def test_a_file_is_no_place_for_an_index(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageError, match="file: is no folder; choose another place"):
        Index.build(TEXTS, tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


def test_a_very_long_question_takes_little_memory() -> None:
    with Index.build(TEXTS) as index:
        index.search("tenure")
        tracemalloc.start()
        assert set(found(index, "tenure uniforms " * 300_000)) == {"0", "1", "2"}
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        with pytest.raises(UsageError, match="found NoneType as the question; expected a text"):
            index.search(None)  # type: ignore[arg-type]
    assert peak < 100e6


def test_small_mistakes_get_one_line(tmp_path: Path) -> None:
    (tmp_path / "docs.csv").write_text("id,text\n1,tenure\n")
    with pytest.raises(UsageError, match=r"found the name of a file, .*expected texts, or a Path"):
        Index.build([str(tmp_path / "docs.csv")])
    with Index.build(TEXTS) as index:
        with pytest.raises(UsageError, match="found 3; expected a list of ids"):
            index.delete(3)  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="found the text '01'; expected a list of ids"):
            index.records("01")
        with pytest.raises(UsageError, match=r"found the fields \['text'\]; expected weights"):
            index.retriever(fields=["text"])  # type: ignore[arg-type]


def retrieved(retriever: Any, question: str) -> tuple[str, ...]:
    return retriever.retrieve([sicetnon.Topic("1", question)], 5)[0].ids


def test_indexes_retrievers_and_systems_are_pickled_by_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    question = "Should teachers get tenure?"
    with both_sides(Path("index")) as arguments, boats(tmp_path / "boats") as passages:
        made: list[Any] = [
            arguments.retriever(),
            arguments.retriever(sicetnon.BM25(), feedback=sicetnon.RM3()),
            *(arguments.system(name) for name in ("bm25", "dph")),
            *(passages.system(name) for name in ("default", "bm25", "dirichlet")),
        ]
        asked = [question] * 4 + ["Which is better, a canoe or a kayak?"] * 3
        expected = list(map(retrieved, made, asked))
        assert all(expected)
        calls = [
            (each.retrieve, [sicetnon.Topic("1", q)], 5)
            for each, q in zip(made, asked, strict=True)
        ]
        spawned = multiprocessing.get_context("spawn")
        monkeypatch.chdir("/")
        assert [pickle.loads(pickle.dumps(each)).name for each in made] == [m.name for m in made]
        with ProcessPoolExecutor(1, mp_context=spawned) as pool:
            assert [pool.submit(*each).result()[0].ids for each in calls] == expected
        again = pickle.loads(pickle.dumps(arguments))
        assert (type(again), len(again)) == (Index, len(arguments))
        assert retrieved(pickle.loads(pickle.dumps(again.system())), question)
    with pytest.raises(UsageError, match="the index is closed"):
        pickle.dumps(arguments)
