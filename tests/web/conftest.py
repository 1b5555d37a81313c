"""One browser for all tests of the pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from support import browser as browsers


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A running browser; a test without one is skipped."""
    if missing := browsers.missing():
        pytest.skip(missing)
    with browsers.started() as running:
        yield running
