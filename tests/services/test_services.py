"""`search --source`: questions answered by services, for people and programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sicetnon.cli import main
from sicetnon.errors import ServiceError, SicetnonError
from support.service_double import trec_id
from support.service_setting import KEY


class TestCommand:
    @pytest.fixture(autouse=True)
    def _here(self, double, monkeypatch, tmp_path: Path) -> None:
        monkeypatch.setenv("SICETNON_CACHE", str(tmp_path / "cache"))
        monkeypatch.setenv("CHATNOIR_URL", double.url)
        monkeypatch.setenv("ARGSME_URL", double.url)
        monkeypatch.setenv("CHATNOIR_API_KEY", KEY)

    def test_web_pages(self, capsys) -> None:
        assert main(["search", "tea or coffee?", "--source", "chatnoir", "-k", "3"]) == 0
        shown = capsys.readouterr()
        assert "Page 2 & tea" in shown.out
        assert "http://www.example.org/2" in shown.out
        assert (shown.err, KEY in shown.out) == ("", False)

    def test_web_pages_for_programs(self, capsys) -> None:
        assert main(["search", "tea or coffee?", "--source", "chatnoir", "-k", "3", "--json"]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert answer["source"] == "chatnoir"
        first = answer["answers"][0]
        assert (first["id"], first["title"], first["spam_rank"]) == (trec_id(0), "Page 0 & tea", 80)

    def test_arguments(self, capsys) -> None:
        assert main(["search", "tea or coffee?", "--source", "argsme", "-k", "4"]) == 0
        shown = capsys.readouterr().out
        first, second = shown.split("In favour of coffee ")
        # a premise against the conclusion may be for the question
        for part in (first.partition("In favour of tea ")[2], second):
            assert part.count("favours it, against the claim: Tea should go") == 2

    def test_arguments_for_programs(self, capsys) -> None:
        assert main(["search", "tea or coffee?", "--source", "argsme", "-k", "2", "--json"]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert answer["stance_towards"] == "question"
        assert [found["stance"] for found in answer["answers"]] == ["PRO", "CON"]

    def test_no_key(self, capsys, monkeypatch) -> None:
        monkeypatch.delenv("CHATNOIR_API_KEY")
        assert main(["search", "tea", "--source", "chatnoir"]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("sicetnon: ChatNoir needs an API key: get one at https://")

    def test_a_failure_is_one_line(self, capsys, double) -> None:
        double.faults = [["404"]]
        assert main(["search", "tea", "--source", "chatnoir"]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert "answered with status 404" in line

    def test_a_service_takes_no_index(self, capsys) -> None:
        assert main(["search", "tea", "--source", "argsme", "--index", "x"]) == 2
        assert (
            "none of --index, --objects, --ranker, --system and --stance" in capsys.readouterr().err
        )


def test_all_errors_are_for_users() -> None:
    assert issubclass(ServiceError, SicetnonError)
