"""Records and calls for tests of `sicetnon annotate`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sicetnon.cli import main

RECORDS: list[dict[str, Any]] = [
    {"id": 1, "text": "Uniforms hide who is poor.", "topic": "uniforms", "x": {"y": [1, None]}},
    {"text": "", "topic": "", "id": "2"},
    {"topic": "🙂", "text": "🙂 👩‍👩‍👧\u202e\x1b[31m\x00"},
    {"text": "Uniforms are cheap. " * 50, "topic": "We should wear uniforms", "quality": "old"},
]


def write(path: Path, records: Sequence[dict[str, Any]]) -> Path:
    lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    path.write_text(lines, encoding="utf-8")
    return path


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def annotate(*arguments: object) -> int:
    return main(["annotate", *map(str, arguments)])


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "sicetnon", "annotate", *map(str, arguments)]


def check_tidy(folder: Path, *names: str) -> None:
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)
