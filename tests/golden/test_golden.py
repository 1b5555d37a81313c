"""What the product writes is what it wrote; see __main__.py.

The groups `annotated` and `real` take minutes: they run where SICETNON_GOLDEN is `all`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_all_outputs_are_the_golden_ones() -> None:
    more = ["all"] if os.environ.get("SICETNON_GOLDEN") == "all" else []
    paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-m", "tests.golden", "check", *more],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
