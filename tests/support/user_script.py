"""A program of a user's: everything that the first page of the documentation promises."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

import sicetnon

Reals = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LogLogistic(sicetnon.WeightingModel):
    c: float = 1.0

    def score(
        self,
        tf: Reals,
        length: Reals,
        term: sicetnon.TermStatistics,
        collection: sicetnon.CollectionStatistics,
    ) -> Reals:
        normalised: Reals = tf * np.log(1 + self.c * collection.average_length / length)
        share = term.documents / collection.documents
        found: Reals = np.log((share + normalised) / share)
        return found


class LongestFirst:
    def __init__(self, index: sicetnon.Index):
        self.index = index

    def apply(self, topic: sicetnon.Topic, ranking: sicetnon.Ranking) -> sicetnon.Ranking:
        lengths = [len(record.default_text()) for record in self.index.records(ranking.ids)]
        order = np.argsort(-np.array(lengths), kind="stable")
        return replace(ranking.taken(order, np.sort(ranking.scores)[::-1]), topic=topic)


def main(folder: Path) -> str:
    texts = ["Tenure protects academic freedom.", "Tenure costs money."]
    index = sicetnon.Index.build(texts)
    for answer in index.search("Should teachers get tenure?", k=5):
        print(answer.rank, answer.id, answer.snippet.text)  # noqa: T201
    bm25 = sicetnon.System(index.retriever(sicetnon.BM25(k1=0.9, b=0.4)))
    best = sicetnon.System(
        index.retriever(sicetnon.DirichletLM(mu=2000)), stages=[LongestFirst(index)]
    )
    own = sicetnon.System(index.retriever(LogLogistic(c=0.5), feedback=sicetnon.RM3()))
    topics = [sicetnon.Topic("1", "tenure"), sicetnon.Topic("2", "money")]
    qrels = {"1": {"0": 1, "1": 2}, "2": {"1": 1}}
    both = sicetnon.System(sicetnon.Joint([bm25, own]), name="both")
    table = sicetnon.experiment(
        [bm25, best, own, both], topics, qrels, measures=["nDCG@5", "judged@5"], baseline=0
    )
    rankings = best.retrieve(topics, 10)
    sicetnon.write_run(rankings, folder / "run.txt", "best")
    run: sicetnon.Run = sicetnon.load_run(folder / "run.txt")
    fused = sicetnon.fuse([run, run], sicetnon.Fusion("sum"))
    mean = sicetnon.evaluate(fused, qrels, ["nDCG@5"])[0].mean
    return f"{table}\n{mean:.4f}"
