"""Small pools, and what assessors do with them."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sicetnon.judging import Action, JudgingFile, Receipt, make_pool

TOPICS = {"1": "Should zoos be closed?", "2": "Is homework useful?"}


def runs(count: int = 6) -> dict[str, dict[str, dict[str, float]]]:
    """Two runs that share half of their documents: 1.5 times as many as one has."""
    first = {t: {f"d{t}-{n}": 1.0 / (n + 1) for n in range(count)} for t in TOPICS}
    second = {t: {f"d{t}-{n + count // 2}": 1.0 / (n + 1) for n in range(count)} for t in TOPICS}
    return {"one": first, "two": second}


def pool(path: Path, count: int = 6, **options: Any) -> Path:
    """A judging file of two topics with 9 documents each."""
    make_pool(path, runs(count), TOPICS, **({"depth": count} | options))
    return path


def key() -> str:
    return uuid.uuid4().hex


def vote(item: int, label: str = "1", dimension: str = "relevance", **more: Any) -> Action:
    return Action(more.pop("key", None) or key(), "vote", item, dimension, label)


def undo(of: Action) -> Action:
    return Action(key(), "undo", of.item, target=of.key)


def outcomes(receipts: Iterable[Receipt]) -> list[str]:
    return [receipt.outcome for receipt in receipts]


def judge_all(file: JudgingFile, name: str, label: str = "1", most: int = 10**6) -> int:
    """Judge what is assigned until nothing is; the number of documents."""
    done = 0
    while done < most and (items := file.assigned(name, 1)):
        for dimension in file.plan.dimensions:
            (receipt,) = file.record(name, [vote(items[0].id, label, dimension)])
            assert receipt.outcome == "saved", receipt.reason
        done += 1
    return done
