"""Linux, macOS and Windows: nothing that one of them lacks is needed at import."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sicetnon import platforms

# what Windows lacks; Python's own modules have imported theirs before
ELSEWHERE = """
import importlib, os, pkgutil, shutil, subprocess, sqlite3, sys, tempfile
import numba
for name in ("fcntl", "resource", "pwd", "grp", "termios", "tty"):
    sys.modules[name] = None
missing = ("sched_getaffinity", "posix_fallocate", "posix_fadvise", "getuid", "geteuid", "fork")
for name in missing:
    if hasattr(os, name):
        delattr(os, name)
"""
# this library asks for the platform itself
LOADED_BEFORE = """
import contextlib
with contextlib.suppress(ModuleNotFoundError):
    import mcp.server
"""
IMPORT_ALL = (
    LOADED_BEFORE
    + ELSEWHERE
    + """
import sicetnon
faults = []
for module in pkgutil.walk_packages(sicetnon.__path__, "sicetnon."):
    if module.name == "sicetnon.__main__":
        continue
    try:
        importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        # an extra that is not installed
        if (error.name or "").split(".")[0] in ("sicetnon", "fcntl", "resource"):
            faults.append(f"{module.name}: {error}")
    except (ImportError, AttributeError) as error:
        faults.append(f"{module.name}: {error}")
print(*faults, sep="\\n", end="")
"""
)
LOCKING = """
import errno, types
def locking(handle, mode, size):
    if "another" in sys.argv:
        raise OSError(errno.EACCES, "locked")
    print("locked")
sys.modules["msvcrt"] = types.SimpleNamespace(locking=locking, LK_NBLCK=2)
sys.platform = "win32"
"""
SEARCH = """
import sicetnon
folder = sys.argv[1]
index = sicetnon.Index.build(["Tenure protects freedom.", "Tea is better than coffee."], folder)
index = index.add([{"id": "x", "text": "Tenure costs money."}])
print(*sorted(answer.id for answer in index.search("Should teachers get tenure?")))
"""


def run(program: str, *arguments: str) -> tuple[str, str]:
    """What a program prints, and what it complains about."""
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout, done.stderr


def test_memory_is_empty_and_can_be_written() -> None:
    memory = platforms.anonymous_memory(3 << 20)
    assert len(memory) == 3 << 20
    assert not any(memory[:: 1 << 12])
    memory[-1] = 7
    assert memory[-1] == 7
    with pytest.raises(MemoryError):
        platforms.anonymous_memory(1 << 60)


def test_the_memory_of_a_container_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = platforms.memory_bytes()
    assert machine is None or machine > 1 << 20
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(platforms, "_MEMORY_LIMITS", (tmp_path / "missing", limit))
    monkeypatch.delattr("os.sysconf", raising=False)
    for written, found in (("1048576\n", 1 << 20), ("max\n", None)):
        limit.write_text(written)
        assert platforms.memory_bytes() == found


def test_the_processor_has_a_name_that_stays() -> None:
    assert platforms.processor_name() == platforms.processor_name() != ""


@pytest.mark.parametrize("cores", [1, 2, 64])
def test_the_name_of_the_processor_does_not_tell_its_clock(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cores: int
) -> None:
    names = set()
    for clock in ("99.0", "800.000", "2400.000"):
        flags = "sse " * 300
        core = f"processor : 0\nmodel name : A\ncpu MHz : {clock}\nflags : {flags}\n"
        (tmp_path / "cpuinfo").write_text((core + "\n") * cores)
        monkeypatch.setattr(platforms, "Path", lambda _: tmp_path / "cpuinfo")
        names.add(platforms.processor_name())
    assert len(names) == 1
    assert "sse" in names.pop()


def test_the_processor_has_a_name_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platforms, "Path", lambda _: Path("/nowhere"))
    assert platforms.processor_name().strip()


def test_every_module_can_be_imported_without_what_windows_lacks() -> None:
    assert run(IMPORT_ALL) == ("", "")


def test_an_index_is_built_changed_and_searched_on_windows(tmp_path: Path) -> None:
    folder = str(tmp_path / "index")
    assert run(ELSEWHERE + LOCKING + SEARCH, folder) == ("locked\nlocked\n0 x\n", "")
    printed, complaint = run(ELSEWHERE + LOCKING + SEARCH, folder, "another")
    assert printed == ""
    assert complaint.endswith("another process is changing this index\n")


def test_an_index_is_built_changed_and_searched_on_macos(tmp_path: Path) -> None:
    program = ELSEWHERE.replace('"fcntl", ', "") + SEARCH
    assert run(program, str(tmp_path / "index")) == ("0 x\n", "")
