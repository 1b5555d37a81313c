"""Prints the tables of the University of Amsterdam's paper (CLEF 2020) beside ours.

    python benchmarks/uva.py [--encoder NAME …] [--entities]

Reads SICETNON_DATA (default: ../shared/data). Vectors are kept in the cache, since a language model
takes minutes. The paper's figures are on 320 arguments and all judgments; ours are on what is at
hand, so that the two columns must not be compared as if they were of one test.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sicetnon.arguments import uva
from sicetnon.arguments.entities import entity_features
from sicetnon.arguments.fitting import fit_forest, fit_svm, fit_tree
from sicetnon.arguments.predictors import Predictor
from sicetnon.arguments.representation import ENCODERS, named_encoder
from sicetnon.evaluation import evaluate, load_qrels
from sicetnon.evaluation.scores import EvaluationWarning
from sicetnon.formats.argquality import JudgedArgument, read_quality
from sicetnon.formats.corpora import open_corpus
from sicetnon.formats.topics import read_topics
from sicetnon.index.index import Index
from sicetnon.index.writing import BuildOptions, build_index
from sicetnon.ranking.pairwise import TopicFeatures, train
from sicetnon.ranking.strength import ByText
from sicetnon.records import Ranking, RunLine, Topic, WebPage
from sicetnon.retrieval.scoring import FieldScore
from sicetnon.retrieval.searcher import LocalRetriever
from sicetnon.retrieval.weighting import BM25
from sicetnon.sample import cache_folder
from sicetnon.tasks import uva as systems
from sicetnon.tasks.sources import PageSource
from sicetnon.tasks.system import System
from sicetnon.text.analysis import named_analysis
from sicetnon.training import DEFAULT_ENCODER, by_topic, is_good_of

DATA = Path(os.environ.get("SICETNON_DATA", "../shared/data"))
CORPORA = {
    "Dagstuhl-15512 (51 of 320)": "dagstuhl-15512-partial.json",
    "Webis-ArgQuality-20": "webis-argquality20-arguments.csv",
}
QRELS_1 = "touche-2020-task-1-relevance.held-text.odd-topics.qrels"
QRELS_2 = "touche-2020-task-2-relevance.odd-topics.qrels"
# topics of Webis-ArgQuality-20 that ask what an odd topic of 2020 task 1 asks
TWINS = frozenset({"1", "6", "7", "12", "15", "16", "17", "18"})
MEASURES = ("nDCG@1", "nDCG@5", "nDCG@10", "AP")
FOLDS = 10
Features = NDArray[np.float64]
Fit = Callable[[list[TopicFeatures]], Predictor]


class KeptVectors:
    """An encoder whose vectors are kept on disk."""

    def __init__(self, name: str):
        self.name, self._path = name, cache_folder() / f"uva-vectors-{name}.npz"
        self._known: dict[str, NDArray[np.float32]] = {}
        if self._path.is_file():
            with np.load(self._path, allow_pickle=False) as kept:
                self._known = dict(zip(kept["keys"].tolist(), kept["vectors"], strict=True))

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As the encoder of the name."""
        keys = [hashlib.sha1(text.encode("utf-8", "replace")).hexdigest() for text in texts]
        new = {k: text for k, text in zip(keys, texts, strict=True) if k not in self._known}
        if new:
            vectors = named_encoder(self.name).encode(list(new.values()))
            self._known.update(zip(new, vectors, strict=True))
            stacked = np.stack(list(self._known.values()))
            np.savez(self._path, keys=np.array(list(self._known)), vectors=stacked)
        return np.stack([self._known[key] for key in keys])


@cache
def entities(texts: tuple[str, ...]) -> NDArray[np.float32]:
    """As `entity_features`, found once."""
    return entity_features(texts)


def folds(groups: Sequence[object], seed: int = 0) -> Iterator[NDArray[np.bool_]]:
    """Which places are tested, ten times; those of one group are tested together."""
    names = sorted(set(map(str, groups)))
    order = np.random.default_rng(seed).permutation(len(names))
    fold_of = {names[place]: n % FOLDS for n, place in enumerate(order.tolist())}
    mine = np.array([fold_of[str(group)] for group in groups])
    return (mine == fold for fold in range(min(FOLDS, len(names))))


def accuracies(arguments: Sequence[JudgedArgument], vectors: NDArray[np.float32]) -> list[str]:
    """Accuracy of tree and SVM over ten folds, of random arguments and of whole topics."""
    is_good = is_good_of(arguments)
    cells = [f"{max(is_good.mean(), 1 - is_good.mean()):.3f}"]
    for groups in (range(len(arguments)), [argument.topic for argument in arguments]):
        for fit in (fit_tree, fit_svm):
            right = 0
            for test in folds(groups):
                model: Predictor = fit(vectors[~test], is_good[~test])
                right += int(((model.predict(vectors[test]) > 0) == is_good[test]).sum())
            cells.append(f"{right / len(arguments):.3f}")
    return cells


def show_classifiers(corpora: dict[str, list[JudgedArgument]], encoders: Sequence[str]) -> None:
    """Table 1 of the paper."""
    print("\nTable 1, accuracy of the quality classifiers  (paper: tree .43, SVM .53)")
    print(f"{'':<44} majority  tree   SVM   by topic: tree   SVM")
    for name, arguments in corpora.items():
        for encoder in encoders:
            vectors = KeptVectors(encoder).encode([a.text for a in arguments])
            cells = accuracies(arguments, vectors)
            print(f"{name:<27} {encoder:<16} {cells[0]:>8} {cells[1]:>6} {cells[2]:>5} "
                  f"{cells[3]:>15} {cells[4]:>5}", flush=True)  # fmt: skip


def ndcg(scores: Features, labels: Features, depth: int) -> float:
    """With gain 2^label - 1, as RankLib has it."""
    gains = 2**labels - 1
    discounts = 1 / np.log2(np.arange(len(gains)) + 2)

    def worth(ordered: Features) -> float:
        return float((ordered * discounts)[:depth].sum())

    ideal = worth(np.sort(gains)[::-1])
    return worth(gains[np.argsort(-scores, kind="stable")]) / ideal if ideal else 0.0


def rankers() -> dict[str, Fit]:
    """The three models of the paper, and none."""

    def forest(topics: list[TopicFeatures]) -> Predictor:
        rows = np.vstack([topic.features for topic in topics])
        return fit_forest(rows, np.concatenate([topic.labels for topic in topics]), 100)

    class Chance:
        def predict(self, features: Features) -> Features:
            return np.random.default_rng(len(features)).random(len(features))

        def arrays(self) -> dict[str, Features]:
            return {}

    return {
        "RankNet": lambda topics: train(topics, "ranknet"),
        "random forest": forest,
        "LambdaRank": lambda topics: train(topics, "lambdarank"),
        "(any order)": lambda _: Chance(),
    }


def ranked(
    arguments: Sequence[JudgedArgument], encoder: str, fit: Fit, with_entities: bool
) -> list[float]:
    """nDCG@1 and @5 over topics held out; the quality classifier does not see them either."""
    texts = [argument.text for argument in arguments]
    vectors, is_good = KeptVectors(encoder).encode(texts), is_good_of(arguments)
    extra = entities(tuple(texts)) if with_entities else np.zeros((len(texts), 0))
    values: dict[int, list[float]] = {1: [], 5: []}
    for test in folds([argument.topic for argument in arguments]):
        svm = fit_svm(vectors[~test], is_good[~test])
        label = (svm.predict(vectors) > 0)[:, None]
        features = np.hstack([vectors, label, extra]).astype(np.float64)
        learned, tested = (
            by_topic([a for a, t in zip(arguments, test, strict=True) if t == part],
                     features[test == part]) for part in (False, True)
        )  # fmt: skip
        model = fit(learned)
        for topic in tested:
            for depth, found in values.items():
                found.append(ndcg(model.predict(topic.features), topic.labels, depth))
    return [statistics.mean(found) for found in values.values()]


def show_rankers(
    corpora: dict[str, list[JudgedArgument]], encoders: Sequence[str], with_entities: bool
) -> None:
    """Table 2 of the paper."""
    print("\nTable 2, rankers, nDCG@1 and @5 on topics held out"
          "  (paper: RankNet .873 .959, forest .733 .916, LambdaRank .778 .929)")  # fmt: skip
    for name, arguments in corpora.items():
        for encoder in encoders:
            for model, fit in rankers().items():
                first, fifth = ranked(arguments, encoder, fit, with_entities)
                print(f"{name:<27} {encoder:<16} {model:<14} {first:.3f} {fifth:.3f}", flush=True)


def show_entities(name: str, texts: Sequence[str], is_good: NDArray[np.bool_]) -> None:
    """Figures 1 to 4 of the paper: the share of texts with entities, by class."""
    found = entities(tuple(texts))
    for kind, column in (("numerical", 0), ("other", 1)):
        strong, weak = found[is_good, column].mean(), found[~is_good, column].mean()
        print(f"{name:<27} {kind:<10} {strong:>6.1%} of {is_good.sum():<4} "
              f"{weak:>6.1%} of {(~is_good).sum()}")  # fmt: skip


def unseeing_ranker() -> uva.StrengthRanker:
    """The ranker trained as the shipped one, but without the topics that it is tested on."""
    arguments = [
        argument
        for file in CORPORA.values()
        for argument in read_quality(DATA / "train/quality" / file)
        if argument.topic not in TWINS
    ]
    encoder, texts = named_encoder(DEFAULT_ENCODER), [argument.text for argument in arguments]
    vectors = encoder.encode(texts)
    quality = uva.TextClassifier(fit_svm(vectors, is_good_of(arguments)), encoder)
    features = uva.strength_features(texts, vectors, quality, False)
    return uva.StrengthRanker(train(by_topic(arguments, features), "ranknet"), quality, False)


class TaskOne:
    """2020 task 1, on the judgments whose texts are at hand."""

    def __init__(self) -> None:
        source = DATA / "touche-2020-task-1" / "input"
        folder = cache_folder() / "benchmark-uva"
        build_index(open_corpus([source]), folder, BuildOptions(named_analysis(systems.ANALYSIS)))
        self.index = Index.open(folder)
        self.qrels = load_qrels(DATA / "qrels" / QRELS_1)
        self.topics = [t for t in read_topics(source / "topics.xml") if int(t.number) % 2]
        self.retriever = LocalRetriever(self.index, [FieldScore(BM25(1.2, 0.75))])
        self.ranker = uva.StrengthRanker.read()
        self.unseeing = unseeing_ranker()

    def judged(self) -> tuple[list[str], NDArray[np.bool_]]:
        """The judged texts, and which of them are relevant."""
        lines = (DATA / "qrels" / QRELS_1).read_text().splitlines()
        pairs = [(line.split()[2], float(line.split()[3]) > 0) for line in lines]
        known = [(n, good) for name, good in pairs if (n := self.index.number(name)) is not None]
        records = self.index.records([number for number, _ in known])
        return [r.default_text() for r in records], np.array([good for _, good in known])

    def show(self) -> None:
        """Tables and figures on the judgments."""
        texts, _ = self.judged()
        low = 1 - self.ranker.quality.is_good(texts).mean()
        print(f"\nclassifier says low of {low:.1%} of {len(texts)} judged arguments  (paper: >90%)")
        print("\nTable 3, 2020 task 1, 24 odd topics, condensed rule, judgments with text at hand"
              "\n  (paper, 49 topics, all judgments: .521 .555 .371, MAP .113)")  # fmt: skip
        print(f"{'':<40} {' '.join(f'{measure:>8}' for measure in MEASURES)}")
        bm25 = System(self.retriever).rank(self.topics, 1000)
        self._row("BM25, stop words kept", bm25)
        chosen: dict[str, float] = {}
        rankers = {"as shipped": self.ranker, "topics unseen": self.unseeing}
        for name, ranker in rankers.items():
            for depth in (5, 10, 20, 50):
                stage = ByText(self.index.records, ranker.score, depth)
                rankings = [stage.apply(ranking.topic, ranking) for ranking in bm25]
                values = self._row(f"UvATask1LTR, best {depth}, {name}", rankings)
                if depth == systems.RERANKED:
                    chosen = values
        self._query_lengths(chosen)

    def _row(self, name: str, rankings: Sequence[Ranking]) -> dict[str, float]:
        lines = run_lines(rankings, lambda r: self.index.identifiers(r.documents))
        scores = evaluate(lines, self.qrels, MEASURES, rule="condensed")
        print(f"{name:<40} {' '.join(f'{score.mean:>8.4f}' for score in scores)}", flush=True)
        return dict(scores[1].values)

    def _query_lengths(self, values: dict[str, float]) -> None:
        print("\nFigure 5, words of a title by range of nDCG@5  (paper: shorter queries do better)")
        words = {topic.number: len(topic.title.split()) for topic in self.topics}
        for low in (0.0, 0.25, 0.5, 0.75):
            inside = [words[t] for t, v in values.items() if low <= v < low + 0.25 + (low == 0.75)]
            mean = f"{statistics.mean(inside):.2f}" if inside else "-"
            print(f"{low:.2f} to {low + 0.25:.2f}   {mean} words, {len(inside)} topics")


def run_lines(
    rankings: Sequence[Ranking], names: Callable[[Ranking], Sequence[str]]
) -> list[RunLine]:
    """A run in memory."""
    return [
        RunLine(ranking.topic.number, "Q0", document, place, -float(place), "run")
        for ranking in rankings
        for place, document in enumerate(names(ranking), start=1)
    ]


def recorded() -> PageSource:
    """The hits of ChatNoir that were recorded for topic 1, with snippets in place of texts."""
    hits = json.loads((DATA / "touche-2020-task-2" / "chatnoir-recorded-hits.json").read_text())
    best = {hit["trec_id"]: hit for hit in sorted(hits, key=lambda hit: hit["score"])}
    found = sorted(best.values(), key=lambda hit: -hit["score"])
    pages = [
        WebPage(hit["trec_id"], hit["title"], "", hit["target_uri"], hit["target_hostname"],
                hit["page_rank"], hit["spam_rank"], hit["snippet"])
        for hit in found
    ]  # fmt: skip
    scores = np.array([hit["score"] for hit in found])

    class Recorded:
        def retrieve(self, topics: Sequence[Topic], k: int) -> list[Ranking]:
            names = tuple(page.id for page in pages)
            return [Ranking(t, np.arange(len(pages)), scores, names=names) for t in topics]

    def read(numbers: Sequence[int]) -> list[WebPage]:
        return [pages[number] for number in numbers]

    return PageSource("recorded hits", Recorded(), read, read)


def show_ablation() -> None:
    """Table 5 of the paper, on the one topic whose hits were recorded."""
    print("\nTable 5, 2020 task 2: topic 1 alone, recorded hits, snippets in place of texts"
          "\n  (paper, 50 topics, nDCG@5: initial .4480, PageRank .4256, domain .3845,"
          " classifier .4123, mixed .4464)")  # fmt: skip
    source, topic = recorded(), Topic("1", "What is the difference between sex and love?")
    qrels = load_qrels(DATA / "qrels" / QRELS_2)
    for name, build in (
        {"initial": lambda s: System(s.retriever)} | systems.TASK_2_SYSTEMS
    ).items():
        lines = run_lines(build(source).rank([topic], 1000), lambda r: r.names or ())
        for rule in ("trec", "condensed"):
            found = evaluate(lines, qrels, MEASURES[:3], rule=rule)
            cells = " ".join(f"{score.values.get('1', float('nan')):.4f}" for score in found)
            print(f"{name:<24} {rule:<10} {cells}   judged@5 {found[1].judged:.2f}")


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--encoder", nargs="+", choices=ENCODERS, default=["words-first"])
    parser.add_argument("--entities", action="store_true", help="needs the extra entities")
    given = parser.parse_args()
    if not (DATA / "train" / "quality").is_dir():
        print(f"{DATA} is not there; set SICETNON_DATA", file=sys.stderr)
        return 1
    corpora = {name: read_quality(DATA / "train/quality" / f) for name, f in CORPORA.items()}
    show_classifiers(corpora, given.encoder)
    show_rankers(corpora, given.encoder, given.entities)
    task = TaskOne()
    if given.entities:
        print("\nFigures 1 to 4, texts with named entities      strong         weak")
        for name, arguments in corpora.items():
            show_entities(name, [a.text for a in arguments], is_good_of(arguments))
        show_entities("judged, relevant or not", *task.judged())
    task.show()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvaluationWarning)  # one topic of 25, as said there
        show_ablation()
    return 0


if __name__ == "__main__":
    sys.exit(main())
