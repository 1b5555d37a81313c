"""The operating system: cache folder, locks, memory, processors, in one form for all systems.

Linux is tested; of macOS and Windows, tests hide what they lack. Where a call is missing, nothing
takes its place but for locks: a full disk is then noticed only when it is full, and hostile HTML
may take any time and memory.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import importlib
import mmap
import os
import signal
import stat
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from sicetnon.errors import SicetnonError, UsageError

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
            make_private(folder)
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


def cache_warning() -> str | None:
    """The warning that `SICETNON_CACHE` cannot be written, or None."""
    named, folder = os.environ.get("SICETNON_CACHE"), cache_folder()
    with contextlib.suppress(RuntimeError):  # no such user
        if not named or folder == Path(named).expanduser():
            return None
    return (
        f"SICETNON_CACHE: {named} cannot be written; compiled kernels and indexes of samples go to "
        f"{folder}, and where that is emptied, the next search compiles for about 20 seconds"
    )


def make_private(path: Path) -> None:
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


try:
    import fcntl

    _HAS_FLOCK = True
except ImportError:  # Windows
    _HAS_FLOCK = False

# Windows refuses others to read a locked byte: this one lies after all that is ever written
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
    """Memory of this process that is not swapped out, or None if the system does not say."""
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
    """Memory of the machine, or of the container that this process is in, or None if unknown."""
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


def is_loopback(host: str) -> bool:
    """Whether a host is this machine: `localhost`, or an address of the loopback.

    A name such as `127.example.org` is another machine.
    """
    # it takes a millisecond to load, and is seldom needed
    import ipaddress

    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"
