"""The folder for what can be made again: indexes of samples, answers of services, kernels."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def cache_folder() -> Path:
    """The folder for what can be made again: `SICETNON_CACHE`, or `sicetnon` in the user's cache.

    A temporary folder of this user's where neither can be written.
    """
    named = os.environ.get("SICETNON_CACHE")
    home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or "~/.cache"
    try:
        folder = Path(named).expanduser() if named else Path(home).expanduser() / "sicetnon"
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except (OSError, RuntimeError):
        pass  # no such user, no such folder, no permission: all the same here
    # Windows has no user numbers, and a temporary folder for each user
    user = f"-{os.getuid()}" if hasattr(os, "getuid") else ""
    fallback = Path(tempfile.gettempdir()) / f"sicetnon{user}"
    fallback.mkdir(mode=0o700, exist_ok=True)
    found = fallback.lstat()
    if hasattr(os, "getuid") and (found.st_uid != os.getuid() or found.st_mode & 0o077):
        # somebody else may write there, or put a link in our way
        return Path(tempfile.mkdtemp(prefix="sicetnon-"))
    return fallback
