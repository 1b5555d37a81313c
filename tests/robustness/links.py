"""Links in the folder of an index: commands read, write and remove nothing outside of it."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

from robustness.commands import command, contents
from robustness.trials import Lost, Trial
from sicetnon.index.writing import BuildOptions, build_index
from support.corpus_files import lines, put
from support.index_cases import PORTER, entries
from support.index_faults import OLD

STRANGERS = ("postings", "live-1", "live-9", "annotation-quality-12345678", "mine")


def prepare(folder: Path) -> Trial:
    """An index, and what is added to it."""
    build_index(entries(OLD), folder / "index", BuildOptions(PORTER))
    more = put(folder, "more.jsonl", lines({"id": "more", "text": "one more school"}))

    def trial(seed: int, own: Path) -> None:
        rng = Random(seed)
        index, outside = own / "index", own / "outside"
        shutil.copytree(folder / "index", index)
        outside.mkdir()
        for name in STRANGERS:
            (outside / name).write_text(name)
        done = [_link(index, outside, rng) for _ in range(rng.choice((1, 1, 2)))]
        before = contents(outside)
        works = (
            ("index", "delete", "old3", "-o", index),
            ("index", "add", more, "-o", index),
            ("index", "build", more, "-o", index),
            ("index", "merge", index, "-o", own / "merged"),
            ("index", "verify", index),
            ("search", "school", "--index", index),
        )
        for words in rng.sample(works, 3):
            command(*words)
            if contents(outside) != before:
                raise Lost(f"{words[1]} has changed what lies outside, after {done}")

    return trial


def _link(index: Path, outside: Path, rng: Random) -> str:
    """Put one link into an index."""
    segment = index / "segment-000001"
    name = rng.choice(("segment", "file", "stray", "stray file"))
    target = rng.choice([outside, *(outside / each for each in STRANGERS), outside / "none"])
    if name == "segment" and segment.is_dir() and not segment.is_symlink():
        target = outside / f"segment {rng.random()}"
        segment.rename(target)
        segment.symlink_to(target)
    elif name == "file" and not segment.is_symlink():
        file = rng.choice(sorted(path for path in segment.iterdir() if path.is_file()))
        target = outside / f"file {rng.random()}"
        file.rename(target)
        file.symlink_to(target)
    else:
        places = [index / "segment-000009", index / "building-000002", index / "building-000077"]
        if not segment.is_symlink():
            kinds = (
                "live-1",
                "live-5",
                "annotation-x-00000000",
                "annotation-x-00000000.unfinished",
            )
            places += [segment / each for each in kinds]
        place = rng.choice(places)
        if not place.is_symlink():
            place.symlink_to(target)
        return place.name
    return name
