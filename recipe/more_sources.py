"""Readers of the further data sets: sides towards questions, inference, and what takes no side."""

from __future__ import annotations

import functools
import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from recipe.examples import Example, Split
from recipe.side_labels import arguments_of
from recipe.sources import data_folder, passages, plain, rows
from sicetnon.arguments.side.debates import END_WORDS
from sicetnon.arguments.side.lexicon import ends, overlap
from sicetnon.formats.topics import read_topics
from sicetnon.records import Argument

_LABELS = {"PRO": 0, "CON": 1, "NONE": 2}
_SIDES = {"FOR": 0, "AGAINST": 1, "BOTH": 2, "NONE": 2}
_TURNED = {0: 1, 1: 0, 2: 2}
_REWORDED = ("same", "same2", "opposite", "opposite2")
_FLAGS = ("inner_test", "inner_topic", "held_topic", "already")
_MOST_WORDS = 160
_FEWEST_WORDS, _FEWEST_WORDS_OF_A_CLAIM = 8, 3
_KEPT_SHARE = 12
_SAME_SUBJECT = 0.6

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


def further_conclusions() -> Iterator[Example]:
    """Conclusions with their side of further questions, labelled as those of `conclusions`.

    `conclusion-labels.tsv` names the argument that has the conclusion.
    """
    stated = {record.id: record.conclusion for record in _arguments(data_folder())}
    path = Path(__file__).with_name("conclusion-labels.tsv")
    for row in rows(path, "\t", quoted=False):
        label, text = _SIDES[row["side"]], plain(stated[row["id"]])
        yield Example("stance", "more-conclusions", text, label, row["domain"], row["question"])


def written_conclusions() -> Iterator[Example]:
    """Conclusions with their side of questions, written for this by a large language model.

    `written-conclusions.tsv` has no question on the subject of one that is judged anywhere.
    """
    yield from _written("written-conclusions.tsv", "written")


def further_written_conclusions() -> Iterator[Example]:
    """Further conclusions that were written likewise: comparisons, and reasons that compose.

    The shipped network did not learn them; its teacher did.
    """
    yield from _written("more-written-conclusions.tsv", "more-written")


def written_reasons() -> Iterator[Example]:
    """Reasons with their side of questions, written likewise: short headings that compose.

    The shipped network did not learn them; its teacher did. Each reason that takes a side comes
    under one question that it answers with yes, and under one that it answers with no.
    """
    yield from _written("written-reasons.tsv", "written-reasons")


def _written(name: str, dataset: str) -> Iterator[Example]:
    for row in rows(Path(__file__).with_name(name), "\t", quoted=False):
        label, text = _SIDES[row["side"]], plain(row["conclusion"])
        yield Example("stance", dataset, text, label, row["domain"], row["question"])


def reworded_conclusions() -> Iterator[Example]:
    """Labelled conclusions under other words of their question, and under its opposite.

    `reworded-questions.tsv` has two questions of each kind. Under an opposite, FOR and AGAINST
    change places. Conclusions without a side come under one other question, in turn.
    """
    yield from _reworded([*conclusions(), *further_conclusions()], "reworded")


def reworded_written_conclusions() -> Iterator[Example]:
    """Written conclusions likewise."""
    yield from _reworded(written_conclusions(), "reworded-written")


def _reworded(found: Iterable[Example], dataset: str) -> Iterator[Example]:
    path = Path(__file__).with_name("reworded-questions.tsv")
    reworded = {row["question"]: row for row in rows(path, "\t", quoted=False)}
    for place, each in enumerate(found):
        row = reworded.get(each.context)
        if row is None:
            continue
        label = int(each.label)
        kinds = _REWORDED if label != _LABELS["NONE"] else [_REWORDED[place % len(_REWORDED)]]
        for kind in kinds:
            turned = _TURNED[label] if kind.startswith("opposite") else label
            yield replace(each, dataset=dataset, label=turned, context=row[kind])


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


def portal_arguments() -> Iterator[Example]:
    """The first and last words of portals' arguments, with their stance on their conclusion.

    Arguments that are judged anywhere, or that share their debate with one, are left out; so are
    those on the subject of a topic.
    """
    folder = data_folder() / "touche-2020-task-1"
    judged = judged_ids()
    topics = [topic.title for topic in read_topics(folder / "input/topics.xml")]
    unknown = set((folder / "unknown-stance-ids.txt").read_text(encoding="utf-8").split())
    debates = {_debate(identifier) for identifier in judged}
    for record in _arguments(data_folder()):
        if record.id in unknown or _debate(record.id) in debates or record.stance is None:
            continue
        text = plain(record.premise)
        if (
            len(text.split()) < _FEWEST_WORDS
            or len(record.conclusion.split()) < _FEWEST_WORDS_OF_A_CLAIM
        ):
            continue
        claim = plain(record.conclusion)
        if any(overlap(topic, claim) > _SAME_SUBJECT for topic in topics):
            continue
        group = f"argsme {_debate(record.id)}"
        split: Split = "held-out" if _is_kept(group) else "train"
        label = _LABELS[record.stance]
        read = ends(text, END_WORDS, "…")
        yield Example("stance", "argsme", read, label, group, claim, split=split)


@functools.cache
def _arguments(folder: Path) -> tuple[Argument, ...]:
    """The arguments of the portals, which three sources read."""
    return tuple(arguments_of(folder / "touche-2020-task-1" / "input"))


def judged_ids() -> set[str]:
    """The ids of the arguments that are judged anywhere."""
    found = set()
    for path in (data_folder() / "qrels").glob("*2020-task-1*"):
        found |= {line.split()[2] for line in path.read_text(encoding="utf-8").splitlines()}
    for name in ("odd-topics", "more-questions"):
        path = data_folder() / f"sides/{name}.tsv"
        found |= {row["id"] for row in rows(path, "\t", quoted=False)}
    return found


def _is_shorter(text: str, words: int) -> bool:
    return len(text.split()) < words


def _debate(identifier: str) -> str:
    return identifier.split("-")[0]


def _is_kept(group: str) -> bool:
    return int(hashlib.sha256(group.encode()).hexdigest(), 16) % _KEPT_SHARE == 0


def comparative_passages() -> Iterator[Example]:
    """Passages of web pages with the object that they favour (read by a large language model)."""
    labels = {"FIRST": 0, "SECOND": 1, "NEUTRAL": 2, "NO": 3}
    texts = {each["id"]: each["contents"] for each in passages()}
    for row in rows(data_folder() / "train/stance/comparative-passages.tsv", "\t", quoted=False):
        yield Example(
            "comparison",
            "passages",
            plain(texts[row["id"]]),
            labels[row["stance"]],
            row["topic"],
            row["question"],
            first=row["first"],
            second=row["second"],
        )


def _read(name: str) -> Iterator[dict[str, Any]]:
    path = data_folder() / f"train/more/{name}.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)
