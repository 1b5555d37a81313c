"""Time until `sicetnon serve` answers, and delay between a time limit and the end of its work.

    python -m benchmarks.stops

It prints the seconds until `/api/v1/health` answers, on the clock and of the processor, three
times; then for texts of 100,000 sentences and words of 1 MB how long after its limit work ends.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import sicetnon
from benchmarks.serving import STARTED, connected
from sicetnon.app.reply import reply_to
from sicetnon.cancellation import Cancellation
from sicetnon.errors import StoppedError
from sicetnon.web.pages.ask_search import ask_search
from sicetnon.web.pages.document import document_page

QUESTION = "Should teachers get tenure?"
LIMITS = (0.3, 1.0, 2.0, 4.0, 7.0)
SENTENCES, WORD = 100_000, 1 << 20


def documents() -> Iterator[dict[str, str]]:
    """A text of many sentences, one with a long word, and two of the usual kind."""
    claim = "Teachers should get tenure"
    many = (f"{claim} because reason {at} protects freedom. " for at in range(SENTENCES))
    texts = ["".join(many), f"{claim} because {'x' * WORD} protects them."]
    texts += [f"{claim} because it protects them from unfair dismissal.", "Tenure is costly."]
    for place, text in enumerate(texts):
        side = "PRO" if place % 2 else "CON"
        yield {"id": str(place), "text": text, "side": side, "claim": claim}


def print_starts() -> None:
    """Seconds until the server answers."""
    for _ in range(3):
        begin = time.perf_counter()
        command = [sys.executable, "-m", "sicetnon", "serve", "--port", "0"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr
            found = STARTED.match(process.stderr.readline())
            assert found
            asyncio.run(_healthy(int(found[1])))
            seconds = time.perf_counter() - begin
            # user and system time are the 14th and 15th field, see proc(5)
            fields = Path(f"/proc/{process.pid}/stat").read_text().split()
            ticks = int(fields[13]) + int(fields[14])
            process.terminate()
        of_processor = ticks / os.sysconf("SC_CLK_TCK")
        print(f"answers after {seconds:.2f} s, {of_processor:.2f} s of the processor", flush=True)


async def _healthy(port: int) -> None:
    async with connected(port) as client:
        await client.get("/api/v1/health")


def overtime(work: Callable[[], object], seconds: float) -> float | None:
    """Seconds between the limit and the end of the work; None where the work ends before it."""
    stop, begin = Cancellation(), time.monotonic()
    stop.after(seconds)
    try:
        with stop.watched():
            work()
    except StoppedError:
        return time.monotonic() - begin - seconds
    return None


def print_stops() -> None:
    """Print how long after its time limit each kind of work ends."""
    index = sicetnon.Index.build(
        documents(), fields=["text"], stance_field="side", claim_field="claim"
    )
    index.search("warm", 1)
    works: dict[str, Callable[[], object]] = {
        "search": lambda: index.search(QUESTION),
        "brief": lambda: sicetnon.brief(index, QUESTION),
        "page": lambda: ask_search(index, QUESTION, 10),
        "document": lambda: document_page(index, "0", QUESTION),
        "reply": lambda: reply_to(index, "0", QUESTION),
    }
    every = []
    for name, work in works.items():
        found = [late for limit in LIMITS if (late := overtime(work, limit)) is not None]
        every += found
        print(f"{name}: " + ", ".join(f"{late:.2f}" for late in found), flush=True)
    print(f"{len(every)} stops: median {statistics.median(every):.2f} s, most {max(every):.2f} s")


def main() -> None:
    """Print both."""
    argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0]).parse_args()
    print(f"load {os.getloadavg()[0]:.0f}")
    print_starts()
    print_stops()


if __name__ == "__main__":
    main()
