"""Values of the wrong type, given to the documented interface: one line that names them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import sicetnon
from sicetnon import Index, Side, System, Topic
from sicetnon.arguments.claims import claim_of
from sicetnon.errors import UsageError

TOPICS = [Topic("1", "tenure")]
LONG = "tenure " * 150_000
QRELS = {"1": {"0": 1}}
# what is no text, no number, no list of documents and no path
WRONG: tuple[object, ...] = (5, -1.5, object(), Topic, lambda: 1)

Call = Callable[[Any, Any], object]


@pytest.fixture(scope="module")
def index() -> Iterator[Index]:
    with Index.build(["Tenure protects academic freedom.", "Tenure costs money."]) as built:
        yield built


def _evaluated(**named: Any) -> object:
    run = {"a": {"1": {"0": 1.0}}}
    return sicetnon.experiment(run, None, QRELS, **named)


CALLS: dict[str, Call] = {
    "source": lambda _, wrong: Index.build(wrong),
    "fields": lambda _, wrong: Index.build([{"text": "a"}], fields=wrong),
    "one field": lambda _, wrong: Index.build([{"text": "a"}], fields=[wrong]),
    "id field": lambda _, wrong: Index.build([{"text": "a"}], id_field=wrong),
    "stance field": lambda _, wrong: Index.build([{"text": "a"}], stance_field=wrong),
    "analysis": lambda _, wrong: Index.build(["a"], analysis=wrong),
    "open": lambda _, wrong: Index.open(wrong),
    "add": lambda index, wrong: index.add(wrong),
    "records": lambda index, wrong: index.records(wrong),
    "one record": lambda index, wrong: index.records([wrong]),
    "records of": lambda index, wrong: index.records_of(wrong),
    "records at": lambda index, wrong: index.records_at(wrong),
    "identifiers": lambda index, wrong: index.identifiers([wrong]),
    "number": lambda index, wrong: index.number(wrong),
    "question": lambda index, wrong: index.search(wrong),
    "system": lambda index, wrong: index.search("tenure", system=wrong),
    "system by name": lambda index, wrong: index.system(wrong),
    "nearest": lambda index, wrong: index.nearest_topics(wrong),
    "feedback": lambda index, wrong: index.retriever(feedback=wrong),
    "topics": lambda index, wrong: index.retriever().retrieve(wrong, 5),
    "topic": lambda index, wrong: index.retriever().retrieve([wrong], 5),
    "name": lambda index, wrong: System(index.retriever(), name=wrong),
    "labelling": lambda index, wrong: System(index.retriever(), labelling=wrong),
    "brief": lambda _, wrong: sicetnon.brief(wrong, "tenure"),
    "brief on": lambda index, wrong: sicetnon.brief(index, wrong),
    "reply": lambda _, wrong: sicetnon.reply(wrong, "Tenure is bad."),
    "respond": lambda index, wrong: sicetnon.respond(index, wrong),
    "message": lambda index, wrong: sicetnon.respond(index, [wrong]),
    "run": lambda _, wrong: sicetnon.load_run(wrong),
    "topic of a run": lambda _, wrong: sicetnon.load_run({"1": wrong}),
    "topic of qrels": lambda _, wrong: sicetnon.load_qrels({"1": wrong}),
    "file": lambda _, wrong: sicetnon.read_topics(wrong),
    "rankings": lambda _, wrong: sicetnon.write_run(wrong, "run.txt", "tag"),
    "output": lambda _, wrong: sicetnon.write_run([], wrong, "tag"),
    "tag": lambda _, wrong: sicetnon.write_run([], "run.txt", wrong),
    "experiment": lambda _, wrong: sicetnon.experiment(wrong, TOPICS, QRELS),
    "names": lambda _, wrong: _evaluated(names=[wrong]),
    "runs": lambda _, wrong: sicetnon.fuse(wrong),
    "fusion": lambda _, wrong: sicetnon.fuse([sicetnon.load_run(QRELS)], wrong),
    "weights": lambda _, wrong: sicetnon.Fusion(weights=wrong),
    "retrievers": lambda _, wrong: sicetnon.Joint(wrong),
    "task": lambda _, wrong: sicetnon.validate(QRELS, wrong),
    "parsed": lambda _, wrong: sicetnon.parse_question(wrong),
    "model": lambda _, wrong: Side(wrong),
    "model weights": lambda _, wrong: Side(weights=wrong),
    "texts": lambda _, wrong: Side().classify(wrong, "Should teachers get tenure?"),
    "one text": lambda _, wrong: Side().classify([wrong], "Should teachers get tenure?"),
    "asked": lambda _, wrong: Side().classify(["a"], wrong),
    "conclusions": lambda _, wrong: Side().classify(["a"], "b", [wrong]),
    "stances": lambda _, wrong: Side().classify(["a"], "b", stances=[wrong]),
    "quality": lambda _, wrong: sicetnon.Quality().score(wrong),
    "claims": lambda _, wrong: sicetnon.Stance().classify(["a"], [wrong]),
    "judging file": lambda _, wrong: sicetnon.JudgingFile(wrong),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("wrong", WRONG, ids=["whole", "real", "object", "class", "function"])
def test_one_line_says_what_was_found(name: str, wrong: object, index: Index) -> None:
    with pytest.raises(UsageError, match="expected ") as caught:
        CALLS[name](index, wrong)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("numbers", [[-1], [2], [0.5], [[0]], [[0], [0, 1]], [10**30], ["0"]])
def test_numbers_of_documents_are_checked(numbers: Any, index: Index) -> None:
    for read in (index.records_at, index.identifiers):
        with pytest.raises(UsageError, match="expected a"):
            read(numbers)
    assert index.records_at([]) == []
    assert index.identifiers(np.array([1, 0])) == ["1", "0"]


def test_lists_are_no_numbers(index: Index) -> None:
    for call in (
        lambda: index.search("tenure", system=[]),  # type: ignore[arg-type]
        lambda: index.nearest_topics("tenure", "5"),  # type: ignore[arg-type]
        lambda: sicetnon.reply(index, "Tenure is bad.", None),  # type: ignore[arg-type]
        lambda: System(index.retriever(), depth=[]),  # type: ignore[arg-type]
        lambda: sicetnon.BM25(k1=[]),  # type: ignore[arg-type]
        lambda: sicetnon.RM3(original="0.5"),  # type: ignore[arg-type]
        lambda: Side(threads=[]),  # type: ignore[arg-type]
        lambda: sicetnon.Fusion(constant="60"),  # type: ignore[arg-type]
        lambda: index.records({"0": "1"}),  # type: ignore[arg-type]
        lambda: sicetnon.load_topics([None]),
        lambda: index.annotation([]),  # type: ignore[arg-type]
        lambda: index.retriever().retrieve([Topic("1", "tenure")], "x"),  # type: ignore[arg-type]
        lambda: sicetnon.Quality().labels(5),  # type: ignore[arg-type]
        lambda: sicetnon.Stance().labels([0.5, 0.5]),  # type: ignore[arg-type]
        lambda: sicetnon.cohen_kappa(5, [1]),  # type: ignore[arg-type]
        lambda: sicetnon.cohen_kappa([[]], [1]),  # type: ignore[list-item]
        lambda: sicetnon.krippendorff_alpha(5),  # type: ignore[arg-type]
        lambda: sicetnon.krippendorff_alpha([5]),  # type: ignore[list-item]
        lambda: sicetnon.krippendorff_alpha([["a", "b"]]),  # type: ignore[list-item]
        lambda: sicetnon.krippendorff_alpha([[1, 2]], "ratio"),  # type: ignore[arg-type]
    ):
        with pytest.raises(UsageError, match="expected "):
            call()


def test_no_path_holds_a_null_character() -> None:
    for call in (Index.open, sicetnon.load_run, sicetnon.read_topics, Side):
        with pytest.raises(UsageError, match="no path holds a null character"):
            call("a\0b")  # type: ignore[operator]


def test_names_are_as_long_as_file_systems_take() -> None:
    for call in (Index.open, sicetnon.load_run, sicetnon.read_topics, Side, sicetnon.JudgingFile):
        with pytest.raises(UsageError, match=r"with 256 characters as .*; expected names of up to"):
            call("a" * 256)  # type: ignore[operator]
    with pytest.raises(UsageError, match="expected names of up to 255"):
        Index.build(["Tenure costs money."], "a" * 300)
    with pytest.raises(UsageError, match="expected names of up to 255"):
        Index.build("a" * 300)


def test_a_closed_index_answers_nothing() -> None:
    closed = Index.build(["Tenure costs money."])
    closed.close()
    closed.close()
    for call in (
        lambda: closed.search("tenure"),
        closed.verify,
        closed.system,
        closed.retriever,
        lambda: closed.number("0"),
        lambda: closed.numbers([]),
        lambda: closed.records(["0"]),
        lambda: closed.annotation("quality"),
    ):
        with pytest.raises(UsageError, match="the index is closed; open it again"):
            call()


def test_a_long_text_is_read_in_part() -> None:
    # a million letters took the model 8 s for a reply, and 50 s for a brief
    with Index.build(["Tenure protects academic freedom.", "Tenure costs money."]) as index:
        found = index.search(LONG)
        assert found == index.search(LONG[:10_000])
        assert index.nearest_topics(LONG) == index.nearest_topics(LONG[:10_000])
        assert sicetnon.brief(index, LONG).question == LONG[:10_000]
        assert sicetnon.reply(index, LONG) == sicetnon.reply(index, LONG[:1_000])
    assert len(claim_of(LONG)) == 1_000
    assert max(map(len, (claim_of(f"{LONG[:2_000]}. " * 40), claim_of(LONG * 2)))) <= 1_000
