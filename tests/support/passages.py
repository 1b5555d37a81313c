"""Passages that compare boats, and a small index of them; all of it written for the tests."""

from __future__ import annotations

from pathlib import Path

import sicetnon

QUESTION = "Which is better, a kayak or a canoe?"
_TEXTS = {
    "page-one___1": "A kayak is faster than a canoe. It is also lighter than a canoe.",
    "page-one___2": "I prefer the kayak over the canoe, because a kayak is cheaper.",
    "page-one___3": "The canoe is more comfortable than the kayak, and a canoe is cheaper.",
    "page-two___1": "Kayak and canoe are both great, and both are faster than a raft.",
    "page-two___2": "A kayak has a closed deck, and its name comes from the north.",
    "page-two___3": "The lake was made when the river was dammed to run a better mill.",
}


def boats(folder: Path) -> sicetnon.Index:
    """An index of these passages."""
    passages = [
        sicetnon.Passage(name, text, f"https://{name.partition('_')[0]}.invalid/")
        for name, text in _TEXTS.items()
    ]
    return sicetnon.Index.build(passages, folder)
