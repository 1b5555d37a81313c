"""Fixtures that the tests of several rooms share."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from sicetnon.cli import FAULT, main

if TYPE_CHECKING:
    from support.service_double import ServiceDouble
    from support.service_setting import Setting
    from support.stand_ins import StandIn

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "examples" / "touche-2020-task-1"

# how busy the machine is decides no test
settings.register_profile(
    "steady", max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steady")

# a shell that starts the tests in the background lets all that they start ignore interrupts
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# the programs that tests start write as those of most users do, who do not set this
os.environ.pop("PYTHONUNBUFFERED", None)

# the kernels are compiled once for all tests, each of which has a cache of its own
os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / ".cache" / "kernels"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put tests of clusters first, those of kernels in the middle: there a second worker starts.

    Nodes take their time to start and to notice faults, while the second worker compiles the
    kernels that the first one finds compiled later.
    """
    rooms = {name: [each for each in items if f"tests/{name}/" in each.nodeid]
             for name in ("cluster", "retrieval")}  # fmt: skip
    chosen = {id(each) for room in rooms.values() for each in room}
    others = [each for each in items if id(each) not in chosen]
    middle = max(0, len(items) // 2 - len(rooms["cluster"]))
    items[:] = [*rooms["cluster"], *others[:middle], *rooms["retrieval"], *others[middle:]]


def pytest_collection_finish() -> None:
    """Spare the collector what stays to the end, and forked processes the copies of it."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many tests ran against a real cluster, since they need more than others."""
    counts = {
        outcome: sum(
            "tests/cluster" in each.nodeid for each in terminalreporter.getreports(outcome)
        )
        for outcome in ("passed", "failed", "skipped")
    }
    if any(counts.values()):
        counted = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
        terminalreporter.write_line(f"tests against a cluster: {counted}")


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


@pytest.fixture(scope="session", autouse=True)
def _no_waiting_for_disks() -> Iterator[None]:
    """Let writes reach the disk when they may; what power cuts leave is told by traced calls."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture(scope="session")
def index(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of the sample."""
    folder = tmp_path_factory.mktemp("sample") / "index"
    assert main(["index", "build", str(sample / "input"), "-o", str(folder)]) == 0
    return folder


@pytest.fixture
def failing(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Runs a command that must fail with one line; gives status and line."""

    def run(*arguments: object) -> tuple[int, str]:
        capsys.readouterr()
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            status = int(stop.code or 0)
        error = capsys.readouterr().err
        assert "Traceback" not in error
        assert FAULT not in error
        assert status in (1, 2)
        *notices, last = error.strip().splitlines()
        assert not [notice for notice in notices if notice.startswith("sicetnon: ") and status == 1]
        return status, last

    return run


# --- services; what is imported by a fixture alone is imported when it is wanted ---


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    """A retriever of each kind, on one cache."""
    from support.service_setting import Setting

    return Setting(tmp_path)


@pytest.fixture
def double() -> Iterator[ServiceDouble]:
    """A local server in place of the services."""
    from support.service_double import ServiceDouble

    with ServiceDouble() as server:
        yield server


# --- indexes ---


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """An index of three entries."""
    from sicetnon.index.writing import BuildOptions, build_index
    from support.index_cases import PORTER, entries

    folder = tmp_path / "small"
    found = {"a": ("school uniforms",), "b": ("a teacher",), "c": ("teachers and schools",)}
    build_index(entries(found), folder, BuildOptions(PORTER))
    return folder


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index that no test changes."""
    from sicetnon.index.writing import BuildOptions, build_index
    from support.index_cases import PORTER, entries
    from support.index_faults import OLD

    folder = tmp_path_factory.mktemp("template") / "index"
    build_index(entries(OLD), folder, BuildOptions(PORTER))
    return folder


@pytest.fixture
def old(template: Path, tmp_path: Path) -> Path:
    """An index of the old documents."""
    shutil.copytree(template, tmp_path / "index")
    return tmp_path / "index"


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that any user can enter, which pytest's own are not."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 1 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(mount, capture_output=True).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("needs the right to mount a disk")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


# --- models ---


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """A stand-in for the model that comes with the package, in place."""
    # these take what is replaced when they are imported, and would keep the stand-in for good
    import sicetnon.arguments.side.evidence
    import sicetnon.ranker.features  # noqa: F401
    from sicetnon.arguments.models import classifiers
    from support.stand_ins import StandIn

    made = StandIn()
    monkeypatch.setattr(classifiers, "read_all", made.read_all)
    monkeypatch.setattr(classifiers, "Embedding", made.embedding)
    return made
