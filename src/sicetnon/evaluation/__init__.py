"""Evaluation of runs: measures, rules, intervals, significance, experiments, published scores."""

from sicetnon.evaluation.baseline import PairedComparison
from sicetnon.evaluation.corpus import JudgedCoverage, check_corpus
from sicetnon.evaluation.experiment import Experiment, experiment
from sicetnon.evaluation.measures import OFFICIAL_NDCG, Measure, parse_measure
from sicetnon.evaluation.qrels import Qrels, load_qrels
from sicetnon.evaluation.runs import load_run
from sicetnon.evaluation.scores import EvaluationWarning, Score, evaluate
from sicetnon.evaluation.topics import load_topics
from sicetnon.records import Run

__all__ = [
    "OFFICIAL_NDCG",
    "EvaluationWarning",
    "Experiment",
    "JudgedCoverage",
    "Measure",
    "PairedComparison",
    "Qrels",
    "Run",
    "Score",
    "check_corpus",
    "evaluate",
    "experiment",
    "load_qrels",
    "load_run",
    "load_topics",
    "parse_measure",
]
