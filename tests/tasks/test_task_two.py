"""Task 2 of 2020 and 2021: web documents, from an index of pages or from ChatNoir."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
import yaml

from sicetnon.cli import main
from sicetnon.formats.corpora import KINDS, Corpus
from sicetnon.formats.runs import read_run
from sicetnon.index.writing import BuildOptions, build_index
from sicetnon.ranking.stages import Blend
from sicetnon.records import Entry, Passage, Ranking, Topic, WebPage
from sicetnon.services.page_sources import as_page
from sicetnon.text.analysis import named_analysis
from sicetnon.validation import validate
from support.service_double import ServiceDouble, trec_id

TOPICS = (
    "<topics><topic><number>{0}</number><title>Which is better, a laptop or a desktop?</title>"
    "</topic><topic><number>{1}</number><title>Should I buy tea or coffee?</title></topic></topics>"
)
DULL = "The laptop and the desktop on a desk which is in the room of a better man. "
ARGUING = (
    "I think a laptop is better than a desktop because you can carry it; however, a desktop is "
    "cheaper. Both have pros and cons. "
)


def pages() -> list[WebPage]:
    kinds = [
        (DULL, "http://shop.example.com/buy", 50.0),
        (ARGUING, "https://a.example.org/x", 99.0),
    ]
    return [
        WebPage(f"clueweb12-{n}", "Laptop or desktop", text * 3, url, "", 1e-9 * n, spam)
        for n, (text, url, spam) in enumerate(kinds * 6)
    ] + [WebPage("clueweb12-tea", "Tea", "Tea or coffee. " * 5)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages") / "index"
    corpus = Corpus(*KINDS[WebPage], (Path("x"),), lambda *_: iter(pages()))
    build_index(corpus, folder, BuildOptions(named_analysis("porter")))
    return folder


@pytest.fixture
def source(tmp_path: Path) -> Path:
    source = tmp_path / "input"
    source.mkdir()
    (source / "topics.xml").write_text(TOPICS.format(51, 52))
    return source


@pytest.mark.parametrize("system", ["default", "bm25", "every-signal"])
def test_a_run_over_the_users_own_index(
    system: str, folder: Path, source: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    call = ["run", "touche-2021-task-2", "-i", str(source), "-o", str(out), "--index", str(folder)]
    assert main([*call, "--system", system]) == 0
    lines = list(read_run(out / "run.txt"))
    assert {line.topic for line in lines} == {"51", "52"}
    assert all(line.stance == "Q0" for line in lines)
    report = validate(out / "run.txt", "touche-2021-task-2")
    assert {finding.rule for finding in report.errors} <= {"topics-missing"}
    metadata = yaml.safe_load((out / "ir-metadata.yml").read_text())
    assert metadata["data"]["test collection"]["documents"] == 13


def test_a_run_by_chatnoir(
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with ServiceDouble(total=8) as double:
        monkeypatch.setenv("CHATNOIR_URL", double.url)
        monkeypatch.setenv("CHATNOIR_API_KEY", "some-key")
        out = tmp_path / "out"
        call = ["run", "touche-2021-task-2", "-i", str(source), "-o", str(out)]
        assert main([*call, "--cache", str(tmp_path / "kept.sqlite")]) == 0
        first, asked = (out / "run.txt").read_text(), len(double.requests)
        monkeypatch.delenv("CHATNOIR_API_KEY")
        assert main([*call, "--cache", str(tmp_path / "kept.sqlite")]) == 0
        assert len(double.requests) == asked
    assert (out / "run.txt").read_text() == first
    names = {line.document for line in read_run(out / "run.txt")}
    assert names == {trec_id(number) for number in range(8)}
    metadata = yaml.safe_load((out / "ir-metadata.yml").read_text())
    assert "ChatNoir" in metadata["data"]["test collection"]["source"]
    assert "some-key" not in (out / "ir-metadata.yml").read_text() + capsys.readouterr().err


class FakeTerminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("stream", [FakeTerminal, StringIO])
def test_what_is_fetched_is_shown_on_a_terminal_alone(
    stream: type[StringIO], source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = stream()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")
    with ServiceDouble(total=8) as double:
        monkeypatch.setenv("CHATNOIR_URL", double.url)
        monkeypatch.setenv("CHATNOIR_API_KEY", "some-key")
        out = tmp_path / "out"
        call = ["run", "touche-2021-task-2", "-i", str(source), "-o", str(out)]
        assert main([*call, "--cache", str(tmp_path / "kept.sqlite")]) == 0
    last = f"{out}/run.txt: 16 results for 2 topics"
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "\n", screen.getvalue()).split("\n")
    lines = [line for line in map(str.strip, shown) if line]
    if screen.isatty():
        assert any(line.startswith("Fetching topics") for line in lines)
        assert any(line.startswith("Fetching pages of topic 2 of 2") for line in lines)
        # older versions of rich refuse a second bar; none is made for an index that is not built
        assert "Indexing" not in screen.getvalue()
    else:
        assert "\x1b" not in screen.getvalue()
        assert not [line for line in lines if "Fetching" in line]
    assert lines[-1] == last


def test_without_a_key_one_line_says_where_to_get_one(
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("CHATNOIR_API_KEY", raising=False)
    out = tmp_path / "out"
    assert main(["run", "touche-2020-task-2", "-i", str(source), "-o", str(out)]) == 2
    error = capsys.readouterr().err
    assert "chatnoir.eu/apikey" in error
    assert error.count("\n") == 1
    assert not (out / "run.txt").exists()


def test_an_index_of_arguments_is_refused(
    sample: Path, source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index = str(tmp_path / "arguments")
    assert main(["index", "build", str(sample / "input"), "-o", index]) == 0
    call = ["run", "touche-2020-task-2", "-i", str(source), "-o", str(tmp_path / "out")]
    assert main([*call, "--index", index]) == 1
    assert "is an index of arguments; expected web pages" in capsys.readouterr().err


def test_2021_task_1_runs_as_2020(sample: Path, tmp_path: Path) -> None:
    source = tmp_path / "input"
    source.mkdir()
    for file in (sample / "input").glob("*.json"):
        (source / file.name).symlink_to(file)
    title = "Should teachers get tenure?"
    topic = f"<topic><number>51</number><title>{title}</title></topic>"
    (source / "topics.xml").write_text(f"<topics>{topic}</topics>")
    out = tmp_path / "out"
    assert main(["run", "touche-2021-task-1", "-i", str(source), "-o", str(out)]) == 0
    assert {line.topic for line in read_run(out / "run.txt")} == {"51"}


def test_other_records_are_read_as_pages() -> None:
    assert as_page(Passage("p___1", "text", "http://a")).url == "http://a"
    page = as_page(Entry("e", {"title": "T", "text": "body"}, {"url": "http://b"}))
    assert (page.title, page.url) == ("T", "http://b")
    assert "body" in page.text


@pytest.mark.parametrize("scores", [[3.0, 2.0, 1.0, 0.5], [1.0] * 4, []])
def test_blending_keeps_what_is_behind_in_place(scores: list[float]) -> None:
    topic = Topic("1", "t")
    ranking = Ranking(topic, ("0", "1", "2", "3")[: len(scores)], np.array(scores))
    stage = Blend([(lambda _, top: [float(name) for name in top.ids], 10.0)], depth=3)
    after = stage.apply(topic, ranking)
    assert after.ids == ("2", "1", "0", "3")[: len(scores)]
    assert (np.diff(after.scores) < 0).all()
