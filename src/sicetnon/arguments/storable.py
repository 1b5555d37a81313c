"""What an index can store of its documents: numbers by the model that reads debates.

The quality and the argumentativeness of an argument are those of what it says, its premises; its
conclusion is what it speaks of. The embedding is of both, since a premise alone often does not
name what it is about. Of other documents all is of the whole text.
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
    """What gives documents their quality, argumentativeness or embedding.

    Args:
        names: Of `NAMES`; one named twice counts once.
        model: The folder of a model; the shipped one when left out.

    Raises:
        UsageError: There is no such name.
        DataError: The model is damaged, or there is none.
    """
    if unknown := [name for name in names if name not in _TEXTS]:
        raise UsageError(f"unknown annotation {unknown[0]!r}; choose of {', '.join(NAMES)}")
    if not names:
        return []
    identity = _identity(model)
    # those that read the same text share one reading of it
    readings = {
        reads: _Reading([name for name in dict.fromkeys(names) if _TEXTS[name][0] == reads], model)
        for reads, _ in _TEXTS.values()
    }
    return [
        Annotator(name, identity, reads, text, partial(readings[reads].numbers, name))
        for name in dict.fromkeys(names)
        for reads, text in [_TEXTS[name]]
    ]


class _Reading:
    """Reads texts once for all that is wanted of them."""

    def __init__(self, names: Sequence[str], model: Path | None):
        self._names, self._model = tuple(names), model
        self._texts: list[str] | None = None
        self._answers: dict[str, NDArray[Any]] = {}

    def numbers(self, name: str, texts: Sequence[str]) -> NDArray[Any]:
        """What is wanted of the texts under a name, from the last reading if it was of these."""
        from sicetnon.arguments.annotators import read_all

        wanted = list(texts)
        if wanted != self._texts:
            self._answers = read_all(wanted, self._names, self._model)
            self._texts = wanted
        return self._answers[name]


def _identity(model: Path | None) -> str:
    from sicetnon.arguments.annotators import Embedding

    return Embedding(model).identity()
