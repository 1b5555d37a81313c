"""`System` and `experiment` refuse what a faulty retriever, stage or call gives them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sicetnon import BM25, Index, Ranking, System, Topic, experiment
from sicetnon.errors import UsageError

TOPICS = [Topic("1", "tenure"), Topic("2", "uniforms")]
QRELS = {"1": {"a": 1}, "2": {"a": 1}}


class Sound:
    """A retriever whose rankings a function changes."""

    def __init__(self, change: Callable[[Ranking], Any] = lambda ranking: ranking):
        self.change = change

    def retrieve(self, topics: Sequence[Topic], k: int) -> list[Ranking]:
        found = [Ranking(topic, ("a", "b"), np.array([2.0, 1.0])) for topic in topics]
        return list(map(self.change, found))


class Changing:
    """A stage that changes a ranking by a function."""

    def __init__(self, change: Callable[[Ranking], Any]):
        self.change = change

    def apply(self, topic: Topic, ranking: Ranking) -> Ranking:
        found: Ranking = self.change(ranking)
        return found


FAULTS: dict[str, Callable[[Ranking], Any]] = {
    "gives nothing; expected a Ranking": lambda _: None,
    "scores of shape (1,) for 2 ids": lambda r: replace(r, scores=np.array([1.0])),
    "a score that is not a number at rank 2": lambda r: replace(r, scores=np.array([1.0, np.nan])),
    "a score at rank 2 above the one before": lambda r: replace(r, scores=np.array([1.0, 2.0])),
    "scores that are a list": lambda r: replace(r, scores=[2.0, 1.0]),
    "the id 'b c'": lambda r: replace(r, ids=("a", "b c")),
    "ids that are no tuple of texts": lambda r: replace(r, ids=("a", 1)),
    "1 stance for 2 ids": lambda r: replace(r, stances=("PRO",)),
    "a ranking of topic '9' for topic": lambda r: replace(r, topic=Topic("9", "")),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_a_part_is_named_with_the_part(fault: str) -> None:
    for system, part in (
        (System(Sound(), [Changing(FAULTS[fault])]), "Changing"),
        (System(Sound(FAULTS[fault])), "Sound"),
    ):
        with pytest.raises(UsageError) as caught:
            system.retrieve(TOPICS, 5)
        assert fault in str(caught.value)
        assert str(caught.value).startswith(part)
    with pytest.raises(UsageError) as caught:
        experiment([Sound(FAULTS[fault])], TOPICS, QRELS)
    assert fault in str(caught.value)


def test_a_repeated_document_is_refused() -> None:
    system = System(Sound(lambda ranking: replace(ranking, ids=("a", "a"))))
    with pytest.raises(UsageError, match="Sound gives for topic 1 the document 'a' twice"):
        system.retrieve(TOPICS, 5)


@pytest.mark.parametrize(
    ("topics", "message"),
    [
        (["tenure"], "found str among the topics"),
        (Topic("1", "tenure"), "found Topic; expected a list"),
        ("tenure", "found str; expected a list"),
        ([TOPICS[0], TOPICS[0]], "found two topics '1'"),
    ],
)
def test_topics_are_a_list_of_topics(topics: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        System(Sound()).retrieve(topics, 5)


@pytest.mark.parametrize("k", [0, -1, "5", 2.5, True])
def test_k_is_a_count(k: Any) -> None:
    with pytest.raises(UsageError, match=r"found k = .*expected a whole number of 1 or more"):
        System(Sound()).retrieve(TOPICS, k)
    with pytest.raises(UsageError, match=r"found k = .*expected a whole number of 1 or more"):
        experiment([Sound()], TOPICS, QRELS, k=k)


def test_a_retriever_is_an_object() -> None:
    with pytest.raises(UsageError, match="found BM25 as the retriever"):
        System(BM25)  # type: ignore[arg-type]


def test_settings_of_an_experiment_are_checked() -> None:
    for wrong, message in (
        ({"measures": []}, "found no measure"),
        ({"samples": 0}, "found samples = 0"),
        ({"seed": -1}, "found seed = -1"),
    ):
        with pytest.raises(UsageError, match=message):
            experiment([Sound()], TOPICS, QRELS, **wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="found two topics '1'"):
        experiment([Sound()], [TOPICS[0], TOPICS[0]], QRELS)


def test_models_fields_and_feedback_are_checked() -> None:
    with Index.build(["Tenure protects academic freedom."]) as index:
        with pytest.raises(UsageError, match=r"expected a weighting model, such as BM25\(\)"):
            index.retriever(BM25)  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="the index has no field nosuch; its fields are text"):
            index.retriever(fields={"nosuch": 1.0})
        with pytest.raises(UsageError, match=r"found the weight -1\.0 of the field text"):
            index.retriever(fields={"text": -1.0})
