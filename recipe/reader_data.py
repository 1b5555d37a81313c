"""The training pairs of the reader: questions with texts, and their labels.

A large language model wrote two files for it. `question-variants.tsv` says questions of read
sentences in other words, two with the same sides and three with the opposite ones, after the digest
of a question. `written-sentences.tsv` has subjects and pairs of objects with questions and
sentences whose sides are known, none on the subject of a question that is judged.
"""

from __future__ import annotations

import hashlib
import itertools
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from recipe.corpus import fold_of
from recipe.examples import Example, Split
from recipe.more_sources import judged_ids
from recipe.nearby import nearby
from recipe.read_sentences import Shares, one_of, read_sentences, side_shares
from recipe.read_sides import digest
from recipe.side_labels import arguments_of
from recipe.sources import data_folder, passages, plain, rows
from sicetnon.formats.topics import read_topics
from sicetnon.records import Topic
from sicetnon.text.sentences import sentences

HELD_OUT = ("conclusions", "more-conclusions", "passages")
"""The data sets of `corpus.py` that are judged as wholes."""
ANSWERED = ("read", "asked", "written", "more-written", "written-reasons", "perspectrum")
"""The data sets whose questions get short texts near to them."""

_FOLDER = Path(__file__).parent
_SEED = 5
_QUESTIONS = (*HELD_OUT, "given", "given-two", "read-sentences", "read-two")
_WORDS = 120
_KEPT_QUESTIONS, _KEPT_SUBJECTS, _FOLDS = 16, 8, 5
_OTHER_ORDER = 0.5
_ON_OTHER_SUBJECTS = 0.5
_LETTERS = {"FOR": "F", "AGAINST": "A", "NONE": "N"}
_NO_REASON, _SOME_REASON = (1.0, 0.0, 0.0), (0.0, 0.5, 0.5)
_NEAREST, _CLAIMS = 12, 3_000
_FOUND, _OF_SENTENCES = 24, 70


@dataclass(frozen=True, slots=True)
class Pair:
    """A question with a text, and what a label says of them; empty where it says nothing.

    Attributes:
        dataset: Its data set.
        split: Its split.
        context: The question; of two objects, with both.
        text: The text.
        side: The shares of FOR, AGAINST, BOTH and NONE.
        about: Those of: another subject, on the subject, about the question.
        carries: Those of: no reason, a weak one, one that is understood alone.
        share: Its weight in drawing.
    """

    dataset: str
    split: Split
    context: str
    text: str
    side: Shares = ()
    about: Shares = ()
    carries: Shares = ()
    share: float = 1.0


def pairs(found: Iterable[Example], shares: Mapping[str, float]) -> list[Pair]:
    """All labelled pairs.

    Args:
        found: The examples of `corpus.py`.
        shares: The weight of a text of each data set; other data sets are left out, and
            what is on a question that is held out.
    """
    own = [*_given(), *_read()]
    read = [*own, *in_other_words(own), *written(), *written_on_two()]
    read += [pair for each in found for pair in _of_example(each)]
    held = {e.context for e in read if e.split == "held-out" and e.dataset in _QUESTIONS}
    return [
        replace(each, share=each.share * shares.get(each.dataset, 1.0))
        for each in read
        if (each.dataset in shares or each.dataset in HELD_OUT)
        and (each.split == "held-out" or each.context not in held)
    ]


def unlabelled(found: Sequence[Example], known: Iterable[Pair]) -> list[Pair]:
    """Pairs without labels, for the teacher to label, as a search brings them up.

    Args:
        found: The examples of `corpus.py`.
        known: The labelled pairs; none of them comes again, and no question that is held out.
    """
    known = list(known)
    held = {each.context for each in known if each.split == "held-out"}
    seen = {(each.context, each.text) for each in known}
    near = nearby(found, ANSWERED, _NEAREST, _CLAIMS)
    drawn = {(each.context, each.text) for each in near} | set(_found_by_search())
    return [
        Pair("unlabelled", "train", context, _cut(text))
        for context, text in sorted(drawn)
        if context not in held and (context, _cut(text)) not in seen and text != context
    ]


def compared(question: str, first: str, second: str) -> str:
    """A question about two objects, the first of which is FOR."""
    return f"{first} or {second}? {question or 'Which is better?'}"


def _given() -> Iterator[Pair]:
    """The sentences of the data set; those on judged questions, or two objects, are held out."""
    folder = data_folder()
    judged = {
        each["question"]
        for name in ("train/sides/conclusions.tsv", "sides/more-questions.tsv")
        for each in rows(folder / name, "\t", quoted=False)
    }
    topics = read_topics(folder / "touche-2020-task-1/input/topics.xml")
    judged |= {" ".join(each.title.split()) for each in topics}
    for row in rows(folder / "train/sentences/sentences.tsv", "\t", quoted=False):
        letter, objects = _LETTERS[row["side"]], (row["first"], row["second"])
        held = bool(row["first"]) or row["question"] in judged
        yield Pair(
            "given-two" if row["first"] else "given",
            "held-out" if held else "train",
            compared(row["question"], *objects) if row["first"] else row["question"],
            _cut(row["sentence"]),
            side_shares(letter, row["sure"] == "1"),
            one_of(3, 2) if letter != "N" else (),
            one_of(3, int(row["carries"])),
        )


def _read() -> Iterator[Pair]:
    for each in read_sentences():
        context, name = each.question, "read-sentences"
        if each.first:
            context, name = compared(each.question, each.first, each.second), "read-two"
        held = fold_of(context, _KEPT_QUESTIONS) == 0
        share = _ON_OTHER_SUBJECTS if each.about[0] == 1.0 else 1.0
        text = _cut(each.text)
        yield Pair(name, "held-out" if held else "train", context, text,
                   each.side, each.about, each.carries, share)  # fmt: skip


def in_other_words(own: Iterable[Pair]) -> Iterator[Pair]:
    """The training pairs of read sentences, with the variants of their questions."""
    table = rows(_FOLDER / "question-variants.tsv", "\t", quoted=False)
    variants = {row["question"]: row for row in table}
    for pair in own:
        if pair.split == "train" and (row := variants.get(digest(pair.context))):
            for column in ("same", "same2", "opposite", "opposite2", "opposite3"):
                side = pair.side if column.startswith("same") else _turned(pair.side)
                yield replace(pair, dataset="variants", context=row[column], side=side)


def written() -> Iterator[Pair]:
    """Each sentence on a subject with each of its questions; of one in eight, held out."""
    for subject, texts in _subjects().items():
        split: Split = "held-out" if fold_of(subject, _KEPT_SUBJECTS) == 0 else "train"
        none = [*texts["neither"], *texts["title"]]
        for favours, kind in ((True, "for"), (False, "against")):
            for question in texts[kind]:
                for carries, good in itertools.product((1, 2), (True, False)):
                    side = one_of(4, 0 if good == favours else 1)
                    for text in texts[f"{'good' if good else 'bad'} {carries}"]:
                        yield Pair("written-sentences", split, question, text, side,
                                   one_of(3, 2), one_of(3, carries))  # fmt: skip
                for text in none:
                    yield Pair("written-sentences", split, question, text, one_of(4, 3),
                               one_of(3, 1), one_of(3, 0))  # fmt: skip


def written_on_two() -> Iterator[Pair]:
    """Each sentence on a pair of objects with its question, and in the other order of them."""
    for subject, texts in _subjects().items():
        first, _, rest = subject.partition(" | ")
        second, _, question = rest.partition(" | ")
        split: Split = "held-out" if fold_of(subject, _KEPT_SUBJECTS) == 0 else "train"
        for number, kind in enumerate(("first", "second", "both", "none") if question else ()):
            side, takes = one_of(4, number), kind != "none"
            about, carries = one_of(3, 2 if takes else 1), one_of(3, 2 if takes else 0)
            for text in texts[kind]:
                context = compared(question, first, second)
                yield Pair("written-on-two", split, context, text, side, about, carries)
                context = compared(question, second, first)
                yield Pair("written-on-two", split, context, text, _turned(side), about, carries)


def _subjects() -> dict[str, dict[str, list[str]]]:
    """The texts of each subject by their kinds."""
    found: dict[str, dict[str, list[str]]] = {}
    for row in rows(_FOLDER / "written-sentences.tsv", "\t", quoted=False):
        found.setdefault(row["subject"], defaultdict(list))[row["kind"]].append(row["text"])
    return found


def _turned(side: Shares) -> Shares:
    return (*side[1::-1], *side[2:])


def _of_example(each: Example) -> Iterator[Pair]:
    split: Split = "held-out" if each.dataset in HELD_OUT else each.split
    text = _cut(each.text)
    if each.split == "validation":
        return
    if each.head == "stance":
        yield Pair(each.dataset, split, each.context, text, _side(each))
    elif each.head == "argumentativeness":
        carries = _SOME_REASON if each.label else _NO_REASON
        yield Pair(each.dataset, split, "", text, carries=carries)
    elif each.head == "comparison":
        question = each.group if each.dataset == "stackexchange" else each.context
        context = compared(question, each.first, each.second)
        by_folds = each.dataset in ("compsent", "stackexchange")
        if by_folds and fold_of(each.group, _FOLDS) == 0:
            split = "held-out"
        pair = Pair(each.dataset, split, context, text, _side(each))
        yield pair
        if by_folds and split == "train":
            context = compared(question, each.second, each.first)
            yield replace(pair, context=context, side=_turned(pair.side), share=_OTHER_ORDER)


def _side(each: Example) -> Shares:
    """The shares of the sides; only some data sets of comparison tell BOTH from NONE."""
    if each.votes:
        return each.votes[0], each.votes[1], 0.0, each.votes[2]
    label = int(each.label)
    tells = each.head == "comparison" and each.dataset != "compsent"
    return one_of(4, min(label, 3) if label < 2 or tells else 3)


def _cut(text: str) -> str:
    return " ".join(text.split()[:_WORDS])


class _Search:
    """The ids of the texts that a search finds first."""

    def __init__(self, texts: Mapping[str, str]):
        from sicetnon import BM25, Index

        index = Index.build([{"id": each, "text": text} for each, text in texts.items()])
        self._retriever = index.retriever(BM25(k1=1.2, b=0.4))

    def __call__(self, questions: Sequence[str], most: int) -> list[list[str]]:
        topics = [Topic(str(number), each) for number, each in enumerate(questions)]
        return [list(each.ids) for each in self._retriever.retrieve(topics, most)]


def _found_by_search() -> Iterator[tuple[str, str]]:
    """Sentences, and the beginnings of the texts, that a search finds for what was read."""
    judged = judged_ids()
    folder = data_folder() / "touche-2020-task-1/input"
    texts = {e.id: plain(e.premise) for e in arguments_of(folder) if e.id not in judged}
    asked = dict.fromkeys((each.question, each.first, each.second) for each in read_sentences())
    single = [question for question, first, _ in asked if not first]
    double = [each for each in asked if each[1]]
    yield from _for_one(single, texts)
    of_passages = {each["id"]: plain(each["contents"]) for each in passages()}
    searched = [" ".join(each) for each in double]
    for own, most in ((_pieces(of_passages), 60), (_pieces(texts), 60), (of_passages, 25)):
        for each, ids in zip(double, _Search(own)(searched, most), strict=True):
            question, *objects = each
            for identifier, order in itertools.product(ids, itertools.permutations(objects)):
                yield compared(question, *order), own[identifier]


def _for_one(questions: Sequence[str], texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    pieces = _pieces(texts)
    rng = random.Random(_SEED)
    by_text: dict[str, list[str]] = {}
    for identifier, piece in pieces.items():
        by_text.setdefault(identifier.rpartition("#")[0], []).append(piece)
    near = _Search(pieces)(questions, _OF_SENTENCES)
    for question, ids, own in zip(questions, _Search(texts)(questions, _FOUND), near, strict=True):
        several = [piece for each in ids[:14] for piece in by_text.get(each, ())]
        drawn = rng.sample(several, min(12, len(several)))
        words = _stems(question)
        some = rng.sample(several, min(80, len(several)))
        drawn += sorted(some, key=lambda piece: -len(_stems(piece) & words))[:7]
        drawn += [pieces[each] for each in own[:5] + rng.sample(own[5:], min(9, len(own[5:])))]
        for each in ids[:2]:
            drawn.append(" ".join(texts[each].split()[: rng.choice([25, 40, 60, 80])]))
        yield from ((question, piece) for piece in drawn)


def _pieces(texts: Mapping[str, str]) -> dict[str, str]:
    """The sentences of five to 60 words, by the id of their text and their place in it."""
    return {
        f"{identifier}#{place}": each
        for identifier, text in texts.items()
        for place, each in enumerate(sentences(text))
        if 5 <= len(each.split()) <= 60
    }


def _stems(text: str) -> set[str]:
    return {word[:5] for word in text.lower().split() if len(word) > 3}


def digest_of(found: Iterable[Pair]) -> str:
    """A digest of these pairs, for the files that are made of them."""
    lines = "\n".join(f"{each.context}\t{each.text}" for each in found)
    return hashlib.sha256(lines.encode()).hexdigest()[:12]
