"""What several rooms' tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "examples" / "touche-2020-task-1"


@pytest.fixture(scope="session")
def data() -> Path:
    """The real data, where it is at hand."""
    folder = Path(os.environ.get("SICETNON_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no data in {folder}; set SICETNON_DATA")
    return folder


@pytest.fixture(scope="session")
def sample() -> Path:
    """The sample's folder: `input/`, `relevance.qrels`, `quality.qrels`."""
    return SAMPLE


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep what is cached out of the user's folders."""
    monkeypatch.setenv("SICETNON_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
