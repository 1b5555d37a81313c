"""The engine of the nodes: where it is, which Java runs it, and what is prepared once.

`HOME` is a folder with the engine: `lib/`, `modules/`, `plugins/` and `ClusterNode.java`.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
HOME = Path(os.environ.get("SICETNON_OPENSEARCH", ROOT.parent / "shared" / "opensearch"))
_KEPT = ROOT / ".cache" / "engine"
_OLDEST_JDK = 21


def java() -> Path | None:
    """A `java` that is new enough, or None."""
    homes = [Path(home) for home in filter(None, [os.environ.get("JAVA_HOME")])]
    homes += sorted(Path("/usr/lib/jvm").glob("*"), reverse=True)
    found = [home / "bin" / "java" for home in homes]
    found += [Path(each) for each in filter(None, [shutil.which("java")])]
    return next((each for each in found if each.is_file() and _version(each) >= _OLDEST_JDK), None)


def _version(program: Path) -> int:
    said = subprocess.run([program, "-version"], capture_output=True, text=True, check=False)
    number = re.search(r'version "(\d+)', said.stderr)
    return int(number[1]) if number else 0


def required_java() -> Path:
    """A `java` for nodes; the test is skipped where the machine cannot run any."""
    # benchmarks import this module where pytest is not installed
    import pytest

    if not (HOME / "ClusterNode.java").is_file():
        pytest.skip(f"no cluster: no engine in {HOME}; set SICETNON_OPENSEARCH or "
                    "SICETNON_TEST_CLUSTER")  # fmt: skip
    found = java()
    if found is None:
        pytest.skip(f"no cluster: no JDK of {_OLDEST_JDK} or newer; set JAVA_HOME or "
                    "SICETNON_TEST_CLUSTER")  # fmt: skip
    return found


@functools.cache
def class_path(program: Path) -> tuple[str, ...]:
    """Words that start a node, but for its folder: its source is compiled once, not each time."""
    source = HOME / "ClusterNode.java"
    jar = _KEPT / f"{_stamp(program)}.jar"
    with _one_process():
        if not jar.exists():
            _compile(program, source, jar)
    return "-cp", f"{HOME}/lib/*:{jar}", source.stem


@functools.cache
def loaded_classes(program: Path, write: Callable[[Path], None]) -> tuple[str, ...]:
    """Options that load classes from an archive: reading thousands anew is half of a start.

    Args:
        program: Java, which goes on without an archive that does not fit.
        write: Writes the archive, where there is none yet.
    """
    class_path(program)
    archive = _KEPT / f"{_stamp(program)}.jsa"
    with _one_process():
        if not archive.exists():
            new = archive.with_suffix(".new")
            write(new)
            if new.exists():
                new.rename(archive)
    return f"-XX:SharedArchiveFile={archive}", "-Xlog:disable"


def _stamp(program: Path) -> str:
    known = (program.resolve(), HOME.resolve(), (HOME / "ClusterNode.java").read_text())
    return hashlib.sha256(repr(known).encode()).hexdigest()[:16]


def _compile(program: Path, source: Path, jar: Path) -> None:
    compiler: list[str | Path] = [program, "-m", "jdk.compiler/com.sun.tools.javac.Main"]
    libraries = os.pathsep.join(map(str, HOME.glob("lib/*.jar")))
    with tempfile.TemporaryDirectory() as folder:
        words: list[str | Path] = [*compiler, "-cp", libraries, "-d", folder, source]
        subprocess.run(words, check=True, capture_output=True)
        new = Path(folder) / "node.jar"
        with zipfile.ZipFile(new, "w") as archive:
            for each in Path(folder).glob("*.class"):
                archive.write(each, each.name)
        shutil.move(new, jar)


@contextmanager
def _one_process() -> Iterator[None]:
    _KEPT.mkdir(parents=True, exist_ok=True)
    with (_KEPT / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
