"""Help, examples, versions and completion of the command line."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sicetnon._version import VERSION
from sicetnon.cli import COMMANDS, parser
from support.command_line import run_command

HEAVY = ("numpy", "numba", "rich", "msgspec", "argcomplete", "logging")


def each_parser(root: argparse.ArgumentParser, name: str = "sicetnon") -> Iterator[str]:
    """The full names of all commands and verbs."""
    below = [a for a in root._actions if isinstance(a, argparse._SubParsersAction)]
    if not below:
        yield name
    for action in below:
        for word, command in action.choices.items():
            yield from each_parser(command, f"{name} {word}")


ALL = list(each_parser(parser()))


def command_of(name: str) -> argparse.ArgumentParser:
    found = parser()
    for word in name.split()[1:]:
        (action,) = (a for a in found._actions if isinstance(a, argparse._SubParsersAction))
        found = action.choices[word]
    return found


def modules_after(call: str) -> set[str]:
    """The modules of this package and the heavy ones that a call leaves loaded."""
    code = f"import sys; from sicetnon.cli import parser; {call}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


class TestHelp:
    def test_the_help_of_everything_loads_nothing_heavy(self) -> None:
        assert not modules_after("parser().format_help()") & set(HEAVY)

    def test_the_first_help_loads_no_command(self) -> None:
        loaded = modules_after("parser('--help').format_help()")
        assert not {name for name in loaded if name.startswith("sicetnon.commands.")}

    def test_a_command_loads_its_own_module_alone(self) -> None:
        loaded = modules_after("parser('fuse')")
        commands = {f"sicetnon.commands.{name}" for name in COMMANDS}
        assert loaded & commands == {"sicetnon.commands.fuse"}

    @pytest.mark.parametrize("name", ALL)
    def test_each_example_parses(self, name: str) -> None:
        command = command_of(name)
        lines = (command.epilog or "").splitlines()
        examples = [line.strip() for line in lines if line.startswith("  ")]
        assert 1 <= len(examples) <= 3
        for example in examples:
            assert example.startswith(f"{name} ")
            words = shlex.split(example.partition(" <")[0])
            options = parser(words[1]).parse_args(words[1:])
            assert callable(options.command)

    @pytest.mark.parametrize("name", ALL)
    def test_help_fits_a_narrow_terminal(
        self, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("COLUMNS", "60")
        with pytest.raises(SystemExit) as stop:
            parser().parse_args([*name.split()[1:], "--help"])
        assert stop.value.code == 0
        text, _, examples = capsys.readouterr().out.partition("\nexample")
        assert text.startswith(f"usage: {name}")
        assert examples
        # how the usage is wrapped is argparse's own business
        _, _, description = text.partition("\n\n")
        assert max(map(len, description.splitlines())) <= 60

    def test_a_terminal_without_width_has_help(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("COLUMNS", "1")
        with pytest.raises(SystemExit) as stop:
            parser().parse_args(["search", "--help"])
        assert stop.value.code == 0
        assert "usage: sicetnon search" in capsys.readouterr().out

    def test_no_command_is_wrong_usage(self) -> None:
        assert run_command().returncode == 2
        assert run_command("index").returncode == 2


def test_version_names_what_matters_for_scores() -> None:
    from importlib.metadata import version

    done = run_command("--version")
    lines = done.stdout.splitlines()
    assert done.returncode == 0
    assert lines[:2] == [f"sicetnon {VERSION}", f"Python {sys.version.split()[0]}"]
    for name in ("numpy", "numba", "PyStemmer", "msgspec"):
        assert f"{name} {version(name)}" in lines
    assert any(line.startswith("onnxruntime ") for line in lines)


class TestCompletion:
    def complete(self, line: str, folder: Path) -> list[str]:
        """What the shell is offered for a line, by argcomplete's protocol."""
        pytest.importorskip("argcomplete")
        output = folder / "completions"
        asked = {
            "_ARGCOMPLETE": "1",
            "_ARGCOMPLETE_IFS": "\n",
            "_ARGCOMPLETE_STDOUT_FILENAME": str(output),
            "_ARGCOMPLETE_SUPPRESS_SPACE": "1",
            "COMP_LINE": line,
            "COMP_POINT": str(len(line)),
        }
        done = run_command(env=os.environ | asked)
        assert done.returncode == 0, done.stderr
        return output.read_text().split()

    @pytest.mark.parametrize(
        ("line", "offered"),
        [
            ("sicetnon ev", ["evaluate"]),
            ("sicetnon index ", ["build", "add", "delete", "annotate", "info", "verify"]),
            ("sicetnon index annotate --w", ["--with"]),
            ("sicetnon fuse --method ", ["rrf", "sum", "mnz"]),
            ("sicetnon search x --st", ["--stance"]),
            ("sicetnon annotate q", ["quality"]),
        ],
    )
    def test_words_are_completed(self, line: str, offered: list[str], tmp_path: Path) -> None:
        found = self.complete(line, tmp_path)
        assert set(offered) <= set(found)
        start = line.rpartition(" ")[2]
        assert all(word.startswith(start) for word in found)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full disk")
@pytest.mark.parametrize("unbuffered", ["", "yes"])
@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["search", "--help"],
        ["index", "build", "-h"],
        ["--version"],
        ["parse", "Is tea better than coffee?"],
    ],
)
def test_output_that_cannot_be_written_is_an_error(words: list[str], unbuffered: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "sicetnon", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == (
        "sicetnon: No space left on device; free some space, nothing was changed\n"
    )
