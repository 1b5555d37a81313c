"""Accuracy of the side of replies, and of the claim found in a text.

    python -m benchmarks.effectiveness.replies

The first table: three replies each to the 24 odd topics of 2020 and 48 further questions, taken as
claims, and to 48 conclusions for or against the odd topics. A reply is right if its
document takes the other side by the labels of `sides` (read by a large language model); most
documents were not read. The second table: the sentence taken for the claim of a paragraph, in
paragraphs of the Argument Annotated Essays that have three sentences or more and a claim.

Reads SICETNON_DATA (default: ../shared/data).
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from benchmarks.bench import DATA
from sicetnon.app.index import Index
from sicetnon.app.reply import reply
from sicetnon.arguments.claims import claim_of
from sicetnon.formats.topics import read_topics
from sicetnon.tasks.touche_2020_task_1 import TASK

OTHER = {"FOR": "AGAINST", "AGAINST": "FOR"}
CONCLUSIONS = 48
SENTENCES = 3


@dataclass(frozen=True)
class Case:
    """A text to reply to.

    Attributes:
        text: The text.
        wanted: The side towards the question that a reply should take.
        sides: The side of each document that was read for the question, by id.
        strengths: Its strength as an argument, from 0 to 3.
    """

    text: str
    wanted: str
    sides: dict[str, str]
    strengths: dict[str, int]


def labels() -> Iterator[dict[str, str]]:
    """The rows of the labels, each with its question."""
    titles = {t.number: t.title for t in read_topics(DATA / "topics" / f"{TASK.id}.xml")}
    for name in ("odd-topics", "more-questions"):
        with (DATA / "sides" / f"{name}.tsv").open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                yield {"question": titles.get(row.get("topic", ""), "")} | row


def cases(index: Index) -> dict[str, list[Case]]:
    """The texts to reply to, by what they are."""
    found: dict[str, list[Case]] = {"question": [], "conclusion": []}
    rows = sorted(labels(), key=lambda row: row["question"])
    for question, group in groupby(rows, lambda row: row["question"]):
        read = list(group)
        sides = {row["id"]: row["side"] for row in read}
        strengths = {row["id"]: int(row["strength"]) for row in read}
        found["question"].append(Case(question, "AGAINST", sides, strengths))
        for row in read:
            if row.get("conclusion_side") in OTHER and row["sure"] == "1":
                text = getattr(index.records([row["id"]])[0], "conclusion", "")
                wanted = OTHER[row["conclusion_side"]]
                found["conclusion"].append(Case(text, wanted, sides, strengths))
    distinct = list({case.text: case for case in found["conclusion"]}.values())
    found["conclusion"] = random.Random(1).sample(distinct, min(CONCLUSIONS, len(distinct)))
    return found


def reply_row(name: str, some: Sequence[Case], index: Index) -> str:
    """A line of the first table."""
    counts: Counter[str] = Counter()
    strengths = []
    for case in some:
        found = reply(index, case.text)
        counts["none"] += not found
        for each in found:
            side = case.sides.get(each.reason.answer.id)
            counts[(side and ("right" if side == case.wanted else "wrong")) or "unread"] += 1
            if side:
                strengths.append(case.strengths[each.reason.answer.id])
    read = counts["right"] + counts["wrong"]
    share, strength = counts["right"] / max(read, 1), sum(strengths) / max(read, 1)
    figures = f"{sum(counts.values()) - counts['none']} | {read} | {share:.2f} | {strength:.1f}"
    return f"| {name} | {len(some)} | {figures} | {counts['none']} |"


def paragraphs() -> list[list[tuple[str, bool]]]:
    """Paragraphs of essays: their sentences, and whether each is a claim."""
    path = DATA / "train" / "argumentativeness" / "argument-annotated-essays.json"
    rows = json.loads(path.read_text(encoding="utf-8"))
    groups = groupby(rows, lambda row: (row["essay-id"], row["parag-idx"]))
    found = [
        [(row["sent-text"].capitalize(), row["sent-class"] == "c") for row in group]
        for _, group in groups
    ]
    return [each for each in found if len(each) >= SENTENCES and any(claim for _, claim in each)]


def claim_row(name: str, choose: Callable[[str], str]) -> str:
    """A line of the second table."""
    all_of_them = paragraphs()
    right = 0
    for each in all_of_them:
        chosen = choose(" ".join(text for text, _ in each))
        right += any(claim for text, claim in each if chosen in " ".join(text.split()))
    return f"| {name} | {right / len(all_of_them):.2f} | {len(all_of_them)} |"


def main() -> int:
    """Print the tables."""
    argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0]).parse_args()
    source = DATA / TASK.id / "input"
    if not source.is_dir():
        print(f"{source} is not there; set SICETNON_DATA", file=sys.stderr)
        return 1
    print("| reply to | texts | replies | read | right side | strength | texts without |")
    print("|---|---|---|---|---|---|---|", flush=True)
    with Index.build(source) as index:
        for name, some in cases(index).items():
            print(reply_row(f"a {name}", some, index), flush=True)
    print("\n| claim of a paragraph | is a claim | paragraphs |\n|---|---|---|")
    print(claim_row("`claim_of`", claim_of))
    print(claim_row("first sentence", lambda text: text.split(". ")[0]))
    print(claim_row("last sentence", lambda text: text.split(". ")[-1]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
