"""Embeddings of headings that other processes computed, in a file of the cache folder.

A new process would embed the headings of a hundred arguments for its first question, which takes
longer than all else that it does. An index holds more headings than its users ever meet, so they
are kept when they were first needed, not when an index is built.

The file is a table of records in buckets. The digest of a heading says which bucket may hold its
record. A record has a checksum: one that is half written, or damaged, is none. So programs share
the file without locks, and a full bucket forgets.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from sicetnon._version import VERSION
from sicetnon.errors import SicetnonError
from sicetnon.folders import cache_folder
from sicetnon.platforms import check_plain, processor_name

Vector = NDArray[np.float32]
FOLDER = "headings"
_DIGEST, _CHECKSUM = 16, 4
_RECORDS = 4  # of a bucket
_KEPT_SECONDS = 90 * 24 * 3600
_TYPE = np.dtype("<f4")


def kept_vectors(fingerprint: str, width: int) -> KeptVectors | None:
    """The vectors that were kept in the cache folder; None where it cannot be used.

    Args:
        fingerprint: Model and libraries. The version of this package and the processor are added:
            others may round other bits.
        width: Numbers of a vector.
    """
    of_whom = f"{VERSION} {np.__version__} {processor_name()} {fingerprint}"
    name = hashlib.blake2b(of_whom.encode(), digest_size=_DIGEST).hexdigest()
    with contextlib.suppress(OSError, SicetnonError):
        path = cache_folder() / FOLDER / name
        path.parent.mkdir(mode=0o700, exist_ok=True)
        check_plain(path)
        if not path.exists():
            _remove_old(path.parent)
        return KeptVectors(path, width)
    return None


def _remove_old(folder: Path) -> None:
    """Remove the files of other versions that nobody has changed for long."""
    oldest = time.time() - _KEPT_SECONDS
    for other in folder.iterdir():
        if other.stat().st_mtime < oldest:
            other.unlink(missing_ok=True)


class KeptVectors:
    """Vectors of texts in a file, which never grows beyond a size.

    Where the file cannot be read or written, there are none.

    Args:
        path: The file, made when vectors are first kept.
        width: Numbers of a vector.
        buckets: Number of buckets, with four records each; 25 MB with vectors of 384 numbers.
    """

    def __init__(self, path: Path, width: int, buckets: int = 1 << 12):
        self._path, self._buckets = path, buckets
        self._size = _DIGEST + _TYPE.itemsize * width + _CHECKSUM

    def read(self, texts: Sequence[str]) -> dict[str, Vector]:
        """The vectors of those texts that have one, as they were given."""
        found = {}
        with contextlib.suppress(OSError), self._path.open("rb", buffering=0) as file:
            for text in texts:
                digest = _digest(text)
                for record in self._bucket(file, digest):
                    if record[:_DIGEST] == digest and _is_whole(record):
                        numbers = np.frombuffer(record[_DIGEST:-_CHECKSUM], _TYPE)
                        found[text] = numbers.astype(np.float32)
        return found

    def keep(self, vectors: Mapping[str, Vector]) -> None:
        """Keep the vectors of texts."""
        with contextlib.suppress(OSError), self._opened() as file:
            for text, vector in vectors.items():
                digest = _digest(text)
                known = list(self._bucket(file, digest))
                free = (at for at, each in enumerate(known) if not _is_whole(each))
                # other bits of the digest than those that name the bucket
                place = next(free, digest[-1] % _RECORDS)
                content = digest + vector.astype(_TYPE).tobytes()
                record = content + zlib.crc32(content).to_bytes(_CHECKSUM, "little")
                file.seek(self._start(digest) + place * self._size)
                file.write(record)

    @contextlib.contextmanager
    def _opened(self) -> Iterator[IO[bytes]]:
        def private(path: str, flags: int) -> int:
            return os.open(path, flags | os.O_CREAT, 0o600)

        with open(self._path, "r+b", buffering=0, opener=private) as file:
            yield file

    def _bucket(self, file: IO[bytes], digest: bytes) -> Iterator[bytes]:
        """The records of a bucket; those behind the end of the file are empty."""
        file.seek(self._start(digest))
        read = file.read(self._size * _RECORDS)
        return (read[at : at + self._size] for at in range(0, self._size * _RECORDS, self._size))

    def _start(self, digest: bytes) -> int:
        bucket = int.from_bytes(digest[:8], "little") % self._buckets
        return bucket * _RECORDS * self._size


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).digest()


def _is_whole(record: bytes) -> bool:
    checksum = int.from_bytes(record[-_CHECKSUM:], "little")
    return len(record) > _CHECKSUM and zlib.crc32(record[:-_CHECKSUM]) == checksum
