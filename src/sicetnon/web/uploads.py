"""Files that come with a request: written under names of our own, unpacked within limits."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from starlette.datastructures import UploadFile

from sicetnon.errors import DataError
from sicetnon.formats.files import Limits, Reading, open_bytes
from sicetnon.text.unicode import one_line, shortened
from sicetnon.web.problems import Problem

_LONGEST_NAME = 60


def unpacked(
    files: Sequence[UploadFile], folder: Path, kind: str, most_bytes: int
) -> dict[str, Path]:
    """Uploaded files as plain files, by the names that their owners gave them.

    Args:
        files: The uploaded files; gzip is recognised by its content.
        folder: Where the plain files go.
        kind: Their kind, for messages and for their names on disk.
        most_bytes: Bytes that all of them may unpack to.

    Raises:
        Problem: They unpack to more, or one cannot be unpacked (422).
    """
    found: dict[str, Path] = {}
    left = most_bytes
    for place, file in enumerate(files):
        packed, plain = folder / f"{kind}-{place}.packed", folder / f"{kind}-{place}.txt"
        with packed.open("wb") as target:
            shutil.copyfileobj(file.file, target)
        name = _fresh(_shown_name(file.filename or kind), found)
        limits = Limits(unpacked_ratio=1, unpacked_bytes=max(left, 1))
        try:
            with open_bytes(packed, Reading(limits=limits)) as content, plain.open("wb") as target:
                shutil.copyfileobj(content, target)
        except DataError:
            text = f"{name}: cannot be unpacked, or unpacks to more than {most_bytes:,} bytes"
            raise Problem(422, text) from None
        packed.unlink()
        left -= plain.stat().st_size
        found[name] = plain
    return found


def _shown_name(given: str) -> str:
    """The last part of a path of the browser's machine; it never names a file here."""
    name = PurePosixPath(given.replace("\\", "/")).name
    return shortened(one_line(name), _LONGEST_NAME) or "file"


def _fresh(name: str, taken: dict[str, Path]) -> str:
    """A name that is not taken."""
    number, fresh = 1, name
    while fresh in taken:
        number += 1
        fresh = f"{name} ({number})"
    return fresh
