"""The address of an index on a cluster: `opensearch+https://host:9200,host:9200/NAME`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from os import PathLike, fspath
from typing import TypeAlias

from sicetnon.errors import UsageError
from sicetnon.values import check_path, is_loopback

_START = "opensearch+"
_DEFAULT_PORT = 9200
_FORM = "opensearch+https://host:9200/NAME, several hosts with commas between them"
# a path collapses the two slashes
_ADDRESS = re.compile(r"opensearch\+(?P<scheme>https?):/{1,2}(?P<hosts>[^/]*)/(?P<name>[^/]*)/?")
_HOST = re.compile(r"(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:(?P<port>[0-9]{1,5}))?")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}")
# an address without its right beginning; it may hold a password
_MISTAKEN = re.compile(r"(opensearch|https?)[a-z+]*:/", re.IGNORECASE)
# what stands where a port does, and may be a password
_NO_PORT = re.compile(r":(?!/|[0-9]{1,9}([,/]|$))[^,/]*")


@dataclass(frozen=True)
class Address:
    """The address of an index on a cluster. It prints as people write it, and holds no secret.

    Attributes:
        scheme: `http` or `https`.
        hosts: Name and port of each host; the others are used when one is down.
        name: The name of the index.
    """

    scheme: str
    hosts: tuple[tuple[str, int], ...]
    name: str

    def __str__(self) -> str:
        hosts = ",".join(f"{host}:{port}" for host, port in self.hosts)
        return f"{_START}{self.scheme}://{hosts}/{self.name}"

    @property
    def is_local(self) -> bool:
        """Whether all hosts are this machine."""
        return all(is_loopback(host) for host, _ in self.hosts)


Place: TypeAlias = str | PathLike[str] | Address
"""The place of an index: a folder, or an address."""


def is_address(place: Place) -> bool:
    """Whether a place is meant as an address of a cluster, even a malformed one.

    Raises:
        UsageError: The place is neither a path nor an address.
    """
    if isinstance(place, Address):
        return True
    found: object = place
    if not isinstance(found, str | PathLike):
        kind = type(found).__name__
        raise UsageError(f"found {kind} as the place of an index; expected a folder, or {_FORM}")
    text = fspath(place)
    if text.startswith(_START) or _MISTAKEN.match(text):
        return True
    check_path(text, "the place of an index")
    return False


def parse_address(place: Place) -> Address:
    """The address in a text.

    Raises:
        UsageError: It is no address. The message does not repeat what may be a password.
    """
    if isinstance(place, Address):
        return place
    text = fspath(place)
    if "@" in text:
        raise UsageError(
            "found a user or a password in the address of a cluster; set SICETNON_CLUSTER_USER and "
            "SICETNON_CLUSTER_PASSWORD, or name a file in SICETNON_CLUSTER_FILE"
        )
    found = _ADDRESS.fullmatch(text)
    if found is None:
        raise UsageError(f"found the address {_shown(text)!r}; expected {_FORM}")
    if not _NAME.fullmatch(found["name"]):
        raise UsageError(
            f"found the index name {_shown(found['name'])!r}; expected small letters, digits, - "
            "and _, at most 100, a letter or digit first"
        )
    hosts = tuple(_host(host) for host in found["hosts"].split(","))
    return Address(found["scheme"], hosts, found["name"])


def _host(text: str) -> tuple[str, int]:
    found = _HOST.fullmatch(text)
    port = int((found and found["port"]) or _DEFAULT_PORT)
    if found is None or not 0 < port < 1 << 16:
        raise UsageError(f"found the host {_shown(text)!r} in an address; expected {_FORM}")
    return found["host"], port


def _shown(text: str) -> str:
    """A part of an address for a message, without what may be a password."""
    return _NO_PORT.sub(":…", re.sub(r"[?#].*", "…", text, flags=re.DOTALL))
