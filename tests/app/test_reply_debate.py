"""The protocol of retrieval-augmented debating: read tolerantly, written strictly."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sicetnon
from sicetnon import Message, read_messages, respond
from sicetnon.app.reply import NOTHING
from sicetnon.errors import DataError, UsageError
from support.debates import AGAINST, both_sides

CLAIM = "Teachers should get tenure."
HELD = [Message("user", CLAIM)]


@pytest.fixture(scope="module")
def index() -> sicetnon.Index:
    return both_sides()


@pytest.mark.parametrize(
    "request_",
    [
        {"messages": [{"role": "user", "content": CLAIM}]},
        {"messages": [{"role": " USER", "content": CLAIM, "name": "x"}], "model": "y", "n": 1},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": CLAIM}]}]},
        {"messages": [{"role": "user", "content": [CLAIM, {"type": "image"}]}]},
        [{"role": "system", "content": "Be kind."}, {"role": "user", "content": CLAIM}],
        [
            {"role": "assistant"},
            {"role": "user", "content": CLAIM},
            {"role": "user", "content": ""},
        ],
    ],
)
def test_requests_are_read_tolerantly(request_: Any) -> None:
    assert read_messages(request_) == HELD
    assert read_messages(json.dumps(request_)) == HELD
    assert read_messages(json.dumps(request_).encode()) == HELD


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (b"\xff", "UTF-8"),
        ("no json", "expected an object with messages"),
        ("[" * 100_000, "nested"),
        ("3", "expected an object with messages"),
        ({}, "messages"),
        ({"messages": "hello"}, "messages"),
        ({"messages": [{"content": CLAIM}]}, "role"),
        ({"messages": [{"role": "user", "content": 3}]}, "content"),
        ({"messages": []}, "no message with the role user"),
        ({"messages": [{"role": "assistant", "content": CLAIM}]}, "no message with the role user"),
        ({"messages": [{"role": "user", "content": "?"}]}, "no message with the role user"),
        ({"messages": [{"role": "user", "content": CLAIM}] * 1001}, "at most 1,000"),
    ],
)
def test_bad_requests_get_one_line(request_: Any, said: str) -> None:
    with pytest.raises(DataError, match=said) as caught:
        read_messages(request_)
    assert len(str(caught.value).splitlines()) == 1


@given(
    st.recursive(
        st.none() | st.text() | st.integers(),
        lambda each: (
            st.lists(each) | st.dictionaries(st.sampled_from(["messages", "role", "content"]), each)
        ),
    )
)
@settings(max_examples=50, deadline=None)
def test_any_json_is_read_or_refused(value: Any) -> None:
    with contextlib.suppress(DataError):
        assert read_messages(json.dumps(value))


def test_answers_have_the_format_of_the_task(index: sicetnon.Index) -> None:
    answer = respond(index, HELD).as_json()
    assert answer.keys() == {"role", "content", "arguments"}
    assert answer["role"] == "assistant"
    assert answer["content"] in AGAINST
    (argument,) = answer["arguments"]
    assert isinstance(argument["id"], str)
    assert answer["content"] in argument["text"]
    assert json.loads(json.dumps(answer)) == answer


def test_a_debate_repeats_nothing(index: sicetnon.Index) -> None:
    messages = list(HELD)
    said = []
    for attack in ("But tenure protects teachers from dismissal.", "Still, tenure is good.", "No!"):
        turn = respond(index, messages)
        assert turn.content in AGAINST
        said.append(turn.content)
        messages += [Message("assistant", turn.content), Message("user", attack)]
    assert len(set(said)) == len(said)


def test_an_answer_without_argument_says_so(index: sicetnon.Index) -> None:
    answer = respond(index, [Message("user", "Bananas are blue.")]).as_json()
    assert answer == {"role": "assistant", "content": NOTHING, "arguments": []}


def test_a_debate_needs_a_user(index: sicetnon.Index) -> None:
    with pytest.raises(UsageError):
        respond(index, [Message("assistant", CLAIM)])
