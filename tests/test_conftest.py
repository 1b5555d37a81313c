"""Settings of all tests."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

from support.index_cases import SETTINGS


def test_the_time_of_a_busy_machine_decides_no_property() -> None:
    for chosen in (settings.default, SETTINGS):
        assert chosen.deadline is None
        assert HealthCheck.too_slow in chosen.suppress_health_check
