"""Secrets for a cluster, from the environment or from a file; they never show themselves."""

from __future__ import annotations

import base64
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sicetnon.cluster.address import Address
from sicetnon.errors import DataError, UsageError
from sicetnon.services.http import HIDDEN, ApiKey

PREFIX = "SICETNON_CLUSTER_"
FILE = f"{PREFIX}FILE"
_TEXTS = ("user", "password", "api_key", "ca", "certificate", "key")
_OTHERS = ("verify", "seconds")
_FILES = ("ca", "certificate", "key")
_NO = ("no", "false", "0")
SECONDS = 2.6
"""No search takes three seconds, its own work on a busy machine included."""


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
    seconds: float = SECONDS

    def hide(self, text: str) -> str:
        """A text without the secrets."""
        if self.user and self.password:
            # as it is sent, and as a host may send it back
            sent = f"{self.user}:{self.password.reveal()}".encode()
            text = text.replace(base64.b64encode(sent).decode(), HIDDEN)
        return self.api_key.hide(self.password.hide(text))

    @property
    def is_empty(self) -> bool:
        """Whether no secret is set."""
        return not (self.user or self.password or self.api_key)


def read_credentials(address: Address, environ: Mapping[str, str] = os.environ) -> Credentials:
    """The credentials for a cluster.

    The variables SICETNON_CLUSTER_USER, _PASSWORD, _API_KEY, _CA, _CERTIFICATE, _KEY and _VERIFY
    come before the keys `user`, `password`, … of the TOML file that SICETNON_CLUSTER_FILE names.

    Raises:
        DataError: The file cannot be read, or holds something else.
        UsageError: The credentials contradict each other, or would travel in the clear.
    """
    settings: dict[str, Any] = {}
    if environ.get(FILE):
        settings = _read(Path(environ[FILE]))
    for name in (*_TEXTS, *_OTHERS):
        if value := environ.get(f"{PREFIX}{name.upper()}"):
            settings[name] = value
    texts = {name: str(settings.get(name, "")) for name in _TEXTS}
    found = Credentials(
        texts["user"],
        _password(texts["password"]),
        ApiKey("the cluster", texts["api_key"]),
        texts["ca"],
        texts["certificate"],
        texts["key"],
        str(settings.get("verify", "yes")).lower() not in _NO,
        _seconds(settings.get("seconds", SECONDS)),
    )
    _check(found, address)
    return found


def _password(text: str) -> ApiKey:
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


def _read(path: Path) -> dict[str, Any]:
    try:
        settings = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        # the parser's message may quote a line with a secret
        why = error.strerror if isinstance(error, OSError) else "is no TOML"
        raise DataError(f"cannot be read as the credentials of a cluster: {why}", path) from None
    if unknown := sorted(settings.keys() - {*_TEXTS, *_OTHERS}):
        raise DataError(
            f"found {', '.join(unknown)}; expected some of {', '.join((*_TEXTS, *_OTHERS))}", path
        )
    return settings


def _check(found: Credentials, address: Address) -> None:
    if bool(found.user) != bool(found.password):
        raise UsageError(f"expected both {PREFIX}USER and {PREFIX}PASSWORD, or neither")
    if found.user and found.api_key:
        raise UsageError(f"expected {PREFIX}API_KEY or a user with a password; found both")
    if bool(found.certificate) != bool(found.key):
        raise UsageError(f"expected both {PREFIX}CERTIFICATE and {PREFIX}KEY, or neither")
    for name in _FILES:
        file = getattr(found, name)
        if file and not Path(file).is_file():
            raise DataError(f"there is no such file ({PREFIX}{name.upper()})", file)
    if address.scheme == "http" and not found.is_empty and not address.is_local:
        raise UsageError(f"{address}: would send a password in the clear; use opensearch+https://…")
