"""Limits on what files may hold, so that a hostile one costs seconds and not the machine.

No real file meets the defaults. Whoever has one that does raises a limit by its environment
variable, or in Python by `Reading(limits=Limits(…))`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from sicetnon.errors import DataError, UsageError

_PREFIX = "SICETNON_MAX_"
_ADVICE = "raise SICETNON_MAX_{} if the file is to be trusted"


@dataclass(frozen=True)
class Limits:
    """Limits on reading; the environment variable of each is `SICETNON_MAX_` and its name.

    Attributes:
        record_bytes: Bytes of one record: a line, a row of a table, an element of a JSON list, a
            topic, a page of the web. JSON is refused beyond Python's own depth of nesting.
        unpacked_ratio: How many times as large as its gzip file the content may be. Text is 3 to
            20 times as large; a bomb about 1,000 times.
        unpacked_bytes: Bytes of unpacked content up to which the ratio does not matter.
        page_seconds: Seconds of processor time to parse one page of HTML (not on Windows).
        page_memory: Bytes of memory to parse one page of HTML (not on Windows and macOS).
    """

    record_bytes: int = 16 << 20
    unpacked_ratio: int = 100
    unpacked_bytes: int = 8 << 20
    page_seconds: int = 5
    page_memory: int = 384 << 20

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Limits:
        """The defaults, with the limits that the environment sets.

        Raises:
            UsageError: A variable holds no whole number above 0.
        """
        given = {}
        for field in fields(cls):
            variable = _PREFIX + field.name.upper()
            text = environment.get(variable, "").strip()
            if text:
                if not (text.isascii() and text.isdecimal() and len(text) < 20 and int(text)):
                    raise UsageError(
                        f"{variable} is {text[:40]!r}; expected a whole number above 0"
                    )
                given[field.name] = int(text)
        return cls(**given)

    def too_long(self, what: str, path: Path | str, line: int | None = None) -> DataError:
        """The error of a record of more than `record_bytes`."""
        return DataError(f"{what} {self.beyond_record()}", path, line)

    def beyond_record(self) -> str:
        """The predicate of a sentence on a record of more than `record_bytes`."""
        return (
            f"holds more than {self.record_bytes:,} bytes, the limit for one record; "
            + _ADVICE.format("RECORD_BYTES")
        )

    def unpacks_too_much(
        self, packed: int, unpacked: int, path: Path | str, free: int | None = None
    ) -> DataError | None:
        """The error of packed data that unpacks to more than the limits allow, or None.

        Args:
            packed: Bytes of the packed data.
            unpacked: Bytes of its content so far.
            path: The file, for the error.
            free: Bytes up to which the ratio does not matter; `unpacked_bytes` when left out.
        """
        free = self.unpacked_bytes if free is None else free
        if unpacked <= max(free, self.unpacked_ratio * packed):
            return None
        return DataError(
            f"{packed:,} packed bytes unpack to more than {unpacked:,}, over the limit of "
            f"{self.unpacked_ratio} times as much; " + _ADVICE.format("UNPACKED_RATIO"),
            path,
        )

    def beyond_page(self, is_late: bool) -> str:
        """The predicate of a sentence on a page that takes more time, or memory, than the limit."""
        if is_late:
            return f"takes more than {self.page_seconds} s to parse; " + _ADVICE.format(
                "PAGE_SECONDS"
            )
        return f"takes more than {self.page_memory:,} bytes of memory to parse; " + _ADVICE.format(
            "PAGE_MEMORY"
        )
