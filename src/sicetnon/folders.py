"""The cache folder: indexes of samples, answers of services, compiled kernels, embeddings."""

from __future__ import annotations

import contextlib
import functools
import os
import stat
import tempfile
from pathlib import Path

from sicetnon.errors import UsageError

_OF_OTHERS, _WRITABLE, _ENTERED, _STICKY = 0o077, 0o022, 0o011, 0o1000


def cache_folder() -> Path:
    """The cache folder: `SICETNON_CACHE`, or `sicetnon` in the user's cache.

    A temporary folder of this user's where neither can be written. A folder that is made here is
    for its owner alone, and so is `sicetnon` in the user's cache, whoever made it.

    Raises:
        UsageError: `SICETNON_CACHE` names something that is no folder.
    """
    named = os.environ.get("SICETNON_CACHE")
    home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or "~/.cache"
    with contextlib.suppress(OSError, RuntimeError):  # no such user, no such folder, no permission
        folder = Path(named).expanduser() if named else Path(home).expanduser() / "sicetnon"
        if named and folder.exists() and not folder.is_dir():
            raise UsageError(f"{named}: found no folder; SICETNON_CACHE names a folder")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not named:
            keep_private(folder)
        if os.access(folder, os.W_OK):
            return folder
    return _temporary_folder()


def code_folder(name: str) -> Path:
    """A folder for code that is kept and run again: one that nobody else can write.

    In `cache_folder()`, or in the temporary folder of this user if others can write there: a team
    may share the folder that `SICETNON_CACHE` names, and sudo may keep the home of another user.
    """
    cache = cache_folder()
    folder = cache / name
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        if is_own_folder(folder, cache):
            return folder
    return _temporary_folder() / name


def is_own_folder(folder: Path, top: Path) -> bool:
    """Whether this user alone (and root) can change what lies in a folder.

    Args:
        folder: The folder.
        top: A folder around it, or itself: from here on others may not write even where they cannot
            come.
    """
    is_open, is_inside = False, True
    top = Path(os.path.realpath(top))
    for path in (real := Path(os.path.realpath(folder)), *real.parents):
        found = path.stat()
        if not _is_of_user(found):
            return False
        # in a folder like /tmp nobody can move what belongs to others
        is_open |= bool(found.st_mode & _WRITABLE and (is_inside or not found.st_mode & _STICKY))
        if is_inside and is_open:
            return False
        is_inside &= path != top
        if not is_inside and not found.st_mode & _ENTERED:
            return True
    return not is_open


def is_own_file(found: os.stat_result) -> bool:
    """Whether a file is a plain one that this user alone (and root) can change."""
    return (
        stat.S_ISREG(found.st_mode)
        and _is_of_user(found)
        and not (hasattr(os, "getuid") and found.st_mode & _WRITABLE)
    )


def _is_of_user(found: os.stat_result) -> bool:
    # Windows has no user numbers
    return not hasattr(os, "getuid") or found.st_uid in (0, os.geteuid())


def _temporary_folder() -> Path:
    """A temporary folder that this user alone can enter."""
    # Windows has no user numbers, and a temporary folder for each user
    user = f"-{os.getuid()}" if hasattr(os, "getuid") else ""
    shared = Path(tempfile.gettempdir()) / f"sicetnon{user}"
    with contextlib.suppress(FileExistsError):
        shared.mkdir(mode=0o700)
    return shared if _is_private(shared) else Path(_fresh_folder().name)


def passed_over() -> str | None:
    """The warning that `SICETNON_CACHE` cannot be written, or None."""
    named, folder = os.environ.get("SICETNON_CACHE"), cache_folder()
    with contextlib.suppress(RuntimeError):  # no such user
        if not named or folder == Path(named).expanduser():
            return None
    return (
        f"SICETNON_CACHE: {named} cannot be written; compiled kernels and indexes of samples go to "
        f"{folder}, and where that is emptied, the next search compiles for about 20 seconds"
    )


def keep_private(path: Path) -> None:
    """Take from others the right to read or change a file or folder, where it is the user's."""
    mode = path.stat().st_mode
    if mode & _OF_OTHERS:
        with contextlib.suppress(PermissionError):
            path.chmod(stat.S_IMODE(mode) & ~_OF_OTHERS)


def _is_private(folder: Path) -> bool:
    """Whether this user alone can enter the folder, and the path is no link."""
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode):
        return False
    # Windows has neither user numbers nor such modes
    return not hasattr(os, "getuid") or (
        found.st_uid == os.getuid() and not found.st_mode & _OF_OTHERS
    )


@functools.cache
def _fresh_folder() -> tempfile.TemporaryDirectory[str]:
    """A folder that is removed when the process ends: the shared one cannot be trusted."""
    return tempfile.TemporaryDirectory(prefix="sicetnon-")
