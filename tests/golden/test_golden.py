"""What the product writes is what it wrote; see __main__.py.

The fast groups share a process, and so an index of the sample. The others start servers, load
models or take many minutes: they run where SICETNON_GOLDEN is `all`, `real` with real data.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FAST = ("index run score help names",)
SLOW = ("ask", "page api", "model", "real")


@pytest.mark.parametrize("groups", FAST + SLOW)
def test_outputs_are_the_golden_ones(groups: str, request: pytest.FixtureRequest) -> None:
    if groups in SLOW and os.environ.get("SICETNON_GOLDEN") != "all":
        pytest.skip("takes minutes; set SICETNON_GOLDEN=all")
    if groups == "real":
        request.getfixturevalue("data")
    paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-m", "tests.golden", "check", *(f"{each}/" for each in groups.split())],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
