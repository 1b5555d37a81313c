"""A request to the engine, and the nodes that work on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from opensearchpy import TransportError

NO_COPY = "no data nodes with"
"""The engine's words where a shard has no copy on the only nodes that a search may use."""

SEVERAL = "/_msearch"
"""The path of several searches in one request."""


class Request(msgspec.Struct, frozen=True):
    """A request, without its host."""

    method: str
    path: str
    body: bytes | None
    params: dict[str, str]

    def at(self, preference: str) -> Request:
        """The request with the nodes that work on it, where the engine takes such a parameter.

        Args:
            preference: See `Hosts.preference`.
        """
        # a point in time has its nodes already
        if not preference or self.path.startswith("/_search") or self.method == "DELETE":
            return self
        if self.path == SEVERAL:
            # each search has a line of its own for this
            start = b'{"preference":%s,"index":' % msgspec.json.encode(preference)
            body = (self.body or b"").replace(b'{"index":', start)
            return msgspec.structs.replace(self, body=body)
        if not any(part in self.path for part in ("/_search", "/_doc/")):
            # what the engine answers from the state of the cluster has no such parameter
            return self
        return msgspec.structs.replace(self, params={**self.params, "preference": preference})


def lacks_a_copy(request: Request, answer: Any) -> bool:
    """Whether a search of several in one request was refused since nodes have no copy of a shard.

    Args:
        request: The request.
        answer: Its answer, in the form that is expected.
    """
    if request.path != SEVERAL:
        return False
    return any(NO_COPY in str(each.get("error", "")) for each in answer["responses"])


def reason_of(error: TransportError) -> tuple[str, str]:
    """The engine's name for an error, and its words."""
    info = error.info
    told = info.get("error") if isinstance(info, dict) else None
    if isinstance(told, dict):
        causes = told.get("root_cause")
        first = causes[0] if isinstance(causes, list) and causes else None
        cause = first if isinstance(first, dict) else told
        return str(cause.get("type", "")), str(cause.get("reason", ""))[:300]
    return "", str(told or error.error)[:300]
