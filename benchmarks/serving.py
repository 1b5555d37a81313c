"""Load on `sicetnon serve`, on this machine's loopback address alone, bounded in count and time.

    python -m benchmarks.serving [--index DIR] [--seconds 10] [--clients 1 8 32 128]
    python -m benchmarks.serving --memory 20000
    python -m benchmarks.serving --bad-clients

The first form prints requests per second and latency by the number of clients. Each question is
new, so that no answer comes from the cache, or (`--repeated`) one of ten. The second prints the
resident memory of the server after each tenth of so many requests. The third prints the latency of
good requests while other clients are slow, hang up, or keep 10,000 connections open.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import re
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from sicetnon.app.index import opened_index
from sicetnon.app.labels import parts_of

CLIENTS = (1, 8, 32, 128)
_WORDS = 6
_TIMEOUT = 60.0
STARTED = re.compile(r"http://127\.0\.0\.1:(\d+)")
_MIXED = {"search": 0.05, "brief": 0.005, "documents": 0.345, "parse": 0.3, "health": 0.3}
_POOL = 2_000


@dataclass
class Tally:
    """The statuses of a load, and the seconds of each request by status."""

    statuses: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)

    def add(self, status: str, seconds: float) -> None:
        """Add a request; only the time of answered ones counts."""
        self.statuses[status] += 1
        if status == "200":
            self.seconds.append(seconds)

    def line(self, wall: float) -> str:
        """Requests per second, median and 99th percentile in ms, statuses."""
        ordered = sorted(self.seconds) or [float("nan")]
        middle = 1000 * statistics.median(ordered)
        last = 1000 * ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]
        found = ", ".join(f"{status}: {count:,}" for status, count in sorted(self.statuses.items()))
        return f"{len(self.seconds) / wall:9.1f} {middle:9.1f} {last:9.1f}   {found}"


class Questions:
    """Questions from the headings of an index, none asked twice.

    Args:
        folder: The index; the sample when None.
    """

    def __init__(self, folder: Path | None):
        with opened_index(folder) as index:
            chosen = random.Random(1).choices(range(index.size), k=_POOL)
            records = index.records_at(sorted(set(chosen)))
            self.ids = [record.id for record in records]
        headings = (parts_of(record)[1].split()[:_WORDS] for record in records)
        self._headings = [" ".join(words) for words in headings if words]
        self._asked = 0

    def new(self) -> str:
        """A question that was not asked before."""
        self._asked += 1
        turn, place = divmod(self._asked, len(self._headings))
        other = self._headings[(place + turn) % len(self._headings)].split()
        return f"{self._headings[place]} {' '.join(other[:2])} {turn if turn else ''}".strip()

    def repeated(self) -> str:
        """One of ten questions."""
        self._asked += 1
        return self._headings[self._asked % 10]


@contextlib.contextmanager
def server(folder: Path | None) -> Iterator[int]:
    """A server in a process of its own, ready to answer; gives its port."""
    command = [sys.executable, "-m", "sicetnon", "serve", "--port", "0"]
    command += ["--index", str(folder)] if folder else []
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr
            line = process.stderr.readline()
            found = STARTED.match(line)
            if not found:
                raise SystemExit(f"the server does not start: {line}")
            asyncio.run(_ready(int(found[1])))
            yield int(found[1])
        finally:
            process.terminate()


async def _ready(port: int) -> None:
    async with asyncio.timeout(_TIMEOUT):
        while True:
            async with connected(port) as client:
                if json.loads((await client.get("/api/v1/health"))[1])["ready"]:
                    return
            await asyncio.sleep(0.05)


class Connection:
    """A connection that is kept for several requests."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self._reader, self._writer = reader, writer

    async def get(self, path: str) -> tuple[str, bytes]:
        """Status and body of the answer to a GET."""
        self._writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        async with asyncio.timeout(_TIMEOUT):
            head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            length = re.search(r"content-length: (\d+)", head)
            body = await self._reader.readexactly(int(length[1]) if length else 0)
        return head.split(" ", 2)[1], body


@contextlib.asynccontextmanager
async def connected(port: int) -> AsyncIterator[Connection]:
    """A connection to the server."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
    try:
        yield Connection(reader, writer)
    finally:
        writer.close()


async def load(port: int, clients: int, seconds: float, question: Callable[[], str]) -> Tally:
    """Ask from several clients at once, each as soon as it has its answer."""
    tally, end = Tally(), time.monotonic() + seconds

    async def one() -> None:
        async with connected(port) as client:
            while time.monotonic() < end:
                begin = time.perf_counter()
                status, _ = await client.get(f"/api/v1/search?k=10&q={quote(question())}")
                tally.add(status, time.perf_counter() - begin)

    await asyncio.gather(*(one() for _ in range(clients)))
    return tally


def print_load(folder: Path | None, clients: list[int], seconds: float, repeated: bool) -> None:
    """Requests per second and latency by the number of clients."""
    questions = Questions(folder)
    with server(folder) as port:
        print("clients      per s    median ms   p99 ms   statuses")
        for count in clients:
            begin = time.perf_counter()
            ask = questions.repeated if repeated else questions.new
            tally = asyncio.run(load(port, count, seconds, ask))
            print(f"{count:7}  {tally.line(time.perf_counter() - begin)}", flush=True)
        print(f"resident memory {asyncio.run(resident(port)) / 1e6:.0f} MB")


async def resident(port: int) -> float:
    """Bytes of memory that the server holds."""
    async with connected(port) as client:
        text = (await client.get("/api/v1/metrics"))[1].decode()
    found = re.search(r"^process_resident_memory_bytes (\d+)", text, re.MULTILINE)
    return float(found[1]) if found else float("nan")


async def mixed(port: int, questions: Questions, requests: int, chance: random.Random) -> Tally:
    """Send requests of all kinds from eight clients."""
    tally, left = Tally(), iter(range(requests))

    async def one() -> None:
        async with connected(port) as client:
            for _ in left:
                (kind,) = chance.choices(list(_MIXED), list(_MIXED.values()))
                path = f"/api/v1/{kind}"
                if kind == "documents":
                    path += f"/{quote(chance.choice(questions.ids))}"
                elif kind != "health":
                    path += f"?q={quote(questions.new())}"
                begin = time.perf_counter()
                status, _ = await client.get(path)
                tally.add(status, time.perf_counter() - begin)

    await asyncio.gather(*(one() for _ in range(8)))
    return tally


def print_memory(folder: Path | None, requests: int) -> None:
    """The memory of the server after each tenth of the requests."""
    questions, chance = Questions(folder), random.Random(1)
    with server(folder) as port:
        print("requests   resident MB   statuses")
        print(f"{0:8,} {asyncio.run(resident(port)) / 1e6:13.1f}", flush=True)
        for tenth in range(1, 11):
            tally = asyncio.run(mixed(port, questions, requests // 10, chance))
            held = asyncio.run(resident(port)) / 1e6
            print(f"{tenth * requests // 10:8,} {held:13.1f}   {dict(tally.statuses)}", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--index", type=Path, metavar="DIR", help="default: the sample")
    parser.add_argument("--clients", type=int, nargs="+", default=list(CLIENTS))
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--repeated", action="store_true", help="ask ten questions again and again")
    parser.add_argument("--memory", type=int, metavar="REQUESTS")
    parser.add_argument("--bad-clients", action="store_true")
    given = parser.parse_args()
    if given.memory:
        print_memory(given.index, given.memory)
    elif given.bad_clients:
        from benchmarks.bad_clients import print_bad_clients

        print_bad_clients(given.index, given.seconds)
    else:
        print_load(given.index, given.clients, given.seconds, given.repeated)


if __name__ == "__main__":
    main()
