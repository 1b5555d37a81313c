"""The API does what its OpenAPI document says: the short form of `tests.robustness.openapi`."""

from __future__ import annotations

import re

import pytest

from robustness.openapi import held_against_its_description


def test_schemathesis_finds_nothing() -> None:
    done = held_against_its_description(3, ("examples", "fuzzing"))
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert "0 passed" not in done.stdout


@pytest.mark.parametrize("blank", [" ", "\n", "\x1d", "\x85", "\u2003"])
def test_a_blank_question_is_described_as_wrong_and_refused(blank: str) -> None:
    from sicetnon.web.api import QUESTION

    # a reader of patterns may hold only these for white space
    spaces = r"[^\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
    assert not re.search(QUESTION["pattern"].replace(r"[^\s", spaces), blank + " ")
    assert re.search(QUESTION["pattern"].replace(r"[^\s", spaces), f"{blank}a")
    assert not blank.split()
