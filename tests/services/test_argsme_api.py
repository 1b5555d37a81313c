"""args.me: arguments with their side on the question."""

from __future__ import annotations

import json

import pytest

from sicetnon.errors import ServiceError
from sicetnon.records import Argument, Topic
from support.service_setting import FAULTS, TEA


class TestArgsMe:
    def test_finds_arguments_with_their_side_on_the_question(self, double, setting) -> None:
        retriever = setting.argsme(double)
        ranking = retriever.retrieve([TEA], 10)[0]
        assert ranking.ids == tuple(f"S1-A{n:x}" for n in range(10))
        assert ranking.stances == ("PRO", "CON") * 5
        assert ranking.scores.tolist() == [50.0 - n for n in range(10)]
        argument = retriever.records(ranking)[0]
        assert isinstance(argument, Argument)
        # towards its conclusion, whatever the side on the question
        assert (argument.stance, argument.title) == ("CON", "Tea")
        method, path, _ = double.requests[0]
        expected = "query=Which+is+better%2C+tea+or+coffee%3F&pageSize=10&format=json"
        assert (method, path) == ("GET", f"/api/v2/arguments?{expected}")

    def test_page_by_page(self, double, setting) -> None:
        double.total = 230
        assert len(setting.argsme(double).retrieve([TEA], 1000)[0]) == 230
        assert double.asked("GET") == 3
        assert setting.argsme(double).retrieve([TEA, Topic("2", " ")], 1000)[0].ids is not None
        assert double.asked("GET") == 3

    def test_a_repeated_page_ends_the_search(self, double, setting) -> None:
        double.total, double.ignores_offset = 230, True
        assert len(setting.argsme(double).retrieve([TEA], 1000)[0]) == 100
        assert "repeated results" in setting.said[0]

    @pytest.mark.parametrize("fault", FAULTS, ids=str)
    def test_a_fault_is_survived(self, fault, double, setting) -> None:
        double.faults = [[fault, fault]]
        assert len(setting.argsme(double).retrieve([TEA], 10)[0]) == 10
        assert len(setting.said) == 2

    def test_without_scores_the_order_is_the_services(self, double, setting) -> None:
        answer = double.argsme({"query": ["x"], "pageSize": ["3"]})
        for argument in answer["arguments"]:
            del argument["explanation"], argument["stance"]
        double.faults = [[answer | {"totalSize": 3}]]
        ranking = setting.argsme(double).retrieve([TEA], 3)[0]
        assert ranking.scores.tolist() == [3.0, 2.0, 1.0]
        assert ranking.stances == ("Q0",) * 3

    def test_what_is_no_argument_is_refused(self, double, setting) -> None:
        good = double.argsme({"query": ["x"], "pageSize": ["3"]})
        double.faults = [[]]
        for change in ({"id": "a b"}, {"stance": "MAYBE"}, {"premises": None}, {"id": ""}):
            bad = json.loads(json.dumps(good))
            bad["arguments"][1] |= change
            double.faults[0].append(bad)
        with pytest.raises(ServiceError, match="argument"):
            setting.argsme(double).retrieve([TEA], 3)
