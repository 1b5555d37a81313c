"""Stored numbers and vectors on a cluster: the same as in a folder, and so are dense rankings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cluster.conftest import LOADING
from sicetnon.app.index import Index
from sicetnon.cluster.address import parse_address
from sicetnon.cluster.remote_index import ClusterReader
from sicetnon.cluster.update import add_on_cluster, annotate_on_cluster
from sicetnon.errors import UsageError
from sicetnon.formats.corpora import memory_corpus
from sicetnon.formats.entries import EntryFields
from sicetnon.index.reader import IndexReader
from sicetnon.index.writing import BuildOptions, add_documents, annotate_index
from sicetnon.ranking.fusion import Fusion, Joint
from sicetnon.records import Topic
from sicetnon.retrieval.dense import Dense
from sicetnon.retrieval.scoring import FieldScore
from sicetnon.retrieval.searcher import LocalRetriever
from sicetnon.retrieval.weighting import BM25
from support.annotation_cases import EMBEDDING, QUALITY, annotator

WORDS = ("school", "teacher", "uniform", "tax", "meat", "zoo", "vote")
ROWS = [
    {"id": f"d{n}", "text": " ".join(WORDS[n * step % 7] for step in range(1, 2 + n % 5))}
    for n in range(150)
]
MORE = [{"id": f"d{n}", "text": f"{WORDS[n % 7]} rights {n}"} for n in range(140, 170)]
TOPICS = [Topic(str(n), title) for n, title in enumerate(["school uniform tax", "zoo", "", "x y"])]


def same(folder: IndexReader, cluster: IndexReader) -> None:
    """Compare what is stored, and the rankings of systems that stand on it."""
    for each in (QUALITY, EMBEDDING):
        expected, found = folder.annotation(each.name), cluster.annotation(each.name)
        assert expected is not None
        assert found is not None
        assert (found.model, found.reads) == (expected.model, expected.reads)
        ids = [f"d{n}" for n in range(0, 150, 7) if folder.number(f"d{n}") is not None]
        kept = expected[folder.numbers(ids)]
        np.testing.assert_array_equal(found[cluster.numbers(ids)], kept)
    for k in (1, 10, 1000):
        one, other = (_rankings(index, k) for index in (folder, cluster))
        assert one == other


def _rankings(index: IndexReader, k: int) -> list[tuple[tuple[str, ...], list[float]]]:
    dense = Dense(index, EMBEDDING)
    lexical = LocalRetriever(index, [FieldScore(BM25())])
    hybrid = Joint([lexical, dense], Fusion("sum", "z-score", weights=(2, 1)))
    return [
        (ranking.ids, ranking.scores.tolist())
        for system in (dense, hybrid)
        for ranking in system.retrieve(TOPICS, k)
    ]


def test_annotated_indexes_rank_the_same(new_address: Callable[[], str], tmp_path: Path) -> None:
    address, folder = new_address(), tmp_path / "index"
    for place in (folder, address):
        with Index.build(ROWS, place, cluster=LOADING) as index:
            index.delete(["d3", "d141"]).close()
    # one after the other: what is there stays
    for each in (QUALITY, EMBEDDING):
        annotate_index(folder, [each])
        annotate_on_cluster(parse_address(address), [each], loading=LOADING)
    with Index.open(folder) as one, Index.open(address) as other:
        same(one, other)
        other.verify()
    options = BuildOptions(one.analysis, annotators=[EMBEDDING, QUALITY])
    corpus = memory_corpus(MORE, EntryFields())
    add_documents(corpus, folder, options, replace=True)
    corpus = memory_corpus(MORE, EntryFields())
    add_on_cluster(corpus, parse_address(address), options, replace=True, loading=LOADING)
    with Index.open(folder) as one, Index.open(address) as other:
        same(one, other)


def test_what_is_added_is_annotated_alike(new_address: Callable[[], str]) -> None:
    address = parse_address(new_address())
    Index.build(ROWS, address, cluster=LOADING).close()
    annotate_on_cluster(address, [QUALITY], loading=LOADING)
    with ClusterReader.open(address) as index:
        for annotators in ([], [annotator("quality", "other 2")]):
            options = BuildOptions(index.analysis, annotators=annotators)
            corpus = memory_corpus(MORE, EntryFields())
            with pytest.raises(UsageError, match="the quality of its documents is by stand-in 1"):
                add_on_cluster(corpus, address, options, loading=LOADING)
        assert len(index.annotation("quality") or ()) == 150
        assert index.annotation("embedding") is None
