"""The system calls of a program on the files of a folder, recorded by strace, replayed in part.

The model is what POSIX promises, and no more. A write reaches the disk for certain when its file is
synced, and the entry of a folder when the folder is synced. What was not synced may be there or
not, each by itself, and of a write a part may be there. Operations on one file or one folder that
reached the disk did so in their order.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

STRACE = shutil.which("strace")
CALLS = (
    "openat,open,creat,close,write,pwrite64,writev,pwritev,lseek,ftruncate,truncate,fallocate,"
    "rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,link,linkat,symlink,symlinkat,"
    "fsync,fdatasync,sync,syncfs,copy_file_range,sendfile,mmap,dup,dup2,dup3"
)
_LINE = re.compile(r"(\d+) +(\w+)\((.*)\) += (-?\d+|0x[0-9a-f]+|\?)")
_UNFINISHED = re.compile(r"(\d+) +(\w+)\((.*) <unfinished \.\.\.>$")
_RESUMED = re.compile(r"(\d+) +<\.\.\. (\w+) resumed>(.*)$")
_PARTS = re.compile(r'"(?:[^"\\]|\\.)*"(?:\.\.\.)?|[^,"]+')
_PLACE = re.compile(r"(-?\w+)(?:<(.*)>)?$")

ROOT_NUMBER = 0


@dataclass(frozen=True)
class Operation:
    """A change of a file or of a folder.

    Attributes:
        target: The number of the file or the folder: what must be synced.
        data: What is written, None for an entry.
        offset: Where it is written.
        size: The new size, where the file is cut or grows.
        removed: The entry that goes.
        added: The entry that comes, with the number of its file or folder.
    """

    target: int
    data: bytes | None = None
    offset: int = 0
    size: int | None = None
    removed: str | None = None
    added: tuple[str, int] | None = None

    @property
    def is_entry(self) -> bool:
        """Whether an entry of a folder changes."""
        return self.removed is not None or self.added is not None


@dataclass(frozen=True)
class Sync:
    """A file or folder was synced."""

    target: int


@dataclass(frozen=True)
class Acknowledgement:
    """The program said that something is done."""

    name: str


Event = Operation | Sync | Acknowledgement


@dataclass
class _Handle:
    number: int
    offset: int = 0
    appends: bool = False


@dataclass
class Recording:
    """The events of a program in a folder, which was empty.

    Attributes:
        events: In their order.
        folders: The numbers of the folders.
    """

    events: list[Event] = field(default_factory=list)
    folders: set[int] = field(default_factory=lambda: {ROOT_NUMBER})

    def pending(self, end: int) -> list[int]:
        """The places of operations before a place that need not be on the disk then."""
        last_sync = {
            event.target: place
            for place, event in enumerate(self.events[:end])
            if isinstance(event, Sync)
        }
        return [
            place
            for place, event in enumerate(self.events[:end])
            if isinstance(event, Operation) and place > last_sync.get(event.target, -1)
        ]

    def rebuild(self, folder: Path, end: int, parts: Mapping[int, float]) -> None:
        """Write the state after a power cut.

        Args:
            folder: An empty folder.
            end: The number of events before the power cut.
            parts: The part of an operation that reached the disk, 0 to 1, by its place; whole
                where it is not named.
        """
        files: dict[int, bytearray] = {}
        entries: dict[int, dict[str, int]] = {ROOT_NUMBER: {}}
        for place, event in enumerate(self.events[:end]):
            part = parts.get(place, 1.0)
            if isinstance(event, Operation) and part:
                if event.is_entry:
                    _apply_entry(entries.setdefault(event.target, {}), event)
                else:
                    _apply_data(files.setdefault(event.target, bytearray()), event, part)
        self._write(folder, ROOT_NUMBER, entries, files)

    def _write(
        self,
        folder: Path,
        number: int,
        entries: Mapping[int, Mapping[str, int]],
        files: Mapping[int, bytes],
    ) -> None:
        for name, child in entries.get(number, {}).items():
            if child in self.folders:
                (folder / name).mkdir()
                self._write(folder / name, child, entries, files)
            else:
                (folder / name).write_bytes(files.get(child, b""))


def _apply_entry(entries: dict[str, int], operation: Operation) -> None:
    if operation.removed is not None:
        entries.pop(operation.removed, None)
    if operation.added is not None:
        entries[operation.added[0]] = operation.added[1]


def _apply_data(data: bytearray, operation: Operation, part: float) -> None:
    if operation.size is not None:
        del data[operation.size :]
        data.extend(bytes(operation.size - len(data)))
        return
    written = operation.data or b""
    written = written[: round(len(written) * part)]
    data.extend(bytes(max(0, operation.offset - len(data))))
    data[operation.offset : operation.offset + len(written)] = written


def record(command: Sequence[str], folder: Path, log: Path, mark: Path) -> Recording:
    """Run a program, and record what it does in a folder.

    Args:
        command: The program.
        folder: The folder, which is empty.
        log: A file for what strace says.
        mark: A file to which the program writes the names of what is done.
    """
    assert STRACE is not None
    options = ["-f", "-y", "-xx", "-s", str(1 << 26), "-e", f"trace={CALLS}", "-o", str(log)]
    done = subprocess.run([STRACE, *options, *command], capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(f"{command}: {done.stderr}")
    recorder = _Recorder(str(folder.resolve()), str(mark.resolve()))
    with log.open(encoding="ascii", errors="replace") as lines:
        for name, given, result in _calls(lines):
            recorder.take(name, given, result)
    return recorder.recording


def _calls(lines: Iterator[str] | Sequence[str]) -> Iterator[tuple[str, list[str], int]]:
    """The successful calls of all threads, in the order in which they ended.

    A descriptor is closed as soon as the call begins: before the call ends, another thread may have
    opened a file that got the same descriptor.
    """
    begun: dict[str, str] = {}
    for line in lines:
        if found := _UNFINISHED.match(line):
            if found[2] == "close":
                yield found[2], [found[3].strip()], 0
            begun[found[1]] = f"{found[1]} {found[2]}({found[3]}"
            continue
        if found := _RESUMED.match(line):
            line = begun.pop(found[1]) + found[3]
            if found[2] == "close":
                continue
        if (call := _LINE.match(line)) and call[4] != "?" and not call[4].startswith("-"):
            yield (
                call[2],
                [part.strip() for part in _PARTS.findall(call[3]) if part.strip()],
                int(call[4], 0),
            )


def _text(quoted: str) -> bytes:
    return bytes.fromhex(quoted.strip('"').replace("\\x", ""))


class _Recorder:
    """Follows descriptors and names, and tells the events of a folder."""

    def __init__(self, folder: str, mark: str):
        self.recording = Recording()
        self._folder, self._mark = folder, mark
        self._numbers = {folder: ROOT_NUMBER}
        self._handles: dict[int, _Handle] = {}
        self._marks: set[int] = set()
        self._next = ROOT_NUMBER + 1
        self._takes: dict[str, Callable[[list[str], int], None]] = {
            "openat": lambda given, result: self._open(self._at(given), given[2], result),
            "open": lambda given, result: self._open(self._path(given[0]), given[1], result),
            "creat": lambda given, result: self._open(
                self._path(given[0]), "O_CREAT|O_TRUNC", result
            ),
            "close": lambda given, _: self._close(given),
            "write": self._append,
            "pwrite64": self._write_at,
            "lseek": self._seek,
            "ftruncate": lambda given, _: self._resize(given, int(given[1]), shrinks=True),
            "fallocate": lambda given, _: self._resize(
                given, int(given[2]) + int(given[3]), shrinks=False
            ),
            "rename": lambda given, _: self._rename(self._path(given[0]), self._path(given[1])),
            "renameat": lambda given, _: self._rename(self._at(given), self._at(given[2:])),
            "renameat2": lambda given, _: self._rename(self._at(given), self._at(given[2:])),
            "unlink": lambda given, _: self._remove(self._path(given[0])),
            "unlinkat": lambda given, _: self._remove(self._at(given)),
            "rmdir": lambda given, _: self._remove(self._path(given[0])),
            "mkdir": lambda given, _: self._make(self._path(given[0])),
            "mkdirat": lambda given, _: self._make(self._at(given)),
            "fsync": lambda given, _: self._sync(given),
            "fdatasync": lambda given, _: self._sync(given),
            "mmap": lambda given, _: self._map(given),
        }

    def take(self, name: str, given: list[str], result: int) -> None:
        """Follow one call."""
        if name in self._takes:
            self._takes[name](given, result)
        elif any(self._folder in _name(part) for part in given):
            raise AssertionError(f"the call {name} is not in the model: {given}")

    def _note(self, event: Event) -> None:
        self.recording.events.append(event)

    def _at(self, given: list[str]) -> str:
        found = _PLACE.match(given[0])
        base = _text(found[2]).decode() if found and found[2] else ""
        return os.path.normpath(os.path.join(base, _text(given[1]).decode()))  # noqa: PTH118

    def _path(self, quoted: str) -> str:
        return os.path.normpath(_text(quoted).decode())

    def _parent(self, path: str) -> tuple[int, str] | None:
        """The number of the folder that a path is in, and its name there."""
        folder, name = os.path.split(path)
        return (self._numbers[folder], name) if folder in self._numbers else None

    def _handle(self, given: list[str]) -> _Handle | None:
        return self._handles.get(int(given[0].split("<")[0]))

    def _create(self, path: str) -> int | None:
        parent = self._parent(path)
        if parent is None:
            return None
        self._numbers[path] = number = self._next
        self._next += 1
        self._note(Operation(parent[0], added=(parent[1], number)))
        return number

    def _open(self, path: str, flags: str, handle: int) -> None:
        self._close([str(handle)])
        if path == self._mark:
            self._marks.add(handle)
        number = self._numbers.get(path)
        if number is None and "O_CREAT" in flags:
            number = self._create(path)
        if number is None:
            return
        if "O_TRUNC" in flags:
            self._note(Operation(number, size=0))
        self._handles[handle] = _Handle(number, appends="O_APPEND" in flags)

    def _close(self, given: list[str]) -> None:
        handle = int(given[0].split("<")[0])
        self._handles.pop(handle, None)
        self._marks.discard(handle)

    def _append(self, given: list[str], size: int) -> None:
        if int(given[0].split("<")[0]) in self._marks:
            self._note(Acknowledgement(_text(given[1]).decode()))
        elif handle := self._handle(given):
            if handle.appends:
                handle.offset = self._size(handle.number)
            self._note(Operation(handle.number, _text(given[1])[:size], handle.offset))
            handle.offset += size

    def _write_at(self, given: list[str], size: int) -> None:
        if handle := self._handle(given):
            self._note(Operation(handle.number, _text(given[1])[:size], int(given[3])))

    def _seek(self, given: list[str], result: int) -> None:
        if handle := self._handle(given):
            handle.offset = result

    def _size(self, number: int) -> int:
        size = 0
        for event in self.recording.events:
            if isinstance(event, Operation) and event.target == number and not event.is_entry:
                if event.size is not None:
                    size = event.size
                else:
                    size = max(size, event.offset + len(event.data or b""))
        return size

    def _resize(self, given: list[str], size: int, shrinks: bool) -> None:
        if handle := self._handle(given):
            size = size if shrinks else max(size, self._size(handle.number))
            self._note(Operation(handle.number, size=size))

    def _rename(self, old: str, new: str) -> None:
        before, after = self._parent(old), self._parent(new)
        if before is None and after is None:
            return
        if before is None or after is None or before[0] != after[0]:
            raise AssertionError(f"{old} is renamed to another folder: {new}")
        moved = {path for path in self._numbers if path == old or path.startswith(f"{old}/")}
        for path in [path for path in self._numbers if path == new or path.startswith(f"{new}/")]:
            del self._numbers[path]
        for path in moved:
            self._numbers[new + path.removeprefix(old)] = self._numbers.pop(path)
        self._note(Operation(before[0], removed=before[1], added=(after[1], self._numbers[new])))

    def _remove(self, path: str) -> None:
        if self._numbers.pop(path, None) is not None and (parent := self._parent(path)):
            self._note(Operation(parent[0], removed=parent[1]))

    def _make(self, path: str) -> None:
        if (number := self._create(path)) is not None:
            self.recording.folders.add(number)

    def _sync(self, given: list[str]) -> None:
        if handle := self._handle(given):
            self._note(Sync(handle.number))

    def _map(self, given: list[str]) -> None:
        is_written = "PROT_WRITE" in given[2] and "MAP_SHARED" in given[3]
        if is_written and int(given[4].split("<")[0]) in self._handles:
            raise AssertionError("a file is written by a memory map, which is not in the model")


def _name(part: str) -> str:
    """The path that an argument names, as far as it can be told."""
    found = _PLACE.match(part)
    quoted = found[2] if found and found[2] else part
    try:
        return _text(quoted).decode("utf-8", "replace") if "\\x" in quoted else quoted
    except ValueError:
        return ""
