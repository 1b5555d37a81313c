"""Requests to a cluster: retries on other hosts, time limits, and errors of one line."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from sicetnon.cluster.address import Address
from sicetnon.cluster.credentials import PREFIX, Credentials, read_credentials
from sicetnon.errors import MissingExtraError, ServiceError, UsageError

if TYPE_CHECKING:
    from opensearchpy import OpenSearch, TransportError

GUIDE = "docs/how-to/search-a-cluster.md"
BUSY = (429, 502, 503, 504)
"""Statuses of a cluster that may answer a little later."""

_DEAD_SECONDS = 10
_LOG = logging.getLogger("sicetnon.cluster")
_LONGEST_PAUSE = 8.0


class ClusterError(ServiceError):
    """A cluster gave no usable answer.

    Args:
        message: What happened, and what to do.
        status: The status of the answer; 0 where there was none.
        kind: The engine's name for the error.
    """

    def __init__(self, message: str, status: int = 0, kind: str = ""):
        super().__init__(message)
        self.status, self.kind = status, kind

    @property
    def may_pass(self) -> bool:
        """Whether the same request may succeed later, or at another host."""
        return self.status in (0, *BUSY)


class Patience(msgspec.Struct, frozen=True):
    """How long a request is tried.

    Attributes:
        attempt: Seconds for one host; then another one is asked.
        total: Seconds for all attempts.
    """

    attempt: float
    total: float


USUAL = Patience(30.0, 60.0)


class Connection:
    """Sends requests to the hosts of an address. Threads may share it.

    Args:
        address: The cluster and the index.
        credentials: Its secrets; read from the environment when left out.
        concurrency: Number of requests at a time.

    Raises:
        MissingExtraError: The client is not installed (extra `cluster`).
    """

    def __init__(
        self, address: Address, credentials: Credentials | None = None, concurrency: int = 16
    ):
        self.address = address
        self.credentials = credentials or read_credentials(address)
        self._client = _client(address, self.credentials, concurrency)

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        params: Mapping[str, str] | None = None,
        patience: Patience = USUAL,
        is_missing_fine: bool = False,
    ) -> Any:
        """Send a request; a host that fails or is slow is left for another.

        Args:
            method: The HTTP method.
            path: Behind the host, with its leading slash.
            body: JSON, or lines of JSON as bytes.
            params: Parameters of the address.
            patience: How long the request is tried.
            is_missing_fine: Whether None is given where the thing is not there.

        Raises:
            ClusterError: There is no usable answer.
        """
        end = time.monotonic() + patience.total
        attempt = 0
        while True:
            left = max(end - time.monotonic(), 0.05)
            try:
                return self._once(method, path, body, params, min(patience.attempt, left))
            except ClusterError as error:
                if error.status == 404 and is_missing_fine:
                    return None
                attempt += 1
                pause = 0.0 if attempt < len(self.address.hosts) else paused(attempt)
                if not error.may_pass or time.monotonic() + pause >= end:
                    raise
                _LOG.info("trying again: %s", error)
                time.sleep(pause)

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def _once(
        self, method: str, path: str, body: Any, params: Mapping[str, str] | None, seconds: float
    ) -> Any:
        from opensearchpy.exceptions import SerializationError, TransportError

        is_ready = body is None or isinstance(body, bytes)
        try:
            return self._client.transport.perform_request(
                method,
                path,
                params=dict(params or {}),
                body=body if is_ready else msgspec.json.encode(body),
                timeout=seconds,
            )
        except TransportError as error:
            raise self._translated(error) from None
        except SerializationError:
            raise ClusterError(f"{self.address}: the answer is no JSON") from None

    def _translated(self, error: TransportError) -> ClusterError:
        from opensearchpy.exceptions import ConnectionTimeout, SSLError

        status = error.status_code if isinstance(error.status_code, int) else 0
        kind, reason = _reason(error)
        if isinstance(error, SSLError):
            what = f"the certificate of the cluster is not trusted; name its CA in {PREFIX}CA"
            status = -1
        elif isinstance(error, ConnectionTimeout):
            what = "a host does not answer in time"
        elif status == 0:
            other = "http" if self.address.scheme == "https" else "https"
            what = f"no host answers; is it running, and does it speak {other}?"
        elif status == 401:
            what = f"refuses the user or the password; see {PREFIX}USER and {PREFIX}PASSWORD"
        elif status == 403:
            what = f"a right is missing ({reason}); {GUIDE} has the roles"
        else:
            what = f"status {status}: {reason}"
        return ClusterError(self.credentials.hide(f"{self.address}: {what}"), status, kind)


def paused(attempt: int, shortest: float = 0.1) -> float:
    """Seconds to wait before an attempt: twice as many each time, with jitter."""
    return min(shortest * 2.0**attempt, _LONGEST_PAUSE) * random.uniform(0.5, 1.0)


def lines(parts: Sequence[Any]) -> bytes:
    """Bodies as lines of JSON."""
    return b"".join(msgspec.json.encode(part) + b"\n" for part in parts)


def _reason(error: TransportError) -> tuple[str, str]:
    """The engine's name for an error, and its words."""
    info = error.info
    told = info.get("error") if isinstance(info, dict) else None
    if isinstance(told, dict):
        causes = told.get("root_cause") or [told]
        cause = causes[0] if isinstance(causes[0], dict) else told
        return str(cause.get("type", "")), str(cause.get("reason", ""))[:300]
    return "", str(told or error.error)[:300]


def _client(address: Address, credentials: Credentials, concurrency: int) -> OpenSearch:
    try:
        from opensearchpy import JSONSerializer, OpenSearch
    except ImportError:
        raise MissingExtraError("an index on a cluster", "cluster") from None

    class Serializer(JSONSerializer):
        def loads(self, s: str) -> Any:
            from opensearchpy.exceptions import SerializationError

            try:
                return msgspec.json.decode(s)
            except msgspec.DecodeError as error:
                raise SerializationError(s[:200], error) from None

        def dumps(self, data: Any) -> Any:
            return data

    # what it logs would reach people through the interpreter's last resort
    logging.getLogger("opensearch").addHandler(logging.NullHandler())
    settings: dict[str, Any] = {}
    if address.scheme == "https":
        settings |= {"use_ssl": True, "verify_certs": credentials.verify, "ssl_show_warn": False}
        settings |= {
            "ca_certs": credentials.ca or None,
            "client_cert": credentials.certificate or None,
            "client_key": credentials.key or None,
        }
        if not credentials.verify:
            settings["ssl_assert_hostname"] = False
    if credentials.user:
        settings["http_auth"] = (credentials.user, credentials.password.reveal())
    elif credentials.api_key:
        settings["headers"] = {"Authorization": f"ApiKey {credentials.api_key.reveal()}"}
    try:
        return OpenSearch(
            hosts=[{"host": host.strip("[]"), "port": port} for host, port in address.hosts],
            serializer=Serializer(),
            max_retries=0,
            retry_on_timeout=True,
            dead_timeout=_DEAD_SECONDS,
            timeout_cutoff=1,
            pool_maxsize=concurrency,
            http_compress=False,
            **settings,
        )
    except (OSError, ValueError) as error:
        raise UsageError(f"{address}: the certificates cannot be used: {error}") from None
