"""Rankings of a cluster beside those of a folder: the share that is identical, and what it takes.

python -m benchmarks.cluster.same INPUT --hosts host:9200,host:9201 --shards 1 3 6

For each number of shards, before and after a twentieth of the documents is deleted, each system's
rankings of all topics are compared: ids and scores, to the last bit. A way of finding candidates is
`skipping` documents, by `script` over all documents with a term, or fetching `all` of these.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from sicetnon.app.index import Index
from sicetnon.cluster.build import ClusterOptions
from sicetnon.evaluation import evaluate, load_qrels
from sicetnon.formats.topics import read_topics
from sicetnon.records import Ranking, Run, Topic
from sicetnon.retrieval.feedback import RM3, Feedback
from sicetnon.retrieval.scoring import BM25F, Coverage, FieldScore, Scoring
from sicetnon.retrieval.searcher import LocalRetriever
from sicetnon.retrieval.weighting import (
    BM25,
    DLH,
    DPH,
    PL2,
    TFIDF,
    DirichletLM,
    JelinekMercer,
)

SYSTEMS: dict[str, tuple[Sequence[Scoring], Feedback | None]] = {
    "BM25": ([FieldScore(BM25())], None),
    "BM25, fields weighted": ([FieldScore(BM25(), {"premise": 1.0, "conclusion": 0.3})], None),
    "BM25 plus": ([FieldScore(BM25(variant="plus"))], None),
    "BM25F": ([BM25F({})], None),
    "DirichletLM": ([FieldScore(DirichletLM(2000))], None),
    "DirichletLM full": ([FieldScore(DirichletLM(2000, "full"))], None),
    "JelinekMercer": ([FieldScore(JelinekMercer())], None),
    "DPH": ([FieldScore(DPH())], None),
    "DLH": ([FieldScore(DLH())], None),
    "PL2": ([FieldScore(PL2())], None),
    "TFIDF": ([FieldScore(TFIDF())], None),
    "DirichletLM + RM3": ([FieldScore(DirichletLM(2000))], RM3()),
    "forms at a tenth + coverage": (
        [
            FieldScore(DirichletLM(3000), {"premise": 1.0}, other_forms=0.1),
            Coverage(("conclusion", "title")),
        ],
        None,
    ),
}


def main() -> None:
    """Print a table for each number of shards."""
    options = _options()
    topics = read_topics(options.input / "topics.xml")[: options.topics]
    hosts = f"opensearch+http://{options.hosts}"
    columns = ("shards", "deleted", "system", "same, first 10", "same, first 1,000", "way",
               "candidates", "nDCG@5")  # fmt: skip
    print(f"| {' | '.join(columns)} |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for shards in options.shards:
        with tempfile.TemporaryDirectory() as folder:
            address = f"{hosts}/same-{shards}"
            loading = ClusterOptions(shards=shards, replicas=0)
            places = (Path(folder) / "index", address)
            pair = [Index.build(options.input, place, cluster=loading) for place in places]
            for deleted in (0, len(pair[0]) // 20):
                if deleted:
                    gone = pair[0].identifiers(range(0, 20 * deleted, 20))
                    pair = [index.delete(gone) for index in pair]
                _compare(pair, topics, shards, deleted, options)


def _compare(
    pair: Sequence[Index],
    topics: Sequence[Topic],
    shards: int,
    deleted: int,
    options: argparse.Namespace,
) -> None:
    folder, cluster = pair[0], cast(Any, pair[1])  # a cluster's index counts what it does
    for name in options.systems:
        scores, feedback = SYSTEMS[name]
        cells, first, ways = [], None, Counter(cluster.ways)
        for k in (10, 1000):
            expected = LocalRetriever(folder, scores, feedback).retrieve(topics, k)
            before = cluster.candidates
            found = LocalRetriever(cluster, scores, feedback).retrieve(topics, k)
            fetched = (cluster.candidates - before) / len(topics)
            same = sum(map(_is_same, expected, found))
            cells.append((f"{same} of {len(topics)}", f"{fetched:,.0f}"))
            first = found if first is None else first
        shown = " / ".join(fetched for _, fetched in cells)
        effect = f"{_ndcg(first or [], options.qrels):.4f}" if options.qrels else ""
        print(
            f"| {shards} | {deleted:,} | {name} | {cells[0][0]} | {cells[1][0]} | "
            f"{_told(cluster.ways - ways)} | {shown} | "
            f"{effect} |",
            flush=True,
        )


def _told(ways: Counter[str]) -> str:
    """The ways in which candidates were found, with their shares where there are several."""
    total = sum(count for way, count in ways.items() if way)
    shares = [f"{way} {count / total:.0%}" for way, count in ways.most_common() if way]
    return ", ".join(shares).replace(" 100%", "")


def _is_same(one: Ranking, other: Ranking) -> bool:
    return one.ids == other.ids and one.scores.tolist() == other.scores.tolist()


def _ndcg(rankings: Sequence[Ranking], qrels: Path) -> float:
    run = Run("run", "run", {ranking.topic.number: ranking for ranking in rankings})
    return evaluate(run, load_qrels(qrels), rule="condensed")[0].mean


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("input", type=Path, help="an input directory of 2020 task 1")
    parser.add_argument("--hosts", required=True, help="host:9200,host:9201")
    parser.add_argument("--shards", type=int, nargs="+", default=[1, 3, 6])
    parser.add_argument("--topics", type=int, default=1000)
    parser.add_argument("--qrels", type=Path)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    return parser.parse_args()


if __name__ == "__main__":
    begin = time.monotonic()
    main()
    print(f"\n{time.monotonic() - begin:.0f} s")
