"""Settings of the server: its limits, what it serves, the path below which a proxy shows it."""

from __future__ import annotations

import functools
import ipaddress
import re
import secrets
import socket
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from sicetnon.errors import UsageError

LOOPBACK = ("localhost", "127.0.0.1", "[::1]", "::1")

# The path below which a proxy shows the server is taken off requests and put before links; routes
# and templates know nothing of it. A proxy may take it off itself, and names it in the header
# `X-Forwarded-Prefix`; without the header it is the one that the server was started with.
PREFIX: ContextVar[str] = ContextVar("prefix", default="")
"""The path of the request at hand; empty without a proxy."""

_PATH = re.compile(r"(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+")
# texts in templates are escaped: none holds a quote
_LINK = re.compile(r'((?:href|src|action|hx-get)=")(?=/(?!/))')


@dataclass(frozen=True)
class Settings:
    """Settings of the server.

    Attributes:
        host: The address that it is bound to.
        allowed_hosts: Names that the Host header of a request may have, beside addresses and the
            names of this machine.
        threads: Requests that are worked on at once.
        waiting: Requests that may wait for a thread; more are refused with 503.
        seconds: Seconds within which the work on a request must begin (503), after which it is
            stopped (503), after which its body must be whole (408), and within which the client
            must take a part of the answer.
        grace_seconds: Seconds that requests have to end in when the server is stopped.
        head_seconds: Seconds within which a connection must have sent the head of a request.
        cached: Answers that are kept until the index changes.
        cached_letters: Letters of the texts of all of them at most.
        question_letters: Letters of a question at most.
        text_letters: Letters of any other text at most.
        body_bytes: Bytes of a body at most.
        upload_bytes: Bytes of a body with runs or judgments at most.
        held_bytes: Bytes of the bodies of all requests at most, from their first byte to the end
            of the answer; a request beyond is refused with 503.
        token: What a request must show to judge and to upload, unless the server is bound to this
            machine alone.
        shows_token: Whether the start prints the token.
        logs_questions: Whether the log holds the questions and texts of requests.
        root_path: The path below which a proxy shows the server, such as `/debates`; the header
            `X-Forwarded-Prefix` of a request takes precedence.
        judging: The judging file of the page Judge.
        runs: Runs of the page Runs.
        qrels: The judgments that they are scored by.
        topics: The questions, for the page Runs.
    """

    host: str = "127.0.0.1"
    allowed_hosts: tuple[str, ...] = ()
    threads: int = 2
    waiting: int = 32
    seconds: float = 30.0
    grace_seconds: int = 10
    head_seconds: float = 10.0
    cached: int = 256
    cached_letters: int = 1 << 24
    question_letters: int = 2_000
    text_letters: int = 20_000
    body_bytes: int = 1 << 20
    upload_bytes: int = 1 << 25
    held_bytes: int = 1 << 26
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    shows_token: bool = True
    logs_questions: bool = False
    root_path: str = ""
    judging: Path | None = None
    runs: tuple[Path, ...] = ()
    qrels: tuple[Path, ...] = ()
    topics: Path | None = None

    def __post_init__(self) -> None:
        """Check the names of hosts.

        Raises:
            UsageError: They are given for a server of this machine alone.
        """
        if self.allowed_hosts and self.is_local:
            # whoever reached it by such a name could judge and upload without the token
            raise UsageError(
                "found names of hosts for a server that this machine alone can reach; add --host, "
                "or leave --allow-host out"
            )

    @property
    def is_local(self) -> bool:
        """Whether nobody but this machine can reach it."""
        return self.host in LOOPBACK

    def answers_to(self, host: str) -> bool:
        """Whether a request may name a host.

        A page of another site reaches this server by a name of its own, which it lets mean the
        address of this machine. It cannot do so by an address, or by a name of this machine.

        Args:
            host: The Host header, without the port, in lower case.
        """
        if self.is_local:
            return host in LOOPBACK
        names = (*LOOPBACK, self.host, *self.allowed_hosts, *_own_names())
        return host in map(str.lower, names) or _is_address(host.strip("[]"))


@functools.cache
def _own_names() -> tuple[str, ...]:
    name = socket.gethostname()
    # as others in a local network call it
    return name, f"{name.partition('.')[0]}.local"


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def is_prefix(path: str) -> bool:
    """Whether a path can be a prefix: of plain names, with a slash before each."""
    return _PATH.fullmatch(path) is not None


def prefix_of(headers: Mapping[str, str], root_path: str) -> str:
    """The prefix of a request, by its header or else as the server was started."""
    given = headers.get("x-forwarded-prefix", "").partition(",")[0].strip().rstrip("/")
    return given if is_prefix(given) else root_path


def without_prefix(path: str, prefix: str) -> str:
    """A path without the prefix, which some proxies leave there."""
    return path[len(prefix) :] or "/" if f"{path}/".startswith(f"{prefix}/") else path


def linked(html: str) -> str:
    """HTML whose links and forms lead to addresses below the prefix."""
    prefix = PREFIX.get()
    return _LINK.sub(rf"\1{prefix}", html) if prefix else html


def located(address: str) -> str:
    """An address of this server, below the prefix; others unchanged."""
    is_own = address.startswith("/") and not address.startswith("//")
    return PREFIX.get() + address if is_own else address
