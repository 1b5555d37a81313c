"""Weighs the pages and times their first paint, in Chromium over a warm process of the sample.

    python -m benchmarks.pages

Each time is of a question that was not asked before, from the click to the first paint of its
answers. The processor time of the server is printed beside it, which a busy machine does not
change as much. It needs Linux, Playwright and Chromium (extra `dev`).
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote

ROOT = Path(__file__).parents[1]
TOPICS = ROOT / "examples" / "touche-2020-task-1" / "input" / "topics.xml"
WARMED = 3
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
ENTRIES = "['navigation', 'resource'].flatMap(kind => performance.getEntriesByType(kind))"
ANSWERED = "performance.getEntriesByType('navigation')[0].responseEnd"


@contextmanager
def server() -> Iterator[tuple[str, int]]:
    """The address of a server of the sample, and its process."""
    command = [sys.executable, "-m", "sicetnon", "serve", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr
            for line in process.stderr:
                if found := re.match(r"(http://\S+) answers", line):
                    yield found[1], process.pid
                    break
        finally:
            process.terminate()


def main() -> int:
    """Measure and print."""
    argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0]).parse_args()
    sys.path.insert(0, str(ROOT / "tests"))
    from sicetnon.app.index import sample_index
    from sicetnon.app.reasons import key_sentences, reasons_of
    from sicetnon.web.pages.ask_search import PAGE
    from support import browser as browsers

    questions = [str(each.text).strip() for each in ElementTree.parse(TOPICS).iter("title")]
    if missing := browsers.missing():
        print(missing)
        return 1
    with server() as (address, process), browsers.started() as browser:
        context = browser.engine.new_context(viewport={"width": browsers.WIDE, "height": 900})
        page = context.new_page()
        rows, spent = [], [_processor_time(process)]
        for each in questions:
            rows.append(_measured(page, f"{address}/?q={quote(each)}"))
            spent.append(_processor_time(process))
        # the browser keeps what never changes: the first page loads everything
        first, warm = rows[0], rows[WARMED:]
        painted = [row["painted"] for row in warm]
        answered = [row["answered"] for row in warm]
        print(f"first page: {first['bytes']:,} bytes, {first['requests']} requests")
        print(f"each more: {statistics.median(row['moved'] for row in warm):,.0f} bytes moved")
        print(
            f"{len(warm)} new questions: answered in {statistics.median(answered):.0f} ms, "
            f"first paint in {statistics.median(painted):.0f} ms (median; worst "
            f"{max(painted):.0f} ms)"
        )
        worked = [after - before for before, after in pairwise(spent[WARMED:])]
        print(f"processor time of the server: {1000 * statistics.median(worked):.0f} ms (median)")
        again = [_measured(page, f"{address}/?q={quote(each)}")["painted"] for each in questions]
        print(f"asked again: first paint in {statistics.median(again):.0f} ms")
    same = total = 0
    for question in questions:
        found = sample_index().search(question, PAGE)
        quick = key_sentences(question, found)
        best = {name: each[0].sentence for name, each in reasons_of(question, found).items()}
        total += len(best)
        same += sum(quick.get(name) == sentence for name, sentence in best.items())
    print(f"the sentence shown is that of a brief for {same} of {total} answers")
    return 0


def _processor_time(process: int) -> float:
    """Seconds of processor time that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _measured(page: Any, address: str) -> dict[str, float]:
    page.goto(address)
    page.wait_for_load_state("networkidle")
    entries = page.evaluate(f"{ENTRIES}.map(each => [each.decodedBodySize, each.transferSize])")
    return {
        "bytes": sum(size for size, _ in entries),
        "moved": sum(moved for _, moved in entries),
        "requests": len(entries),
        "painted": page.evaluate(PAINTED),
        "answered": page.evaluate(ANSWERED),
    }


if __name__ == "__main__":
    sys.exit(main())
