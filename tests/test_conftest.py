"""Settings of all tests."""

from __future__ import annotations

from types import SimpleNamespace

from hypothesis import HealthCheck, settings

from conftest import pytest_collection_modifyitems
from support.index_cases import SETTINGS


def test_the_time_of_a_busy_machine_decides_no_property() -> None:
    for chosen in (settings.default, SETTINGS):
        assert chosen.deadline is None
        assert HealthCheck.too_slow in chosen.suppress_health_check


def test_two_workers_begin_with_clusters_and_kernels() -> None:
    rooms = ["arguments", *["cluster"] * 2, "index", "retrieval", *["web"] * 3]
    items = [SimpleNamespace(nodeid=f"tests/{room}/test_it.py::test") for room in rooms]
    pytest_collection_modifyitems(items)  # type: ignore[arg-type]
    found = [item.nodeid.split("/")[1] for item in items]
    assert found == ["cluster", "cluster", "arguments", "index", "retrieval", "web", "web", "web"]
