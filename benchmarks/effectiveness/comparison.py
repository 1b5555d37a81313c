"""Prints how well the rules of arguments/comparison find the stance of a text towards two objects.

    python -m benchmarks.effectiveness.comparison [--half 0|1]

Reads SICETNON_DATA (default: ../shared/data): Stack Exchange answers (four stances) and the
sentences of CompSent-19 (better, worse, none). Rules were written looking at half 0 (ids whose
CRC-32 is even); the figures to believe are those of half 1.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from sicetnon.arguments.comparative.comparer import Comparer

DATA = Path(os.environ.get("SICETNON_DATA", "../shared/data")) / "train" / "stance"
ANSWERS = {"0": "NO", "1": "NEUTRAL", "2": "FIRST", "3": "SECOND"}
SENTENCES = {"BETTER": "FIRST", "WORSE": "SECOND", "NONE": "NONE"}
Example = tuple[str, str, str, str, str]


def answers() -> Iterator[Example]:
    """Id, text, both objects, stance of the Stack Exchange answers."""
    with (DATA / "comparative-stance-stackexchange.tsv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            gold = ANSWERS[row["answer_stance"]]
            yield row["id"], row["answer"], row["object_1"], row["object_2"], gold


def sentences() -> Iterator[Example]:
    """Likewise of the sentences of CompSent-19, whose labels are three."""
    with (DATA / "compsent19-train.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            gold = SENTENCES[row["most_frequent_label"]]
            yield row["id"], row["sentence"], row["object_a"], row["object_b"], gold


def f1_of(label: str, pairs: Sequence[tuple[str, str]]) -> float:
    """The F1 of a label over pairs of gold and found."""
    hits = sum(gold == found == label for gold, found in pairs)
    total = sum((gold == label) + (found == label) for gold, found in pairs)
    return 2 * hits / total if total else 0.0


def macro_f1(pairs: Sequence[tuple[str, str]]) -> float:
    """The mean F1 of the gold labels."""
    labels = {gold for gold, _ in pairs}
    return sum(f1_of(label, pairs) for label in labels) / len(labels)


def report(name: str, pairs: Sequence[tuple[str, str]]) -> None:
    """Print F1 of each label, and their mean."""
    labels = sorted({gold for gold, _ in pairs})
    shown = "  ".join(f"{label} {f1_of(label, pairs):.3f}" for label in labels)
    print(f"{name:<20} n {len(pairs):>5}  macro-F1 {macro_f1(pairs):.3f}  {shown}")


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--half", type=int, choices=(0, 1), help="one half only")
    given = parser.parse_args()
    if not DATA.is_dir():
        print(f"{DATA} is not there; set SICETNON_DATA", file=sys.stderr)
        return 1
    for name, source, three in (("answers", answers, False), ("sentences", sentences, True)):
        for half in (0, 1) if given.half is None else (given.half,):
            pairs = []
            for identifier, text, first, second, gold in source():
                if zlib.crc32(identifier.encode()) % 2 == half:
                    found = Comparer(first, second).stance(text)
                    undecided = three and found in ("NEUTRAL", "NO")
                    pairs.append((gold, "NONE" if undecided else str(found)))
            report(f"{name}, half {half}", pairs)
            most = Counter(gold for gold, _ in pairs).most_common(1)[0][0]
            report("  always " + most, [(gold, most) for gold, _ in pairs])
    return 0


if __name__ == "__main__":
    sys.exit(main())
