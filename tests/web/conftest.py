"""A browser for the tests of the pages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support import browser as browsers
from support.browser import Browser


# not of the session: as long as it runs, no other test of its thread can have an event loop
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A running browser, for the tests of a module; they are skipped without one."""
    if missing := browsers.missing():
        pytest.skip(missing)
    with browsers.started() as running:
        yield running
