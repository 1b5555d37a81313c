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
