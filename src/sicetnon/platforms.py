"""Calls that operating systems have in different forms, or not at all.

Linux is tested; of macOS and Windows, tests hide what they lack. Where a call is missing, nothing
takes its place but for locks: a full disk is then noticed only when it is full, and hostile HTML
may take any time and memory.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import mmap
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from sicetnon.errors import SicetnonError

try:
    import fcntl

    _HAS_FLOCK = True
except ImportError:  # Windows
    _HAS_FLOCK = False

# Windows refuses others to read a locked byte: this one lies behind all that is ever written
_LOCKED_BYTE = 2**40
_LOCK_SECONDS = 0.05
# what Linux says of the first core, x86 and ARM; files of /proc are read in one piece
_CPU_BYTES = 1 << 14
_CPU_LINES = (b"model name", b"flags", b"CPU implementer", b"CPU part", b"Features")
# where Linux tells a container its limit: of control groups version 2, and of version 1
_MEMORY_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


def check_plain(path: Path) -> None:
    """Refuse a file of this package's own that is there and no plain file.

    A link leads elsewhere, and opening a named pipe waits for another program without end.

    Raises:
        SicetnonError: It is a link, a named pipe, a folder or a device.
    """
    if path.is_symlink() or (path.exists() and not path.is_file()):
        found = "a link" if path.is_symlink() else "a folder" if path.is_dir() else "a pipe"
        raise SicetnonError(f"{path}: found {found}; expected a plain file or none; remove it")


def allow_many_files() -> None:
    """Let this process open as many files and connections as it may, not as many as is usual."""
    try:
        resource: Any = importlib.import_module("resource")
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    except (ImportError, ValueError, OSError):  # Windows; macOS without an upper limit
        return


def resident_bytes() -> int | None:
    """Memory of this process that is not swapped out; None where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_bytes().split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def anonymous_memory(size: int) -> mmap.mmap:
    """Memory of zeros, which the system gives page by page when it is first used.

    Pages are of the usual size. Large ones, of 2 MB, are read faster; but Linux takes milliseconds
    to find one where memory is fragmented.

    Args:
        size: Bytes, above 0.

    Raises:
        MemoryError: There is not so much.
    """
    try:
        if sys.platform == "win32":
            return mmap.mmap(-1, size)
        found = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE)
        if sys.platform == "linux":
            with contextlib.suppress(OSError):  # a kernel may have no large pages
                found.madvise(mmap.MADV_NOHUGEPAGE)
        return found
    except (OSError, OverflowError) as error:
        raise MemoryError(f"{size:,} bytes") from error


def give_back_memory() -> None:
    """Give free memory back to the system: glibc keeps tens of megabytes of it for each thread."""
    if sys.platform == "linux":
        with contextlib.suppress(AttributeError, OSError):  # other C libraries have no such call
            importlib.import_module("ctypes").CDLL(None).malloc_trim(0)


def memory_bytes() -> int | None:
    """Memory of the machine, or of the container that this process is in; None where unknown."""
    found = []
    with contextlib.suppress(AttributeError, ValueError, OSError):  # Windows
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for limit in _MEMORY_LIMITS:
        with contextlib.suppress(ValueError, OSError):
            found.append(int(limit.read_bytes()))
    return min((each for each in found if each > 0), default=None)


def wait_for_lock(file: IO[Any], waiting: Callable[[], None]) -> None:
    """Lock an open file until it is closed; where another process holds the lock, wait for it.

    Args:
        file: The file.
        waiting: Called once, where there is a wait.
    """
    if not try_lock(file):
        waiting()
        while not try_lock(file):
            time.sleep(_LOCK_SECONDS)


def try_lock(file: IO[Any]) -> bool:
    """Lock an open file until it is closed; False where another process holds the lock."""
    try:
        if _HAS_FLOCK:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            _lock_on_windows(file.fileno())
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES, errno.EDEADLK):
            return False
        raise
    return True


def _lock_on_windows(handle: int) -> None:
    msvcrt: Any = importlib.import_module("msvcrt")
    before = os.lseek(handle, 0, os.SEEK_CUR)
    os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
    try:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    finally:
        os.lseek(handle, before, os.SEEK_SET)


def reserve(file: IO[Any], size: int) -> None:
    """Reserve disk space for the first `size` bytes of a file; the file may grow to that size.

    Raises:
        OSError: The disk is full.
    """
    if hasattr(os, "posix_fallocate") and size:
        os.posix_fallocate(file.fileno(), 0, size)


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries to the disk, so that a rename in it survives a power cut.

    Nothing happens where the folder may not be read, or its file system cannot flush folders.
    """
    if sys.platform == "win32":
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
    except PermissionError:
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)


def make_folder(folder: Path) -> None:
    """Make a folder and its parents, unless they are there, so that they survive a power cut.

    The entry of a folder that is there is flushed, too: a killed process may have made it.

    Raises:
        OSError: A folder cannot be made.
    """
    if not folder.is_dir():
        # below a file, making the folder itself says what is wrong
        if folder.parent != folder and (folder.parent.is_dir() or not folder.parent.exists()):
            make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
    sync_folder(folder.parent)


def processor_cores() -> int:
    """Number of processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def processor_name() -> str:
    """The kind of processor with its instructions: others may round the same sums otherwise."""
    try:
        with Path("/proc/cpuinfo").open("rb") as file:
            first, end, _ = file.read(_CPU_BYTES).partition(b"\n\n")
    except OSError:  # elsewhere than on Linux
        import platform

        return f"{platform.machine()} {platform.processor()}"
    # other lines tell the clock, which changes; the last one may have been cut anywhere
    lines = first.splitlines() if end else first.splitlines()[:-1]
    named = (line for line in lines if line.startswith(_CPU_LINES))
    return b" ".join(named).decode("ascii", "replace")


def has_screen() -> bool:
    """Whether a browser with windows can be opened."""
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def limit_memory(size: int) -> None:
    """Limit the memory of this process, in bytes. It ends beyond."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        resource: Any = importlib.import_module("resource")
        resource.setrlimit(resource.RLIMIT_AS, (size, size))


def limit_cpu(seconds: float) -> None:
    """End this process after so many more seconds of processor time; 0 for no limit."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, seconds)


def is_cpu_limit(status: int) -> bool:
    """Whether the exit status of a process is that of `limit_cpu`."""
    return sys.platform != "win32" and status == -signal.SIGPROF
