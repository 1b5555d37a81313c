"""The clients of args.me and ChatNoir work with our server in place of theirs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from sicetnon.records import Topic
from sicetnon.services.argsme import ArgsMeRetriever
from sicetnon.services.chatnoir import ChatNoirRetriever
from support.debates import AGAINST, FOR, QUESTION, both_sides
from support.served import Client, served


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with served(both_sides()) as running:
        yield running


def test_argsme(client: Client, tmp_path: Path) -> None:
    with closing(ArgsMeRetriever(tmp_path / "cache", client.url)) as retriever:
        (ranking,) = retriever.retrieve([Topic("1", QUESTION)], 5)
        records = retriever.records(ranking)
    assert len(ranking) == 5
    sides = {"PRO": FOR, "CON": AGAINST}
    for record, stance in zip(records, ranking.stances or (), strict=True):
        assert record.premise in sides[stance]


def test_argsme_gives_all_pages(client: Client, tmp_path: Path) -> None:
    with closing(ArgsMeRetriever(tmp_path / "cache", client.url)) as retriever:
        (ranking,) = retriever.retrieve([Topic("1", QUESTION)], 100)
    assert len(set(ranking.ids)) == len(ranking) == 8


def test_chatnoir(client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHATNOIR_API_KEY", "any")
    with closing(ChatNoirRetriever(tmp_path / "cache", url=client.url)) as retriever:
        (ranking,) = retriever.retrieve([Topic("1", QUESTION)], 5)
        pages = retriever.records(ranking)
    assert len(ranking) == 5
    assert {page.text for page in pages} <= {*FOR, *AGAINST}
    answer = client.get("/cache", uuid="0" * 36)
    assert answer.status == 404
