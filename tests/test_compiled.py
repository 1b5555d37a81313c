"""The cache of compiled kernels."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

KERNEL = """
from sicetnon.compiled import compiled

@compiled
def half(number: float) -> float:
    return number / 2

print(half(3.0))
"""


def test_kernels_are_in_the_cache_folder_and_compiled_once(tmp_path: Path) -> None:
    source = tmp_path / "source" / "kernel.py"
    source.parent.mkdir()
    source.write_text(KERNEL)
    environment = os.environ | {"SICETNON_CACHE": str(tmp_path / "cache"), "NUMBA_CACHE_DIR": ""}
    written = []
    for _ in range(2):
        run = subprocess.run(
            [sys.executable, str(source)], env=environment, capture_output=True, text=True
        )
        assert (run.returncode, run.stdout, run.stderr) == (0, "1.5\n", "")
        files = sorted((tmp_path / "cache" / "kernels").rglob("*.nb?"))
        written.append({path: path.stat().st_mtime_ns for path in files})
    assert written[0]
    assert written[0] == written[1]
    assert [path.name for path in source.parent.iterdir()] == ["kernel.py"]
