"""Checks of single values that callers give, in a module that imports nothing heavy."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from sicetnon.errors import UsageError

_LONGEST_NAME = 255


def check_text(value: object, name: str) -> None:
    """Refuse anything but a text.

    Raises:
        UsageError: The value is something else.
    """
    if not isinstance(value, str):
        raise UsageError(f"found {type(value).__name__} as {name}; expected a text")


def check_texts(values: object, name: str, may_lack: bool = False) -> None:
    """Refuse anything but a list of texts.

    Args:
        values: The list.
        name: What they are, in the plural.
        may_lack: Whether None may stand in the place of a text.

    Raises:
        UsageError: The value is something else, or one text, or holds something else.
    """
    if isinstance(values, str):
        raise UsageError(f"found the text {values[:40]!r}; expected a list of {name}")
    if not isinstance(values, Collection) or isinstance(values, Mapping):
        raise UsageError(f"found {type(values).__name__}; expected a list of {name}")
    for value in values:
        if not isinstance(value, str) and not (value is None and may_lack):
            raise UsageError(f"found {type(value).__name__} among the {name}; expected texts")


def check_path(value: object, name: str) -> None:
    """Refuse anything but a path.

    Raises:
        UsageError: The value is something else, holds a null character, or has a name in it that is
            longer than any file system takes.
    """
    if not isinstance(value, str | os.PathLike):
        raise UsageError(f"found {type(value).__name__} as {name}; expected a path")
    path = os.fspath(value)
    if "\0" in path:
        raise UsageError(f"found {path!r} as {name}; no path holds a null character")
    longest = max(Path(path).parts, key=len, default="")
    if len(longest) > _LONGEST_NAME:
        raise UsageError(
            f"found {longest[:20]}… with {len(longest)} characters as {name}; expected names of up "
            f"to {_LONGEST_NAME}"
        )


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
