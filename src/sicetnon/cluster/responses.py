"""Responses of the search engine: their form, their errors, and shards that give no answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import defstruct

from sicetnon.errors import ServiceError, counted

if TYPE_CHECKING:
    from opensearchpy import TransportError

BUSY = (429, 500, 502, 503, 504)
"""Statuses of a cluster that may answer a little later; 500 where a node has just gone."""

UNAVAILABLE = 503
"""The status where a shard has no copy that can be searched, among the nodes that may work."""

MULTI_SEARCH = "/_msearch"
"""The path of several searches in one request."""

_NO_COPY = "no data nodes with"
"""The engine's words where the only nodes that may work on a search have no copy of a shard."""


class ClusterError(ServiceError):
    """A cluster gave no usable response.

    Attributes:
        status: The status of the response; 0 if there was none, -1 if it is none of the engine.
        kind: The engine's name for the error.
    """

    def __init__(self, message: str, status: int = 0, kind: str = ""):
        super().__init__(message)
        self.status, self.kind = status, kind

    @property
    def may_pass(self) -> bool:
        """Whether the same request may succeed later, or at another host."""
        return self.status in (0, *BUSY)


_Object = dict[str, Any]


class _Aliases(msgspec.Struct):
    aliases: _Object


class _Settings(msgspec.Struct):
    settings: dict[str, _Object]


class _Outcome(msgspec.Struct):
    status: int


_Shards = defstruct(
    "_Shards",
    [("total", int), ("successful", int), ("failed", int), ("failures", list[_Object], [])],
)
_Hits = defstruct("_Hits", [("hits", list[Any])])
_Sharded = defstruct("_Sharded", [("_shards", _Shards)])
_Search = defstruct("_Search", [("hits", _Hits), ("aggregations", _Object, {})], bases=(_Sharded,))
_Failed = defstruct("_Failed", [("error", _Object), ("status", int, 500)])
_Written = defstruct("_Written", [("_seq_no", int), ("_primary_term", int)])
_Source = defstruct("_Source", [("record", str)])
_FORMS: dict[tuple[str, str], Any] = {
    ("POST", "_search"): _Search,
    ("POST", "_msearch"): defstruct("_Responses", [("responses", list[_Object])]),
    ("POST", "point_in_time"): defstruct("_Point", [("pit_id", str)], bases=(_Sharded,)),
    ("POST", "_bulk"): defstruct("_Items", [("items", list[dict[str, _Outcome]])]),
    ("POST", "_refresh"): _Sharded,
    ("GET", "_stats"): _Sharded,
    ("GET", "_alias"): dict[str, _Aliases],
    ("GET", "_settings"): dict[str, _Settings],
    ("GET", "_doc"): defstruct("_Presence", [("found", bool)]),
    ("PUT", "_doc"): _Written,
}
"""The forms of responses, by method and action; any other response is an object."""

_DOCUMENT = defstruct("_Document", [("_source", _Source)], bases=(_Written,))
"""The form of a document that is there."""
# msgspec learns all types at import: two threads that are the first to use one crash it
_LEARNT = [msgspec.json.Decoder(each) for each in (*_FORMS.values(), _DOCUMENT, _Failed)]


def is_expected(method: str, path: str, response: Any) -> bool:
    """Whether the search engine answers a request with a response of this form."""
    index, *rest = path.lstrip("/").split("/")
    action = "point_in_time" if path.endswith("/point_in_time") else rest[0] if rest else index
    try:
        msgspec.convert(response, _FORMS.get((method, action), _Object))
        if action == "_msearch":
            for each in response["responses"]:
                msgspec.convert(each, _Failed if "error" in each else _Search)
        elif action == "_doc" and response.get("found"):
            msgspec.convert(response, _DOCUMENT)
    except msgspec.ValidationError:
        return False
    if action == "_search":
        return _has_fields(response)
    if action == "_msearch":
        return all("error" in each or _has_fields(each) for each in response["responses"])
    return (method, action) != ("GET", "_settings") or index in response


def _has_fields(search: dict[str, Any]) -> bool:
    hits = search["hits"]["hits"]
    return all(isinstance(hit, dict) and isinstance(hit.get("fields", {}), dict) for hit in hits)


def status_of(error: TransportError) -> int:
    """The status of an error; 0 if there was no response, 503 if nodes lack a shard."""
    status = error.status_code if isinstance(error.status_code, int) else 0
    return UNAVAILABLE if _NO_COPY in reason_of(error)[1] else status


def reason_of(error: TransportError) -> tuple[str, str]:
    """The engine's name for an error, and its words."""
    info = error.info
    details = info.get("error") if isinstance(info, dict) else None
    if isinstance(details, dict):
        causes = details.get("root_cause")
        first = causes[0] if isinstance(causes, list) and causes else None
        cause = first if isinstance(first, dict) else details
        return str(cause.get("type", "")), str(cause.get("reason", ""))[:300]
    return "", str(details or error.error)[:300]


def lacks_a_shard(path: str, response: Any) -> bool:
    """Whether one of several searches in a request failed because no copy of a shard answers."""
    return path == MULTI_SEARCH and any(
        each.get("status") == UNAVAILABLE or _NO_COPY in str(each.get("error", ""))
        for each in response["responses"]
    )


@dataclass(eq=False)
class PartialResults:
    """Whether results may lack shards, and how many shards they lacked so far.

    Attributes:
        is_allowed: Whether results may lack shards.
        lacking: The most shards that a response lacked.
        shards: The number of shards that were searched then.
    """

    is_allowed: bool = False
    lacking: int = 0
    shards: int = 0

    @property
    def params(self) -> dict[str, str]:
        """The parameter of a search."""
        return {"allow_partial_search_results": str(self.is_allowed).lower()}

    def checked(self, response: dict[str, Any], location: object) -> dict[str, Any]:
        """The response of a search; an error if it lacks shards, and must not, or lacks all."""
        counts = response["_shards"]
        total, missing = int(counts["total"]), int(counts["total"]) - counts["successful"]
        lacking = max(counts["failed"], missing, bool(response.get("timed_out")))
        if not lacking:
            return response
        if not self.is_allowed or lacking >= total:
            failures = counts.get("failures", [])
            reasons = [str(each.get("reason", {}).get("reason")) for each in failures]
            why = f": {reasons[0][:200]}" if reasons else ""
            message = f"{location}: {_missing_shards(lacking, total)} in time{why}"
            raise ClusterError(message, UNAVAILABLE)
        if lacking >= self.lacking:
            self.lacking, self.shards = lacking, total
        return response

    def __str__(self) -> str:
        return _missing_shards(self.lacking, self.shards) if self.lacking else ""


COMPLETE = PartialResults()
"""Every shard must answer."""


def _missing_shards(lacking: int, shards: int) -> str:
    return f"{lacking} of {counted(shards, 'shard')} gave no answer"
