"""The reference has every command, every option and every public name."""

from __future__ import annotations

import re
import tomllib

import sicetnon
from sicetnon.cli import parser
from support.documentation import NAMES, ROOT, all_blocks, commands, pipeline
from tools import reference

ADVICE = "run `python tools/reference.py`"


def test_the_reference_of_the_command_line_is_up_to_date() -> None:
    page = (reference.FOLDER / "command-line.md").read_text(encoding="utf-8")
    assert page == reference.command_line(), ADVICE
    for command in reference.leaves(parser()):
        assert f"## {command.prog}\n" in page
        names = [name for action in reference.arguments(command) for name in action.option_strings]
        assert not [name for name in names if f"`{name}" not in page and f", {name}" not in page]


def test_the_reference_of_python_is_up_to_date() -> None:
    page = (reference.FOLDER / "python.md").read_text(encoding="utf-8")
    assert page == reference.python(), ADVICE
    assert not [name for name in sicetnon.__all__ if f"`sicetnon.{name}`" not in page]


def test_every_command_is_in_a_guide() -> None:
    shown = {
        tuple(words[1:])
        for block in all_blocks()
        if block.language in ("bash", "console")
        for command, _ in commands(block)
        for words in pipeline(command)
        if words[0] == "sicetnon"
    }
    for command in reference.leaves(parser()):
        words = tuple(command.prog.split()[1:])
        assert any(used[: len(words)] == words for used in shown), command.prog


def test_every_extra_for_users_is_in_the_readme() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for_contributors = {"dev", "docs", "release", "train", "peers"}
    _, _, table = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Extras")
    named = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\|([^|]*)\|", table, re.MULTILINE))))
    assert named == set(project["optional-dependencies"]) - for_contributors


def test_commands_in_the_text_exist() -> None:
    known = {command.prog for command in reference.leaves(parser())}
    starts = {" ".join(prog.split()[:length]) for prog in known for length in (2, 3)}
    for name in NAMES:
        text = (ROOT / name).read_text(encoding="utf-8")
        for quoted in re.findall(r"`(sicetnon [a-z]+)", text):
            assert quoted in starts, f"{name}: {quoted}"
