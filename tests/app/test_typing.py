"""A user's program: mypy finds nothing in it, it runs, and importing costs next to nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import sicetnon
from conftest import ROOT
from support import user_script

HEAVY = [
    "numpy",
    "numba",
    "msgspec",
    "rich",
    "scipy",
    "onnxruntime",
    "pandas",
    "ir_datasets",
    "pyterrier",
    "yaml",
    "jinja2",
]


def test_mypy_finds_nothing_in_a_users_program(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="needs the extra dev")
    source = str(Path(sicetnon.__file__).parents[1])
    cache = ROOT / ".cache" / "mypy-of-a-user"
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={cache}",
         "--follow-imports=silent", "--config-file=", user_script.__file__],
        cwd=tmp_path, env=os.environ | {"MYPYPATH": source}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_program_runs(tmp_path: Path) -> None:
    table, _, mean = user_script.main(tmp_path).rpartition("\n")
    assert "nDCG" in table
    assert 0 < float(mean) <= 1


def test_importing_loads_nothing_heavy() -> None:
    code = f"import sys, sicetnon; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_can_be_imported() -> None:
    assert {"Index", "System", "experiment", "load_ir_dataset"} <= set(dir(sicetnon))
    for name in sicetnon.__all__:
        assert getattr(sicetnon, name) is not None
