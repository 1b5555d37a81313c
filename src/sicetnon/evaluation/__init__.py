"""Evaluation of runs: measures, rules, intervals, significance, experiments, published scores."""

from sicetnon.evaluation.experiment import Experiment, experiment
from sicetnon.evaluation.inputs import Qrels, load_qrels, load_run, load_topics
from sicetnon.evaluation.measures import OFFICIAL_NDCG, Measure, parse_measure
from sicetnon.evaluation.scores import (
    EvaluationWarning,
    JudgedCoverage,
    Score,
    check_corpus,
    evaluate,
)
from sicetnon.evaluation.significance import PairedComparison
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
