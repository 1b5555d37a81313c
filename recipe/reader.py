"""The one reader: side of a question, whether a text is about it, and what it carries.

A language model learns the labels and answers for what has none; a small network learns both
(Hinton et al. 2015). Files are in `out/reader`: each stage resumes there.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from recipe.checkpoints import finished_checkpoint
from recipe.configuration import FOLDER, Configuration
from recipe.corpus import examples
from recipe.fit import device, sample
from recipe.growth import grow
from recipe.language import language, language_pieces
from recipe.measures import macro_f1
from recipe.network import Network
from recipe.reader_data import Pair, digest_of, pairs, unlabelled
from recipe.reader_training import (
    HEADS,
    Floats,
    Lesson,
    Reader,
    Rows,
    answers,
    labels_of,
    precision,
)
from recipe.shipped import shipped_judge

OWN_FOLDER = FOLDER.with_name("reader")
"""The folder of all files."""
_ANSWERED = 24_576
_ASKED = "\nAnswer:"
_STANDARDISED = 512
_SURE = 0.8


def run(
    settings: Configuration,
    seconds: tuple[float, float],
    start: Path,
    shipped: Path,
    version: str,
    folder: Path = OWN_FOLDER,
) -> Path:
    """Train the teacher, let it answer, train the student, and export it.

    Args:
        settings: The settings.
        seconds: The seconds of training, of the teacher and of the student.
        start: The graph of the sides in debate 12, with which the student begins.
        shipped: The folder of the model that gets the new graph, in a copy.
        version: The version of that copy.
        folder: The folder of all files.

    Returns:
        The folder of the model.
    """
    own, files = settings.reader, FOLDER / "language"
    folder.mkdir(parents=True, exist_ok=True)
    found, labelled = _data(settings, folder)

    def teacher() -> Reader:
        reader = Reader(language(files, own.teacher.layers, own.teacher.adapters), settings.dropout)
        reader.pieces = replace(language_pieces(files), after=_ASKED)
        return reader

    said = taught(found, labelled, teacher, settings, seconds[0], folder)
    student = grown(start, own.student.layers)
    learn(student, found, said, labelled, settings, seconds[1], folder)
    return exported(grown(start, own.student.layers), shipped, version, folder)


def taught(
    found: Sequence[Pair],
    labelled: int,
    teacher: Callable[[], Reader],
    settings: Configuration,
    seconds: float,
    folder: Path,
) -> Floats:
    """The answers [pairs, all classes] of a teacher that learnt the labelled pairs.

    Args:
        found: The pairs, those with labels first.
        labelled: Their number.
        teacher: Makes the teacher, untrained.
        settings: The settings.
        seconds: The seconds of training.
        folder: The folder of all files.
    """
    own = folder / f"answers-{digest_of(found)}"
    places = range(0, len(found), _ANSWERED)
    paths = [own / f"{start:08}.npy" for start in places]
    if not all(each.exists() for each in paths):
        reader = teacher().to(device())
        rows, labels = Rows(found, reader.pieces), labels_of(found)
        learnt = np.array([e.share * (e.split == "train") for e in found], np.float32)
        learnt[labelled:] = 0.0
        some = np.random.default_rng(settings.seed).permutation(np.flatnonzero(learnt))
        with precision():
            reader.standardise(
                rows.batch(some[:_STANDARDISED]), torch.tensor(labels[learnt > 0], device=device())
            )
        Lesson(reader, rows, labels, learnt, settings.reader.teacher, seconds,
               folder / "teacher", settings.seed).run()  # fmt: skip
        own.mkdir(exist_ok=True)
        for start, path in zip(places, paths, strict=True):
            if not path.exists():
                part = path.with_suffix(".part.npy")
                some = np.arange(start, min(len(found), start + _ANSWERED))
                np.save(part, answers(reader, rows, some, settings.reader.teacher.tokens))
                part.replace(path)
    said = np.concatenate([np.load(each) for each in paths]).astype(np.float32)
    _report(found[:labelled], said, folder / "teacher.json")
    return said


def learn(
    student: Reader,
    found: Sequence[Pair],
    said: Floats,
    labelled: int,
    settings: Configuration,
    seconds: float,
    folder: Path,
) -> None:
    """Train the student on labels and answers, which count alike where there are both."""
    labels = labels_of(found)
    wanted = np.where(labels >= 0, (labels + said) / 2, said)
    weights = 1 + 2 * wanted[:, :2].sum(1)
    weights[:labelled] *= [min(1.5, each.share + 0.3) for each in found[:labelled]]
    weights *= [each.split == "train" for each in found]
    rows, own = Rows(found, student.pieces), settings.reader.student
    Lesson(student, rows, wanted, weights, own, seconds, folder / "student", settings.seed).run()
    held = np.flatnonzero([each.split == "held-out" for each in found])
    mine = np.full_like(said, np.nan)
    mine[held] = answers(student, rows, held, own.tokens)
    _report(found, mine, folder / "student.json")


def exported(student: Reader, shipped: Path, version: str, folder: Path) -> Path:
    """A copy of a model with the trained student as its graph of sides."""
    from recipe.export import add_graph

    state = finished_checkpoint(folder / "student")["network"]
    student.load_state_dict(state, strict=False)
    target = folder / "model"
    shutil.copytree(shipped, target, dirs_exist_ok=True)
    add_graph(student.cpu().eval(), "reader", target, version)
    return target


def grown(start: Path, layers: int, dropout: float = 0.05) -> Reader:
    """A reader that begins as the network of sides in debate 12, with more layers.

    Args:
        start: The graph of that network; its weights are beside it.
        layers: The number of its layers afterwards.
        dropout: The share that is dropped in the head while training.
    """
    state = shipped_judge(start)
    if "heads.stance.outer.weight" not in state:
        raise SystemExit(f"{start}: not that of debate 12; see recipe/README.md")
    before = len({each.split(".")[3] for each in state if each.startswith("encoder.encoder.")})
    other = Network.original(("stance",), layers=before)
    other.take(state)
    other.quantize_words()
    grow(other.encoder, layers, sample())
    reader, head = Reader(other.encoder, dropout), other.heads["stance"]
    reader.head.inner.load_state_dict(head.inner.state_dict())
    places = [0, 1, 3]
    with torch.no_grad():
        reader.head.outer.weight.zero_()
        reader.head.outer.bias.zero_()
        reader.head.outer.bias[2] = -3.0
        reader.head.outer.weight[places] = head.outer.weight
        reader.head.outer.bias[places] = head.outer.bias
    return reader


def _data(settings: Configuration, folder: Path) -> tuple[list[Pair], int]:
    """The pairs, those with labels first, and how many these are."""
    found = examples(0)
    own = pairs(found, settings.reader.shares)
    path = folder / "unlabelled.json"
    if not path.exists():
        drawn = [(each.context, each.text) for each in unlabelled(found, own)]
        part = path.with_suffix(".part")
        part.write_text(json.dumps(drawn), encoding="utf-8")
        part.replace(path)
    further = [Pair("unlabelled", "train", *each) for each in json.loads(path.read_text("utf-8"))]
    return own + further, len(own)


def _report(found: Sequence[Pair], said: Floats, path: Path) -> None:
    """Write how many held-out texts of each data set are read right."""
    labels, figures = labels_of(found), {}
    for name in sorted({each.dataset for each in found if each.split == "held-out"}):
        own = [n for n, e in enumerate(found) if (e.dataset, e.split) == (name, "held-out")]
        figures[name] = _figures(labels[own], said[own])
    path.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    print(path, json.dumps(figures))


def _figures(labels: Floats, said: Floats) -> dict[str, float]:
    found: dict[str, float] = {"texts": len(labels)}
    start = 0
    for name, count in HEADS.items():
        own, wanted = said[:, start : start + count], labels[:, start : start + count]
        own, wanted = own[wanted[:, 0] >= 0], wanted[wanted[:, 0] >= 0]
        start += count
        if not len(own):
            continue
        found[name] = macro_f1(own.argmax(1), wanted.argmax(1))
        sided = wanted.argmax(1) < 2
        if name == "side" and sided.any():
            right = own[:, :2].argmax(1) == wanted.argmax(1)
            sure = sided & (own[:, :2].max(1) >= _SURE)
            found["right side"] = float(right[sided].mean())
            found["said surely"] = float(sure.sum() / sided.sum())
    return {each: round(value, 3) for each, value in found.items()}
