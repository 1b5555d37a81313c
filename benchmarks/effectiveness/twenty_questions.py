"""Counts faults among the answers that `search` shows to twenty questions of our own.

    python -m benchmarks.effectiveness.twenty_questions [--system default] [--show]

The questions are on no list of topics; the answers are from the 9,390 arguments that can be had
freely. One reader, a large language model, read headings, beginnings and ends of the ten answers to
each. `twenty-questions.tsv` beside this file holds question, the argument's id, its side (OFF where
it is off the question), and whether it is housekeeping or a final round. `--show` prints the
answers that nobody has read yet. Reads SICETNON_DATA (default: ../shared/data).
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from benchmarks.bench import opened
from sicetnon import Answer, Index
from sicetnon.records import Argument
from sicetnon.tasks.touche_2020_task_1 import TASK

LABELS = Path(__file__).with_name("twenty-questions.tsv")
OFF = "OFF"
SHOWN = 10
_BEGIN, _END = 65, 35


class Label(NamedTuple):
    """The labels of an answer."""

    side: str
    is_round: bool


def labels() -> dict[str, dict[str, Label]]:
    """The labels of each question by the id of the argument; none where nothing was shown."""
    found: dict[str, dict[str, Label]] = {}
    with LABELS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            own = found.setdefault(row["question"], {})
            if row["id"]:
                own[row["id"]] = Label(row["side"], row["round"] == "1")
    return found


def show(question: str, answer: Answer) -> None:
    """Print an answer for a reader."""
    record = answer.record
    words = record.premise.split() if isinstance(record, Argument) else []
    text = words if len(words) <= _BEGIN + _END else [*words[:_BEGIN], "…", *words[-_END:]]
    print(f"\n{question}\n{answer.id} {answer.side}\n{answer.heading}\n{' '.join(text)}")


def main() -> int:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--system", help="the first results of this system as they are")
    parser.add_argument("--show", action="store_true", help="print answers without a label")
    given = parser.parse_args()
    counts: Counter[str] = Counter()
    with opened(TASK) as index:
        folder = index.folder
    with Index.open(folder) as index:
        for question, known in labels().items():
            found = index.search(question, SHOWN, system=given.system)
            counts["answers shown"] += len(found)
            counts["questions with no answer"] += not found
            for answer in found:
                label = known.get(answer.id)
                counts.update(_faults(answer, label))
                if label is None and given.show:
                    show(question, answer)
    for name in ("answers shown", "off the question", "on the question", "wrong side",
                 "said to take no side", "housekeeping and final rounds", "not read",
                 "questions with no answer"):  # fmt: skip
        print(f"| {name} | {counts[name]} |")
    return 0


def _faults(answer: Answer, label: Label | None) -> list[str]:
    """The counts that an answer adds to."""
    if label is None:
        return ["not read"]
    found = ["housekeeping and final rounds"] * label.is_round
    if label.side == OFF:
        return [*found, "off the question"]
    if answer.side == "NONE":
        found.append("said to take no side")
    elif answer.side != label.side:
        found.append("wrong side")
    return [*found, "on the question"]


if __name__ == "__main__":
    sys.exit(main())
