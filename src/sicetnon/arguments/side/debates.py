"""The side that PRO stands for in a debate whose conclusion takes none, by the debate's texts.

"Fossil fuels" as a conclusion does not tell what PRO stands for. The texts of the debate tell it
together: those that are PRO take one side of the question, those that are CON the other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sicetnon.arguments.side import lexicon
from sicetnon.arguments.side.evidence import EvidenceReader
from sicetnon.arrays import Reals

END_WORDS = 40
"""Number of first and of last words of a text that are read."""
_MOST_TEXTS = 12


def read_debates(
    reader: EvidenceReader,
    texts: Sequence[str],
    questions: Sequence[str],
    conclusions: Sequence[str],
    tags: Reals,
    wanted: NDArray[np.bool_],
) -> Reals:
    """The side that PRO stands for in the debate of each text.

    Texts with one conclusion and one question are taken for one debate. Of each debate, at most
    twelve texts with a stance are read, the first given.

    Args:
        reader: Reads with the model.
        texts: The texts.
        questions: A question for each.
        conclusions: Their conclusions.
        tags: Their stances towards their conclusions: 1, -1, or 0 where they are not known or
            towards something else.
        wanted: Mask of the texts whose debates are read, shape (texts,); the others get 0.

    Returns:
        The sum over the texts of the debate of stance × (F − A) / (F + A), where F and A are the
        probabilities of FOR and AGAINST, shape (texts,); 0 where the debate has fewer than two
        texts.
    """
    found, standing = np.zeros(len(texts)), np.zeros(len(texts))
    is_read = np.zeros(len(texts), dtype=bool)
    asked = {
        debate: places
        for debate, places in _debates(texts, questions, conclusions, tags).items()
        if len(places) > 1 and wanted[places].any()
    }
    for places in asked.values():
        is_read[places[:_MOST_TEXTS]] = True
    at = np.flatnonzero(is_read).tolist()
    odds, _ = reader.statements(
        [lexicon.ends(texts[place], END_WORDS, "…") for place in at],
        [questions[place] for place in at],
    )
    standing[at] = tags[at] * np.tanh(odds / 2)
    sums = {debate: standing[places].sum() for debate, places in asked.items()}
    for place in np.flatnonzero(wanted & (tags != 0)).tolist():
        found[place] = sums.get(_debate(questions[place], conclusions[place]), 0.0)
    return found


def _debates(
    texts: Sequence[str], questions: Sequence[str], conclusions: Sequence[str], tags: Reals
) -> dict[tuple[str, str], list[int]]:
    """The places of the texts with a stance, by debate; of equal texts, the first."""
    debates: dict[tuple[str, str], dict[str, int]] = {}
    for place in np.flatnonzero(tags).tolist():
        if conclusions[place].strip() and texts[place].strip():
            debate = debates.setdefault(_debate(questions[place], conclusions[place]), {})
            debate.setdefault(texts[place], place)
    return {debate: list(places.values()) for debate, places in debates.items()}


def _debate(question: str, conclusion: str) -> tuple[str, str]:
    """The key of a debate."""
    return question, folded(conclusion)


def folded(conclusion: str) -> str:
    """A conclusion in the form in which it is compared with others."""
    return conclusion.strip().casefold()
