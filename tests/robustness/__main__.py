"""The command of the harness; see the package."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from robustness.harness import main

sys.exit(main(sys.argv[1:]))
