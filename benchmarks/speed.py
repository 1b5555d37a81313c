"""Runs `python -m benchmarks.speed`, from any folder."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.speed.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
