"""Sentences with their side of a question, whether they are about it, and what they carry.

A large language model read them, each alone. `read-sentences.tsv` has no text of the data: it names
a sentence by its digest, a longer piece by the id of its text and its place among the words there,
and a title or conclusion of args.me by its digest. Its other questions were written for it. A label
is a side (F for, A against, B both) with what the text carries (0 to 2), N for a text on the
subject without a side, O for another subject; a small letter marks one that a second reader could
see otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from recipe.read_sides import digest
from recipe.side_labels import arguments_of
from recipe.sources import data_folder, passages, plain, rows
from sicetnon.text.sentences import sentences

FILE = Path(__file__).with_name("read-sentences.tsv")
SIDES = ("FOR", "AGAINST", "BOTH", "NONE")
Shares = tuple[float, ...]

_FEWEST, _MOST = 5, 60
_UNSURE: dict[str, Shares] = {
    "F": (0.75, 0.08, 0.0, 0.17),
    "A": (0.08, 0.75, 0.0, 0.17),
    "B": (0.08, 0.0, 0.75, 0.17),
    "N": (0.125, 0.125, 0.0, 0.75),
}
_UNSURE_ABOUT: dict[str, Shares] = {"O": (0.6, 0.4, 0.0), "N": (0.3, 0.6, 0.1)}
_ASKED = re.compile(
    r"(.{3,60}?) (should|must|can|will|is|are|does|do|would) (not )?(.{3,80}?)[.!?]?$"
)
_OPENING = re.compile(r"^(Resolved: |THBT |THW |That )")


@dataclass(frozen=True, slots=True)
class ReadSentence:
    """A text with its labels for a question.

    Attributes:
        question: A question, or a claim.
        first: The first of two objects that it compares; empty if it compares none.
        second: The other.
        text: The text.
        side: The shares of `SIDES`.
        about: Those of: not about it, on the subject, about it.
        carries: Those of: no reason, a weak one, one that is understood alone.
        sure: Whether a second reader is expected to say the same.
    """

    question: str
    first: str
    second: str
    text: str
    side: Shares
    about: Shares
    carries: Shares
    sure: bool


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts that the file may name.

    Attributes:
        pieces: Sentences, titles and conclusions by their digests.
        words: The words of whole texts by their ids.
    """

    pieces: dict[str, str]
    words: dict[str, list[str]]


def read_sentences(texts: Texts | None = None) -> Iterator[ReadSentence]:
    """The labelled texts that are found again.

    Args:
        texts: The texts of the data; read when left out.
    """
    known = texts or texts_of_data()
    for row in rows(FILE, "\t", quoted=False):
        question = row["question"] or known.pieces.get(row["context"], "")
        if row["form"] == "asked":
            question = as_question(question)
        for named in row["labels"].split():
            name, label = named.rsplit(":", 1)
            text = _text(name, known)
            if question and text:
                yield _labelled(question, row["first"], row["second"], text, label)


def texts_of_data() -> Texts:
    """The sentences of args.me and of passages, the conclusions, and the words of whole texts."""
    found = Texts({}, {})
    conclusions: dict[str, str] = {}
    for argument in arguments_of(data_folder() / "touche-2020-task-1/input"):
        _add(found, argument.id, plain(argument.premise))
        conclusion = plain(argument.conclusion)
        conclusions[digest(conclusion)] = conclusion
    for passage in passages():
        _add(found, passage["id"], plain(passage["contents"]))
    found.pieces.update(conclusions)
    return found


def as_question(claim: str) -> str:
    """A claim as a question, its auxiliary verb first; as it stands if it has none."""
    match = _ASKED.match(claim)
    if match is None:
        return claim
    subject, verb, negation, rest = match.groups()
    subject = _OPENING.sub("", subject)
    if not subject[:2].isupper() and subject.split()[0] not in ("USA", "America"):
        subject = subject[0].lower() + subject[1:]
    return f"{verb.capitalize()} {subject} {negation or ''}{rest}?"


def one_of(count: int, place: int) -> Shares:
    """All of the share for one class."""
    return tuple(float(each == place) for each in range(count))


def side_shares(letter: str, sure: bool) -> Shares:
    """The shares of `SIDES` for the letter of one (F, A, B, N)."""
    return one_of(len(SIDES), "FABN".index(letter)) if sure else _UNSURE[letter]


def _add(found: Texts, identifier: str, text: str) -> None:
    found.words[identifier] = text.split()
    for each in sentences(text):
        if _FEWEST <= len(each.split()) <= _MOST:
            found.pieces[digest(each)] = each


def _text(name: str, known: Texts) -> str:
    if "@" not in name:
        return known.pieces.get(name, "")
    identifier, place = name.rsplit("@", 1)
    start, count = map(int, place.split("+"))
    return " ".join(known.words.get(identifier, [])[start : start + count])


def _labelled(question: str, first: str, second: str, text: str, label: str) -> ReadSentence:
    letter, sure = label[0].upper(), label[0].isupper()
    about = one_of(3, {"O": 0, "N": 1}.get(letter, 2))
    return ReadSentence(
        question,
        first,
        second,
        text,
        side_shares("N" if letter in "NO" else letter, sure),
        about if sure else _UNSURE_ABOUT.get(letter, about),
        one_of(3, int(label[1:] or 0)),
        sure,
    )
