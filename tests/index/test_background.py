"""Stages do one thing after the other, with few waiting."""

from __future__ import annotations

import threading
import time

import pytest

from sicetnon.index.background import BackgroundThread


def test_a_stage_works_in_order_and_hands_back_what_came_out() -> None:
    stage, done = BackgroundThread(), list[int]()

    def work(number: int) -> int:
        time.sleep(0.001 * (3 - number % 3))
        done.append(number)
        return number

    results = [stage.submit(lambda number=number: work(number)) for number in range(9)]  # type: ignore[misc]
    stage.finish()
    stage.stop()
    assert [result.result() for result in results] == done == list(range(9))


def test_few_things_wait_for_a_stage() -> None:
    stage, go, submitted = BackgroundThread(), threading.Event(), list[int]()

    def submit() -> None:
        for number in range(5):
            stage.submit(go.wait)
            submitted.append(number)

    caller = threading.Thread(target=submit)
    caller.start()
    while len(submitted) < 2:
        time.sleep(0.001)
    time.sleep(0.02)
    assert submitted == [0, 1]
    go.set()
    caller.join()
    stage.finish()
    stage.stop()


def test_an_error_of_a_stage_reaches_the_caller() -> None:
    stage = BackgroundThread()
    stage.submit(lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        stage.finish()
    stage.stop()


def test_nothing_is_done_after_an_error() -> None:
    stage, go, done = BackgroundThread(), threading.Event(), list[str]()

    def fail() -> None:
        go.wait()
        raise KeyError("first")

    failed = stage.submit(fail)
    behind = stage.submit(lambda: done.append("behind"))
    go.set()
    with pytest.raises(KeyError, match="first"):
        failed.result()
    with pytest.raises(KeyError, match="first"):
        stage.finish()
    stage.stop()
    assert behind.done()
    assert done == []
