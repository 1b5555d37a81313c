"""The index of the sample: built once, also where several ask for it at once."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sicetnon.app.index import sample_index
from sicetnon.operating_system import cache_folder, try_lock


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SICETNON_CACHE", str(tmp_path / "cache"))


def test_four_at_once_find_the_same() -> None:
    start, said = threading.Barrier(4), []

    def first(_: int) -> int:
        start.wait()
        with sample_index(said.append) as index:
            return index.document_count

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(first, range(4))) == [325] * 4
    assert set(said) <= {"another process builds the sample's index; waiting"}


def test_who_waits_says_so(tmp_path: Path) -> None:
    with sample_index() as index:
        folder = index.folder
    folder.rename(tmp_path / "built")
    command = [sys.executable, "-m", "sicetnon", "search", "tenure", "-k", "1"]
    with (cache_folder() / f"{folder.name}.lock").open("a") as lock:
        assert try_lock(lock)
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert process.stderr
        assert process.stderr.readline() == "another process builds the sample's index; waiting\n"
        (tmp_path / "built").rename(folder)
    shown, told = process.communicate()
    assert (process.returncode, told) == (0, "")
    assert "tenure" in shown
