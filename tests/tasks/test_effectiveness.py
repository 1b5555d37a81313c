"""The floor under the effectiveness of task 1's systems, on the odd topics of the real corpus."""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from sicetnon.formats.corpora import open_corpus
from sicetnon.formats.qrels import read_qrels
from sicetnon.formats.topics import read_topics
from sicetnon.index.reader import IndexReader
from sicetnon.index.writing import BuildOptions, build_index
from sicetnon.tasks.touche_2020_task_1 import TASK
from sicetnon.text.analysis import named_analysis

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("SICETNON_DATA") or ROOT / "../shared/data")
INPUT = DATA / TASK.id / "input"
QRELS = DATA / "qrels" / f"{TASK.id}-relevance.held-text.odd-topics.qrels"
DEPTH = 5

pytestmark = pytest.mark.skipif(
    not (INPUT.is_dir() and QRELS.is_file()),
    reason=f"no corpus and judgments of {TASK.id} under {DATA}; set SICETNON_DATA",
)

Qrels = Mapping[str, Mapping[str, int]]


def ndcg(found: Sequence[str], labels: Mapping[str, int]) -> float:
    """nDCG@5, gains the labels themselves, negative and missing ones 0."""

    def dcg(gains: Sequence[int]) -> float:
        return sum(
            max(gain, 0) / math.log2(rank + 1) for rank, gain in enumerate(gains[:DEPTH], start=1)
        )

    ideal = dcg(sorted(labels.values(), reverse=True))
    return dcg([labels.get(document, 0) for document in found]) / ideal if ideal else 0.0


@pytest.fixture(scope="module")
def qrels() -> Qrels:
    labels: dict[str, dict[str, int]] = defaultdict(dict)
    for judgment in read_qrels(QRELS):
        labels[judgment.topic][judgment.document] = int(judgment.label)
    return labels


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexReader]:
    folder = tmp_path_factory.mktemp("effectiveness") / "index"
    build_index(open_corpus([INPUT]), folder, BuildOptions(named_analysis(TASK.analysis)))
    with IndexReader.open(folder) as opened_index:
        yield opened_index


def measured(index: IndexReader, system: str, qrels: Qrels) -> tuple[float, float]:
    """Mean nDCG@5, condensed (documents without judgment left out) and strict."""
    topics = [topic for topic in read_topics(INPUT / "topics.xml") if topic.number in qrels]
    condensed, strict = [], []
    for ranking in TASK.system(system, index).retrieve(topics, 1000):
        labels = qrels[ranking.topic.number]
        found = ranking.ids
        strict.append(ndcg(found, labels))
        condensed.append(ndcg([document for document in found if document in labels], labels))
    assert len(strict) == len(qrels) > 20
    return sum(condensed) / len(qrels), sum(strict) / len(qrels)


@pytest.mark.parametrize(
    ("system", "condensed", "strict"),
    [
        ("default", 0.89, 0.68),
        ("dirichlet", 0.87, 0.66),
        ("bm25", 0.87, 0.63),
        ("dirichlet-rm3", 0.87, 0.65),
        ("dph", 0.73, 0.27),
    ],
)
def test_systems_reach_their_figures(
    index: IndexReader, qrels: Qrels, system: str, condensed: float, strict: float
) -> None:
    found = measured(index, system, qrels)
    print(f"{system}: nDCG@5 {found[0]:.4f} condensed, {found[1]:.4f} strict")  # noqa: T201
    assert found[0] >= condensed
    assert found[1] >= strict


def test_the_measure_on_a_hand_worked_example() -> None:
    labels = {"a": 3, "b": 1, "c": -2}
    ideal = 3 + 1 / math.log2(3)
    assert ndcg(["c", "a", "x"], labels) == pytest.approx((3 / math.log2(3)) / ideal)
    assert ndcg(["a", "b", "c"], labels) == pytest.approx(1.0)
    assert ndcg(["a"], {"c": -2}) == 0.0
