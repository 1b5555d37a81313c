"""Prints wall time, memory and validity of the commands of all six task-years as one table.

    python -m benchmarks.speed.tasks [--only TASK …] [--repeats N]

Every command is a process of its own on the input directories under SICETNON_DATA (default:
../shared/data); those of 2021 are the ones of 2020 with 2021's topics. Cold is the first run, which
builds its index or fetches its documents; warm is the next. Documents of task 2 come from a local
server that imitates ChatNoir, which is asked five times a second at most: a cold run mostly waits.
The second variant is an index of web pages of the user's own, built by `sicetnon index build`.

Kernels are compiled before the clock runs. Peaks count pages of index files that are mapped.
"""

from __future__ import annotations

import argparse
import html
import json
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.bench import DATA
from benchmarks.speed.harness import ProcessFigures, measure_process, peak_bytes
from benchmarks.speed.imitation import RecordedService, web_texts

PROGRAM = [sys.executable, "-m", "sicetnon"]
TASKS = (
    "touche-2020-task-1",
    "touche-2021-task-1",
    "touche-2022-task-1",
    "touche-2020-task-2",
    "touche-2021-task-2",
    "touche-2022-task-2",
)
OF_2020 = {"touche-2021-task-1": "touche-2020-task-1", "touche-2021-task-2": "touche-2020-task-2"}
HEADS = ("task", "documents", "index", "wall s", "processor s", "peak MB", "results", "validate",
         "TIRA")  # fmt: skip


@dataclass(frozen=True)
class Variant:
    """A command to measure.

    Attributes:
        task: The task-year.
        documents: Where documents come from, for people.
        source: The input directory.
        folder: Where all that it writes goes.
        pages: Web pages to index first, where they are the user's own.
        environment: What the process is told.
    """

    task: str
    documents: str
    source: Path
    folder: Path
    pages: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def index(self) -> list[str]:
        """The command that indexes the user's own pages."""
        return [*PROGRAM, "index", "build", str(self.pages), "-o", str(self.folder / "index")]

    @property
    def run(self) -> list[str]:
        """The command that does the task."""
        where = ["-i", str(self.source), "-o", str(self.folder / "out")]
        kept = ["--cache", str(self.folder / "answers.sqlite")]
        if not self.environment:
            kept = ["--index", str(self.folder / "index")]
        return [*PROGRAM, "run", self.task, *where, *kept]


def sources(folder: Path) -> dict[str, Path]:
    """The input directory of each task-year; those of 2021 are put together in a folder."""
    found = {task: DATA / task / "input" for task in TASKS if task not in OF_2020}
    for task, earlier in OF_2020.items():
        found[task] = folder / task
        found[task].mkdir()
        for file in found[earlier].glob("*.json"):
            (found[task] / file.name).symlink_to(file.resolve())
        topics = (DATA / "topics" / f"{task}.xml").read_bytes()
        (found[task] / "topics.xml").write_bytes(topics)
    return found


def write_pages(folder: Path) -> Path:
    """Web pages as HTML files, in place of pages that a user has."""
    folder.mkdir()
    for name, text in web_texts().items():
        lines = "".join(f"<p>{html.escape(line)}</p>\n" for line in text.splitlines())
        page = f"<html><head><meta charset='utf-8'></head><body><article>{lines}</article></body>"
        (folder / f"{name}.html").write_text(f"{page}</html>", encoding="utf-8")
    return folder


def variants(chosen: Sequence[str], folder: Path, address: str) -> Iterator[Variant]:
    """The measured cases: each task-year, and both sources of documents."""
    inputs, pages = sources(folder), write_pages(folder / "pages")
    service = {"CHATNOIR_URL": address, "CHATNOIR_API_KEY": "imitation"}
    for task in chosen:
        if task in ("touche-2020-task-2", "touche-2021-task-2"):
            place = folder / f"{task}-own"
            yield Variant(task, "ChatNoir, imitated", inputs[task], folder / f"{task}-out", None,
                          service)  # fmt: skip
            yield Variant(task, "own index", inputs[task], place, pages)
        else:
            yield Variant(task, "input", inputs[task], folder / f"{task}-out")


def measure(variant: Variant) -> tuple[ProcessFigures, ProcessFigures]:
    """A cold run and a warm one."""
    steps = [variant.index, variant.run] if variant.pages else [variant.run]
    parts = [measure_process(step, variant.environment) for step in steps]
    cold = ProcessFigures(
        sum(part.seconds for part in parts),
        sum(part.processor for part in parts),
        max(part.peak_mb for part in parts),
    )
    return cold, measure_process(variant.run, variant.environment)


def validated(variant: Variant) -> str:
    """The numbers of findings of `sicetnon validate` for the output."""
    topics = ["--topics", str(variant.source / "topics.xml")]
    corpus = [] if variant.environment else ["--index", str(variant.folder / "index")]
    run = str(variant.folder / "out" / "run.txt")
    command = [*PROGRAM, "validate", run, "--task", variant.task, *topics, *corpus, "--json"]
    said = subprocess.run(command, capture_output=True, check=False)
    report = json.loads(said.stdout)
    errors = [finding for finding in report["findings"] if finding["severity"] == "error"]
    return f"{len(errors)} errors, {len(report['findings']) - len(errors)} warnings"


def tira_complaints(folder: Path) -> list[str]:
    """The result of TIRA's check of an output directory."""
    runs = [file for file in folder.iterdir() if file.name in ("run.txt", "run.txt.gz")]
    if len(runs) != 1:
        return [f"found {len(runs)} runs; expected one run.txt or run.txt.gz"]
    complaints, seen = [], set()
    for number, line in enumerate(runs[0].read_text(encoding="utf-8").splitlines(), start=1):
        parts = re.split(r"\s+", line.strip())
        try:
            topic, _, document, rank, score, _ = parts
            int(rank), float(score)
        except ValueError:
            complaints.append(f"line {number}: found {line!r}; expected six columns")
            continue
        if (topic, document) in seen:
            complaints.append(f"line {number}: {document} twice for topic {topic}")
        seen.add((topic, document))
    return complaints if seen or complaints else ["the run is empty"]


def rows(variant: Variant, repeats: int) -> Iterator[list[str]]:
    """The rows of a variant: median seconds, highest peak."""
    taken = []
    for repeat in range(repeats):
        fresh = Variant(variant.task, variant.documents, variant.source,
                        variant.folder / str(repeat), variant.pages,
                        variant.environment)  # fmt: skip
        fresh.folder.mkdir(parents=True)
        taken.append(measure(fresh))
    lines = (fresh.folder / "out" / "run.txt").read_text(encoding="utf-8").count("\n")
    complaints = tira_complaints(fresh.folder / "out")
    checks = [f"{lines:,}", validated(fresh), complaints[0] if complaints else "passes"]
    for name, figures in zip(("cold", "warm"), zip(*taken, strict=True), strict=True):
        yield [
            variant.task,
            variant.documents,
            name,
            f"{statistics.median(f.seconds for f in figures):.1f}",
            f"{statistics.median(f.processor for f in figures):.1f}",
            f"{max(f.peak_mb for f in figures):,.0f}",
            *checks,
        ]


def show(row: Sequence[str]) -> None:
    """Print a line of the table."""
    print(f"| {' | '.join(row)} |", flush=True)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", nargs="+", choices=TASKS, default=list(TASKS), metavar="TASK")
    parser.add_argument("--repeats", type=int, default=1)
    given = parser.parse_args()
    if not (DATA / TASKS[0]).is_dir():
        print(f"{DATA} is not there; set SICETNON_DATA", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="tasks-") as scratch, RecordedService() as service:
        found = list(variants(given.only, Path(scratch), service.url))
        for variant in found:
            if not variant.environment:  # ChatNoir's results need no kernel
                compiling = Variant(variant.task, "", variant.source,
                                    variant.folder / "compiling", variant.pages)  # fmt: skip
                compiling.folder.mkdir(parents=True)
                measure(compiling)
        show(HEADS)
        show(["---"] * len(HEADS))
        for variant in found:
            for row in rows(variant, given.repeats):
                show(row)
        print(f"this process itself held at most {peak_bytes() / 1e6:,.0f} MB", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
