"""Prints the tables of the University of Amsterdam's paper (CLEF 2020) beside ours.

    python -m benchmarks.effectiveness.uva [--encoder NAME …] [--entities] [--only PART …]

All parts are trained once for each encoder, with named entities where they are asked for. Reads
SICETNON_DATA (default: ../shared/data). Vectors are kept in the cache, since a language model takes
minutes. The paper's figures are on 320 arguments and all judgments; ours are on what is at
hand, so that the two columns must not be compared as if they were of one test.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import warnings
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.bench import DATA, Bench, in_order
from benchmarks.effectiveness.kept_vectors import KeptVectors, kept_entities
from benchmarks.effectiveness.uva_predictors import CLASSIFIERS, Features, Fit, rankers
from benchmarks.recorded import QRELS as QRELS_2
from benchmarks.recorded import TOPIC, recorded_pages
from sicetnon.evaluation import experiment, load_qrels, parse_measure
from sicetnon.evaluation.scores import EvaluationWarning
from sicetnon.formats.argquality import JudgedArgument, read_quality
from sicetnon.formats.corpora import open_corpus
from sicetnon.formats.topics import read_topics
from sicetnon.index.reader import IndexReader
from sicetnon.index.writing import BuildOptions, build_index
from sicetnon.operating_system import cache_folder
from sicetnon.ranking.stages import BoundedMoves
from sicetnon.ranking.system import Stage, System
from sicetnon.records import Ranking, Topic, said
from sicetnon.retrieval.scoring import FieldScore
from sicetnon.retrieval.searcher import LocalRetriever
from sicetnon.retrieval.weighting import BM25
from sicetnon.text.analysis import named_analysis
from sicetnon.uva import ANALYSIS, systems, text_models
from sicetnon.uva import text_models as uva
from sicetnon.uva.learning import by_topic, is_good_of, train_argumentativeness, train_ranknet
from sicetnon.uva.predictors import SupportVectors, predictor_of
from sicetnon.uva.text_models import ENCODERS

CORPORA = {
    "Dagstuhl-15512 (51 of 320)": "dagstuhl-15512-partial.json",
    "Webis-ArgQuality-20": "webis-argquality20-arguments.csv",
}
QRELS_1 = "touche-2020-task-1-relevance.held-text.odd-topics.qrels"
# topics of Webis-ArgQuality-20 that ask what an odd topic of 2020 task 1 asks
TWINS = frozenset({"1", "6", "7", "12", "15", "16", "17", "18"})
DEPTHS = (5, 10, 20, 50)
MEASURES = ("nDCG@1", "nDCG@5", "nDCG@10", "AP")
FOLDS = 10
PARTS = ("classifiers", "rankers", "task-1", "task-2")


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
        for fit in CLASSIFIERS:
            right = 0
            for test in folds(groups):
                model = fit(vectors[~test], is_good[~test])
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


def ranked(
    arguments: Sequence[JudgedArgument], encoder: str, fit: Fit, with_entities: bool
) -> list[float]:
    """nDCG@1 and @5 over topics held out; the quality classifier does not see them either."""
    texts = [argument.text for argument in arguments]
    vectors, is_good = KeptVectors(encoder).encode(texts), is_good_of(arguments)
    extra = kept_entities()(texts) if with_entities else np.zeros((len(texts), 0))
    values: dict[int, list[float]] = {1: [], 5: []}
    for test in folds([argument.topic for argument in arguments]):
        svm = SupportVectors.fit(vectors[~test], is_good[~test])
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
    found = kept_entities()(texts)
    for kind, column in (("numerical", 0), ("other", 1)):
        strong, weak = found[is_good, column].mean(), found[~is_good, column].mean()
        print(f"{name:<27} {kind:<10} {strong:>6.1%} of {is_good.sum():<4} "
              f"{weak:>6.1%} of {(~is_good).sum()}")  # fmt: skip


def ranker_of(
    encoder: str, with_entities: bool, left_out: frozenset[str] = frozenset()
) -> uva.StrengthRanker:
    """The ranker trained as `sicetnon train` does, but without some topics."""
    arguments = [
        argument
        for file in CORPORA.values()
        for argument in read_quality(DATA / "train/quality" / file)
        if argument.topic not in left_out
    ]
    kept, texts = KeptVectors(encoder), [argument.text for argument in arguments]
    vectors = kept.encode(texts)
    quality = uva.TextClassifier(SupportVectors.fit(vectors, is_good_of(arguments)), kept)
    features = uva.strength_features(texts, vectors, quality, with_entities)
    model = train_ranknet(by_topic(arguments, features))
    return uva.StrengthRanker(model, quality, with_entities)


class TaskOne:
    """2020 task 1, on the judgments whose texts are at hand."""

    def __init__(self) -> None:
        source = DATA / "touche-2020-task-1" / "input"
        folder = cache_folder() / "benchmark-uva"
        build_index(open_corpus([source]), folder, BuildOptions(named_analysis(ANALYSIS)))
        self.index = IndexReader.open(folder)
        self.qrels = load_qrels(DATA / "qrels" / QRELS_1)
        self.topics = [t for t in read_topics(source / "topics.xml") if int(t.number) % 2]
        self.retriever = LocalRetriever(self.index, [FieldScore(BM25(1.2, 0.75))])
        self._lengths: dict[str, dict[str, float]] = {}
        self.bm25 = System(self.retriever).retrieve(self.topics, 1000)

    def judged(self) -> tuple[list[str], NDArray[np.bool_]]:
        """The judged texts, and which of them are relevant."""
        lines = (DATA / "qrels" / QRELS_1).read_text().splitlines()
        pairs = [(line.split()[2], float(line.split()[3]) > 0) for line in lines]
        known = [(name, good) for name, good in pairs if self.index.number(name) is not None]
        records = self.index.records([name for name, _ in known])
        return [r.default_text() for r in records], np.array([good for _, good in known])

    def show(self, encoders: Sequence[str], with_entities: bool) -> None:
        """Tables and figures on the judgments."""
        texts, _ = self.judged()
        print("\nTable 3, 2020 task 1, 24 odd topics, condensed rule, judgments with text at hand"
              "\n  (paper, 49 topics, all judgments: .521 .555 .371, MAP .113)")  # fmt: skip
        print(f"{'':<54} {' '.join(f'{measure:>8}' for measure in MEASURES)}")
        self._row("BM25, stop words kept", self.bm25)
        low = {"shipped": self._rows("as shipped", uva.StrengthRanker.read(), texts)}
        for encoder in encoders:
            trained = ranker_of(encoder, with_entities)
            low[encoder] = self._rows(encoder, trained, texts)
            unseeing = ranker_of(encoder, with_entities, TWINS)
            self._rows(f"{encoder}, topics unseen", unseeing, texts)
        for name, share in low.items():
            print(f"classifier {name} says low of {share:.1%} of {len(texts)} judged arguments"
                  "  (paper: >90%)")  # fmt: skip

    def _rows(self, name: str, ranker: uva.StrengthRanker, judged: Sequence[str]) -> float:
        """A row for each number of arguments sorted; the share that the classifier calls low."""
        found = [
            [said(record) for record in self.index.records(ranking.ids[: max(DEPTHS)])]
            for ranking in self.bm25
        ]
        texts = list(dict.fromkeys(text for texts in found for text in texts))
        strength = dict(zip(texts, ranker.score(texts), strict=True))

        def score(_: Topic, ranking: Ranking) -> list[float]:
            return [strength[said(record)] for record in self.index.records(ranking.ids)]

        for depth in DEPTHS:
            stage = BoundedMoves(score, bound=None, depth=depth)
            rankings = [stage.apply(ranking.topic, ranking) for ranking in self.bm25]
            values = self._row(f"UvATask1LTR, best {depth}, {name}", rankings)
            if depth == systems.RERANKED:
                self._lengths[name] = values
        return float(1 - ranker.quality.is_good(judged).mean())

    def _row(self, name: str, rankings: Sequence[Ranking]) -> dict[str, float]:
        run = [in_order(ranking.topic, ranking.ids) for ranking in rankings]
        scores = experiment([run], None, self.qrels, MEASURES, rule="condensed").scores
        print(f"{name:<54} {' '.join(f'{score.mean:>8.4f}' for score in scores)}", flush=True)
        return dict(scores[1].values)

    def show_query_lengths(self) -> None:
        """Figure 5 of the paper, for every ranker shown before."""
        print("\nFigure 5, words of a title by range of nDCG@5  (paper: shorter queries do better)")
        words = {topic.number: len(topic.title.split()) for topic in self.topics}
        for name, values in self._lengths.items():
            cells = []
            for low in (0.0, 0.25, 0.5, 0.75):
                last = low + 0.25 + (low == 0.75)
                inside = [words[t] for t, v in values.items() if low <= v < last]
                mean = f"{statistics.mean(inside):.2f}" if inside else "-"
                cells.append(f"{low:.2f} to {low + 0.25:.2f}: {mean} ({len(inside)} topics)")
            print(f"{name:<32} {', '.join(cells)}")


def pages_classifier(encoder: str) -> tuple[uva.TextClassifier, float]:
    """The classifier of argumentative pages, and its accuracy on texts held out."""
    kept = KeptVectors(encoder)
    arguments, others = (
        [str(DATA / name / "input")] for name in ("touche-2020-task-1", "touche-2022-task-2")
    )
    parameters = train_argumentativeness(arguments, others, kept)
    accuracy = parameters.card.figures["accuracy on the last fifth"]
    return uva.TextClassifier(predictor_of(parameters), kept), accuracy


def show_ablation(encoders: Sequence[str]) -> None:
    """Table 5 of the paper, on the one topic whose hits were recorded."""
    pages, qrels = recorded_pages(), load_qrels(DATA / "qrels" / QRELS_2)

    def row(name: str, *stages: Stage) -> None:
        for rule in ("trec", "condensed"):
            measures = [parse_measure(measure, rule) for measure in MEASURES[:3]]
            found = Bench([TOPIC], [qrels], measures).scores(System(pages.retriever, stages))
            cells = " ".join(f"{score.values.get('1', float('nan')):.4f}" for score in found)
            print(f"{name:<28} {rule:<10} {cells}   judged@5 {found[1].judged:.2f}", flush=True)

    print("\nTable 5, 2020 task 2: topic 1 ALONE, recorded hits, snippets in place of texts"
          "\n  (paper, 50 topics, nDCG@5: initial .4480, PageRank .4256, domain .3845,"
          " classifier .4123, mixed .4464)")  # fmt: skip
    first = systems.by_page_rank(pages), systems.forums_first(pages)
    row("initial")
    row("PageRank", first[0])
    row("domain", first[1])
    for name in ("as shipped", *encoders):
        classifier, accuracy = (None, None) if name == "as shipped" else pages_classifier(name)
        if accuracy is not None:
            print(f"{name} has an accuracy of {accuracy:.3f} on a fifth held out  (paper: .87)")
        last = systems.arguments_first(pages, classifier)
        row(f"classifier, {name}", last)
        row(f"all, {name}", *first, last)


def show_task_one(
    corpora: dict[str, list[JudgedArgument]], encoders: Sequence[str], with_entities: bool
) -> None:
    """The scores of the paper's runs of task 1."""
    task = TaskOne()
    if with_entities:
        print("\nFigures 1 to 4, texts with named entities      strong         weak")
        for name, arguments in corpora.items():
            show_entities(name, [a.text for a in arguments], is_good_of(arguments))
        show_entities("judged, relevant or not", *task.judged())
    task.show(encoders, with_entities)
    task.show_query_lengths()


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--encoder", nargs="+", choices=ENCODERS, default=["words-first"])
    parser.add_argument("--entities", action="store_true", help="needs the extra entities")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="some tables only")
    given = parser.parse_args()
    text_models.entity_features = kept_entities()  # all rankers read the same texts
    if not (DATA / "train" / "quality").is_dir():
        print(f"{DATA} is not there; set SICETNON_DATA", file=sys.stderr)
        return 1
    corpora = {name: read_quality(DATA / "train/quality" / f) for name, f in CORPORA.items()}
    if "classifiers" in given.only:
        show_classifiers(corpora, given.encoder)
    if "rankers" in given.only:
        show_rankers(corpora, given.encoder, given.entities)
    if "task-1" in given.only:
        show_task_one(corpora, given.encoder, given.entities)
    if "task-2" in given.only:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EvaluationWarning)  # one topic of 25, as said there
            show_ablation(given.encoder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
