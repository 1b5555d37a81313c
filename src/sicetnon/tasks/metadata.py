"""`ir-metadata.yml`: how a run was made, in the words of ir-metadata 0.1 (Breuer et al., 2022)."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import yaml

from sicetnon._version import VERSION
from sicetnon.index.reader import IndexReader
from sicetnon.tasks.task import Task

_LIBRARIES = ("numpy", "numba", "PyStemmer", "msgspec")


def run_metadata(
    task: Task[Any],
    system: str,
    tag: str,
    index: IndexReader | None,
    seconds: float,
    stance: str | None = None,
) -> str:
    """The metadata of a run, as YAML."""
    description = (task.systems[system].__doc__ or "").strip().split("\n")[0]
    method = {"system": system, "description": description, "indexing": _indexing(index)}
    searched: dict[str, Any] = {"source": "ClueWeb12 by ChatNoir"}
    if index is not None:
        searched = {"documents": index.document_count}
        if index.missing:
            searched["partial"] = index.missing
    return yaml.safe_dump(
        {
            "schema": {"version": "0.1"},
            "tag": tag,
            "platform": _platform(),
            "implementation": {
                "executable": {"cmd": "sicetnon run"},
                "source": f"sicetnon {VERSION}",
            },
            "data": {"test collection": {"name": task.id} | searched, "topics": "titles"},
            "method": {"automatic": True} | method | ({"stance": stance} if stance else {}),
            "resources": {"runtime": {"seconds": round(seconds, 3)}},
            "actor": {"team": "sicetnon"},
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
        },
        sort_keys=False,
        allow_unicode=True,
    )


def _platform() -> dict[str, Any]:
    libraries = [f"{name}=={version(name)}" for name in _LIBRARIES]
    return {
        "hardware": {"cpu": {"model": platform.machine(), "cores": os.cpu_count()}},
        "operating system": {"kernel": platform.system()},
        "software": {
            "libraries": {"python": libraries},
            "runtime": f"Python {platform.python_version()}",
        },
    }


def _indexing(index: IndexReader | None) -> dict[str, Any]:
    if index is None:
        return {"name": "ChatNoir"}
    models = {name: entry.model for name, entry in index.manifest.annotations.items()}
    return dict(index.manifest.analysis) | ({"annotations": models} if models else {})
