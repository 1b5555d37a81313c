"""The tools for assistants, asked by the official client of the Model Context Protocol."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest

import sicetnon
from sicetnon.cli import main
from sicetnon.errors import UsageError
from sicetnon.web.settings import Settings
from support.debates import FOR, QUESTION, both_sides
from support.served import Client as Asker
from support.served import served, served_tools

if TYPE_CHECKING:
    from mcp.client import Client as McpClient

    Connect = Callable[[str], AbstractAsyncContextManager[McpClient]]

PATH = "/mcp"


def client(server: Any, **how: str) -> McpClient:
    """The official client, which is loaded where one is used."""
    from mcp.client import Client

    return Client(server, **how)


HOSTILE = "\x1b[31mred\x00 \u202etfel <script>alert(1)</script> tenure"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> sicetnon.Index:
    made = both_sides(tmp_path_factory.mktemp("assistant") / "index")
    return made.add([{"id": "odd", "text": HOSTILE * 600, "side": "PRO", "claim": HOSTILE}])


@pytest.fixture(scope="module")
def alone(index: sicetnon.Index) -> Iterator[str]:
    with served_tools(index) as address:
        yield address


@pytest.fixture(scope="module")
def beside_the_pages(index: sicetnon.Index) -> Iterator[str]:
    with served(index) as pages:
        yield pages.url + PATH


@pytest.fixture(params=["alone", "beside_the_pages"])
def url(request: pytest.FixtureRequest) -> str:
    """The address of the tools, served alone or by `sicetnon serve`."""
    return str(request.getfixturevalue(request.param))


@pytest.fixture(params=["pipe", "alone", "beside_the_pages"])
def connect(request: pytest.FixtureRequest, index: sicetnon.Index) -> Connect:
    """Connects a client, of the newest protocol or of the older one."""
    if request.param != "pipe":
        address = request.getfixturevalue(request.param)
        return lambda mode: client(address, mode=mode)
    from mcp.client.stdio import StdioServerParameters, stdio_client

    arguments = ["-m", "sicetnon", "mcp", "--index", str(index.folder)]
    started = StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))
    return lambda mode: client(stdio_client(started), mode=mode)


def asked(
    client: AbstractAsyncContextManager[McpClient], *calls: tuple[str, dict[str, Any]]
) -> Any:
    """The results of calls over one connection."""

    async def ask() -> list[Any]:
        async with client as connected:
            return [await connected.call_tool(name, given) for name, given in calls]

    return anyio.run(ask)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_tools_say_what_the_library_says(
    connect: Connect, mode: str, index: sicetnon.Index
) -> None:
    question = {"question": QUESTION}
    found, summed, read, wrong = asked(
        connect(mode),
        ("search", question | {"k": 4}),
        ("brief", question),
        ("document", {"identifier": "0"}),
        ("document", {"identifier": "../../etc/passwd"}),
    )
    expected = [(each.id, each.side) for each in index.search(QUESTION, 4)]
    answers = found.structured_content["answers"]
    assert [(each["id"], each["side"]) for each in answers] == expected
    assert json.loads(found.content[0].text) == found.structured_content
    made = sicetnon.brief(index, QUESTION)
    sentences = [each["sentence"] for each in summed.structured_content["for"]]
    assert sentences == [reason.sentence for reason in made.supporting]
    assert read.structured_content["text"].endswith(FOR[0])
    assert wrong.is_error
    assert "no document" in wrong.content[0].text


def test_what_is_offered(url: str, index: sicetnon.Index) -> None:
    async def offered() -> Any:
        async with client(url) as connected:
            return await connected.list_tools(), connected.instructions

    listed, instructions = anyio.run(offered)
    assert f"The index {index.folder.name} holds {len(index)} documents." in instructions
    tools = {tool.name: tool for tool in listed.tools}
    assert set(tools) == {"search", "compare", "brief", "document"}
    for tool in tools.values():
        assert tool.description
        assert tool.annotations.read_only_hint
        for name, field in tool.input_schema["properties"].items():
            assert field["description"], (tool.name, name)


def test_a_comparison_names_what_favours_each(tmp_path: Path) -> None:
    passages = [
        {"id": "a", "contents": "A laptop is better than a desktop, since it is light."},
        {"id": "b", "contents": "A desktop is better than a laptop, because it is faster."},
        {"id": "c", "contents": "A laptop and a desktop are computers."},
    ]
    path = tmp_path / "passages.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in passages))
    with served_tools(sicetnon.Index.build(path)) as url:
        (found,) = asked(client(url), ("compare", {"first": "laptop", "second": "desktop"}))
    sides = found.structured_content
    assert [each["id"] for each in sides["first"]["favoured_by"]] == ["a"]
    assert [each["id"] for each in sides["second"]["favoured_by"]] == ["b"]
    assert [each["id"] for each in sides["undecided"]] == ["c"]


def test_objects_are_compared_as_they_are_named(tmp_path: Path) -> None:
    passages = [
        {"id": "t", "contents": "Trick or treat is better than candy, since it is more fun."},
        {"id": "c", "contents": "Candy is better than trick or treat, because it is cheaper."},
        {"id": "a", "contents": "AC/DC are better than Kiss, louder and faster."},
    ]
    path = tmp_path / "passages.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in passages))
    index = sicetnon.Index.build(path)
    named = (("trick or treat", "candy", ["t"], ["c"]), ("AC/DC", "Kiss", ["a"], []))
    with served_tools(index) as url:
        for first, second, *favoured in named:
            (found,) = asked(client(url), ("compare", {"first": first, "second": second}))
            sides = [found.structured_content[side] for side in ("first", "second")]
            assert [side["object"] for side in sides] == [first, second]
            assert [[each["id"] for each in side["favoured_by"]] for side in sides] == favoured
    answers = index.search(
        "Which is better, trick or treat or candy?", objects=("candy", "trick or treat")
    )
    assert {a.id: a.favours for a in answers if a.id != "a"} == {
        "t": "trick or treat",
        "c": "candy",
    }


@pytest.mark.parametrize("objects", [("one",), "ab", ("a", ""), ("a", "A"), ("a", 1)])
def test_objects_that_are_not_two_names_are_refused(index: sicetnon.Index, objects: Any) -> None:
    with pytest.raises(UsageError, match=r"objects?\b"):
        index.search("Which is better?", objects=objects)


@pytest.mark.parametrize(
    ("tool", "given", "said"),
    [
        ("search", {"question": "a" * 2001}, "at most 2,000"),
        ("search", {"question": " "}, "empty"),
        ("search", {"question": QUESTION, "k": 0}, "greater than or equal to 1"),
        ("search", {}, "required"),
        ("compare", {"first": " ", "second": "b"}, "empty object"),
        ("document", {"identifier": "0", "start": -1}, "greater than or equal to 0"),
        ("none", {}, "Unknown tool: 'none'; expected one of search, compare"),
        ("search", {"query": "tenure"}, "'query': an unknown argument; expected question, k"),
        ("search", {"question": "tenure", "K": 3}, "'K': an unknown argument"),
        ("search", {"question": 7, "k": 0}, "question: found 7; expected a valid string; k: found"),
        ("compare", {"first": "a", "second": "A"}, "found the object 'a' twice"),
    ],
)
def test_wrong_calls_say_what_is_wrong(
    url: str, tool: str, given: dict[str, Any], said: str
) -> None:
    (answer,) = asked(client(url), (tool, given))
    assert answer.is_error
    assert said in answer.content[0].text
    assert len(answer.content[0].text.splitlines()) == 1
    assert "http" not in answer.content[0].text
    assert "type=" not in answer.content[0].text


def test_a_fault_of_the_program_is_not_shown(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr("sicetnon.web.assistant.brief", fails)
    (answer,) = asked(client(url), ("brief", {"question": "Is it a fault?"}))
    assert answer.is_error
    assert "secret" not in answer.content[0].text


def test_long_and_hostile_texts(url: str) -> None:
    found, first, last = asked(
        client(url),
        ("search", {"question": "red tenure"}),
        ("document", {"identifier": "odd"}),
        ("document", {"identifier": "odd", "start": 20_000}),
    )
    for answer in (found, first, last):
        text = answer.content[0].text
        assert not set(text) & {"\x1b", "\x00", "\u202e"}
        assert "\\u0000" not in text
    parts = first.structured_content, last.structured_content
    assert parts[0]["next"] == 20_000
    assert parts[1]["next"] is None
    assert len(parts[0]["text"] + parts[1]["text"]) == parts[0]["letters"]


def test_the_extra_is_named_where_it_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "sicetnon.web.server")
    monkeypatch.setitem(sys.modules, "sicetnon.web.assistant", None)
    assert main(["mcp"]) == 1
    assert "sicetnon[mcp]" in capsys.readouterr().err


def test_other_hosts_are_refused(url: str) -> None:
    asker = Asker(url)
    assert asker.post("", {}, {"Host": "evil.example"}).status == 421
    assert asker.post("", {}, {"Origin": "http://evil.example"}).status == 403
    assert asker.post("", b" " * (1 << 20) + b"{}").status == 413
    assert asker.get("", {"Accept": "text/event-stream"}).status == 405


def test_tools_beside_the_pages_keep_their_rules(index: sicetnon.Index, tmp_path: Path) -> None:
    with served(index, Settings("0.0.0.0", token="secret")) as pages:
        # reading needs no token, judging and uploads do
        (read,) = asked(client(pages.url + PATH), ("document", {"identifier": "0"}))
        assert read.structured_content["text"].endswith(FOR[0])
        assert pages.get("/judge").status == 401
        counts = pages.get("/api/v1/metrics").data.decode()
        assert 'method="POST",route="/mcp",status="200"' in counts
        assert "/mcp" not in pages.get("/api/v1/openapi.json").data.decode()


def test_pages_without_the_extra(index: sicetnon.Index, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "mcp" else found(name)
    )
    with served(index) as pages:
        answer = pages.post(PATH, {})
        assert answer.status == 501
        assert "sicetnon[mcp]" in answer.json()["detail"]
        assert pages.get("/").status == 200
