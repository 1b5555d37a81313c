"""Services that fail: what is survived, what ends in one clear line, how long is waited."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from sicetnon.errors import ServiceError
from sicetnon.services.chatnoir import ChatNoirRetriever
from sicetnon.services.http import Clock, Pace
from support.service_double import ServiceDouble, trec_id
from support.service_setting import FAULTS, IMPATIENT, KEY, MILK, QUICK, TEA, PatientClock


class CountingClock(Clock):
    """A second passes whenever somebody looks; waiting takes no time."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> float:
        self.seconds += 1
        return self.seconds

    def sleep(self, seconds: float, stopped: threading.Event) -> None:
        self.seconds += seconds


class TestFaults:
    @pytest.mark.parametrize("fault", FAULTS, ids=str)
    def test_a_fault_is_survived(self, fault, double, setting) -> None:
        double.total, double.faults = 250, [[], [fault], [fault, fault]]
        ranking = setting.chatnoir(double).retrieve([TEA], 1000)[0]
        assert ranking.ids == tuple(trec_id(n) for n in range(250))
        assert double.asked("POST") == 6
        assert len(setting.said) == 3
        assert all(line.startswith("ChatNoir (127.0.0.1:") for line in setting.said)

    @pytest.mark.parametrize("fault", FAULTS, ids=str)
    def test_a_fault_that_stays_ends_in_one_clear_line(self, fault, double, setting) -> None:
        double.faults = [[], [fault] * 4]
        retriever = setting.chatnoir(double)
        with pytest.raises(ServiceError) as caught:
            retriever.retrieve([TEA, MILK], 10)
        assert "4 times; what it gave before is kept, so run this again later" in str(caught.value)
        assert "\n" not in str(caught.value)
        assert double.asked("POST") == 5
        # nothing is lost: what the first topic got is not asked for again
        assert [len(ranking) for ranking in retriever.retrieve([TEA, MILK], 10)] == [10, 10]
        assert double.asked("POST") == 6

    @pytest.mark.parametrize("fault", ["404", "400", "moved"])
    def test_what_will_not_pass_is_not_tried_again(self, fault, double, setting) -> None:
        double.faults = [[fault]]
        with pytest.raises(ServiceError, match="status"):
            setting.chatnoir(double).retrieve([TEA], 10)
        assert double.asked("POST") == 1

    def test_waits_double(self, double, setting) -> None:
        double.faults = [["500"] * 3]
        setting.chatnoir(double).retrieve([TEA], 10)
        assert setting.clock.slept == pytest.approx(1 + 2 + 4, abs=0.01)

    def test_retry_after_is_obeyed(self, double, setting) -> None:
        double.faults = [["429 37"]]
        setting.chatnoir(double).retrieve([TEA], 10)
        assert setting.clock.slept == pytest.approx(37, abs=0.01)
        assert setting.said[0].endswith("answered with status 429; try 2 of 4 in 37 s")

    def test_too_long_a_wait_is_left_to_the_user(self, double, setting) -> None:
        double.faults = [["429 7200"]]
        with pytest.raises(ServiceError, match="status 429 and asks to wait 7,200 s; what"):
            setting.chatnoir(double).retrieve([TEA], 10)
        assert setting.clock.slept == 0

    def test_retry_after_may_be_a_date(self, double, setting) -> None:
        soon = format_datetime(datetime.now(UTC) + timedelta(seconds=200), usegmt=True)
        double.faults = [[f"429 {soon}"]]
        setting.chatnoir(double).retrieve([TEA], 10)
        assert 100 < setting.clock.slept <= 200

    @pytest.mark.parametrize(
        "odd",
        [
            *("soon", "-5", "1.5", "Mon, 99 Foo 2026 00:00:00 GMT"),
            *("Mon, 02 Nov 99999999999 00:00:00 GMT", "9" * 5000),
        ],
    )
    def test_a_retry_after_that_says_nothing_is_ignored(self, odd: str, double, setting) -> None:
        double.faults = [[f"503 {odd}"]]
        assert len(setting.chatnoir(double).retrieve([TEA], 10)[0]) == 10
        assert setting.clock.slept == pytest.approx(1, abs=0.01)

    def test_no_answer_in_time_is_a_fault(self, double, setting) -> None:
        setting.patience, double.faults = IMPATIENT, [["slow"] * 4]
        with pytest.raises(ServiceError, match=r"did not answer within 0.2 s, 4 times; what it"):
            setting.chatnoir(double).retrieve([TEA], 10)
        # each meets its fault; none is left for the next request
        double.wait_for("POST", 4)
        setting.patience = QUICK
        assert len(setting.chatnoir(double).retrieve([TEA], 10)[0]) == 10
        assert double.asked("POST") == 5

    def test_a_dripping_answer_is_given_up(self, double, tmp_path: Path) -> None:
        double.faults = [["drip"]]
        said: list[str] = []
        patience = replace(QUICK, whole_timeout=5)
        retriever = ChatNoirRetriever(
            tmp_path, KEY, double.url, say=said.append, patience=patience, clock=CountingClock()
        )
        assert len(retriever.retrieve([TEA], 10)[0]) == 10
        assert "took over 5 s to answer" in said[0]
        assert len(said) == 1

    def test_nobody_there(self, setting) -> None:
        with ServiceDouble() as gone:
            pass
        with pytest.raises(ServiceError, match="cannot be reached, 4 times"):
            setting.chatnoir(gone).retrieve([TEA], 10)

    def test_results_without_ids_or_scores(self, double, setting) -> None:
        good = double.chatnoir({"query": "x", "from": 0, "size": 3, "index": ["cw12"]})
        double.faults = [[]]
        for change in ({"trec_id": None}, {"trec_id": "a b"}, {"score": None}, {"score": "1"}):
            bad = json.loads(json.dumps(good))
            bad["results"][1] |= change
            double.faults[0].append(bad)
        with pytest.raises(ServiceError, match="results"):
            setting.chatnoir(double).retrieve([TEA], 10)
        assert double.asked("POST") == 4

    def test_requests_keep_their_distance(self) -> None:
        clock = PatientClock()
        pace = Pace(clock, 0.25)
        for _ in range(9):
            pace.take()
        assert clock.slept == pytest.approx(2.0)


@pytest.mark.parametrize("place", ["http://[", "http://a:b/", "//[::1", "http://[::1]x", "http:"])
def test_a_redirect_to_no_address_is_one_clear_line(place: str, setting) -> None:
    for ask in (setting.chatnoir, setting.argsme):
        faults = [[f"redirect {place}"] * 9]
        with ServiceDouble(faults=faults) as double, pytest.raises(ServiceError) as raised:
            ask(double).retrieve([TEA], 10)
        assert any(said in str(raised.value) for said in ("has moved to", "in a circle"))
