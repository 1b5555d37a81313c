"""Time of whole processes, of this version and of another by turns, and of a search within one.

    python -m benchmarks.speed.starting [--before SRC] [--index DIR] [--repeats 7] [--first 3]
        [--rows TEXT]

SRC is the folder `src` of another checkout. A yardstick stands beside the commands: how long Python
takes to import numpy, which no command can do without. "First" is a command with an empty cache
folder, as after the installation: it builds the index of the sample, and compiles what it needs.
"New headings" is a search whose answers have headings that no search has met. With an index, its
searches are timed, too.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.speed.harness import ProcessFigures, measure_process

HERE = Path(__file__).parents[2] / "src"
QUESTION = "Should teachers get tenure?"
SEARCH = ("-m", "sicetnon", "search", QUESTION)
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "import numpy": ("-c", "import numpy"),
    "--help": ("-m", "sicetnon", "--help"),
    "search --no-sides": (*SEARCH, "--no-sides"),
    "search": SEARCH,
    "brief": ("-m", "sicetnon", "brief", QUESTION),
}
FIRST: Mapping[str, tuple[str, ...]] = {"first search": SEARCH, "first brief": COMMANDS["brief"]}
WARM = """
import sys, time
from pathlib import Path
from statistics import median
from sicetnon import Index, Topic
from sicetnon.app.answers import answers
from sicetnon.app.index import sample_index

index = Index.open(sys.argv[2]) if sys.argv[2:] else sample_index()
question = sys.argv[1]
ranking = index.system().retrieve([Topic("1", question)], 10)[0]
times = {"search": [], "ten answers": []}
for _ in range(9):
    start = time.perf_counter()
    index.search(question, sides=False)
    middle = time.perf_counter()
    answers(index, ranking)
    times["search"].append(middle - start)
    times["ten answers"].append(time.perf_counter() - middle)
print(*(f"{name} {1000 * median(taken):.1f} ms" for name, taken in times.items()), sep=", ")
"""


def main() -> int:
    """Measure and print a row for each command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--before", type=Path, metavar="SRC")
    parser.add_argument("--index", type=Path, metavar="DIR")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--first", type=int, default=3)
    parser.add_argument("--rows", default="", metavar="TEXT", help="those whose name has the text")
    given = parser.parse_args()
    versions = {"now": HERE} | ({"before": given.before} if given.before else {})
    commands = dict(COMMANDS)
    if given.index:
        own = (*SEARCH, "--index", str(given.index))
        commands["search of --index"] = own
        commands["search of --index, --no-sides"] = (*own, "--no-sides")
    with tempfile.TemporaryDirectory(prefix="starting-") as scratch:
        # an installed package has its bytecode, whatever the environment says
        bytecode = str(Path(scratch, "bytecode"))
        os.environ |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": bytecode}
        for name in versions:  # indexes, bytecode and compiled code are there
            _run(versions[name], Path(scratch, name), SEARCH)
        print(f"{'':32} " + " ".join(f"{name:>18}" for name in versions) + "   wall, processor")
        kept = Path(scratch)
        rows = [_Row(name, command, kept, given.repeats) for name, command in commands.items()]
        rows += [
            _Row(f"{each.name}, new headings", each.command, kept, given.repeats, forget=True)
            for each in rows
            if each.name in ("search --no-sides", "search", "search of --index")
        ]
        rows += [_Row(name, command, None, given.first) for name, command in FIRST.items()]
        for row in rows:
            if given.rows in row.name:
                _print_row(row, versions)
        places = [[QUESTION], *([[QUESTION, str(given.index)]] if given.index else [])]
        for arguments in places:
            warm = _said(HERE, Path(scratch, "now"), ("-c", WARM, *arguments))
            print(f"in one process, {arguments[1:] or 'the sample'}: {warm}")
    return 0


class _Row(NamedTuple):
    """A row of the table, and the command that it measures.

    Attributes:
        name: Its name.
        command: The arguments of Python.
        scratch: The folder of the versions' cache folders; None for an empty one for each run.
        repeats: Number of runs.
        forget: Whether the headings that searches met are forgotten before each run.
    """

    name: str
    command: Sequence[str]
    scratch: Path | None
    repeats: int
    forget: bool = False


def _print_row(row: _Row, versions: Mapping[str, Path]) -> None:
    """Print medians of a command's seconds for each version, which take turns."""
    found: dict[str, list[ProcessFigures] | None] = {version: [] for version in versions}
    for _ in range(row.repeats):
        for version, source in versions.items():
            with tempfile.TemporaryDirectory() as empty:
                cache = Path(row.scratch or empty, version)
                if row.forget:
                    shutil.rmtree(cache / "headings", ignore_errors=True)
                try:
                    taken = _run(source, cache, row.command)
                except RuntimeError:  # this version lacks an option
                    found[version] = None
            known = found[version]
            if known is not None:
                known.append(taken)
    cells = (_cell(figures) for figures in found.values())
    print(f"{row.name:32} " + " ".join(f"{cell:>18}" for cell in cells), flush=True)


def _cell(figures: list[ProcessFigures] | None) -> str:
    if not figures:
        return "-"
    wall, processor = (
        median(getattr(each, part) for each in figures) for part in ("seconds", "processor")
    )
    return f"{wall:.2f} s, {processor:.2f} s"


def _environment(source: Path, cache: Path) -> dict[str, str]:
    return {"PYTHONPATH": str(source), "SICETNON_CACHE": str(cache), "NUMBA_CACHE_DIR": ""}


def _run(source: Path, cache: Path, command: Sequence[str]) -> ProcessFigures:
    return measure_process([sys.executable, *command], _environment(source, cache))


def _said(source: Path, cache: Path, command: Sequence[str]) -> str:
    return subprocess.run(
        [sys.executable, *command],
        env=os.environ | _environment(source, cache),
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
