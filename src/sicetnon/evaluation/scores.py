"""A score, and the warning that one may not say what it seems to say."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass

from sicetnon.evaluation.comparison import Comparison
from sicetnon.evaluation.qrels import Dimension
from sicetnon.evaluation.rules import Rule


class EvaluationWarning(UserWarning):
    """A score can be computed, but may not say what it seems to say."""


@dataclass(frozen=True)
class Score:
    """What a measure says of a run by one file of judgments.

    Attributes:
        run: The name of the run: its path, or what the caller calls it.
        tag: The tag in the run.
        qrels: The name of the judgments, likewise.
        dimension: What was judged.
        rule: The rule of the measure; `official` for stances, which have no other.
        measure: The measure without its rule, as ir_measures prints it; `MacroF1` for stances.
        mean: The mean over the topics that count; NaN where there is none.
        low: The lower bound of its 95% interval.
        high: The upper bound.
        topics: How many topics count.
        judged: The share of judged documents among those that the measure sees of a topic (of
            all lines for a measure without a depth, and for stances).
        values: The measure's value for each topic that counts. For stances, the share of
            the topic's labelled lines with the judged stance (macro-F1 is no mean over topics).
        lines: For stances: the lines of the run whose document has a label (N).
        confusion: For stances: how often each judged stance (row) was called what (column).
        comparison: How the run does against the baseline, where there is one.
    """

    run: str
    tag: str
    qrels: str
    dimension: Dimension
    rule: Rule
    measure: str
    mean: float
    low: float
    high: float
    topics: int
    judged: float
    values: Mapping[str, float]
    lines: int | None = None
    confusion: tuple[tuple[int, ...], ...] | None = None
    comparison: Comparison | None = None

    def row(self) -> dict[str, str | int | float | None]:
        """The score as one flat row, ready for JSON: None stands for what cannot be computed.

        Per-topic values and the confusion matrix are left out.
        """
        row: dict[str, str | int | float | None] = {}
        for field in dataclasses.fields(self):
            if field.name not in ("values", "lines", "confusion", "comparison"):
                row[field.name] = getattr(self, field.name)
        if self.lines is not None:
            row["lines"] = self.lines
        if self.comparison is not None:
            row |= dataclasses.asdict(self.comparison)
        return {
            key: None if isinstance(value, float) and math.isnan(value) else value
            for key, value in row.items()
        }
