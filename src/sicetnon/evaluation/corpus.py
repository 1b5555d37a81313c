"""Whether judgments belong to a corpus: with another version of it, every score is too low."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Container
from dataclasses import dataclass

from sicetnon.evaluation.qrels import Qrels
from sicetnon.evaluation.scores import EvaluationWarning
from sicetnon.formats.identifiers import argument_of, halves

MOSTLY = 0.5
"""Below this share of judged ids present, the corpus is likely another version."""

Lookup = Container[str] | Callable[[str], object]


@dataclass(frozen=True)
class JudgedCoverage:
    """The number of judged documents that a corpus holds, and five at most that it lacks."""

    judged: int
    present: int
    absent: tuple[str, ...]

    @property
    def share(self) -> float:
        """The share present, from 0 to 1."""
        return self.present / self.judged if self.judged else 1.0


def check_corpus(qrels: Qrels, corpus: Lookup) -> JudgedCoverage:
    """Count the judged documents that a corpus holds, and warn where most are absent.

    Args:
        qrels: The judgments.
        corpus: Anything with `in` for ids, or a function of an id that returns None or False
            for an absent one, as `Index.number` does. For pairs it is asked for either half:
            for the sentence, then for its argument (`S…-A…` of `S…-A…__PREMISE__3`).

    Warns:
        EvaluationWarning: Fewer than half are present.
    """
    holds = _holds(corpus)
    labels = qrels.grades or qrels.stances
    judged = {document for topic in labels.values() for document in topic}
    absent = sorted(document for document in judged if not _present(document, holds))
    coverage = JudgedCoverage(len(judged), len(judged) - len(absent), tuple(absent[:5]))
    if coverage.share < MOSTLY:
        warnings.warn(
            f"{qrels.name}: the corpus holds only {coverage.present} of the {coverage.judged} "
            f"judged documents ({coverage.share:.0%}; absent is {absent[0]}); is it another "
            "version of the corpus than the one that was judged?",
            EvaluationWarning,
            stacklevel=2,
        )
    return coverage


def _holds(corpus: Lookup) -> Callable[[str], bool]:
    if isinstance(corpus, Container):
        return lambda identifier: identifier in corpus
    # not "if corpus(id)": the first document has the number 0
    return lambda identifier: (found := corpus(identifier)) is not None and found is not False


def _present(document: str, holds: Callable[[str], bool]) -> bool:
    # a comma may be part of the id, outside of the tasks with pairs
    pair = halves(document)
    return holds(document) or (
        pair is not None and all(holds(half) or _argument_held(half, holds) for half in pair)
    )


def _argument_held(sentence: str, holds: Callable[[str], bool]) -> bool:
    argument = argument_of(sentence)
    return argument not in ("", sentence) and holds(argument)
