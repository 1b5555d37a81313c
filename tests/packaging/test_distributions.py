"""The sdist is complete, and a wheel made from it works where nothing else of the project is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
NOT_SOURCE = (".*", "build", "dist", "out", "out.*", "*.egg-info", "__pycache__")
PACKAGED = (
    "evaluation/data/leaderboards.tsv",
    "examples/touche-2020-task-1/input/topics.xml",
    "examples/touche-2022-task-2/input/passages.jsonl.gz",
    "app/templates/brief.html.jinja",
    "models/debate/weights.bin",
    "models/sides/sides.json",
    "py.typed",
    "report/templates/page.html.jinja",
    "uva/data/uva-ranker.npz",
    "web/static/htmx/LICENSE",
    "web/static/htmx/htmx-4.0.1.min.js",
    "web/static/site.css",
    "web/templates/base.html.jinja",
)
BESIDE_IT = (
    "CHANGELOG.md",
    "CITATION.cff",
    "Dockerfile",
    "Makefile",
    "constraints.txt",
    "docs/index.md",
    "recipe/README.md",
    "tests/conftest.py",
)


def build(what: str, project: Path, output: Path) -> Path:
    """Call setuptools as a package builder does, without the network."""
    code = f"from setuptools import build_meta; build_meta.{what}({str(output)!r})"
    subprocess.run([sys.executable, "-c", code], cwd=project, check=True, capture_output=True)
    return next(output.glob("*.tar.gz" if what == "build_sdist" else "*.whl"))


def without_this_checkout() -> dict[str, str]:
    """The variables of this process, with no modules but those of an environment itself."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def empty_environment(folder: Path, wheel: Path) -> Path:
    """An environment with the wheel alone; it borrows the packages that the wheel needs."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    pip = [sys.executable, "-m", "pip", "--quiet", "--python", folder / "bin" / "python"]
    # most modules are not imported here, so that their bytecode would be made for nothing
    options = ["--no-deps", "--no-index", "--no-compile"]
    subprocess.run([*pip, "install", *options, wheel], check=True, env=without_this_checkout())
    packages = next(folder.glob("lib/python*/site-packages"))
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin" / "sicetnon"


def test_a_wheel_made_from_the_sdist_searches_in_an_empty_environment(tmp_path: Path) -> None:
    project = tmp_path / "project"
    shutil.copytree(ROOT, project, symlinks=True, ignore=shutil.ignore_patterns(*NOT_SOURCE))

    sdist = build("build_sdist", project, tmp_path)
    with tarfile.open(sdist) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
        assert names >= {f"src/sicetnon/{name}" for name in PACKAGED} | set(BESIDE_IT)
        opened.extractall(tmp_path / "unpacked", filter="data")

    wheel = build("build_wheel", next((tmp_path / "unpacked").iterdir()), tmp_path)
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
    assert packed >= {f"sicetnon/{name}" for name in PACKAGED}
    modules = {str(path.relative_to(ROOT / "src")) for path in ROOT.glob("src/sicetnon/**/*.py")}
    assert packed >= modules

    command = empty_environment(tmp_path / "environment", wheel)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    setting = without_this_checkout() | {
        "SICETNON_CACHE": str(tmp_path / "cache"),
        # compiling takes 20 seconds; this installation is new, so nothing is compiled yet
        "NUMBA_DISABLE_JIT": "1",
        "PYTHONWARNINGS": "ignore::RuntimeWarning",
    }
    question = "Should teachers get tenure?"
    done = subprocess.run(
        [command, "search", question], cwd=elsewhere, env=setting, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "Tenure isn't a job for life" in done.stdout
