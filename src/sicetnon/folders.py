"""The cache folder: indexes of samples, answers of services, compiled kernels, embeddings."""

from __future__ import annotations

import contextlib
import functools
import os
import stat
import tempfile
from pathlib import Path

from sicetnon.errors import UsageError

_OF_OTHERS = 0o077


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
