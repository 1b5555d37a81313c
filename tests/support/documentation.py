"""The pages of the documentation: their code blocks, and how a reader would run them."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import subprocess
import sys
import types
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sicetnon.cli import main

ROOT = Path(__file__).parents[2]
ROOT_PAGES = [
    ROOT / f"{name}.md" for name in ("README", "ARCHITECTURE", "CONTRIBUTING", "SECURITY")
]
PAGES = [*ROOT_PAGES, *sorted(ROOT.glob("docs/**/*.md"))]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
FENCE = re.compile(r"^ *```(\S*)\s*$")
NOT_RUN = re.compile(r"^ *<!-- not run: (.+) -->$")
# programs that are run as they are; `sicetnon` runs in this process, which saves a second each
SYSTEM_PROGRAMS = {"cat", "echo", "head", "ls", "zcat"}


@dataclass(frozen=True)
class Block:
    """A fenced block of a page.

    Attributes:
        page: The page's path from the root of the project.
        line: The line of the opening fence.
        language: `bash`, `console`, `python`, `text` …
        text: The lines between the fences.
        not_run: Why the block is not run; empty when it is.
    """

    page: str
    line: int
    language: str
    text: str
    not_run: str

    @property
    def place(self) -> str:
        """Where the block is, for a message."""
        return f"{self.page}, line {self.line}"


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    opening: int | None = None
    language = reason = ""
    for number, line in enumerate(lines):
        fence = FENCE.match(line)
        if fence and opening is None:
            opening, language = number, fence[1]
            marked = NOT_RUN.match(lines[number - 1]) if number else None
            reason = marked[1] if marked else ""
        elif fence and opening is not None:
            text = "\n".join(lines[opening + 1 : number])
            yield Block(page, opening + 1, language, text, reason)
            opening = None


def all_blocks() -> list[Block]:
    """The fenced blocks of all pages."""
    return [block for page in NAMES for block in blocks(page)]


def commands(block: Block) -> list[tuple[str, str | None]]:
    """The commands of a `bash` or `console` block; in the latter each with its output."""
    text = re.sub(r"\\\n\s*", "", block.text)
    if block.language == "bash":
        return [(line, None) for line in text.splitlines() if shlex.split(line, comments=True)]
    found: list[tuple[str, str | None]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], ""))
        else:
            command, output = found[-1]
            found[-1] = (command, f"{output}{line}\n")
    return found


def pipeline(command: str) -> list[list[str]]:
    """The words of a command, apart by pipe; a redirection is the last word of its part."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="|>")
    lexer.whitespace_split = True
    parts: list[list[str]] = [[]]
    for word in lexer:
        if word == "|":
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


@dataclass(frozen=True)
class Outcome:
    """What a command gave: its exit status, and all that it printed."""

    status: int
    output: str


def run_command(command: str) -> Outcome:
    """Run a command as a shell would: pipes and `>` are understood."""
    outcome, passed_on = Outcome(0, ""), b""
    for part in pipeline(command):
        words, target = part, None
        if ">" in part:
            words, target = part[: part.index(">")], part[-1]
        outcome, passed_on = _run(words, passed_on)
        if target:
            Path(target).write_bytes(passed_on)
            outcome = Outcome(outcome.status, "")
    return outcome


def _run(words: list[str], given: bytes) -> tuple[Outcome, bytes]:
    """Run one program; gives the outcome, and the bytes for the next one."""
    if words[0] in SYSTEM_PROGRAMS:
        done = subprocess.run(words, input=given, capture_output=True)
        return Outcome(done.returncode, (done.stdout + done.stderr).decode()), done.stdout
    assert words[0] == "sicetnon", f"the documentation's tests do not run {words[0]!r}"
    shown = io.BytesIO()
    screen = io.TextIOWrapper(shown, encoding="utf-8", write_through=True)
    keyboard = io.TextIOWrapper(io.BytesIO(given), encoding="utf-8")
    kept = sys.stdin
    with contextlib.redirect_stdout(screen), contextlib.redirect_stderr(screen):
        sys.stdin = keyboard
        try:
            status = main(words[1:])
        except SystemExit as stop:
            status = int(stop.code or 0)
        finally:
            sys.stdin = kept
    screen.flush()
    return Outcome(status, shown.getvalue().decode()), shown.getvalue()


def run_python(block: Block, module: types.ModuleType, folder: Path) -> str:
    """Run a block in a module that all blocks of its page share; gives what it printed."""
    file = folder / f"{module.__name__}_{block.line}.py"
    file.write_text(block.text, encoding="utf-8")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        # other packages warn each other of deprecated names
        warnings.simplefilter("ignore", DeprecationWarning)
        exec(compile(block.text, file, "exec"), module.__dict__)
    return printed.getvalue()


def matches(expected: str, found: str) -> bool:
    """Whether an output is the one that is shown, white space apart; `…` stands for anything."""
    pattern = r"[\s\S]*?".join(re.escape(part) for part in _plain(expected).split("…"))
    return re.fullmatch(pattern, _plain(found)) is not None


def _plain(text: str) -> str:
    lines = [" ".join(line.split()) for line in text.splitlines()]
    return re.sub("─+", "─", "\n".join(filter(None, lines)))
