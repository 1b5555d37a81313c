"""Annotators that store the debate model's numbers of documents in an index.

The model reads the premises of an argument for quality and argumentativeness, and its conclusion
with the premises for the embedding, because a premise alone often does not name its subject. It
reads the whole text of other documents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from sicetnon.errors import UsageError
from sicetnon.index.annotations import Annotator
from sicetnon.records import Record, said

QUALITY, ARGUMENTATIVENESS, EMBEDDING = "quality", "argumentativeness", "embedding"


def _whole(record: Record) -> str:
    return record.default_text()


_TEXTS: dict[str, tuple[str, Callable[[Record], str]]] = {
    QUALITY: ("what is argued", said),
    ARGUMENTATIVENESS: ("what is argued", said),
    EMBEDDING: ("the whole text", _whole),
}
NAMES = tuple(_TEXTS)


def annotators(names: Sequence[str], model: Path | None = None) -> list[Annotator]:
    """The annotators for quality, argumentativeness or embeddings.

    Raises:
        UsageError: There is no such name.
        DataError: The model is damaged, or there is none.
    """
    if unknown := [name for name in names if name not in _TEXTS]:
        raise UsageError(f"unknown annotation {unknown[0]!r}; choose of {', '.join(NAMES)}")
    if not names:
        return []
    identity = _identity(model)
    return [
        Annotator(name, identity, reads, text, partial(_numbers, name, model))
        for name in dict.fromkeys(names)
        for reads, text in [_TEXTS[name]]
    ]


def _numbers(name: str, model: Path | None, texts: Sequence[str]) -> NDArray[Any]:
    from sicetnon.arguments.models.classifiers import read_all

    return read_all(texts, [name], model)[name]


def _identity(model: Path | None) -> str:
    from sicetnon.arguments.models.classifiers import Embedding

    return Embedding(model).identity()
