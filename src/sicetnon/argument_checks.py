"""Checks of the arguments of public functions, and of the results of users' retrievers and stages.

Nothing heavy is imported before it is needed: commands check their arguments, too.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sicetnon.errors import UsageError, counted, cut

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sicetnon.records import Ranking, Topic

_LONGEST_NAME = 255


def check_text(value: object, name: str) -> None:
    """Refuse anything but a text.

    Raises:
        UsageError: The value is something else.
    """
    if not isinstance(value, str):
        raise UsageError(f"found {type(value).__name__} as {name}; expected a text")


def check_texts(values: object, name: str, may_lack: bool = False) -> None:
    """Refuse anything but a list of texts.

    Args:
        values: The list.
        name: What they are, in the plural.
        may_lack: Whether None may stand in the place of a text.

    Raises:
        UsageError: The value is something else, or one text, or holds something else.
    """
    if isinstance(values, str):
        raise UsageError(f"found the text {values[:40]!r}; expected a list of {name}")
    if not isinstance(values, Collection) or isinstance(values, Mapping):
        raise UsageError(f"found {type(values).__name__}; expected a list of {name}")
    for value in values:
        if not isinstance(value, str) and not (value is None and may_lack):
            raise UsageError(f"found {type(value).__name__} among the {name}; expected texts")


def check_path(value: object, name: str) -> None:
    """Refuse anything but a path.

    Raises:
        UsageError: The value is something else, holds a null character, or has a name in it that is
            longer than any file system takes.
    """
    if not isinstance(value, str | os.PathLike):
        raise UsageError(f"found {type(value).__name__} as {name}; expected a path")
    path = os.fspath(value)
    if "\0" in path:
        raise UsageError(f"found {path!r} as {name}; no path holds a null character")
    longest = max(Path(path).parts, key=len, default="")
    if len(longest) > _LONGEST_NAME:
        raise UsageError(
            f"found {longest[:20]}… with {len(longest)} characters as {name}; expected names of up "
            f"to {_LONGEST_NAME}"
        )


_MOST = 1 << 53
"""Whole numbers beyond it are no floating point numbers."""
_SMALLEST, _LARGEST = 1e-100, 1e100
"""Sizes of a real number that formulas can divide by and multiply."""


def check_number(value: object, name: str, least: int | None = None, most: int = _MOST) -> None:
    """Refuse anything but a whole number between bounds; where no least is given, any below.

    Raises:
        UsageError: The value is no whole number, too small, or too large.
    """
    import numpy as np

    is_number = isinstance(value, int | np.integer) and not isinstance(value, bool)
    number = cast(int, value)
    if not is_number or (least is not None and number < least):
        bound = "" if least is None else f" of {least} or more"
        raise UsageError(f"found {name} = {abbreviated(value)}; expected a whole number{bound}")
    if not -most <= number <= most:
        raise UsageError(f"found {name} = {abbreviated(value)}; expected at most {most:,}")


def abbreviated(value: object) -> str:
    """A value for a message, which has no room for a thousand digits."""
    try:
        return cut(repr(value), 60)
    except ValueError:  # Python writes no more than 4,300
        return "a number of thousands of digits"


def check_document_numbers(numbers: object, size: int) -> NDArray[np.int64]:
    """The numbers of documents, if an index of a size has them; shape as given.

    Raises:
        UsageError: One is no whole number from 0 and below the size.
    """
    import numpy as np

    try:
        found = np.asarray(numbers) if isinstance(numbers, Sequence | np.ndarray) else None
    except ValueError:  # lists of several lengths
        found = None
    if found is None or found.ndim != 1 or (found.dtype.kind not in "iu" and len(found)):
        raise UsageError(
            f"found {_what(numbers)} as numbers of documents; expected a list of whole numbers"
        )
    places = found.astype(np.int64, copy=False)
    # without a sign, numbers below 0 are above all others
    if len(places) and places.view(np.uint64).max() >= size:
        wrong = next(number for number in found.tolist() if not 0 <= number < size)
        raise UsageError(f"found the document {wrong}; expected a number from 0 to {size - 1}")
    return places


def check_real(value: object, name: str) -> None:
    """Refuse anything but a number that formulas can work with; infinity and NaN pass.

    Raises:
        UsageError: The value is something else, beyond 1e100, or nearer to 0 than 1e-100.
    """
    import numpy as np

    if isinstance(value, bool) or not isinstance(value, float | int | np.floating | np.integer):
        raise UsageError(f"found {type(value).__name__} as {name}; expected a number")
    try:
        size = abs(float(value))
        is_right = not math.isfinite(size) or size == 0 or _SMALLEST <= size <= _LARGEST
    except OverflowError:  # a whole number beyond floating point
        is_right = False
    if not is_right:
        raise UsageError(
            f"found {name} = {abbreviated(value)}; expected 0, or a number of a size from "
            f"{_SMALLEST:g} to {_LARGEST:g}"
        )


def check_finite(value: object, name: str, least: float = -math.inf) -> None:
    """Refuse anything but a finite number that is not below the least one.

    Raises:
        UsageError: The value is something else.
    """
    check_real(value, name)
    if not (math.isfinite(value) and value >= least):  # type: ignore[arg-type,operator]
        expected = "a finite number" if least == -math.inf else f"a number from {least:g}"
        raise UsageError(f"found {name} = {value!r}; expected {expected}")


def check_topics(topics: object) -> None:
    """Refuse anything but a list of topics with different numbers.

    Raises:
        UsageError: It is something else, or two topics have one number.
    """
    from sicetnon.records import Topic

    if isinstance(topics, str | Topic) or not isinstance(topics, Sequence):
        raise UsageError(
            f"found {type(topics).__name__}; expected a list of topics, such as "
            "[Topic('1', 'Should teachers get tenure?')]"
        )
    numbers = set()
    for topic in topics:
        if not isinstance(topic, Topic):
            raise UsageError(
                f"found {type(topic).__name__} among the topics; expected "
                "Topic('1', 'Should teachers get tenure?')"
            )
        if not isinstance(topic.number, str) or not isinstance(topic.title, str):
            raise UsageError(
                f"found a topic with the number {topic.number!r} and the title {topic.title!r}; "
                "expected two texts"
            )
        if topic.number in numbers:
            raise UsageError(f"found two topics {topic.number!r}; expected different numbers")
        numbers.add(topic.number)


def check_retrieved(
    rankings: Any, topics: Sequence[Topic], giver: str, may_repeat: bool = False
) -> list[Ranking]:
    """The rankings of a retriever, if there is a sound one for each topic, in the topics' order.

    Raises:
        UsageError: It is something else.
    """
    listed = list(rankings) if isinstance(rankings, Sequence) else []
    if len(listed) != len(topics):
        raise UsageError(
            f"{giver} gives {_what(rankings)} for {counted(len(topics), 'topic')}; expected a "
            "list of as many rankings"
        )
    return [
        check_order(ranking, topic, giver, may_repeat)
        for ranking, topic in zip(listed, topics, strict=True)
    ]


def check_order(ranking: Any, topic: Topic, giver: str, may_repeat: bool = False) -> Ranking:
    """A ranking, if it is a sound one of the topic, without rising scores or repeated documents.

    Raises:
        UsageError: It is something else.
    """
    import numpy as np

    found = check_ranking(ranking, giver)
    if found.topic.number != topic.number:
        raise UsageError(
            f"{giver} gives a ranking of topic {found.topic.number!r} for topic {topic.number!r}"
        )
    if not may_repeat:
        _check_distinct(found, giver)
    rising = np.flatnonzero(found.scores[1:] > found.scores[:-1])
    if len(rising):
        rank = int(rising[0]) + 2
        raise UsageError(
            f"{giver} gives for topic {topic.number} a score at rank {rank} above the one before; "
            "expected the best document first"
        )
    return found


def check_ranking(ranking: Any, giver: str) -> Ranking:
    """A ranking, if its columns fit together; documents may be repeated, and scores may rise.

    Raises:
        UsageError: It is something else.
    """
    from sicetnon.records import Ranking

    if not isinstance(ranking, Ranking):
        raise UsageError(f"{giver} gives {_what(ranking)}; expected a Ranking")
    checked: Ranking = ranking
    fault = _fault_of_ids(checked) or _fault_of_scores(checked)
    if fault:
        raise UsageError(f"{giver} gives for topic {checked.topic.number} {fault}")
    return checked


def check_writable(rankings: Any, giver: str) -> list[Ranking]:
    """Rankings, if a run of them can be read again.

    Raises:
        UsageError: One is not sound, holds a document twice, has a topic or a stance that is not
            one word, or two are of one topic.
    """
    checked = [check_ranking(each, giver) for each in rankings]
    topics = Counter(ranking.topic.number for ranking in checked)
    for ranking in checked:
        number = ranking.topic.number
        if topics[number] > 1:
            raise UsageError(f"{giver} gives two rankings of topic {number!r}; expected one")
        if fault := _fault_of_words([number], "the topic"):
            raise UsageError(f"{giver} gives {fault}")
        if fault := _fault_of_words(ranking.second_column, "the stance"):
            raise UsageError(f"{giver} gives for topic {number} {fault}")
        _check_distinct(ranking, giver)
    return checked


def _check_distinct(ranking: Ranking, giver: str) -> None:
    if len(set(ranking.ids)) != len(ranking):
        twice = Counter(ranking.ids).most_common(1)[0][0]
        raise UsageError(f"{giver} gives for topic {ranking.topic.number} the document {twice!r} "
                         "twice")  # fmt: skip


def _fault_of_words(words: Sequence[object], what: str) -> str | None:
    """What is wrong with words that a line of a run is to hold."""
    for word in words:
        if not isinstance(word, str):
            return f"{what} {word!r:.80}; expected a text"
    together = "".join(map(str, words))
    if all(words) and together.isprintable() and " " not in together:
        return None
    for word in map(str, words):
        if word.split() != [word]:
            return f"{what} {word!r}; expected one without white space"
        if not word.isprintable():
            return f"{what} {word!r}; expected characters that print"
    return None


def _fault_of_ids(ranking: Ranking) -> str | None:
    ids = ranking.ids
    if not isinstance(ids, tuple) or not all(isinstance(each, str) for each in ids):
        return "ids that are no tuple of texts"
    if fault := _fault_of_words(ids, "the id"):
        return fault
    if ranking.stances is not None and len(ranking.stances) != len(ids):
        found = f"{counted(len(ranking.stances), 'stance')} for {counted(len(ids), 'id')}"
        return f"{found}; expected one for each"
    return None


def _fault_of_scores(ranking: Ranking) -> str | None:
    import numpy as np

    scores: Any = ranking.scores
    if not isinstance(scores, np.ndarray) or scores.dtype.kind not in "fiu":
        return f"scores that are {_what(scores)}; expected an array of float64"
    if scores.shape != (len(ranking),):
        count = counted(len(ranking), "id")
        return f"scores of shape {scores.shape} for {count}; expected one for each"
    if np.isnan(scores).any():
        return f"a score that is not a number at rank {int(np.isnan(scores).argmax()) + 1}"
    return None


def _what(value: object) -> str:
    """The type of a value, as a message names it."""
    from sicetnon.records import Ranking

    if isinstance(value, Sequence) and not isinstance(value, str):
        is_rankings = value and isinstance(value[0], Ranking)
        return counted(len(value), "ranking") if is_rankings else "a list"
    return "nothing" if value is None else type(value).__name__
