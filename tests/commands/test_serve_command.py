"""The command `serve`."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sicetnon.cli import main
from support.debates import both_sides
from support.patience import HANGS
from support.served import Client


def test_answers_until_it_is_stopped(tmp_path: Path) -> None:
    both_sides(tmp_path / "index").close()
    command = [sys.executable, "-m", "sicetnon", "serve", "--port", "0", "--index", "index"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        try:
            assert process.stderr
            line = process.stderr.readline()
            address = re.match(r"(http://127\.0\.0\.1:\d+) answers", line)
            assert address, line
            assert Client(address[1]).json("/api/v1/health")["documents"] == 8
            os.kill(process.pid, signal.SIGINT)
            assert process.wait(HANGS) == 0
            assert process.stderr.read() == ""
        finally:
            process.kill()


def test_a_port_that_is_taken_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import socket

    both_sides(tmp_path / "index").close()
    with socket.create_server(("127.0.0.1", 0)) as bound:
        port = str(bound.getsockname()[1])
        assert main(["serve", "--index", str(tmp_path / "index"), "--port", port]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_questions_are_logged_only_where_there_is_a_log(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["serve", "--log-questions"]) == 2
    assert "--verbose" in capsys.readouterr().err


def test_a_wrong_port_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["serve", "--port", "70000"])


@pytest.mark.parametrize("screen", ["", ":0"])
def test_the_page_is_opened_where_there_is_a_screen(
    screen: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setenv("DISPLAY", screen)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr("uvicorn.Server.run", lambda *_, **__: None)
    both_sides(tmp_path / "index").close()
    assert main(["serve", "--index", str(tmp_path / "index"), "--port", "0", "--open"]) == 0
    assert [bool(re.fullmatch(r"http://127\.0\.0\.1:\d+", each)) for each in opened] == (
        [True] if screen else []
    )


@pytest.mark.parametrize("verb", ["serve", "mcp"])
@pytest.mark.parametrize("option", ["--host", "--allow-host"])
@pytest.mark.parametrize(
    "host",
    [
        "",
        " ",
        "a b",
        "a" * 64,
        "..",
        "a\x00b",
        "127.0.0.1:80",
        "http://a",
        "a@b",
        "\udc80",
        "a,b",
        "a\n",
    ],
)
def test_odd_hosts_are_wrong_usage(
    host: str, option: str, verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([verb, option, host, "--port", "0"])
    assert ended.value.code == 2
    assert "expected an address or a name" in capsys.readouterr().err


@pytest.mark.parametrize("host", ["256.1.1.1", "no-such-host.invalid", "::zz", "192.0.2.1"])
def test_a_host_that_cannot_be_bound_is_one_line(
    host: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both_sides(tmp_path / "index").close()
    command = ["serve", "--index", str(tmp_path / "index"), "--port", "0", "--host", host]
    assert main(command) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.fixture
def start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    """Starts a server that ends at once; its exit status, and what it says."""
    monkeypatch.setattr("uvicorn.Server.run", lambda *_, **__: None)
    both_sides(tmp_path / "index").close()

    def run(*options: str) -> tuple[int, str]:
        status = main(["serve", "--index", str(tmp_path / "index"), "--port", "0", *options])
        return status, capsys.readouterr().err

    return run


def test_a_token_of_the_environment_is_not_printed(
    start: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    status, said = start("--host", "0.0.0.0")
    assert (status, "need this token: " in said) == (0, True)
    monkeypatch.setenv("SICETNON_TOKEN", "long-enough-to-be-secret")
    status, said = start("--host", "0.0.0.0")
    assert (status, "long-enough-to-be-secret" in said) == (0, False)
    assert "people need your token" in said


@pytest.mark.parametrize("token", ["secret", "a" * 15, "  " + "a" * 15 + " "])
def test_a_short_token_is_refused(
    token: str, start: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SICETNON_TOKEN", token)
    status, said = start("--host", "0.0.0.0")
    assert (status, len(said.splitlines())) == (2, 1)
    assert "expected at least 16" in said
    assert token.strip() not in said


def test_names_are_allowed_for_others_alone(start: Callable[..., tuple[int, str]]) -> None:
    assert start("--host", "0.0.0.0", "--allow-host", "sic.example", "other.example")[0] == 0
    status, said = start("--allow-host", "sic.example")
    assert (status, "add --host" in said) == (2, True)
