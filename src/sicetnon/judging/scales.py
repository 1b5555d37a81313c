"""Scales: the labels that an assessor chooses from, and the guideline beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sicetnon.contracts import Contract, Dimension, Unit, contract_of
from sicetnon.errors import UsageError

JudgedDimension = Dimension | Literal["side"]
"""The dimensions of the tasks, and the side towards the question."""

DIMENSIONS: tuple[JudgedDimension, ...] = ("relevance", "quality", "coherence", "stance", "side")


@dataclass(frozen=True)
class Label:
    """A label of a scale.

    Attributes:
        value: The label as judgments hold it.
        key: The key that chooses it.
        name: The text of its button.
        meaning: When to choose it.
    """

    value: str
    key: str
    name: str
    meaning: str


@dataclass(frozen=True)
class Scale:
    """The labels of a dimension.

    Attributes:
        labels: The labels, lowest first where they are grades.
    """

    dimension: JudgedDimension
    question: str
    labels: tuple[Label, ...]

    @property
    def values(self) -> tuple[str, ...]:
        """The labels as judgments hold them."""
        return tuple(label.value for label in self.labels)

    @property
    def is_graded(self) -> bool:
        """Whether the labels are grades, which have an order."""
        return self.dimension not in ("stance", "side")

    @property
    def without_argument(self) -> str:
        """The label that a text without an argument gets without a vote; empty if there is none."""
        return _WITHOUT_ARGUMENT.get(self.dimension, "")


NO_ARGUMENT = "-2"
"""The label of relevance for what is no argument."""
_NO_ARGUMENT = Label(
    NO_ARGUMENT, "-", "No argument", "Spam, a greeting, or text that argues for nothing."
)
_WITHOUT_ARGUMENT: dict[JudgedDimension, str] = {"quality": "0", "side": "NONE"}
_SUBJECTS: dict[Unit, str] = {
    "argument": "argument",
    "pair": "pair of sentences",
    "document": "page",
    "passage": "passage",
}


def scales_of(task: str, dimensions: Sequence[str] = ()) -> tuple[Scale, ...]:
    """The scales of a task.

    Args:
        task: The id of a task-year; the empty string for texts of no task.
        dimensions: The dimensions; those of the task, or relevance, when left out.

    Raises:
        UsageError: There is no such task or dimension, or a dimension is named twice.
    """
    contract = contract_of(task) if task else None
    names = tuple(dimensions) or (contract.dimensions if contract else ("relevance",))
    if unknown := [name for name in names if name not in DIMENSIONS]:
        expected = ", ".join(DIMENSIONS)
        raise UsageError(f"found the dimension {unknown[0]!r}; expected of {expected}")
    if len(set(names)) < len(names):
        raise UsageError(f"found a dimension twice in {', '.join(names)}; name each once")
    return tuple(_scale(name, contract) for name in DIMENSIONS if name in names)


def _scale(dimension: JudgedDimension, contract: Contract | None) -> Scale:
    subject = _SUBJECTS[contract.unit] if contract else "text"
    if dimension == "relevance":
        grades = _relevance(contract.unit if contract else "argument")
        has_spam = contract is not None and contract.unit == "argument"
        labels = (_NO_ARGUMENT, *grades) if has_spam else grades
        return Scale(dimension, f"Does this {subject} help to answer the question?", labels)
    if dimension == "quality":
        return Scale(dimension, f"How well does this {subject} argue?", _QUALITY)
    if dimension == "coherence":
        return Scale(dimension, "Do the two sentences belong together?", _COHERENCE)
    if dimension == "stance":
        return Scale(dimension, f"Which object does this {subject} favour?", _STANCE)
    return Scale(dimension, f"On which side of the question is this {subject}?", _SIDE)


def _relevance(unit: Unit) -> tuple[Label, ...]:
    if unit in ("document", "passage"):
        highest = "It weighs the objects against each other, and helps to choose."
        middle = "It says something of the objects that helps to choose."
        lowest = "Another subject, or a description without opinion or comparison."
    else:
        highest = "It is about the question, and helps to take a side."
        middle = "It is about the subject, and says little on the question."
        lowest = "It is about something else."
    return (
        Label("0", "0", "Not relevant", lowest),
        Label("1", "1", "Relevant", middle),
        Label("2", "2", "Highly relevant", highest),
    )


_QUALITY = (
    Label("0", "0", "Low", "Careless or offensive, hard to follow, without a reason."),
    Label("1", "1", "Sufficient", "It gives a reason that can be followed, with faults."),
    Label("2", "2", "High", "Clear and well written; its reasons support what it claims."),
)
_COHERENCE = (
    Label("0", "0", "Not coherent", "They contradict each other, or have nothing in common."),
    Label("1", "1", "Partly coherent", "One subject, but neither supports the other."),
    Label("2", "2", "Coherent", "One supports the other, or continues it."),
)
_STANCE = (
    Label("FIRST", "1", "First object", "As a whole it favours the first object."),
    Label("SECOND", "2", "Second object", "As a whole it favours the second object."),
    Label("NEUTRAL", "3", "Neutral", "It weighs both, and favours neither."),
    Label("NO", "4", "No stance", "It takes no stance on the two objects."),
)
_SIDE = (
    Label("FOR", "1", "For", "It answers the question with yes, whatever its own claim is."),
    Label("AGAINST", "2", "Against", "It answers the question with no."),
    Label("BOTH", "3", "Both", "It argues for both sides."),
    Label("NONE", "4", "None", "It takes no side on this question."),
)
