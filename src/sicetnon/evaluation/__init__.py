"""Judging runs: measures, intervals, comparison, stances, validation, published scores."""

from sicetnon.evaluation.comparison import Comparison
from sicetnon.evaluation.corpus import Coverage, check_corpus
from sicetnon.evaluation.experiment import evaluate
from sicetnon.evaluation.measures import OFFICIAL_NDCG, Measure, parse_measure
from sicetnon.evaluation.qrels import Qrels, load_qrels
from sicetnon.evaluation.rules import RULES
from sicetnon.evaluation.runs import load_run
from sicetnon.evaluation.scores import EvaluationWarning, Score
from sicetnon.records import Run

__all__ = [
    "OFFICIAL_NDCG",
    "RULES",
    "Comparison",
    "Coverage",
    "EvaluationWarning",
    "Measure",
    "Qrels",
    "Run",
    "Score",
    "check_corpus",
    "evaluate",
    "load_qrels",
    "load_run",
    "parse_measure",
]
