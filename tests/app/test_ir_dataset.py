"""Input directories as datasets of ir_datasets, with the real package and without a network."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

import sicetnon
from sicetnon.errors import DataError, UsageError

pytestmark = pytest.mark.skipif(not find_spec("ir_datasets"), reason="needs the extra datasets")
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("task", ["touche-2020-task-1", "touche-2022-task-2"])
def test_an_input_directory_is_a_dataset(task: str) -> None:
    dataset = sicetnon.load_ir_dataset(EXAMPLES / task)
    documents = list(dataset.docs_iter())
    with sicetnon.Index.build(EXAMPLES / task / "input") as index:
        assert len(documents) == dataset.docs_count() == index.document_count
        first = documents[0]
        (record,) = index.records([first.doc_id])
        assert first.default_text() == record.default_text()
    store = dataset.docs_store()
    assert store.get(first.doc_id) == first
    assert store.get_many([first.doc_id, "unknown"]) == {first.doc_id: first}
    with pytest.raises(KeyError):
        store.get("unknown")
    topics = sicetnon.read_topics(EXAMPLES / task / "input" / "topics.xml")
    queries = list(dataset.queries_iter())
    assert [q.query_id for q in queries] == [topic.number for topic in topics]
    assert [q.default_text() for q in queries] == [topic.title for topic in topics]
    assert [q.objects for q in queries] == [topic.objects for topic in topics]
    assert dataset.has_qrels()


@pytest.mark.parametrize("task", ["touche-2020-task-1", "touche-2022-task-2"])
def test_slices_of_the_documents(task: str) -> None:
    dataset = sicetnon.load_ir_dataset(EXAMPLES / task)
    ids = [document.doc_id for document in dataset.docs_iter()]
    count = len(ids)
    for part, whole in [
        (slice(2), slice(2)),
        (slice(3, 9, 2), slice(3, 9, 2)),
        (slice(-3, None), slice(-3, None)),
        (slice(1, -2), slice(1, -2)),
        (slice(1 / 5), slice(count // 5)),
        (slice(1 / 3, 2 / 3), slice(count // 3, 2 * count // 3)),
        (slice(5, 2), slice(5, 2)),
        (slice(count - 1, count + 9), slice(count - 1, None)),
    ]:
        found = dataset.docs_iter()[part]
        assert [document.doc_id for document in found] == ids[whole]
        assert len(dataset.docs_iter()[part]) == len(ids[whole])
    assert [each.doc_id for each in dataset.docs_iter()[4:10][1:-1][:0.5]] == ids[5:7]
    assert [each.doc_id for each in dataset.docs_iter()[::2][::2]] == ids[::4]
    assert dataset.docs_iter()[-1].doc_id == ids[-1]
    assert dataset.docs_iter()[3].doc_id == dataset.docs_iter()[1:][2].doc_id == ids[3]
    documents = dataset.docs_iter()
    assert next(documents).doc_id == ids[0]
    assert next(documents).doc_id == ids[1]
    for wrong in (count, -count - 1):
        with pytest.raises(IndexError):
            dataset.docs_iter()[wrong]
    for unfit in (slice(1.5), slice(None, None, -1)):
        with pytest.raises(ValueError, match="expected"):
            dataset.docs_iter()[unfit]


def test_a_slice_at_the_start_reads_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    from sicetnon.app import ir_handlers

    read: list[str] = []
    made = ir_handlers._document
    monkeypatch.setattr(ir_handlers, "_document", lambda each: read.append(each.id) or made(each))
    dataset = sicetnon.load_ir_dataset(EXAMPLES / "touche-2020-task-1")
    assert len([*dataset.docs_iter()[:2], *dataset.docs_iter()[1:1]]) == 2
    assert len(read) <= 8


def test_languages_and_text_fields(tmp_path: Path) -> None:
    for task in ("touche-2020-task-1", "touche-2022-task-2"):
        dataset = sicetnon.load_ir_dataset(EXAMPLES / task)
        assert (dataset.docs_lang(), dataset.queries_lang()) == ("en", "en")
        # as PyTerrier finds the texts of a data set
        kinds = dataset.docs_cls().__annotations__
        assert kinds["doc_id"] is kinds["text"] is str
        assert dataset.queries_cls().__annotations__["title"] is str
        assert isinstance(next(dataset.docs_iter()), dataset.docs_cls())
    assert dataset.docs_cls()._fields == ("doc_id", "text", "chatnoir_url")
    with sicetnon.Index.build([each._asdict() for each in dataset.docs_iter()[:2]]) as index:
        assert index.fields == ("text",)
    (tmp_path / "documents.jsonl").write_text(json.dumps({"docno": "d1", "text": "tea"}) + "\n")
    (tmp_path / "queries.jsonl").write_text(json.dumps({"qid": "1", "query": "tea?"}) + "\n")
    dataset = sicetnon.load_ir_dataset(tmp_path)
    assert (dataset.docs_lang(), dataset.queries_lang()) == (None, None)


def test_pages_have_a_title(tmp_path: Path) -> None:
    pytest.importorskip("resiliparse")
    (tmp_path / "x.html").write_text("<title>Tea</title><p>Tea stains.</p>")
    dataset = sicetnon.load_ir_dataset(tmp_path)
    assert dataset.docs_cls()._fields == ("doc_id", "title", "text", "url")
    assert dataset.docs_iter()[0] == ("x", "Tea", "Tea stains.", "")
    assert dataset.docs_iter()[0].default_text() == "Tea\nTea stains."


def test_registered_datasets_are_loaded_by_their_ids() -> None:
    ids = sicetnon.register_ir_dataset(EXAMPLES / "touche-2020-task-1", "sample")
    assert ids[0] == "sicetnon/sample"
    assert set(ids) >= {"sicetnon/sample/relevance", "sicetnon/sample/quality"}
    import ir_datasets

    assert set(ids) <= set(ir_datasets.registry)
    main, quality = (ir_datasets.load(f"sicetnon/sample{part}") for part in ("", "/quality"))
    file = EXAMPLES / "touche-2020-task-1" / "relevance.qrels"
    assert len(list(main.qrels_iter())) == len(file.read_text().splitlines())
    assert main.qrels_dict() != quality.qrels_dict()
    with pytest.raises(UsageError, match="already; choose a name"):
        sicetnon.register_ir_dataset(EXAMPLES / "touche-2020-task-1", "sample")
    with sicetnon.Index.build("sicetnon/sample") as index:
        assert index.manifest.records == "arguments"
        run = index.system("bm25").retrieve(
            [sicetnon.Topic(q.query_id, q.title) for q in main.queries_iter()], 100
        )
        (score,) = sicetnon.evaluate(run, main, ["nDCG@5"])
        assert score.mean == sicetnon.evaluate(run, file, ["nDCG@5"])[0].mean > 0.3
        table = sicetnon.experiment([index.system("bm25")], main, main, measures=["nDCG@5"])
        assert "nDCG" in str(table)


def test_tirex_documents_and_queries(tmp_path: Path) -> None:
    (tmp_path / "documents.jsonl").write_text(json.dumps({"docno": "d1", "text": "tea"}) + "\n")
    (tmp_path / "queries.jsonl").write_text(json.dumps({"qid": "1", "query": "tea?"}) + "\n")
    dataset = sicetnon.load_ir_dataset(tmp_path)
    assert [d.doc_id for d in dataset.docs_iter()] == ["d1"]
    assert [q.title for q in dataset.queries_iter()] == ["tea?"]
    assert not dataset.has_qrels()


def test_what_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no corpus"):
        sicetnon.load_ir_dataset(tmp_path)
    with pytest.raises(DataError, match="there is no such folder"):
        sicetnon.load_ir_dataset(tmp_path / "missing")
    with pytest.raises(UsageError, match="no judgments 'beauty'; there are: "):
        sicetnon.load_ir_dataset(EXAMPLES / "touche-2020-task-1", "beauty")
