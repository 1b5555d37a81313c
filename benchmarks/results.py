"""Run the programs of `benchmarks/effectiveness` and gather what they print on one page.

    python -m benchmarks.results [-o docs/figures/results.md] [--only NAME …] [--list]

The page names each command, how long it took, the package's version and the debate model, and the
SHA-256 of every data file, so that a reader can tell whether two pages were made from the same
data. What a program printed is kept in `build/results`; a program runs again only when its command,
the data or the code has changed, so that an interrupted run resumes. Reads SICETNON_DATA (default:
../shared/data).
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from benchmarks.bench import DATA
from sicetnon._version import VERSION
from sicetnon.arguments.models.classifiers import Stance

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/figures/results.md"
KEPT = ROOT / "build/results"
CODE = ("src", "benchmarks", "recipe")
_DIGITS = 16
_BLOCK = 1 << 20
FOLDS = "out/training/model-deep-conclusions-{fold}"
COMPARISON_FOLDS = "out/training/model-{fold}"


@dataclass(frozen=True)
class Program:
    """A program of `benchmarks/effectiveness`.

    Attributes:
        name: Its module.
        title: The heading on the page.
        arguments: Its options.
        models: The folders of the models of all folds, with `{fold}`; the program is given them
            where training has left them.
    """

    name: str
    title: str
    arguments: tuple[str, ...] = ()
    models: str = ""

    def command(self) -> list[str]:
        """The command, with the models of all folds where they are at hand."""
        has_models = self.models and Path(ROOT, self.models.format(fold=0)).is_dir()
        models = ["--models", self.models] if has_models else []
        return ["python", "-m", f"benchmarks.effectiveness.{self.name}", *self.arguments, *models]


class Section(msgspec.Struct, frozen=True):
    """The output of a program.

    Attributes:
        key: The digest of its command, the data and the code.
        command: Its command.
        seconds: Its duration.
        text: Its output.
    """

    key: str
    command: str
    seconds: float
    text: str


PROGRAMS = (
    Program("arguments", "Arguments (2020 and 2021, task 1)"),
    Program("answers", "The system `answers`, its parts and its cost", ("--cost",)),
    Program("twenty_questions", "Twenty questions of our own"),
    Program("sides", "Sides of questions", (), FOLDS),
    Program("loaded", "Sides of loaded questions"),
    Program("composed", "Sides of reasons whose words compose"),
    Program("claims", "Stance towards held-out claims"),
    Program("sentences", "The sentence that carries a reason"),
    Program("replies", "Replies"),
    Program("pairs", "Pairs of sentences (2022, task 1)", ("--learned",)),
    Program("pair_stances", "Stances of pairs of sentences"),
    Program("passages", "Comparative passages (2022, task 2)"),
    Program("stance", "Stance towards two objects", (), COMPARISON_FOLDS),
    Program("comparison", "Stance towards two objects, by rules"),
    Program("documents", "Web documents (2020 and 2021, task 2)"),
    Program("fusion", "Fusion of official runs"),
    Program("reranking", "The model's scores as an order"),
)


def checksums(folder: Path) -> dict[str, str]:
    """The SHA-256 of each file below a folder, by its path."""
    files = {path.relative_to(folder): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {
        name.as_posix(): _digest(path)
        for name, path in files.items()
        if not any(part.startswith(".") for part in name.parts)
    }


def _digest(path: Path) -> str:
    found = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            found.update(block)
    return found.hexdigest()


def code_digest(root: Path = ROOT) -> str:
    """The digest of all code, models and settings that a figure may depend on."""
    found = hashlib.sha256()
    for folder in CODE:
        for path in sorted(Path(root, folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                found.update(f"{path.relative_to(root).as_posix()} {_digest(path)}\n".encode())
    return found.hexdigest()


def run(program: Program, key: str, folder: Path = KEPT, root: Path = ROOT) -> Section:
    """Run a program, or take its kept output where nothing has changed.

    Args:
        program: The program.
        key: The digest of the data and the code.
        folder: The folder of kept outputs.
        root: The folder that the program runs in.

    Raises:
        SystemExit: The program failed; it names the command.
    """
    command = program.command()
    own = hashlib.sha256(f"{key} {shlex.join(command)}".encode()).hexdigest()
    path = folder / f"{program.name}.json"
    if path.exists():
        kept = msgspec.json.decode(path.read_bytes(), type=Section)
        if kept.key == own:
            return kept
    print(f"{program.name} …", file=sys.stderr, flush=True)
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, *command[1:]], cwd=root, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{shlex.join(command)} ended with exit status {done.returncode}")
    found = Section(own, shlex.join(command), time.monotonic() - began, done.stdout.strip())
    folder.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_bytes(msgspec.json.encode(found))
    part.replace(path)
    return found


def page(sections: Iterable[tuple[Program, Section]], files: dict[str, str]) -> str:
    """The page, in Markdown."""
    return "\n".join(_lines(sections, files))


def _lines(sections: Iterable[tuple[Program, Section]], files: dict[str, str]) -> Iterator[str]:
    yield "# All results"
    yield "`make results` prints this page from the data; the other pages of figures explain it."
    yield "Labels of sides, relevance and strength were read by a large language model."
    yield f"\nPackage {VERSION}, {Stance().identity()}.\n"
    for program, section in sections:
        yield f"## {program.title}"
        yield f"<!-- not run: needs the data -->\n```bash\n{section.command}\n```\n"
        yield f"{section.seconds:.0f} seconds.\n"
        yield from _shown(section.text)
        yield ""
    yield "## Data\nThe first digits of the SHA-256 of each file:\n"
    yield "| file | SHA-256 |\n|---|---|"
    for name, digest in files.items():
        yield f"| {name} | `{digest[:_DIGITS]}` |"
    yield ""


def _shown(text: str) -> Iterator[str]:
    """Tables as they are, other lines as a block of code."""
    plain: list[str] = []
    in_table = False
    for line in [*text.splitlines(), "|"]:
        if line.startswith("|"):
            if any(each.strip() for each in plain):
                yield "```text\n" + "\n".join(plain).strip("\n") + "\n```\n"
            plain = []
            if line != "|":
                yield line
            in_table = True
            continue
        if in_table:
            yield ""
            in_table = False
        plain.append(line)


def chosen(names: Sequence[str]) -> list[Program]:
    """The programs of some names; all when there is none."""
    return [each for each in PROGRAMS if not names or each.name in names]


def main() -> None:
    """Run the programs and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.results", description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=PAGE, help="the page to write")
    names = [each.name for each in PROGRAMS]
    parser.add_argument("--only", nargs="+", choices=names, default=[], help="some programs only")
    parser.add_argument("--list", action="store_true", help="print the commands and end")
    options = parser.parse_args()
    programs = chosen(options.only)
    if options.list:
        print("\n".join(shlex.join(each.command()) for each in programs))
        return
    if not DATA.is_dir():
        parser.error(f"{DATA} holds no data; set SICETNON_DATA to the folder of the data sets")
    os.environ["SICETNON_DATA"] = str(DATA.resolve())
    files = checksums(DATA)
    key = hashlib.sha256(f"{sorted(files.items())} {code_digest()}".encode()).hexdigest()
    found = [(each, run(each, key)) for each in programs]
    part = options.output.with_suffix(".part")
    part.write_text(page(found, files), encoding="utf-8")
    part.replace(options.output)
    print(f"wrote {options.output}")


if __name__ == "__main__":
    main()
