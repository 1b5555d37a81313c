"""Answers that never end are given up: in time, and within a limit of bytes."""

from __future__ import annotations

import time
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest

from sicetnon.errors import ServiceError
from sicetnon.services import deadline
from sicetnon.services.http import Patience, Request, ResponseCache, Service
from support.dripping import DRIPS, dripping
from support.patience import HANGS
from support.service_double import ServiceDouble

_SECONDS = 0.3
_PATIENCE = Patience(tries=1, timeout=HANGS, whole_timeout=_SECONDS, per_second=1e6, jitter=0.0)


def ask(url: str, folder: Path, patience: Patience = _PATIENCE, body: object = None) -> bytes:
    service = Service("the service", url, ResponseCache(folder), "a-key-of-ours", patience=patience)
    return service.ask(Request("/a", body=body), bytes)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [None, {}], ids=["GET", "POST"])
@pytest.mark.parametrize("name", DRIPS)
def test_an_answer_that_drips_is_given_up(name: str, kind: object, tmp_path: Path) -> None:
    begin = time.monotonic()
    with dripping(name) as url, pytest.raises(ServiceError) as raised:
        ask(url, tmp_path, body=kind)
    assert time.monotonic() - begin < _SECONDS + HANGS / 4
    if name not in ("headers", "refusal"):
        # no part of the body of a redirect is read
        turns = "redirects in a circle" if kind is None else "has moved"
        assert (turns if name == "redirect" else "took over 0.3 s") in str(raised.value)


@pytest.mark.parametrize("name", DRIPS)
def test_an_answer_that_floods_is_given_up(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sicetnon.services.http.LARGEST_ANSWER", 1 << 20)
    monkeypatch.setattr(deadline, "_SLACK", 1 << 16)
    patience = replace(_PATIENCE, whole_timeout=HANGS)
    tracemalloc.start()
    try:
        with dripping(name, 0, 1 << 12) as url, pytest.raises(ServiceError):
            ask(url, tmp_path, patience)
        assert tracemalloc.get_traced_memory()[1] < 32 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["localhost", "127.0.0.2"])
def test_no_redirect_leads_to_another_host(name: str, tmp_path: Path) -> None:
    with ServiceDouble() as double, ServiceDouble() as other:
        port = other.url.rpartition(":")[2]
        # the other listens there, too
        double.faults = [[f"redirect http://{name}:{port}/cache?uuid=1"]]
        with pytest.raises(ServiceError, match="has moved to"):
            ask(double.url, tmp_path)
        assert not other.requests


def test_a_redirect_to_the_same_host_is_followed(tmp_path: Path) -> None:
    with ServiceDouble() as double:
        double.faults = [["redirect /cache?uuid=7&index=cw12&raw&plain"]]
        assert b"The page 7" in ask(double.url, tmp_path)
    with ServiceDouble() as double:
        double.faults = [["here"] * 9]
        with pytest.raises(ServiceError, match="in a circle"):
            ask(double.url, tmp_path / "b")


def test_what_is_for_this_machine_goes_to_no_proxy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with ServiceDouble() as double, ServiceDouble() as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        with pytest.raises(ServiceError):
            # with the key, in the clear
            ask(double.url, tmp_path, body={})
        assert not proxy.requests
        assert double.requests
