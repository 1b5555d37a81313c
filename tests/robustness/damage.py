"""Random damage of a file of an index, as disks, copies and people do it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

Damage = Callable[[Path, Random], str]


def damage(folder: Path, rng: Random) -> str:
    """Damage one file of an index in one way.

    Args:
        folder: The index.
        rng: Chooses file and damage.

    Returns:
        What was done, for messages.
    """
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "lock")
    return rng.choice(DAMAGES)(rng.choice(files), rng)


def _flip(path: Path, rng: Random) -> str:
    data = bytearray(path.read_bytes())
    if not data:
        return _extend(path, rng)
    place = rng.randrange(len(data))
    data[place] ^= 1 << rng.randrange(8)
    path.write_bytes(data)
    return f"flipped a bit of byte {place} of {path}"


def _overwrite(path: Path, rng: Random) -> str:
    data = bytearray(path.read_bytes())
    if not data:
        return _extend(path, rng)
    begin = rng.randrange(len(data))
    end = min(begin + rng.choice((1, 4, 8, 64, 4096)), len(data))
    fill = rng.choice((b"\x00", b"\xff", b"\x7f", None))
    data[begin:end] = rng.randbytes(end - begin) if fill is None else fill * (end - begin)
    path.write_bytes(data)
    return f"overwrote bytes {begin} to {end} of {path}"


def _truncate(path: Path, rng: Random) -> str:
    size = path.stat().st_size
    kept = rng.choice((0, size // 2, max(size - 1, 0), rng.randint(0, size)))
    with path.open("rb+") as file:
        file.truncate(kept)
    return f"truncated {path} from {size} to {kept} bytes"


def _extend(path: Path, rng: Random) -> str:
    more = rng.randbytes(rng.choice((1, 8, 4096)))
    with path.open("ab") as file:
        file.write(more)
    return f"extended {path} by {len(more)} bytes"


def _swap(path: Path, rng: Random) -> str:
    other = rng.choice(sorted(each for each in path.parent.iterdir() if each.is_file()))
    data, others = path.read_bytes(), other.read_bytes()
    path.write_bytes(others)
    other.write_bytes(data)
    return f"swapped {path} and {other.name}"


def _delete(path: Path, rng: Random) -> str:
    path.unlink()
    return f"deleted {path}"


# bytes that change in place are what disks do, and what is hardest to notice
DAMAGES: tuple[Damage, ...] = (
    _flip,
    _flip,
    _overwrite,
    _overwrite,
    _truncate,
    _extend,
    _swap,
    _delete,
)
