"""Small files of the corpora, for the tests of formats."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sicetnon.formats.corpora import PROCESSED_COLUMNS

PREMISES = [{"text": 'It\'s "so",\nthey say', "stance": "CON", "annotations": []}]
SENTENCES = [
    {"sent_id": "a__PREMISE__1", "sent_text": "It's so"},
    {"sent_id": "a__CONC__1", "sent_text": "c"},
]
PASSAGE = {"id": "p___1", "contents": "one\u2028line", "chatNoirUrl": "https://x", "more": [1]}
EMPTY_PASSAGE = {"id": "p___2", "contents": ""}


def row(**changes: str) -> dict[str, str]:
    return {
        "id": "a",
        "conclusion": "c, é",
        "premises": repr(PREMISES),
        "context": repr({"topic": "t", "aspects": [{"rank": 1, "weight": 0.5}], "none": None}),
        "sentences": repr(SENTENCES),
    } | changes


def table(*rows: dict[str, str], columns: Iterable[str] = PROCESSED_COLUMNS) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(columns), lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def put(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    data = content if isinstance(content, bytes) else content.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def lines(*objects: Any) -> str:
    return "".join(json.dumps(item) + "\n" for item in objects)
