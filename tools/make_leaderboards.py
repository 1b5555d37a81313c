"""Make the tables of published scores in src/sicetnon/evaluation/data/.

    SICETNON_DATA=../shared/data PYTHONPATH=src python tools/make_leaderboards.py [-o FOLDER]

`leaderboards.tsv`: the result tables of the six task pages (https://touche.webis.de). `qrels.tsv`:
checksums of the official judgments, by which a user's file is recognised.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from sicetnon.evaluation.inputs import load_qrels
from sicetnon.evaluation.leaderboard import Part, judgments_checksum

ROOT = Path(__file__).parent.parent
DATA = Path(os.environ.get("SICETNON_DATA", ROOT / "../shared/data"))
OUTPUT = ROOT / "src/sicetnon/evaluation/data"

SCORES = ("task", "dimension", "corpus", "team", "tag", "mean", "low", "high")
STANCES = ("lines", "team_mean", "team_lines")
# 2020 task 1 has two tables: the pools were judged on one version of the corpus and carried over.
CORPORA = {"1": "args.me 1.0", "2": "args.me 2020-04-01"}
# The page prints the last row of a table over the remains of a longer one.
REPAIRED = {
    ("Aragornrançois de Jarjayes", "0.319"): ("Aragorn", "cedr_knrm"),
}
# For those of which only the odd topics are at hand, the checksum is over these.
QRELS: tuple[tuple[Part, str, str, str, str], ...] = (
    ("whole", "touche-2021-task-1", "relevance", "", "relevance"),
    ("whole", "touche-2022-task-2", "relevance", "", "relevance"),
    ("whole", "touche-2022-task-2", "quality", "", "quality"),
    ("whole", "touche-2022-task-2", "stance", "", "stance"),
    ("odd", "touche-2020-task-1", "relevance", CORPORA["1"], "relevance-args-me-1.0"),
    (
        *("odd", "touche-2020-task-1", "relevance", CORPORA["2"]),
        "relevance-args-me-2020-04-01-uncorrected",
    ),
    (
        *("odd", "touche-2020-task-1", "relevance", "corrected"),
        "relevance-args-me-2020-04-01-corrected",
    ),
    ("odd", "touche-2020-task-2", "relevance", "", "relevance"),
    ("odd", "touche-2021-task-2", "relevance", "", "relevance"),
    ("odd", "touche-2021-task-2", "quality", "", "quality"),
    ("odd", "touche-2022-task-1", "relevance", "", "relevance"),
    ("odd", "touche-2022-task-1", "quality", "", "quality"),
    ("odd", "touche-2022-task-1", "coherence", "", "coherence"),
)


def published_rows(lines: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """The rows of all tables, without the heads between them."""
    for line in lines:
        where, table, *cells = line.rstrip("\n").split("\t")
        if len(cells) < 3 or not cells[2].replace(".", "").isdigit():
            continue
        team, tag, mean, *more = cells
        team, tag = REPAIRED.get((team, mean), (team, tag))
        task, _, dimension = where.partition("/")
        corpus = CORPORA[table] if where == "touche-2020-task-1" else ""
        bounds, stance = ((), more) if dimension == "stance" else (more, ())
        low, high = bounds or ("", "")
        yield (task, dimension or "relevance", corpus, team, tag, mean, low, high, *stance)


def checksums() -> Iterator[tuple[str, ...]]:
    """A row for each official file of judgments."""
    for part, task, dimension, corpus, name in QRELS:
        suffix = ".odd-topics.qrels" if part == "odd" else ".qrels"
        qrels = load_qrels(DATA / "qrels" / f"{task}-{name}{suffix}")
        yield task, dimension, corpus, part, judgments_checksum(qrels, part)


def write(path: Path, source: str, head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> None:
    """Write a table with a line on where it comes from."""
    table = [head, *(row + ("",) * (len(head) - len(row)) for row in rows)]
    lines = (f"{chr(9).join(row)}\n" for row in table)
    path.write_text(f"# {source}\n{''.join(lines)}", "utf-8")
    print(f"{path}: {len(table) - 1} rows")


def main() -> None:
    """Write both tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("-o", "--output", type=Path, default=OUTPUT, metavar="FOLDER")
    folder = parser.parse_args().output
    with (DATA / "leaderboards.tsv").open(encoding="utf-8") as lines:
        rows = list(published_rows(lines))
    source = (
        "Results of the Touché tasks of 2020 to 2022, from their pages at https://touche.webis.de"
    )
    write(folder / "leaderboards.tsv", source, SCORES + STANCES, rows)
    source = "SHA-256 of the official judgments, as leaderboard.judgments_checksum makes it"
    write(
        folder / "qrels.tsv", source, ("task", "dimension", "corpus", "part", "sha256"), checksums()
    )


if __name__ == "__main__":
    main()
