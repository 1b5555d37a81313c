"""The pages, by a real server and without a browser: what they link, escape and refuse."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from support.debates import both_sides
from support.served import Client, served

HTML = {"Accept": "text/html"}
LOADED = re.compile(r'(?:href|src)="(/static/[^"]+)"')


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with served(both_sides(tmp_path_factory.mktemp("pages") / "index")) as running:
        yield running


class TestFrame:
    def test_a_page_loads_only_files_of_this_server(self, client: Client) -> None:
        page = client.get("/").data.decode()
        loaded = LOADED.findall(page)
        assert len(loaded) == 3
        for address in loaded:
            answer = client.get(address)
            assert answer.status == 200
            assert "immutable" in answer.headers["cache-control"]
        assert not re.search(r"https?://", page)

    def test_nothing_inline_runs_or_styles(self, client: Client) -> None:
        answer = client.get("/")
        policy = answer.headers["content-security-policy"]
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        page = answer.data.decode()
        assert not re.search(r"<style|<script(?![^>]* src=)|\son\w+=|\sstyle=|javascript:", page)

    @pytest.mark.parametrize("name", ["none.css", "..%2Fassets.py", "LICENSE"])
    def test_other_files_are_not_served(self, client: Client, name: str) -> None:
        assert client.get(f"/static/{name}").status == 404

    def test_a_browser_gets_errors_as_pages(self, client: Client) -> None:
        answer = client.get("/nowhere", headers=HTML)
        assert answer.status == 404
        assert answer.headers["content-type"].startswith("text/html")
        assert answer.headers["x-request-id"] in answer.data.decode()

    def test_programs_get_errors_as_problems(self, client: Client) -> None:
        for path, headers in (("/nowhere", {}), ("/api/v1/documents/none", HTML)):
            answer = client.get(path, headers=headers)
            assert answer.headers["content-type"] == "application/problem+json"
