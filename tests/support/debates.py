"""Arguments for and against tenure, and a small index of them."""

from __future__ import annotations

from pathlib import Path

import sicetnon

QUESTION = "Should teachers get tenure?"
FOR = [
    "Tenure protects academic freedom, because teachers can speak without fear of dismissal.",
    "Schools with tenure attract talented people, since it gives them a secure job.",
    "Teachers with tenure stay longer, which helps pupils to learn more from year to year.",
    "According to a study of 2009, tenured teachers report unfair grades more often.",
]
AGAINST = [
    "Tenure makes it costly to dismiss bad teachers, so that they stay in the classroom.",
    "Tenure causes complacency, because teachers know that they cannot lose their jobs.",
    "Laws protect teachers from unfair dismissal, therefore nobody needs tenure any more.",
    "According to a survey, most principals fire no bad teacher because of the costs.",
]
NOISE = ["Thanks!", "See [1].", "Why?\n\n", "…", "e.g. Dr. No", "\u00a0", "I agree.They do.", "- a"]


def argument(place: int, text: str, stance: str | None) -> dict[str, str | None]:
    """A document with a claim and a stance towards it."""
    claim = "Teachers should get tenure" if stance else ""
    return {"id": str(place), "text": text, "side": stance, "claim": claim}


def indexed(documents: list[dict[str, str | None]], folder: Path | None = None) -> sicetnon.Index:
    """An index of such documents."""
    return sicetnon.Index.build(
        documents, folder, fields=["text"], stance_field="side", claim_field="claim"
    )


def both_sides(folder: Path | None = None) -> sicetnon.Index:
    """An index of all arguments above."""
    sides = [(text, "PRO") for text in FOR] + [(text, "CON") for text in AGAINST]
    documents = [argument(place, text, side) for place, (text, side) in enumerate(sides)]
    return indexed(documents, folder)
