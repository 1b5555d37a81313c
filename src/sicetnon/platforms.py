"""Calls that operating systems have in different forms, or not at all.

Linux is tested. On macOS and Windows a call that is missing is left out: two writers of one file
are then not noticed, or a full disk only when it is full.
"""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import IO, Any

if sys.platform != "win32":
    import fcntl


def try_lock(file: IO[Any]) -> bool:
    """Lock an open file until it is closed; False where another process holds the lock."""
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES):
            return False
        raise
    return True


def reserve(file: IO[Any], size: int) -> None:
    """Reserve disk space for the first `size` bytes of a file; the file may grow to that size.

    Raises:
        OSError: The disk is full.
    """
    if hasattr(os, "posix_fallocate") and size:
        os.posix_fallocate(file.fileno(), 0, size)


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries to the disk, so that a rename in it survives a power cut."""
    if sys.platform == "win32":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def processor_cores() -> int:
    """How many processor cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
