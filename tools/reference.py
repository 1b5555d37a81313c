"""Writes the reference: commands from their parsers, Python from the public names.

python tools/reference.py

`tests/docs/test_reference.py` fails when a page is not up to date.
"""

from __future__ import annotations

import argparse
import inspect
import textwrap
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import sicetnon
from sicetnon.cli import parser

FOLDER = Path(__file__).parents[1] / "docs" / "reference"
ROOMS = {
    "app": "Index and answers",
    "ranking": "Systems and stages",
    "retrieval": "Retrievers and weighting models",
    "services": "Services on the network",
    "cluster": "Clusters",
    "evaluation": "Evaluation",
    "validation": "Validation",
    "judging": "Judging",
    "records": "Records",
    "formats": "Files",
    "arguments": "Questions and annotations",
    "errors": "Errors",
}
PYTHON_HEAD = """# Python
Everything that people need is imported from `sicetnon`, and loaded when it is first used.
`python tools/reference.py` writes this page from the code.
"""
COMMANDS_HEAD = """# Command line
`python tools/reference.py` writes this page from the commands themselves. Every command also prints
it with `--help`.

Exit statuses: 0, 1 for bad data, 2 for wrong usage, 130 when interrupted, 143 when terminated.
"""


def command_line() -> str:
    """The page of the commands."""
    root = parser()
    general = _table(action for action in arguments(root) if action.option_strings)
    return "\n".join([COMMANDS_HEAD, general, *map(_section, leaves(root))])


def python() -> str:
    """The page of the public names: a table for each room, then the docstrings."""
    names = defaultdict(list)
    for name in sicetnon.__all__:
        names[getattr(sicetnon, name).__module__.split(".")[1]].append(name)
    parts = [PYTHON_HEAD]
    for room in sorted(names, key=list(ROOMS).index):
        parts += [f"## {ROOMS[room]}", "", "| name | |", "|---|---|"]
        parts += [f"| `sicetnon.{name}` | {_cell(_summary(name))} |" for name in names[room]]
        parts += ["", "```{eval-rst}", *map(_directive, names[room]), "```", ""]
    return "\n".join(parts)


def _summary(name: str) -> str:
    """The first paragraph of an object's docstring."""
    return _one_line((inspect.getdoc(getattr(sicetnon, name)) or "").partition("\n\n")[0])


def _directive(name: str) -> str:
    """The directive that makes Sphinx show the docstring."""
    if inspect.isclass(getattr(sicetnon, name)):
        return f".. autoclass:: sicetnon.{name}\n   :members:"
    return f".. autofunction:: sicetnon.{name}"


def leaves(command: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The commands that do something: those without commands of their own."""
    groups = [
        action for action in command._actions if isinstance(action, argparse._SubParsersAction)
    ]
    if not groups:
        yield command
    for group in groups:
        for below in group.choices.values():
            yield from leaves(below)


def _section(command: argparse.ArgumentParser) -> str:
    description = textwrap.fill(_one_line(command.description), 100)
    parts = [f"## {command.prog}", "", description, ""]
    if command.epilog:
        examples = [line.strip() for line in command.epilog.splitlines()]
        shown = [line.removeprefix("$ ") for line in examples if "sicetnon " in line]
        parts += ["```text", *shown, "```", ""]
    return "\n".join([*parts, _table(arguments(command))])


def arguments(command: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """The arguments of a command, apart from `--help`."""
    for action in command._actions:
        hidden = action.help == argparse.SUPPRESS
        if not hidden and not isinstance(action, argparse._HelpAction | argparse._SubParsersAction):
            yield action


def _table(actions: Iterator[argparse.Action]) -> str:
    rows = [f"| {_cell(_names(action))} | {_cell(_one_line(action.help))} |" for action in actions]
    return "\n".join(["| argument | |", "|---|---|", *rows, ""]) if rows else ""


def _names(action: argparse.Action) -> str:
    value = action.metavar or (
        "{" + ",".join(map(str, action.choices)) + "}" if action.choices else action.dest.upper()
    )
    values = " ".join(value) if isinstance(value, tuple) else str(value)
    if action.nargs in ("+", "*"):
        values += " …"
    if not action.option_strings:
        return f"`{values}`"
    names = ", ".join(action.option_strings)
    if action.nargs == 0:
        return f"`{names}`"
    needed = " (required)" if action.required else ""
    return f"`{names} {values}`{needed}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _one_line(text: str | None) -> str:
    return " ".join((text or "").replace("%%", "%").split())


if __name__ == "__main__":
    (FOLDER / "command-line.md").write_text(command_line(), encoding="utf-8")
    (FOLDER / "python.md").write_text(python(), encoding="utf-8")
