"""Readers of the further data sets: sides towards questions, inference, and what takes no side."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any

from recipe.examples import Example, Split
from recipe.sources import data_folder, plain, rows

_LABELS = {"PRO": 0, "CON": 1, "NONE": 2}
_SIDES = {"FOR": 0, "AGAINST": 1, "BOTH": 2, "NONE": 2}
_FLAGS = ("inner_test", "inner_topic", "held_topic", "already")
_MOST_WORDS = 160

SETS = (
    "arc-reasons",
    "arc-roomfordebate",
    "debatepedia-questions",
    "fever-symmetric",
    "gwsd",
    "iam-claims",
    "iam-nonclaims",
    "nli-breaking",
    "nli-cad",
    "nli-negation",
    "vast-dev-test",
)
"""The sets of `train/more` that are learnt; its README says what each is worth."""


def conclusions() -> Iterator[Example]:
    """Conclusions with their side of a question (read by a large language model)."""
    for row in rows(data_folder() / "train/sides/conclusions.tsv", "\t", quoted=False):
        label, text = _SIDES[row["side"]], plain(row["conclusion"])
        yield Example("stance", "conclusions", text, label, row["domain"], row["question"])


def further_stances() -> Iterator[Example]:
    """Texts with their side of a question, a claim or a noun phrase; inference as stance.

    The official test parts of some sets share topics with their training parts. Rows of such
    topics are neither learnt nor held out.
    """
    for name in SETS:
        found = [row for row in _read(name) if row["label"] in _LABELS and row.get("topic")]
        learnt = {row["topic"] for row in found if not _is_tested(row)}
        for row in found:
            tested = _is_tested(row)
            if any(row.get(flag) for flag in _FLAGS) or (tested and row["topic"] in learnt):
                continue
            yield from _stances(name, row, "held-out" if tested else "train")


def _is_tested(row: dict[str, Any]) -> bool:
    return str(row.get("split")).startswith("test")


def _stances(name: str, row: dict[str, Any], split: Split) -> Iterator[Example]:
    """The example of a row; one more of its claim, where the set names one."""
    text = " ".join(plain(row["text"]).split()[:_MOST_WORDS])
    group, topic = f"{name} {row['topic']}", plain(row["topic"])
    yield Example("stance", name, text, _LABELS[row["label"]], group, topic, split=split)
    if row.get("claim") and name == "debatepedia-questions":
        claim, label = plain(row["claim"]), _LABELS[row["label"]]
        yield Example("stance", "debatepedia-claims", claim, label, group, topic, split=split)


def further_arguments() -> Iterator[Example]:
    """Sentences of nine sources, half of them arguments (the shared task of 2026)."""
    for row in _read("argumentativeness-gaic26"):
        if any(row.get(flag) for flag in _FLAGS):
            continue
        label = float(row["label"] == "ARGUMENT")
        split: Split = "held-out" if row["split"] == "dev" else "train"
        dataset, text = "gaic", plain(row["text"])
        # which document a sentence is of is not told: each stands for itself
        group = f"{row['part']}: {text}"
        yield Example("argumentativeness", dataset, text, label, group, split=split)


def comparative_passages() -> Iterator[Example]:
    """Passages of web pages with the object that they favour (read by a large language model)."""
    labels = {"FIRST": 0, "SECOND": 1, "NEUTRAL": 2, "NO": 3}
    texts = {}
    path = data_folder() / "touche-2022-task-2/input/passages.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            passage = json.loads(line)
            texts[passage["id"]] = passage["contents"]
    for row in rows(data_folder() / "train/stance/comparative-passages.tsv", "\t", quoted=False):
        yield Example(
            "comparison",
            "passages",
            plain(texts[row["id"]]),
            labels[row["stance"]],
            row["topic"],
            first=row["first"],
            second=row["second"],
        )


def _read(name: str) -> Iterator[dict[str, Any]]:
    path = data_folder() / f"train/more/{name}.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)
