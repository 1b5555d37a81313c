"""Runs `python -m benchmarks.speed`, from any folder."""

import runpy
import sys
from pathlib import Path

# the package `benchmarks.speed` shadows this file, so that only Python as a script comes here
sys.path.insert(0, str(Path(__file__).parents[1]))
runpy.run_module("benchmarks.speed", run_name="__main__")
