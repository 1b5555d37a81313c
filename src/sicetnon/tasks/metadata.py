"""`ir-metadata.yml`: how a run was made, in the words of ir-metadata 0.1 (Breuer et al., 2022)."""

from __future__ import annotations

import json
import os
import platform
import re
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import is_dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any

import yaml

from sicetnon._version import VERSION
from sicetnon.index.reader import IndexReader
from sicetnon.ranking.system import System
from sicetnon.tasks.task import Task

_LIBRARIES = ("numpy", "numba", "PyStemmer", "msgspec")


def run_metadata(
    task: Task[Any],
    system: str,
    tag: str,
    index: IndexReader | None,
    seconds: float,
    made: System,
    command: Sequence[str],
) -> str:
    """The metadata of a run, as YAML.

    Args:
        task: The task.
        system: The name of the system.
        tag: The name of the run.
        index: The index, or None for ChatNoir.
        seconds: The time that the run took.
        made: The system.
        command: The command that makes the run.
    """
    description = (task.systems[system].__doc__ or "").strip().split("\n")[0]
    method = {
        "name": f"sicetnon {system}",
        "system": system,
        "description": description,
        "indexing": _indexing(index),
        "retrieval": _parameters(made),
    }
    stance = None if made.labelling is None else made.labelling.method
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
                "executable": {"cmd": shlex.join(command)},
                "source": _source(),
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


def _parameters(system: System) -> list[dict[str, str]]:
    """The steps of a system with their parameters."""
    retriever = system.retriever
    if isinstance(retriever, System):
        return [*_parameters(retriever), *map(_step, system.stages)]
    searched = getattr(retriever, "scores", None) or [retriever]
    feedback = getattr(retriever, "feedback", None)
    return list(map(_step, [*searched, *filter(None, [feedback]), *system.stages]))


def _step(step: object) -> dict[str, str]:
    said = repr(step) if is_dataclass(step) else ""
    # others are written with their place in memory
    is_whole = said and " at 0x" not in said
    return {"name": type(step).__name__} | ({"parameters": said} if is_whole else {})


def _source() -> dict[str, str]:
    """The repository with its commit as far as they are known, and the version."""
    repository, commit = _installed_from()
    commit = os.environ.get("SICETNON_COMMIT") or commit
    checkout = Path(__file__).parents[3]
    if not commit and (checkout / ".git").exists():
        commit = _git(checkout, "rev-parse", "HEAD")
        repository = _git(checkout, "remote", "get-url", "origin") if commit else ""
    # neither passwords nor paths of this machine
    repository = re.sub(r"^(\w+://)[^/@]*@", r"\1", repository)
    is_public = re.match(r"(?:https?|ssh|git)://|[\w.-]+@[\w.-]+:", repository)
    found = {"repository": repository if is_public else "sicetnon", "version": VERSION}
    return found | ({"commit": commit} if commit else {})


def _installed_from() -> tuple[str, str]:
    """The repository and the commit that pip installed from; empty for other origins."""
    try:
        origin = json.loads(distribution("sicetnon").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return "", ""
    commit = origin.get("vcs_info", {}).get("commit_id", "")
    return (origin["url"], commit) if commit else ("", "")


def _git(checkout: Path, *words: str) -> str:
    try:
        command = ["git", "-C", str(checkout), *words]
        found = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return found.stdout.strip() if found.returncode == 0 else ""


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
