"""The server below a path of a proxy, and two of them beside each other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import urllib3

import sicetnon
from sicetnon.cli import main
from sicetnon.web.settings import Settings
from support.debates import QUESTION, both_sides
from support.judging_pages import sample_pool
from support.patience import HANGS
from support.served import Client, served

IDS = [str(number) for number in range(8)]
ASKED = urlencode({"q": QUESTION})
PAGES = (
    "/", f"/?{ASKED}", f"/document?id=0&{ASKED}", f"/reply?id=0&{ASKED}", f"/brief?{ASKED}", "/api",
    "/judge", "/judge?assessor=anna", "/judge/overview?assessor=anna", "/judge/agreement", "/runs",
    "/runs/served", "/runs/served/compare?first=a&second=b", "/token", "/nowhere", "/?q=xyzzy",
)  # fmt: skip
ADDRESS = re.compile(r'(?:href|src|action|hx-get|hx-post)="(/[^"]*)"')


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> sicetnon.Index:
    return both_sides(tmp_path_factory.mktemp("web") / "index")


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tmp_path_factory.mktemp("judged")
    for name in "ab":
        (folder / name).write_text(f"1 Q0 0 1 2 {name}\n1 Q0 1 2 1 {name}\n")
    (folder / "qrels").write_text("1 0 0 1\n1 0 1 0\n")
    pool = sample_pool(folder / "pool.sqlite", IDS)
    runs = (folder / "a", folder / "b")
    return Settings(judging=pool, runs=runs, qrels=(folder / "qrels",))


@pytest.fixture(scope="module")
def plain(index: sicetnon.Index, settings: Settings) -> Iterator[Client]:
    with served(index, settings) as client:
        yield client


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("is_taken_off", [True, False])
def test_links_and_forms_lead_below_the_prefix(
    plain: Client, page: str, is_taken_off: bool
) -> None:
    headers = {"Accept": "text/html", "X-Forwarded-Prefix": "/one/two"}
    answer = plain.get(page if is_taken_off else f"/one/two{page}", headers)
    alone = plain.get(page, {"Accept": "text/html"})
    assert answer.status == alone.status
    found = ADDRESS.findall(answer.data.decode())
    assert found
    assert [each for each in found if not each.startswith("/one/two/")] == []
    assert [each.removeprefix("/one/two") for each in found] == ADDRESS.findall(alone.data.decode())


@pytest.mark.parametrize("given", ["//evil.example", "/a/../b", '/"><script>', "https://e", "a"])
def test_what_is_no_prefix_is_not_read(plain: Client, given: str) -> None:
    headers = {"Accept": "text/html", "X-Forwarded-Prefix": given}
    assert plain.get("/", headers).data == plain.get("/").data


def test_redirects_and_cookies_are_below_the_prefix(
    index: sicetnon.Index, settings: Settings
) -> None:
    below = replace(settings, root_path="/debates", host="0.0.0.0", token="a token")
    with served(index, below) as client, urllib3.PoolManager(timeout=HANGS) as pool:

        def ask(method: str, path: str, **more: Any) -> Any:
            headers = {"Accept": "text/html"} | more.pop("headers", {})
            return pool.request(method, client.url + path, redirect=False, headers=headers, **more)

        answer = ask("GET", "/judge?assessor=anna")
        assert answer.headers["location"] == "/debates/token?next=%2Fjudge%3Fassessor%3Danna"
        fields = {"token": "a token", "next": "/judge?assessor=anna"}
        answer = ask("POST", "/token", fields=fields, encode_multipart=False)
        assert answer.headers["location"] == "/debates/judge?assessor=anna"
        cookie = answer.headers["set-cookie"]
        assert "Path=/debates/" in cookie
        page = ask("GET", "/debates/judge", headers={"Cookie": cookie.partition(";")[0]})
        assert page.status == 200
        described = client.json("/api/v1/openapi.json")
        assert described["servers"] == [{"url": "/debates"}]
        written = client.get(f"/brief?{ASKED}").data.decode()
        assert f"{client.url}/debates/brief?q=" in written


def test_servers_beside_each_other_have_cookies_of_their_own(
    index: sicetnon.Index, settings: Settings
) -> None:
    open_to_all = replace(settings, host="0.0.0.0")
    jar: dict[str, str] = {}
    with (
        served(index, replace(open_to_all, token="the first")) as first,
        served(index, replace(open_to_all, token="the second")) as second,
        urllib3.PoolManager(timeout=HANGS) as pool,
    ):
        for client, token in ((first, "the first"), (second, "the second")):
            answer = pool.request(
                "POST", f"{client.url}/token", fields={"token": token}, redirect=False,
                encode_multipart=False,
            )  # fmt: skip
            name, _, value = answer.headers["set-cookie"].partition(";")[0].partition("=")
            jar[name] = value
        cookies = {"Cookie": "; ".join(f"{name}={value}" for name, value in jar.items())}
        assert [each.get("/judge", cookies).status for each in (first, second)] == [200, 200]


def test_a_root_path_that_is_none_is_refused(
    tmp_path: Path, index: sicetnon.Index, capsys: pytest.CaptureFixture[str]
) -> None:
    for given in ("debates", "//x", "/a b"):
        assert main(["serve", "--index", str(index.folder), "--root-path", given]) == 2
        assert f"--root-path: found '{given}'; expected one like" in capsys.readouterr().err
