"""Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from support.patience import HANGS

NAMES = ("chromium", "chromium-browser", "google-chrome")
WIDE, MIDDLE, NARROW = 1440, 768, 390
LOOKS = ((WIDE, "light"), (MIDDLE, "dark"), (NARROW, "dark"))
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


def expect(found: Any) -> Any:
    """What is expected of a page, or of a place on it; each assertion waits until it holds.

    What a click, a key or an address brings is there later than the call returns, so nothing is
    counted or read behind one of these unless something that came with it was expected before.
    """
    from playwright.sync_api import expect as expected

    return expected(found)


class Browser:
    """A running browser that keeps its windows, since a new one costs what three pages cost.

    Args:
        engine: The browser of Playwright.
    """

    def __init__(self, engine: Any):
        self.engine = engine
        self._kept: dict[bool, list[Any]] = {True: [], False: []}

    def new_page(self, scripts: bool) -> Any:
        """A page in a window of its own, with or without scripts."""
        context = self.engine.new_context(java_script_enabled=scripts)
        context.set_default_timeout(1000 * HANGS)
        return context.new_page()

    @contextmanager
    def page(self, scripts: bool) -> Iterator[Any]:
        """A page in a window that may be used again, without what it kept of its last visitor."""
        kept = self._kept[scripts]
        page = kept.pop() if kept else self.new_page(scripts)
        yield page
        page.unroute_all()
        if scripts and page.url.startswith("http"):
            page.evaluate("localStorage.clear()")
        page.context.clear_cookies()
        page.emulate_media(media="null")
        page.goto("about:blank")
        kept.append(page)

    @contextmanager
    def own_page(self, scripts: bool) -> Iterator[Any]:
        """A page in a window that nobody else uses."""
        page = self.new_page(scripts)
        try:
            yield page
        finally:
            page.context.close()


@contextmanager
def started() -> Iterator[Browser]:
    """A running browser."""
    from playwright.sync_api import expect as expected
    from playwright.sync_api import sync_playwright

    expected.set_options(timeout=1000 * HANGS)
    # pages are drawn without a graphics card that software would play; a container's root has no
    # sandbox of its own
    options = ["--disable-gpu", "--disable-software-rasterizer"]
    options += ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as driver:
        engine = driver.chromium.launch(
            executable_path=executable(), args=options, timeout=1000 * HANGS
        )
        try:
            yield Browser(engine)
        finally:
            engine.close()


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

    def resize(self, width: int, scheme: str = "light") -> None:
        """Give the window a width in pixels and a colour scheme, and wait until the page has both.

        Args:
            width: The width.
            scheme: The colours that they prefer: `light` or `dark`.
        """
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.emulate_media(color_scheme=scheme)
        self.page.wait_for_function(
            "([width, scheme]) => innerWidth === width"
            " && matchMedia(`(prefers-color-scheme: ${scheme})`).matches",
            arg=[width, scheme],
        )

    def findings(self) -> list[str]:
        """What is wrong with the page, at each width and in each colour scheme.

        axe-core looks by the rules of WCAG 2.2 A and AA; a page that is wider than its window is
        wrong too.
        """
        found = []
        for width, scheme in LOOKS:
            self.resize(width, scheme)
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
    browser: Browser,
    width: int = WIDE,
    scheme: str = "light",
    scripts: bool = True,
    own: bool = False,
) -> Iterator[Visitor]:
    """Somebody who opens a page.

    Args:
        browser: The browser.
        width: Of the window, in pixels.
        scheme: The colours that they prefer: `light` or `dark`.
        scripts: Whether scripts run.
        own: Whether nobody else uses the window: for those who change its clock or its connection.
    """
    complaints: list[str] = []
    heard = {
        "pageerror": lambda error: complaints.append(str(error)),
        "console": lambda said: complaints.append(said.text) if said.type == "error" else None,
    }
    with (browser.own_page if own else browser.page)(scripts) as page:
        visitor = Visitor(page, complaints)
        visitor.resize(width, scheme)
        for event, hear in heard.items():
            page.on(event, hear)
        yield visitor
        for event, hear in heard.items():
            page.remove_listener(event, hear)
