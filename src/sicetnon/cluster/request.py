"""A request to the engine, and the nodes that work on it."""

from __future__ import annotations

import msgspec

from sicetnon.cluster.answers import SEVERAL

ONLY, PREFERRED = "_only_nodes", "_prefer_nodes"
"""The engine's words: only these nodes work on a search, or these before others."""

_FEW = "2"
"""Number of searches of a request that run at a time where nodes that hang may be asked."""


class Request(msgspec.Struct, frozen=True):
    """A request, without its host.

    Attributes:
        is_limited: Whether only the named nodes work on it.
    """

    method: str
    path: str
    body: bytes | None
    params: dict[str, str]
    is_limited: bool = False

    def at(self, nodes: str, is_limited: bool = True) -> Request:
        """The request with the nodes that work on it, where the engine takes such a parameter.

        Args:
            nodes: The ids of the nodes, with commas between them; empty for any.
            is_limited: Whether no other node may work on it. A request for a partial answer is
                never limited.
        """
        # a point in time has its nodes already
        if not nodes or self.path.startswith("/_search") or self.method == "DELETE":
            return self
        is_limited = is_limited and self.params.get("allow_partial_search_results") != "true"
        preference = f"{ONLY if is_limited else PREFERRED}:{nodes}"
        body, params = self.body, self.params
        if self.path == SEVERAL:
            # each search has a line of its own for this
            start = b'{"preference":%s,"index":' % msgspec.json.encode(preference)
            body = (body or b"").replace(b'{"index":', start)
            if not is_limited:
                # what a node has no room for goes to the next copy, perhaps on a node that is gone
                params = {**params, "max_concurrent_searches": _FEW}
        elif any(part in self.path for part in ("/_search", "/_doc/")):
            params = {**params, "preference": preference}
        else:
            # what the engine answers from the state of the cluster has no such parameter
            return self
        return Request(self.method, self.path, body, params, is_limited)
