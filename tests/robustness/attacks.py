"""Attacks on a running program: strings that are pumped, bodies that fill, services that drip."""

from __future__ import annotations

import asyncio
import functools
import json
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

from robustness.trials import Lost, Trial
from sicetnon.app.index import Index
from sicetnon.arguments.claims import claim_of
from sicetnon.arguments.comparative.question_parser import parse_question
from sicetnon.arguments.side.question_rewriting import has_sides, matter_of, plain
from sicetnon.errors import SicetnonError
from sicetnon.evaluation import parse_measure
from sicetnon.services.http import Patience, Request, ResponseCache, Service
from sicetnon.text.sentences import sentences
from sicetnon.text.snippets import snippet
from support.debates import both_sides
from support.dripping import DRIPS, dripping
from support.loop_time import answered, asked
from support.pumping import expressions, inputs, pumped, seconds_of

_SECONDS = 1.0
"""Processor seconds that a text, or the event loop for a request, may take."""
_READERS: tuple[Callable[[str], object], ...] = (
    *(parse_question, matter_of, has_sides, plain, sentences, claim_of),
    lambda text: snippet(text, {"a"}, str.split, 300),
    lambda text: parse_measure(text[:5000]),
)
_GETS = (
    *("/?q=", "/?q=arguments+for", "/document?q=", "/reply?id=1&q=", "/brief?q=", "/token?next="),
    *("/api/v1/search?q=", "/api/v1/search?q=a&after=", "/api/v1/parse?q=", "/api/v1/brief?q="),
    *("/api/v2/arguments?query=", "/api/v1/_search?query=", "/cache?uuid=", "/judge?assessor="),
)
_HEADERS = ("cookie", "content-type", "accept", "authorization", "host", "x-request-id", "range")
_POSTS = ("/", "/api/v1/reply", "/api/v1/annotate", "/api/v1/_search", "/token", "/judge", "/runs")
_UPLOADS = ("/api/v1/evaluate", "/api/v1/validate")
_STARTS = ("", 'a="', "application/json; ", "multipart/form-data; boundary=a; ", "sicetnon-token=")
_UNITS = (
    " ",
    "a",
    "a ",
    '"',
    "\\",
    '\\"',
    ";",
    ",",
    "=",
    "&",
    "%",
    "\n",
    "1",
    "a=b;",
    "[",
    "{",
    "é",
)
_KINDS = ("texts", "runs", "qrels", "run", "messages", "measures", "text", "query")
_HELD = 8 << 20


def prepare_expressions(_: Path) -> Trial:
    """An expression or a function, and a text that repeats what some expression repeats."""
    found = expressions()

    def trial(seed: int, _: Path) -> None:
        rng = Random(seed)
        expression = found[seed % len(found)]
        length = rng.randint(1000, 30_000)
        texts = list(pumped(expression.pattern, length))
        text = rng.choice(texts)
        for method in sorted(expression.methods):
            for given in inputs(expression, iter([text])):
                apply = functools.partial(getattr(expression.pattern, method), given)
                _check_seconds(apply, f"{expression.place}: {text[:80]!r}")
        for read in _READERS:
            _check_seconds(functools.partial(_told, read, text), f"{read}: {text[:80]!r}")

    return trial


def _told(read: Callable[[str], object], text: str) -> None:
    try:
        read(text)
    except SicetnonError as error:
        if len(str(error).splitlines()) != 1:
            raise Lost(f"an error of several lines: {error}") from None


def _check_seconds(work: Callable[[], object], what: str) -> None:
    # a model that is loaded is slow once
    if all(seconds_of(work) > _SECONDS for _ in range(2)):
        raise Lost(f"slow: {what}")


def prepare_requests(folder: Path) -> Trial:
    """Requests that are pumped, of wrong types, or many at once."""
    both_sides(folder / "index").close()

    @functools.cache
    def application(_: int) -> Any:
        from sicetnon.web.application import application
        from sicetnon.web.settings import Settings

        made = application(Index.open(folder / "index"), Settings(held_bytes=_HELD))
        answered(made, "GET", b"/?q=zoos", {})
        return made

    def trial(seed: int, _: Path) -> None:
        rng = Random(seed)
        # the loop and the threads are the child's own
        app = application(os.getpid())
        rng.choice((_pumped_address, _pumped_header, _wrong_body, _many_bodies))(app, rng)

    return trial


def _pumped_address(app: Any, rng: Random) -> None:
    unit = "".join(f"%{byte:02x}" for byte in rng.choice(_UNITS).encode())
    target = (
        rng.choice(_GETS) + rng.choice(("", unit)) + unit * (rng.randint(1, 60_000) // len(unit))
    )
    _ask(app, "GET", target, {"accept": rng.choice((b"text/html", b"*/*"))})


def _pumped_header(app: Any, rng: Random) -> None:
    unit = rng.choice(_UNITS).replace("\n", " ")
    value = rng.choice(_STARTS) + unit * (rng.randint(1, 60_000) // len(unit))
    headers = {rng.choice(_HEADERS): value.encode("latin-1")}
    _ask(app, "GET", rng.choice(_GETS) + "zoos", headers)
    _ask(app, "POST", rng.choice(_POSTS), headers, b"{}")


def _wrong_body(app: Any, rng: Random) -> None:
    path = rng.choice((*_POSTS, *_UPLOADS))
    unit = rng.choice(("1", "[]", "{}", '""', "null", '{"a":1}', "[[]]", "1e5", '{"role":1}'))
    count = rng.randint(1, (1 << 23 if path in _UPLOADS else 1 << 20) // 12)
    if rng.random() < 0.5:
        filled = "[" + ",".join([unit] * count) + "]"
    else:
        filled = "{" + ",".join(f'"{number}":{unit}' for number in range(count)) + "}"
    body = "{" + ",".join(f'"{name}":{filled}' for name in rng.sample(_KINDS, 1)) + "}"
    if rng.random() < 0.2:
        body = body[: rng.randint(1, len(body))]
    kind = rng.choice((b"application/json", b"application/x-www-form-urlencoded"))
    _ask(app, "POST", path, {"content-type": kind}, body.encode())


def _many_bodies(app: Any, rng: Random) -> None:
    """Bodies that are not whole: beyond their common limit they are refused, and then forgotten."""
    size, count = rng.randint(1 << 17, 1 << 20), rng.randint(9, 90)
    headers = {"content-type": b"application/json"}

    async def ask_all() -> list[int]:
        whole = asyncio.Event()
        body = json.dumps({"text": "a" * size}).encode()
        asking = [
            asyncio.create_task(asked(app, "POST", b"/api/v1/reply", headers, body, whole))
            for _ in range(count)
        ]
        for _ in range(size // 1000):
            await asyncio.sleep(0)
        whole.set()
        return [answer.status for answer in await asyncio.gather(*asking)]

    statuses = asyncio.run(ask_all())
    held = sum(status != 503 for status in statuses)
    if held * size > 2 * _HELD or (count * size < _HELD and 503 in statuses):
        raise Lost(f"{held} of {count} bodies of {size:,} bytes were held")
    _ask(app, "POST", "/api/v1/parse", headers, b"a" * (1 << 19))


def _ask(
    app: Any, method: str, target: str, headers: Mapping[str, bytes], body: bytes = b""
) -> None:
    answer = answered(app, method, target.encode(), headers, body)
    if answer.status >= 500:
        raise Lost(f"{method} {target[:80]}: {answer.status}: {answer.body[:500]!r}")
    if answer.seconds > _SECONDS:
        raise Lost(f"{method} {target[:80]}: {answer.seconds:.1f} s of the loop: {headers!r:.200}")


def prepare_services(folder: Path) -> Trial:
    """Services and hosts of clusters whose answers do not end."""

    def trial(seed: int, folder: Path) -> None:
        rng = Random(seed)
        name = rng.choice(sorted(DRIPS))
        pause, times = (rng.choice((0.001, 0.01, 0.05)), 1) if rng.random() < 0.8 else (0, 4096)
        seconds = rng.uniform(0.05, 0.3)
        begin = time.monotonic()
        with dripping(name, pause, times) as url:
            if rng.random() < 0.5:
                _ask_service(url, folder, seconds, {} if rng.random() < 0.5 else None)
            else:
                _ask_cluster(url, seconds, rng.random() < 0.5)
        if time.monotonic() - begin > seconds + 10:
            raise Lost(f"{name}: held for {time.monotonic() - begin:.0f} s")

    return trial


def _ask_service(url: str, folder: Path, seconds: float, body: Any) -> None:
    patience = Patience(tries=1, timeout=60, whole_timeout=seconds, jitter=0.0)
    service = Service("the service", url, ResponseCache(folder), patience=patience)
    try:
        service.ask(Request("/a", body=body), bytes)
    except SicetnonError:
        return
    raise Lost("an answer that has no end")


def _ask_cluster(url: str, seconds: float, is_hedged: bool) -> None:
    from sicetnon.cluster.address import parse_address
    from sicetnon.cluster.transport import Connection, TimeLimits

    address = parse_address(f"opensearch+{url}/a")
    connection = Connection(address, most_bytes=1 << 22)
    limits = TimeLimits(seconds / 2, seconds, is_hedged)
    try:
        connection.ask("POST", "/a/_search", {}, time_limits=limits)
    except SicetnonError:
        return
    finally:
        connection.close()
    raise Lost("an answer that has no end")
