"""The address of an index on a cluster, and the credentials for it.

An address is `opensearch+https://host:9200,host:9200/NAME`. Credentials come from the environment
or from a file, and never show themselves.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from sicetnon.argument_checks import check_path
from sicetnon.errors import DataError, UsageError
from sicetnon.operating_system import is_loopback

if TYPE_CHECKING:
    from sicetnon.services.api_key import ApiKey

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

PREFIX = "SICETNON_CLUSTER_"
_FILE = f"{PREFIX}FILE"
_TEXTS = ("user", "password", "api_key", "ca", "certificate", "key")
_SETTINGS = (*_TEXTS, "verify", "seconds")
_FILES = ("ca", "certificate", "key")
_NO = ("no", "false", "0")
_SECONDS = 2.6
"""No search takes three seconds, its own work on a busy machine included."""


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


Location: TypeAlias = str | PathLike[str] | Address
"""The location of an index: a folder, or an address."""


def is_address(location: Location) -> bool:
    """Whether a location is meant as an address of a cluster, even a malformed one."""
    if isinstance(location, Address):
        return True
    given: object = location
    if not isinstance(given, str | PathLike):
        kind = type(given).__name__
        raise UsageError(f"found {kind} as the place of an index; expected a folder, or {_FORM}")
    text = fspath(location)
    if text.startswith(_START) or _MISTAKEN.match(text):
        return True
    check_path(text, "the place of an index")
    return False


def parse_address(location: Location) -> Address:
    """The address in a text; an error does not repeat what may be a password."""
    if isinstance(location, Address):
        return location
    text = fspath(location)
    if "@" in text:
        raise UsageError(
            "found a user or a password in the address of a cluster; set SICETNON_CLUSTER_USER and "
            "SICETNON_CLUSTER_PASSWORD, or name a file in SICETNON_CLUSTER_FILE"
        )
    match = _ADDRESS.fullmatch(text)
    if match is None:
        raise UsageError(f"found the address {_censored(text)!r}; expected {_FORM}")
    if not _NAME.fullmatch(match["name"]):
        raise UsageError(
            f"found the index name {_censored(match['name'])!r}; expected small letters, digits, - "
            "and _, at most 100, a letter or digit first"
        )
    hosts = tuple(_host(host) for host in match["hosts"].split(","))
    return Address(match["scheme"], hosts, match["name"])


def _host(text: str) -> tuple[str, int]:
    match = _HOST.fullmatch(text)
    port = int((match and match["port"]) or _DEFAULT_PORT)
    if match is None or not 0 < port < 1 << 16:
        raise UsageError(f"found the host {_censored(text)!r} in an address; expected {_FORM}")
    return match["host"], port


def _censored(text: str) -> str:
    """A piece of an address for a message, without what may be a password."""
    return _NO_PORT.sub(":…", re.sub(r"[?#].*", "…", text, flags=re.DOTALL))


@dataclass(frozen=True)
class Credentials:
    """The credentials of a cluster.

    Attributes:
        user: The name of a user, or the empty string.
        password: Their password.
        api_key: A key in place of user and password.
        ca: A file with the certificates to trust; those of the system when empty.
        certificate: A file with the client's own certificate, or the empty string.
        key: The file with its private key.
        verify: Whether the certificates of hosts are verified.
        seconds: The most seconds that a search waits for the cluster.
    """

    user: str
    password: ApiKey
    api_key: ApiKey
    ca: str = ""
    certificate: str = ""
    key: str = ""
    verify: bool = True
    seconds: float = _SECONDS

    def hide(self, text: str) -> str:
        """A text without the secrets."""
        import base64

        from sicetnon.services.api_key import HIDDEN

        if self.user and self.password:
            # in the form in which it is sent, and in which a host may send it back
            sent = f"{self.user}:{self.password.reveal()}".encode()
            text = text.replace(base64.b64encode(sent).decode(), HIDDEN)
        return self.api_key.hide(self.password.hide(text))

    @property
    def is_empty(self) -> bool:
        """Whether no secret is set."""
        return not (self.user or self.password or self.api_key)


def read_credentials(address: Address, environ: Mapping[str, str] = os.environ) -> Credentials:
    """The credentials for a cluster; an error if they would travel in the clear.

    The variables SICETNON_CLUSTER_USER, _PASSWORD, _API_KEY, _CA, _CERTIFICATE, _KEY and _VERIFY
    come before the keys `user`, `password`, … of the TOML file that SICETNON_CLUSTER_FILE names.
    """
    from sicetnon.services.api_key import ApiKey  # every command loads this file for addresses

    settings: dict[str, Any] = {}
    if environ.get(_FILE):
        settings = _read_file(Path(environ[_FILE]))
    for name in _SETTINGS:
        if value := environ.get(f"{PREFIX}{name.upper()}"):
            settings[name] = value
    texts = {name: str(settings.get(name, "")) for name in _TEXTS}
    credentials = Credentials(
        texts["user"],
        _password(texts["password"]),
        ApiKey("the cluster", texts["api_key"]),
        texts["ca"],
        texts["certificate"],
        texts["key"],
        str(settings.get("verify", "yes")).lower() not in _NO,
        _seconds(settings.get("seconds", _SECONDS)),
    )
    _refuse_contradictions(credentials, address)
    return credentials


def _password(text: str) -> ApiKey:
    from sicetnon.services.api_key import ApiKey

    try:
        return ApiKey("the cluster", text)
    except UsageError:
        raise UsageError(
            f"the password in {PREFIX}PASSWORD or its file holds white space, or letters that are "
            "not ASCII; choose another one"
        ) from None


def _seconds(value: object) -> float:
    try:
        seconds = float(str(value))
    except ValueError:
        seconds = 0.0
    if not 0.1 <= seconds <= 3600:
        raise UsageError(f"found {value!r} as {PREFIX}SECONDS; expected seconds from 0.1 to 3600")
    return seconds


def _read_file(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        # the parser's message may quote a line with a secret
        why = error.strerror if isinstance(error, OSError) else "is no TOML"
        raise DataError(f"cannot be read as the credentials of a cluster: {why}", path) from None
    if unknown := sorted(settings.keys() - set(_SETTINGS)):
        raise DataError(
            f"found {', '.join(unknown)}; expected some of {', '.join(_SETTINGS)}", path
        )
    return settings


def _refuse_contradictions(credentials: Credentials, address: Address) -> None:
    if bool(credentials.user) != bool(credentials.password):
        raise UsageError(f"expected both {PREFIX}USER and {PREFIX}PASSWORD, or neither")
    if credentials.user and credentials.api_key:
        raise UsageError(f"expected {PREFIX}API_KEY or a user with a password; found both")
    if bool(credentials.certificate) != bool(credentials.key):
        raise UsageError(f"expected both {PREFIX}CERTIFICATE and {PREFIX}KEY, or neither")
    for name in _FILES:
        file = getattr(credentials, name)
        if file and not Path(file).is_file():
            raise DataError(f"there is no such file ({PREFIX}{name.upper()})", file)
    if address.scheme == "http" and not credentials.is_empty and not address.is_local:
        raise UsageError(f"{address}: would send a password in the clear; use opensearch+https://…")
