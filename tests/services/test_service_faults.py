"""Services that fail: what is survived, what ends in one clear line, how long is waited."""

from __future__ import annotations

import json
from email.utils import format_datetime
from pathlib import Path

import pytest

from sicetnon.errors import ServiceError
from sicetnon.services.chatnoir import ChatNoirRetriever
from sicetnon.services.pace import Pace, Patience
from sicetnon.services.remote import retry_after
from support.service_double import ServiceDouble, trec_id
from support.service_setting import FAULTS, KEY, MILK, TEA, PatientClock


class TestFaults:
    @pytest.mark.parametrize("fault", FAULTS, ids=str)
    def test_a_fault_is_survived(self, fault, double, setting) -> None:
        double.total, double.faults = 250, ["", fault, "", fault, fault]
        ranking = setting.chatnoir(double).retrieve([TEA], 1000)[0]
        assert ranking.names == tuple(trec_id(n) for n in range(250))
        assert double.asked("POST") == 6
        assert len(setting.said) == 3
        assert all(line.startswith("ChatNoir (127.0.0.1:") for line in setting.said)

    @pytest.mark.parametrize("fault", FAULTS, ids=str)
    def test_a_fault_that_stays_ends_in_one_clear_line(self, fault, double, setting) -> None:
        double.faults = ["", *[fault] * 4]
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
        double.faults = [fault]
        with pytest.raises(ServiceError, match="status"):
            setting.chatnoir(double).retrieve([TEA], 10)
        assert double.asked("POST") == 1

    def test_waits_double(self, double, setting) -> None:
        double.faults = ["500"] * 3
        setting.chatnoir(double).retrieve([TEA], 10)
        assert setting.clock.slept == pytest.approx(1 + 2 + 4, abs=0.01)

    def test_retry_after_is_obeyed(self, double, setting) -> None:
        double.faults = ["429 37"]
        setting.chatnoir(double).retrieve([TEA], 10)
        assert setting.clock.slept == pytest.approx(37, abs=0.01)
        assert setting.said[0].endswith("answered with status 429; try 2 of 4 in 37 s")

    def test_too_long_a_wait_is_left_to_the_user(self, double, setting) -> None:
        double.faults = ["429 86400"]
        with pytest.raises(ServiceError, match="status 429 and asks to wait 86,400 s; what"):
            setting.chatnoir(double).retrieve([TEA], 10)
        assert setting.clock.slept == 0

    def test_retry_after_as_a_date(self) -> None:
        from datetime import UTC, datetime, timedelta

        now = datetime.now(UTC)
        skewed = now - timedelta(days=3)
        then = format_datetime(skewed + timedelta(seconds=40), usegmt=True)
        assert (
            retry_after({"Retry-After": then, "Date": format_datetime(skewed, usegmt=True)}) == 40
        )
        assert retry_after({"Retry-After": then}) == 0
        soon = format_datetime(now + timedelta(seconds=90), usegmt=True)
        assert 85 < retry_after({"Retry-After": soon}) <= 90
        assert retry_after({"Retry-After": "12"}) == 12
        for odd in ("", "soon", "-5", "1.5", "٣", "Mon, 99 Foo 2026 00:00:00 GMT"):
            assert retry_after({"Retry-After": odd, "Date": "?"}) in (0, 3)

    def test_a_dripping_answer_is_given_up(self, double, tmp_path: Path) -> None:
        double.faults = ["drip"]
        said: list[str] = []
        patience = Patience(3, 0.01, timeout=2, whole_timeout=0.2, per_second=1000, jitter=0)
        retriever = ChatNoirRetriever(tmp_path, KEY, double.url, say=said.append, patience=patience)
        assert len(retriever.retrieve([TEA], 10)[0]) == 10
        assert "took over 0.2 s to answer" in said[0]

    def test_nobody_there(self, setting) -> None:
        with ServiceDouble() as gone:
            pass
        with pytest.raises(ServiceError, match="cannot be reached, 4 times"):
            setting.chatnoir(gone).retrieve([TEA], 10)

    def test_results_without_ids_or_scores(self, double, setting) -> None:
        good = double.chatnoir({"query": "x", "from": 0, "size": 3, "index": ["cw12"]})
        for change in ({"trec_id": None}, {"trec_id": "a b"}, {"score": None}, {"score": "1"}):
            bad = json.loads(json.dumps(good))
            bad["results"][1] |= change
            double.faults.append(bad)
        with pytest.raises(ServiceError, match="results"):
            setting.chatnoir(double).retrieve([TEA], 10)
        assert double.asked("POST") == 4

    def test_requests_keep_their_distance(self) -> None:
        clock = PatientClock()
        pace = Pace(clock, 0.25)
        for _ in range(9):
            pace.take()
        assert clock.slept == pytest.approx(2.0)
