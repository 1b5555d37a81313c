"""The cache folder, and calls that operating systems have in different forms."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sicetnon import operating_system
from sicetnon.cli import main
from sicetnon.operating_system import cache_folder

SHOW = """
from sicetnon.operating_system import cache_folder
folder = cache_folder()
assert cache_folder() == folder
print(folder, oct(folder.lstat().st_mode), folder.lstat().st_uid)
"""


def shown(temporary: Path) -> tuple[Path, int, int]:
    """The cache folder of a user who has no other, its mode and its owner."""
    no_home = {"SICETNON_CACHE": "~nobody-of-this-name/cache", "TMPDIR": str(temporary)}
    command = [sys.executable, "-c", SHOW]
    done = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | no_home, check=True
    )
    assert done.stderr == ""
    folder, mode, owner = done.stdout.split()
    return Path(folder), int(mode, 8), int(owner)


def _open_to_all(path: Path) -> None:
    path.mkdir()
    path.chmod(0o777)


def _link(path: Path) -> None:
    (path.parent / "elsewhere").mkdir(mode=0o700)
    path.symlink_to(path.parent / "elsewhere")


def _of_another(path: Path) -> None:
    path.mkdir(mode=0o700)
    if os.getuid():
        pytest.skip("needs the right to give a folder away")
    os.chown(path, 12345, 12345)


def test_the_shared_place_is_used_where_it_is_ours(tmp_path: Path) -> None:
    place = tmp_path / f"sicetnon-{os.getuid()}"
    expected = (place, stat.S_IFDIR | 0o700, os.getuid())
    assert shown(tmp_path) == expected
    assert shown(tmp_path) == expected


@pytest.mark.parametrize("occupy", [_open_to_all, _link, _of_another, Path.touch, os.mkfifo])
def test_another_folder_is_used_where_it_is_not(
    occupy: Callable[[Path], None], tmp_path: Path
) -> None:
    place = tmp_path / f"sicetnon-{os.getuid()}"
    occupy(place)
    folder, mode, owner = shown(tmp_path)
    assert folder.parent == tmp_path
    assert folder != place
    assert (mode, owner) == (stat.S_IFDIR | 0o700, os.getuid())
    # nothing would use it again
    assert not folder.exists()


def test_the_folder_of_the_user_is_made_private(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SICETNON_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "sicetnon").mkdir(mode=0o755)
    assert cache_folder() == tmp_path / "sicetnon"
    assert stat.S_IMODE((tmp_path / "sicetnon").stat().st_mode) == 0o700


def test_commands_say_where_a_cache_that_cannot_be_written_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    named = tmp_path / "file" / "cache"
    monkeypatch.setenv("SICETNON_CACHE", str(named))
    (line,) = _told(capsys, "parse", "Is tea better than coffee?").splitlines()
    assert line.startswith(f"sicetnon: warning: SICETNON_CACHE: {named} cannot be written; ")
    assert f"go to {cache_folder()}" in line
    assert "compiles for about 20 seconds" in line
    assert _told(capsys, "parse", "x", "--quiet") == ""
    monkeypatch.setenv("SICETNON_CACHE", str(tmp_path / "cache"))
    assert _told(capsys, "parse", "x") == ""


def _told(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 0
    return capsys.readouterr().err


def test_a_file_in_its_place_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("SICETNON_CACHE", str(tmp_path / "file"))
    status, line = failing("search", "tea")
    assert status == 2
    assert line.endswith("file: found no folder; SICETNON_CACHE names a folder")


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
    memory = operating_system.anonymous_memory(3 << 20)
    assert len(memory) == 3 << 20
    assert not any(memory[:: 1 << 12])
    memory[-1] = 7
    assert memory[-1] == 7
    with pytest.raises(MemoryError):
        operating_system.anonymous_memory(1 << 60)


def test_the_memory_of_a_container_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = operating_system.memory_bytes()
    assert machine is None or machine > 1 << 20
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(operating_system, "_MEMORY_LIMITS", (tmp_path / "missing", limit))
    monkeypatch.delattr("os.sysconf", raising=False)
    for written, found in (("1048576\n", 1 << 20), ("max\n", None)):
        limit.write_text(written)
        assert operating_system.memory_bytes() == found


def test_the_processor_has_a_name_that_stays() -> None:
    assert operating_system.processor_name() == operating_system.processor_name() != ""


@pytest.mark.parametrize("cores", [1, 2, 64])
def test_the_name_of_the_processor_does_not_tell_its_clock(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cores: int
) -> None:
    names = set()
    for clock in ("99.0", "800.000", "2400.000"):
        flags = "sse " * 300
        core = f"processor : 0\nmodel name : A\ncpu MHz : {clock}\nflags : {flags}\n"
        (tmp_path / "cpuinfo").write_text((core + "\n") * cores)
        monkeypatch.setattr(operating_system, "Path", lambda _: tmp_path / "cpuinfo")
        names.add(operating_system.processor_name())
    assert len(names) == 1
    assert "sse" in names.pop()


def test_the_processor_has_a_name_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operating_system, "Path", lambda _: Path("/nowhere"))
    assert operating_system.processor_name().strip()


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
