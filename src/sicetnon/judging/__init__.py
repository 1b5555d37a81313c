"""Judging: pools of runs, votes of assessors in one file, agreement, judgments made of votes."""

from sicetnon.judging.exchange import export_judgments, import_judgments
from sicetnon.judging.pooling import make_pool
from sicetnon.judging.scales import Scale, scales_of
from sicetnon.judging.schema import NotSavedError, Plan
from sicetnon.judging.store import Action, Item, JudgingFile, Receipt
from sicetnon.judging.votes import COMBINATIONS, combine

__all__ = [
    "COMBINATIONS",
    "Action",
    "Item",
    "JudgingFile",
    "NotSavedError",
    "Plan",
    "Receipt",
    "Scale",
    "combine",
    "export_judgments",
    "import_judgments",
    "make_pool",
    "scales_of",
]
