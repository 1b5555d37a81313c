"""Every command and every Python block of the documentation runs and prints what is shown."""

from __future__ import annotations

import re
import sys
import types
from pathlib import Path

import pytest

from sicetnon.cli import parser
from support.documentation import (
    NAMES,
    ROOT,
    Block,
    all_blocks,
    blocks,
    commands,
    matches,
    pipeline,
    run_command,
    run_python,
)

RUN = ("bash", "console", "python")
SHOWN = ("text", "toml", "{eval-rst}", "{include}", "{toctree}")
OF_EXTRAS = ("ir_datasets", "pandas", "pyterrier")
FOLDERS = ("benchmarks", "docs", "examples", "recipe", "src/sicetnon/models")
PROSE = sorted(
    str(page.relative_to(ROOT))
    for pages in (ROOT.glob("*.md"), *((ROOT / each).rglob("*.md") for each in FOLDERS))
    for page in pages
)
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
PROGRAM_FILE = re.compile(r"\b(?:benchmarks|tools|recipe|tests)/[\w/]+\.\w+")
TARGET = re.compile(r"(?:^|`)make ([a-z]+)\b", re.MULTILINE)


@pytest.mark.parametrize("page", NAMES)
def test_a_page_runs_from_top_to_bottom(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    module = types.ModuleType("page_" + re.sub(r"\W", "_", Path(page).stem))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    printed = ""
    for block in blocks(page):
        if block.not_run:
            continue
        if block.language == "python":
            try:
                printed = run_python(block, module, tmp_path)
            except ModuleNotFoundError as error:
                if error.name not in OF_EXTRAS:
                    raise
                pytest.skip(f"{block.place}: needs {error.name}")
        elif block.language in ("bash", "console"):
            _run_commands(block)
        elif block.language == "text" and printed:
            assert matches(block.text, printed), f"{block.place}: printed is\n{printed}"
            printed = ""


def _run_commands(block: Block) -> None:
    for command, expected in commands(block):
        outcome = run_command(command)
        where = f"{block.place}: {command}\n{outcome.output}"
        if expected is not None:
            assert matches(expected, outcome.output), where
        if "sicetnon: " not in (expected or ""):
            assert outcome.status == 0, where


def place(block: Block) -> str:
    """A block's place as a test's id."""
    return block.place


@pytest.mark.parametrize("block", [block for block in all_blocks() if block.not_run], ids=place)
def test_a_block_that_is_not_run_can_be_parsed(block: Block) -> None:
    if block.language in ("bash", "console"):
        for command, _ in commands(block):
            for words in pipeline(command):
                if words[0] == "sicetnon":
                    parser().parse_args(words[1:])
    elif block.language == "python":
        compile(block.text, block.page, "exec")
    pytest.skip(f"{block.place}: {block.not_run}")


def test_every_block_has_a_known_language() -> None:
    unknown = [block.place for block in all_blocks() if block.language not in RUN + SHOWN]
    assert not unknown


@pytest.mark.parametrize("page", NAMES)
def test_what_a_page_points_to_is_there(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    targets = [(ROOT / page).parent / link for link in LINK.findall(text)]
    targets += [ROOT / name for name in PROGRAM_FILE.findall(text)]
    assert not [str(target) for target in targets if not target.exists()]
    rules = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert set(TARGET.findall(text)) <= set(rules)


@pytest.mark.parametrize("page", PROSE)
def test_lines_of_prose_are_at_most_100_characters(page: str) -> None:
    fenced, long = False, []
    for line in (ROOT / page).read_text(encoding="utf-8").splitlines():
        fenced ^= line.lstrip().startswith("```")
        if len(line) > 100 and not fenced and not line.startswith(("|", "#", "![")):
            long.append(line)
    assert not long
