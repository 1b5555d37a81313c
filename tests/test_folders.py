"""The cache folder: one that nobody else can read or change."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sicetnon.cli import main
from sicetnon.folders import cache_folder

SHOW = """
from sicetnon.folders import cache_folder
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
