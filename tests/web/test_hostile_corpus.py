"""A hostile corpus is harmless wherever it is shown: pages, JSON, reports, tools, the terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import pytest
from markdown_it import MarkdownIt

import sicetnon
from sicetnon.cli import main
from support.served import Client, served, served_tools

QUESTION = "Should teachers get tenure?"
SCRIPT = "<script>alert(1)</script><b/onmouseover=alert(1)>"
STEERING = "\x1b[2J\x1b]0;title\x07\x00\x9b1m\u202e\u2066\u200b"
CLAIM = f"Teachers should get tenure {SCRIPT} {STEERING} [x](javascript:alert(1))"
# XML holds no control characters, but all that turn or hide letters
CLAIM_OF_XML = f"{QUESTION} {SCRIPT} \u202e\u2066\u200b"
SENTENCES, WORD = 3_000, 1 << 20
CARRIES = "because it protects good teachers from unfair dismissal by their schools."
LINKS = ("javascript:alert(1)", "data:text/html,<script>alert(1)</script>", "vbscript:x")


def documents() -> Iterator[dict[str, str]]:
    """Texts that try to do harm."""
    texts = {
        "script" + SCRIPT: f"Teachers should get tenure {CARRIES} {SCRIPT} {CARRIES}",
        "steering": f"Teachers should get tenure {STEERING} {CARRIES}",
        "markup": f"[Tenure](javascript:alert(1)) is *good* | `x` | # {CARRIES} <!-- {CARRIES}",
        "word": f"Teachers should get tenure {'x' * WORD} {CARRIES}",
        "many": f"Teachers should not get tenure, {CARRIES} " * SENTENCES,
        "link": f"Tenure is bad, {CARRIES}",
    }
    for place, (name, text) in enumerate(texts.items()):
        side = "PRO" if place % 2 else "CON"
        link = LINKS[place % len(LINKS)]
        yield {"id": name, "text": text, "side": side, "claim": CLAIM, "url": link}


class Page(HTMLParser):
    """What a browser could run or follow in a page."""

    def __init__(self, text: str):
        super().__init__()
        self.scripts: list[str] = []
        self.links: list[str] = []
        self.handlers: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "script":
            self.scripts.append(given.get("src", "inline"))
        self.links += [given[name] for name in ("href", "src", "action") if name in given]
        self.handlers += [name for name in given if name.startswith("on")]


def hidden(text: str) -> set[str]:
    """The letters of a text that steer a terminal, or that nobody sees."""
    return {letter for letter in text if not (letter.isprintable() or letter in "\n\t")}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> sicetnon.Index:
    folder = tmp_path_factory.mktemp("hostile") / "index"
    return sicetnon.Index.build(
        documents(), folder, fields=["text"], stance_field="side", claim_field="claim"
    )


@pytest.fixture(scope="module")
def client(index: sicetnon.Index) -> Iterator[Client]:
    with served(index) as running:
        yield running


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/", {}),
        ("/", {"q": QUESTION}),
        ("/", {"q": SCRIPT + STEERING}),
        ("/brief", {"q": QUESTION}),
        ("/document", {"id": "script" + SCRIPT, "q": QUESTION}),
        ("/document", {"id": "many", "q": QUESTION}),
        ("/document", {"id": "word"}),
        ("/document", {"id": SCRIPT}),
        ("/reply", {"id": "markup", "q": QUESTION}),
        ("/api/v1/brief", {"q": QUESTION, "format": "html"}),
    ],
)
def test_pages(client: Client, path: str, fields: dict[str, Any]) -> None:
    answer = client.get(path, headers={"Accept": "text/html"}, **fields)
    assert answer.status in (200, 404)
    text = answer.data.decode()
    page = Page(text)
    assert "alert(1)" not in "".join(page.scripts)
    assert all(source.startswith("/static/") for source in page.scripts)
    assert not page.handlers
    assert {urlsplit(link).scheme for link in page.links} <= {"", "http", "https", "data"}
    assert not [link for link in page.links if link.startswith("data:") and "script" in link]
    assert not hidden(text)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'unsafe" not in policy


@pytest.mark.parametrize("path", ["/api/v1/brief", "/"])
def test_markdown(client: Client, path: str) -> None:
    text = client.get(path, q=QUESTION, format="markdown").data.decode()
    assert not hidden(text)
    page = Page(MarkdownIt("commonmark", {"html": True}).render(text))
    assert not page.scripts + page.handlers
    assert {urlsplit(link).scheme for link in page.links} <= {"http", "https"}


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/api/v1/search", "q"),
        ("/api/v1/brief", "q"),
        ("/api/v2/arguments", "query"),
        ("/api/v1/_search", "query"),
    ],
)
def test_json_is_json_for_every_browser(client: Client, path: str, name: str) -> None:
    answer = client.get(path, **{name: QUESTION})
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert isinstance(answer.json(), dict)
    assert not {"\x00", "\x1b"} & set(answer.data.decode())


def test_tools_of_assistants(index: sicetnon.Index) -> None:
    from mcp.client import Client as Assistant

    async def ask(url: str) -> list[str]:
        async with Assistant(url) as asked:
            found = await asked.call_tool("search", {"question": QUESTION})
            summed = await asked.call_tool("brief", {"question": QUESTION})
            read = await asked.call_tool("document", {"identifier": "steering"})
            return [
                json.dumps(each.structured_content, ensure_ascii=False)
                for each in (found, summed, read)
            ]

    with served_tools(index) as url:
        for text in anyio.run(ask, url):
            assert not hidden(text)
            assert len(text) < 100_000


@pytest.fixture
def scored(index: sicetnon.Index, tmp_path: Path) -> list[str]:
    """The words of a command that scores a run of the corpus, with a hostile question."""
    (tmp_path / "topics.xml").write_text(
        f"<topics><topic><number>1</number><title>{escape(CLAIM_OF_XML)}</title></topic></topics>"
    )
    names = [each["id"] for each in documents()]
    for name, line in (("run", "1 Q0 {} {} {} <b>tag</b>"), ("qrels", "1 0 {} {}")):
        rows = [line.format(each, at, 9 - at) for at, each in enumerate(names, 1)]
        (tmp_path / f"{name}{SCRIPT.replace('/', '')}").write_text("\n".join(rows) + "\n")
    run, qrels = (str(each) for each in (*tmp_path.glob("run*"), *tmp_path.glob("qrels*")))
    return ["evaluate", run, "--qrels", qrels, "--index", str(index.folder)]


def test_the_report(scored: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = ["--topics", str(tmp_path / "topics.xml"), "--report", str(tmp_path / "report")]
    assert main([*scored, *shown]) == 0
    told = capsys.readouterr()
    assert not hidden(told.out + told.err)
    text = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    page = Page(text)
    # its own script, and no other: the policy names that by its checksum
    assert page.scripts == ["inline"]
    assert "script-src 'sha256-" in text
    assert not page.handlers
    assert {urlsplit(link).scheme for link in page.links} <= {"", "http", "https", "data"}
    assert not hidden(text)
    assert CARRIES.split()[2] in text


@pytest.mark.parametrize(
    "words",
    [
        ["search", QUESTION, "--explain"],
        ["search", QUESTION, "--json"],
        ["brief", QUESTION],
        ["brief", QUESTION, "--format", "html"],
        ["reply", "Teachers should not get tenure because it protects bad teachers."],
    ],
)
def test_the_terminal(
    index: sicetnon.Index, capsys: pytest.CaptureFixture[str], words: list[str], tmp_path: Path
) -> None:
    assert main([*words, "--index", str(index.folder)]) == 0
    assert not hidden(capsys.readouterr().out)
