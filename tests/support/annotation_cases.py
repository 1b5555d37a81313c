"""Annotators that need no model, and checks of annotated indexes, for tests of annotations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sicetnon.index.annotations import Annotation, Annotator
from sicetnon.index.reader import IndexReader
from sicetnon.index.writing import BuildOptions
from sicetnon.records import Record
from support.index_cases import PORTER, Documents, check_tidy
from support.stand_ins import directions, strengths

SMALL: Documents = {f"d{n}": (f"schools, number {n}",) for n in range(12)}
MORE: Documents = {f"m{n}": (f"teachers, year {n}",) for n in range(7)}

Function = Callable[[Sequence[str]], NDArray[Any]]


def said(record: Record) -> str:
    return record.default_text()


def annotator(name: str = "quality", model: str = "stand-in 1", **changes: Any) -> Annotator:
    functions: dict[str, Function] = {"embedding": directions}
    made = Annotator(name, model, "the text", said, functions.get(name, strengths))
    return replace(made, **changes)


QUALITY, EMBEDDING = annotator(), annotator("embedding")
BOTH = (QUALITY, EMBEDDING)
OPTIONS = BuildOptions(PORTER, annotators=BOTH)


def found_by_id(index: IndexReader, annotation: Annotation) -> dict[str, Any]:
    """The numbers of live documents."""
    numbers = [
        segment.base + local
        for segment in index.segments
        for local in range(len(segment))
        if segment.live is None or segment.live[local]
    ]
    return dict(zip(index.identifiers(numbers), annotation[numbers], strict=True))


def check(folder: Path, expected: Documents, *wanted: Annotator) -> None:
    """An index holds the documents expected, with the annotations wanted and no other."""
    with IndexReader.open(folder) as index:
        assert set(index.manifest.annotations) == {each.name for each in wanted}
        for each in wanted:
            annotation = index.annotation(each.name)
            assert annotation is not None
            assert (annotation.model, annotation.reads) == (each.model, each.reads)
            found = found_by_id(index, annotation)
            assert set(found) == set(expected)
            records = index.records([each for each in expected if index.number(each) is not None])
            # of vectors what is stored is close, not the same
            most = 0.01 if each.name == "embedding" else 0
            for identifier, given_ in zip(
                expected, each.numbers([each.text(record) for record in records]), strict=True
            ):
                np.testing.assert_allclose(found[identifier], given_, atol=most, rtol=0)
    check_tidy(folder)
