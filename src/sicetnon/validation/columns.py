"""Whether rankings break no rule of their task, told from their columns without a line of text.

It is a quick look before `validate`, which alone tells what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from sicetnon.contracts import Contract, contract_of
from sicetnon.formats.identifiers import all_of_form, halves
from sicetnon.formats.runs import falling_scores
from sicetnon.records import Ranking


def is_sound(rankings: Sequence[Ranking], task: str, topics: Iterable[str]) -> bool:
    """Whether `validate` finds nothing in the text of a run, as `run_text` writes it.

    It may say no of a sound run, where names are odd, and never yes of another.

    Args:
        rankings: The rankings of the run.
        task: The id of the task-year.
        topics: The numbers of the topics that the run should answer.

    Raises:
        UsageError: There is no such task.
    """
    contract = contract_of(task)
    numbers = [ranking.topic.number for ranking in rankings]
    are_plain = all(number.isascii() and number.isalnum() for number in numbers)
    is_complete = len(set(numbers)) == len(numbers) and set(numbers) == set(topics)
    return are_plain and is_complete and all(_is_sound(each, contract) for each in rankings)


def _is_sound(ranking: Ranking, contract: Contract) -> bool:
    ids, count = list(ranking.ids), len(ranking)
    if not max(contract.minimum, 1) <= count <= contract.maximum:
        return False
    if not set(ranking.second_column) <= set(contract.second_columns):
        return False
    if len(set(ids)) != count or " ".join(ids).split() != ids:
        return False
    scores = falling_scores(ranking.scores)
    if not (np.isfinite(scores).all() and (scores[1:] < scores[:-1]).all()):
        return False
    return _are_pairs(ids) if contract.unit == "pair" else all_of_form(ids, contract.unit)


def _are_pairs(ids: Sequence[str]) -> bool:
    """Whether all ids are of pairs of different sentences, and no pair is there twice."""
    pairs = {frozenset(both) for each in ids if (both := halves(each))}
    return len(pairs) == len(ids) and all(len(pair) == 2 for pair in pairs)
