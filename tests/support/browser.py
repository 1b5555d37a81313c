"""Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
WIDE, MIDDLE, NARROW = 1440, 768, 390
LOOKS = ((WIDE, "light"), (MIDDLE, "light"), (MIDDLE, "dark"), (NARROW, "dark"))
"""The widths and colour schemes in which a page is looked at."""
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def missing() -> str:
    """What is missing for tests with a browser; empty where nothing is."""
    wanted = ("playwright", "axe_playwright_python")
    if absent := [name for name in wanted if importlib.util.find_spec(name) is None]:
        return f"{', '.join(absent)} is not installed: pip install '.[dev]'"
    return "" if executable() else "there is no Chromium: apt-get install chromium"


def executable() -> str | None:
    """The path of the browser."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def started() -> Iterator[Any]:
    """A running browser."""
    from playwright.sync_api import sync_playwright

    # a container's root has no sandbox of its own
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable(), args=options)
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Visitor:
    """Somebody with a browser.

    Attributes:
        page: Their page.
        complaints: What the browser complained about: errors of scripts, breaches of policies.
    """

    page: Any
    complaints: list[str]

    @property
    def overflows(self) -> bool:
        """Whether the page is wider than the window."""
        wider = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        return bool(self.page.evaluate(wider))

    def findings(self) -> list[str]:
        """What is wrong with the page, at each width and in each colour scheme.

        axe-core looks by the rules of WCAG 2.2 A and AA; a page that is wider than its window is
        wrong too.
        """
        found = []
        for width, scheme in LOOKS:
            self.page.set_viewport_size({"width": width, "height": 900})
            self.page.emulate_media(color_scheme=scheme)
            found += [f"{width} {scheme}: {each}" for each in self._faults()]
            if self.overflows:
                found.append(f"{width} {scheme}: wider than the window")
        return found

    def _faults(self) -> list[str]:
        from axe_playwright_python.sync_playwright import Axe

        if self.page.evaluate("() => !window.axe"):
            self.page.evaluate(Axe().axe_script)
        # what is right would be a megabyte
        run = "wanted => axe.run(document, wanted).then(found => found.violations)"
        wanted = {"runOnly": {"type": "tag", "values": RULES}, "resultTypes": ["violations"]}
        return [
            f"{each['id']}: {node['html'][:160]} ({node.get('failureSummary', '')[:300]})"
            for each in self.page.evaluate(run, wanted)
            for node in each["nodes"]
        ]


@contextmanager
def visitor(
    browser: Any, address: str, width: int = WIDE, scheme: str = "light", scripts: bool = True
) -> Iterator[Visitor]:
    """Somebody who opens a page.

    Args:
        browser: The browser.
        address: Of the server, for relative addresses.
        width: Of the window, in pixels.
        scheme: The colours that they prefer: `light` or `dark`.
        scripts: Whether scripts run.
    """
    size = {"width": width, "height": 900}
    context = browser.new_context(
        base_url=address, viewport=size, color_scheme=scheme, java_script_enabled=scripts
    )
    complaints: list[str] = []
    page = context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    try:
        yield Visitor(page, complaints)
    finally:
        context.close()
