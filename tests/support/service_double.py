"""A local server in place of ChatNoir and args.me, which misbehaves on demand.

It answers in the shapes that were recorded of ChatNoir and that args.me documents, with invented
texts, and counts what it is asked.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import NAMESPACE_URL, uuid5

from support.patience import HANGS

Fault = str | bytes | dict[str, Any]
# where a redirect leads: to the same address, and elsewhere
_PLACES = {"here": "", "moved": "http://elsewhere.example/"}


def trec_id(number: int) -> str:
    return f"clueweb12-0000wb-{number // 1000:02}-{number % 1000:05}"


@dataclass
class ServiceDouble:
    """What the server holds, how it fails, and what it was asked.

    Attributes:
        total: Results that it has for every question.
        counted: Results that it says it has; `total` when left out.
        faults: A list of faults for each distinct request, in the order in which requests come
            first. A request meets its own faults, one per try, whatever other threads ask
            meanwhile. `429 5` has a Retry-After.
        key: The key it wants; any when left out.
        most: Results that it gives a page at most.
        ignores_offset: Every page is the first.
        overlap: Results of the page before that a page repeats.
        echoes_key: Answers repeat the key.
        markup: Texts of pages are HTML.
        equal_scores: All results have one score, and every other page is upside down.
        delay: Seconds before every answer.
        broken: UUIDs of pages that it fails to give.
        absent: UUIDs of pages that it does not have.
        requests: Method, path and body of every request.
    """

    total: int = 25
    counted: int | None = None
    faults: list[list[Fault]] = field(default_factory=list)
    key: str | None = None
    most: int = 1000
    ignores_offset: bool = False
    overlap: int = 0
    echoes_key: bool = False
    markup: bool = False
    equal_scores: bool = False
    delay: float = 0.0
    broken: frozenset[str] = frozenset()
    absent: frozenset[str] = frozenset()
    requests: list[tuple[str, str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lock = threading.Condition()
        self.closing = threading.Event()
        self._dealt: dict[tuple[str, str, str], list[Fault]] = {}

    def __enter__(self) -> ServiceDouble:
        double = self

        class Handler(_Handler):
            service = double

        self.server = _Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()

    def asked(self, method: str) -> int:
        return sum(request[0] == method for request in self.requests)

    def wait_for(self, method: str, count: int) -> None:
        """Wait until so many requests were noted: who gives one up does not know when."""
        with self.lock:
            assert self.lock.wait_for(lambda: self.asked(method) >= count, HANGS)

    def note(self, method: str, path: str, body: Any) -> Fault | None:
        """Note a request; the fault that it meets."""
        with self.lock:
            self.requests.append((method, path, body))
            self.lock.notify_all()
            name = method, path, json.dumps(body)
            if name not in self._dealt:
                self._dealt[name] = list(self.faults.pop(0)) if self.faults else []
            return self._dealt[name].pop(0) if self._dealt[name] else None

    def chatnoir(self, body: dict[str, Any]) -> dict[str, Any]:
        start = 0 if self.ignores_offset else max(0, body["from"] - self.overlap)
        end = min(self.total, start + min(body["size"], self.most))
        results = [self.hit(number, body["query"]) for number in range(start, end)]
        if self.equal_scores and body["from"] // 2 % 2:
            results.reverse()
        counted = self.total if self.counted is None else self.counted
        meta = {"query_time": 7, "total_results": counted, "indices": body["index"]}
        if self.echoes_key:
            meta["request"] = body
        return {"meta": meta, "results": results}

    def hit(self, number: int, query: str) -> dict[str, Any]:
        name = trec_id(number)
        return {
            "score": 7.0 if self.equal_scores else 1000.0 - number,
            "uuid": str(uuid5(NAMESPACE_URL, f"clueweb12:{name}")),
            "index": "cw12",
            "trec_id": name,
            "target_hostname": "www.example.org",
            "target_uri": f"http://www.example.org/{number}",
            "page_rank": None if number % 2 else 1e-9 * number,
            "spam_rank": None if number % 3 else 80,
            "title": f"Page {number} &amp; <em>tea</em>",
            "snippet": f"On {query}: <em>tea</em> is &lt;cheap&gt;",
            "explanation": None,
        }

    def argsme(self, query: dict[str, list[str]]) -> dict[str, Any]:
        size, page = int(query["pageSize"][0]), int(query.get("page", ["1"])[0])
        start = 0 if self.ignores_offset else (page - 1) * size
        return {
            "query": {"text": query["query"][0], "properties": {}},
            "arguments": [self.argument(n) for n in range(start, min(self.total, start + size))],
            "totalSize": self.total,
            "resultsBefore": start,
        }

    def argument(self, number: int) -> dict[str, Any]:
        return {
            "id": f"S1-A{number:x}",
            "conclusion": "Tea should go",
            "premises": [{"text": f"Reason {number} of many.", "stance": "CON", "annotations": []}],
            "context": {"sourceTitle": "Tea", "sourceUrl": "http://debates.example/tea"},
            "stance": "CON" if number % 2 else "PRO",
            "explanation": {"score": 50.0 - number, "name": "sum", "details": []},
        }

    def text(self, identifier: str) -> str:
        text = f"The page {identifier} weighs tea against coffee."
        return f"<html><head><title>x</title></head><p>{text}</p>" if self.markup else text


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, *_: object) -> None:
        """A client that hangs up is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    service: ServiceDouble

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self._starts(body):
            return
        if self.service.key and body.get("apikey") != self.service.key:
            said = f"the key {body.get('apikey')} is not known"
            self._send(json.dumps({"error": said}).encode(), 401)
            return
        self._send(json.dumps(self.service.chatnoir(body)).encode())

    def do_GET(self) -> None:
        if self._starts(None):
            return
        parts = urlsplit(self.path)
        query = parse_qs(parts.query, keep_blank_values=True)
        if parts.path == "/api/v2/arguments":
            self._send(json.dumps(self.service.argsme(query)).encode())
            return
        assert parts.path == "/cache"
        assert set(query) == {"uuid", "index", "raw", "plain"}
        identifier = query["uuid"][0]
        if identifier in self.service.absent:
            self._send(b"not found", 404)
        elif identifier in self.service.broken:
            self._send(b"broken", 500)
        else:
            self._send(self.service.text(identifier).encode(), kind="text/plain")

    def _starts(self, body: Any) -> bool:
        """Note the request; whether it met with a fault."""
        fault = self.service.note(self.command, self.path, body)
        time.sleep(self.service.delay)
        if fault is not None:
            self._fail(fault)
        return fault is not None

    def _fail(self, fault: Fault) -> None:
        if isinstance(fault, dict | bytes):
            self._send(fault if isinstance(fault, bytes) else json.dumps(fault).encode())
        elif fault == "cut":
            self._send(b"{", length=5000)
            self.close_connection = True
        elif fault == "hang up":
            self.close_connection = True
        elif fault == "slow":
            self.service.closing.wait()
            self.close_connection = True
        elif fault == "drip":
            self._drip()
        elif fault == "malformed":
            self._send(b'{"meta": {"total_results": 25}, "results": [{"sco')
        elif fault == "empty":
            self._send(b"")
        elif fault in _PLACES or fault.startswith("redirect "):
            place = _PLACES.get(fault, fault.partition(" ")[2])
            self._send(b"", 302, headers={"Location": place or self.path})
        else:
            status, _, wait = fault.partition(" ")
            headers = {"Retry-After": wait} if wait else {}
            self._send(b"{}", int(status), headers=headers)

    def _drip(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "5000")
        self.end_headers()
        while not self.service.closing.wait(0.01):
            self.wfile.write(b" ")
            self.wfile.flush()

    def _send(
        self,
        body: bytes,
        status: int = 200,
        kind: str = "application/json",
        length: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
