"""Readers of the data sets under `SICETNON_DATA`, one function each."""

from __future__ import annotations

import csv
import gzip
import hashlib
import html
import json
import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from recipe.examples import EITHER_NEUTRAL_OR_NO, Example, Split
from recipe.sentences import split_sentences

_MARKUP = re.compile(r"<[^>]*>")

# The three test topics of ArgKP-2021, and four that IBM ArgQ-Rank-30k has as well: left out of
# every data set of IBM, with all topics of the official development part of ArgQ-Rank-30k.
STANCE_TOPICS_HELD_OUT = frozenset(
    {
        "Routine child vaccinations should be mandatory",
        "Social media platforms should be regulated by the government",
        "The USA is a good country to live in",
        "Homeschooling should be banned",
        "The vow of celibacy should be abandoned",
        "We should abandon the use of school uniform",
        "We should ban human cloning",
    }
)
_QUALITY_OF_CHATTER = 0.1
VALIDATION_TOPICS = frozenset(
    {
        "Entrapment should be legalized",
        "We should ban fast food",
        "We should subsidize journalism",
        "We should fight urbanization",
    }
)


def data_folder() -> Path:
    """The folder of the data sets."""
    return Path(os.environ.get("SICETNON_DATA", "../shared/data"))


def rows(path: Path, delimiter: str = ",", quoted: bool = True) -> Iterator[dict[str, str]]:
    """The rows of a table with a header."""
    csv.field_size_limit(1 << 30)
    with path.open(encoding="utf-8", newline="") as file:
        if quoted:
            yield from csv.DictReader(file, delimiter=delimiter)
        else:
            yield from csv.DictReader(file, delimiter=delimiter, quoting=csv.QUOTE_NONE)


def passages() -> Iterator[dict[str, str]]:
    """The passages of web pages (Touché 2022, task 2), with `id` and `contents`."""
    path = data_folder() / "touche-2022-task-2/input/passages.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def plain(text: str) -> str:
    """A text without markup and with single spaces."""
    return " ".join(html.unescape(_MARKUP.sub(" ", text)).split())


def _ibm_split(topic: str, part: str = "train") -> Split:
    if part == "dev" or topic in STANCE_TOPICS_HELD_OUT:
        return "held-out"
    return "validation" if topic in VALIDATION_TOPICS else "train"


def argument_quality_30k() -> Iterator[Example]:
    """IBM ArgQ-Rank-30k (Gretz et al. 2020): weighted average quality, and stance."""
    for row in rows(data_folder() / "train/quality/ibm-argq-rank-30k.csv"):
        topic, text = row["topic"], plain(row["argument"])
        split = _ibm_split(topic, row["set"])
        yield Example("quality", "ibm", text, float(row["WA"]), topic, split=split)
        if row["stance_WA"] != "0" and float(row["stance_WA_conf"]) >= 0.7:
            label = 0 if row["stance_WA"] == "1" else 1
            yield Example("stance", "ibm", text, label, topic, context=topic, split=split)


def key_points() -> Iterator[Example]:
    """IBM ArgKP-2021: arguments and key points with their stance towards topics.

    An argument that matches a key point supports it as a claim.
    """
    seen = set()
    for row in rows(data_folder() / "train/stance/ibm-argkp-2021.csv"):
        topic, label = row["topic"], 0 if row["stance"] == "1" else 1
        split = _ibm_split(topic)
        for dataset, text in (("argkp", row["argument"]), ("key-points", row["key_point"])):
            if (topic, text) not in seen:
                seen.add((topic, text))
                text = plain(text)
                yield Example("stance", dataset, text, label, topic, context=topic, split=split)
        if row["label"] == "1":
            text, claim = plain(row["argument"]), plain(row["key_point"])
            yield Example("stance", "matches", text, 0, topic, context=claim, split=split)


def perspectrum() -> Iterator[Example]:
    """Perspectrum (Chen et al. 2019): perspectives that support or undermine claims.

    A perspective that most of its judges found not valid is called UNDERMINE in the data set: it
    is learnt as NONE, and is held out as the data set has it.
    """
    folder = data_folder() / "train/stance/perspectrum"
    parts = _json(folder / "dataset_split_v1.0.json")
    texts = {each["pId"]: each["text"] for each in _json(folder / "perspective_pool_v1.0.json")}
    for claim in _json(folder / "perspectrum_with_answers_v1.0.json"):
        split: Split = "held-out" if parts[str(claim["cId"])] == "test" else "train"
        for cluster in claim["perspectives"]:
            label = 0 if cluster["stance_label_3"] == "SUPPORT" else 1
            votes = _votes(cluster["voter_counts"])
            if split == "train" and votes[2] >= 0.5:
                label = 2
            for number in cluster["pids"]:
                text, context = plain(texts[number]), plain(claim["text"])
                group = f"perspectrum {claim['cId']}"
                found = Example("stance", "perspectrum", text, label, group, context, split=split)
                yield replace(found, votes=votes)


def _votes(counts: Sequence[int]) -> tuple[float, ...]:
    """The shares of votes for, against, and for neither; mild votes count in full."""
    supporting, undermining = counts[0] + counts[1], counts[2] + counts[3]
    return tuple(count / sum(counts) for count in (supporting, undermining, counts[4]))


def webis_quality() -> Iterator[Example]:
    """Webis-ArgQuality-20 (Gienapp et al. 2020): combined quality, on the scale of IBM's.

    Each label is the one that stands at the same share of IBM's: a difference between the two
    scales would be learnt as one between their topics.
    """
    folder = data_folder() / "train/quality"
    topics = {
        row["Topic ID"]: row["Long Query"] for row in rows(folder / "webis-argquality20-topics.csv")
    }
    judged = list(rows(folder / "webis-argquality20-arguments.csv"))
    scale = sorted(float(row["WA"]) for row in rows(folder / "ibm-argq-rank-30k.csv"))
    order = sorted(float(row["Combined Quality"]) for row in judged)
    for row in judged:
        own = float(row["Combined Quality"])
        share = (bisect_left(order, own) + bisect_right(order, own)) / 2 / len(order)
        label = scale[int(share * (len(scale) - 1))]
        yield Example("quality", "webis", plain(row["Premise"]), label, topics[row["Topic ID"]])


def convincingness() -> Iterator[Example]:
    """UKPConvArg1 rankings (Habernal and Gurevych 2016): a rank within an issue and side."""
    folder = data_folder() / "train/quality/ukpconvarg1-ranking"
    for path in sorted(folder.glob("*.csv")):
        ranked = [row for row in _ranked(path) if row[1]]
        order = sorted(range(len(ranked)), key=lambda number: ranked[number][0])
        for place, number in enumerate(order):
            quality = 1.0 - place / max(1, len(ranked) - 1)
            yield Example("quality", "ukp", ranked[number][1], quality, path.stem.rsplit("_", 1)[0])


def _ranked(path: Path) -> Iterator[tuple[float, str]]:
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        _, rank, text = line.split("\t", 2)
        yield float(rank), plain(text)


def essays() -> Iterator[Example]:
    """Argument annotated essays (Stab and Gurevych 2017), by sentence; official test essays."""
    path = data_folder() / "train/argumentativeness/argument-annotated-essays.json"
    for row in _json(path):
        text, label = plain(row["sent-text"]), int(row["sent-class"] != "n")
        split: Split = "train" if row["train"] else "held-out"
        yield Example("argumentativeness", "essays", text, label, row["essay-id"], split=split)


def web_discourse(blocks: int = 5) -> Iterator[Example]:
    """Argument annotated web discourse (Habernal and Gurevych 2017), by sentence.

    The sentences come without the document they are of, but in its order: contiguous blocks are
    kept together, and the last one is held out.
    """
    sentences_in_order = _json(
        data_folder() / "train/argumentativeness/argument-annotated-web-discourse.json"
    )
    for number, row in enumerate(sentences_in_order):
        block = number * blocks // len(sentences_in_order)
        split: Split = "held-out" if block == blocks - 1 else "train"
        text, label = plain(row["sent-text"]), int(row["sent-class"] != "n")
        yield Example("argumentativeness", "web", text, label, f"block {block}", split=split)


def chatter() -> Iterator[Example]:
    """Sentences that do not argue: greetings, house rules, plain facts. Written for this file."""
    lines = Path(__file__).with_name("chatter.txt").read_text(encoding="utf-8").splitlines()
    for text in lines:
        yield Example("argumentativeness", "chatter", text, 0, "chatter")
        yield Example("quality", "chatter", text, _QUALITY_OF_CHATTER, "chatter")


def comparative_sentences() -> Iterator[Example]:
    """CompSent-19 (Panchenko et al. 2019), the training part: sentences on two objects.

    Three in ten divide their judges, so the votes are learnt, not the majority alone.
    """
    labels = {"BETTER": 0, "WORSE": 1, "NONE": EITHER_NEUTRAL_OR_NO}
    for row in rows(data_folder() / "train/stance/compsent19-train.csv"):
        first, second = row["object_a"], row["object_b"]
        counts = [int(row[f"{side}_count"]) for side in ("better", "worse", "none")]
        yield Example(
            "comparison",
            "compsent",
            plain(row["sentence"]),
            labels[row["most_frequent_label"]],
            " / ".join(sorted((first.lower(), second.lower()))),
            first=first,
            second=second,
            votes=tuple(count / sum(counts) for count in counts),
        )


def comparative_answers() -> Iterator[Example]:
    """Stack Exchange answers (Bondarenko et al. 2022) with their stance on two objects."""
    labels = {"0": 3, "1": 2, "2": 0, "3": 1}
    path = data_folder() / "train/stance/comparative-stance-stackexchange.tsv"
    for row in rows(path, "\t"):
        yield Example(
            "comparison",
            "stackexchange",
            plain(row["answer"]),
            labels[row["answer_stance"]],
            row["question"],
            first=row["object_1"],
            second=row["object_2"],
        )


def sentences(most: int) -> list[tuple[str, str]]:
    """Conclusions, and sentences of 6 to 45 words of arguments for or against them, drawn.

    None is of an argument that was judged for a topic.
    """
    judged = set()
    for path in (data_folder() / "qrels").glob("touche-2020-task-1*"):
        judged |= {line.split()[2] for line in path.read_text(encoding="utf-8").splitlines()}
    found: dict[str, str] = {}
    for path in sorted((data_folder() / "touche-2020-task-1/input").glob("*.json")):
        for argument in _json(path)["arguments"]:
            if argument["id"] in judged:
                continue
            conclusion = plain(argument["conclusion"])
            for premise in argument["premises"]:
                for text in split_sentences(plain(premise["text"])):
                    if 6 <= len(text.split()) <= 45:
                        found[text] = conclusion
    # in an order that has nothing to do with what they say
    drawn = sorted(found, key=lambda text: hashlib.sha256(text.encode()).digest())[:most]
    return [(found[text], text) for text in drawn]


def unlabelled(most: int) -> list[str]:
    """Arguments and passages of the task directories, for the distillation of the embedding."""
    texts: list[str] = []
    if not most:
        return texts
    for path in sorted((data_folder() / "touche-2020-task-1/input").glob("*.json")):
        for argument in _json(path)["arguments"]:
            texts += [argument["conclusion"], *(p["text"] for p in argument["premises"])]
    passages = data_folder() / "touche-2022-task-2/input/passages.jsonl.gz"
    with gzip.open(passages, "rt", encoding="utf-8") as file:
        texts += [json.loads(line)["contents"] for line in file]
    found = sorted({cleaned for text in texts if (cleaned := plain(text))})
    return found[:: max(1, len(found) // most)][:most]
