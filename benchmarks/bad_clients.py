"""Good requests beside clients that are slow, hang up, or keep connections open."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from benchmarks.serving import Questions, Tally, connected, server
from sicetnon.operating_system import allow_many_files

OPEN, SLOW, HANGING = 10_000, 200, 8
_AT_ONCE = 500
_HEAD = b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nX-Slow: "


def print_bad_clients(folder: Path | None, seconds: float) -> None:
    """Latency of one good client with and without bad ones, on requests that are not cached."""
    allow_many_files()
    questions = Questions(folder)
    kinds: dict[str, Callable[[int], contextlib.AbstractAsyncContextManager[None]]] = {
        "none": _nobody,
        f"{OPEN:,} open connections": _idle,
        f"{SLOW} heads, a letter a second": _slow,
        f"{HANGING} that ask and hang up": lambda port: _hanging(port, questions),
        "none again": _nobody,
    }
    with server(folder) as port:
        print("bad clients".ljust(34) + "    per s    median ms   p99 ms   statuses")
        for name, bad in kinds.items():
            begin = time.perf_counter()
            tally, wall = asyncio.run(_beside(port, bad, seconds))
            print(f"{name.ljust(34)}{tally.line(wall)}", flush=True)
            assert time.perf_counter() - begin < 600


async def _beside(
    port: int,
    bad: Callable[[int], contextlib.AbstractAsyncContextManager[None]],
    seconds: float,
) -> tuple[Tally, float]:
    tally = Tally()
    async with bad(port):
        begin = time.monotonic()
        while time.monotonic() - begin < seconds:
            start = time.perf_counter()
            async with connected(port) as client:
                status, _ = await client.get("/api/v1/parse?q=Should+teachers+get+tenure")
            tally.add(status, time.perf_counter() - start)
        return tally, time.monotonic() - begin


@contextlib.asynccontextmanager
async def _nobody(port: int) -> AsyncIterator[None]:
    yield


@contextlib.asynccontextmanager
async def _idle(port: int) -> AsyncIterator[None]:
    """Connections on which nothing is sent."""
    writers: list[asyncio.StreamWriter] = []
    for _ in range(OPEN // _AT_ONCE):
        opened = [asyncio.open_connection("127.0.0.1", port) for _ in range(_AT_ONCE)]
        writers += [writer for _, writer in await asyncio.gather(*opened)]
    try:
        yield
    finally:
        for writer in writers:
            writer.close()


@contextlib.asynccontextmanager
async def _slow(port: int) -> AsyncIterator[None]:
    """Connections whose head never ends; each is opened again when it is closed."""

    async def one() -> None:
        while True:
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(_HEAD)
                while not writer.is_closing():
                    writer.write(b"x")
                    await writer.drain()
                    await asyncio.sleep(1)

    async with _running([one() for _ in range(SLOW)]):
        yield


@contextlib.asynccontextmanager
async def _hanging(port: int, questions: Questions) -> AsyncIterator[None]:
    """Clients that ask for a brief, and hang up before it is there."""

    async def one() -> None:
        while True:
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                path = f"/api/v1/brief?q={questions.new().replace(' ', '+')}"
                writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                await writer.drain()
                await asyncio.sleep(0.05)
                writer.close()

    async with _running([one() for _ in range(HANGING)]):
        yield


@contextlib.asynccontextmanager
async def _running(work: list[object]) -> AsyncIterator[None]:
    tasks = [asyncio.ensure_future(each) for each in work]  # type: ignore[call-overload]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
