"""The command `serve`."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
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
