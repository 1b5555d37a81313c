"""Responses of the search engine: their form, their errors, and shards that are missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from sicetnon.errors import ServiceError, counted

if TYPE_CHECKING:
    from opensearchpy import TransportError

SEVERAL = "/_msearch"
"""The path of several searches in one request."""

UNAVAILABLE = 503
"""The status where a shard has no copy that can be searched, among the nodes that may work."""

_NO_COPY = "no data nodes with"
"""The engine's words where the only nodes that may work on a search have no copy of a shard."""


BUSY = (429, 500, 502, 503, 504)
"""Statuses of a cluster that may answer a little later; 500 where a node has just gone."""


class ClusterError(ServiceError):
    """A cluster gave no usable answer.

    Args:
        message: The fault, and what to do.
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


class _Shards(msgspec.Struct):
    total: int
    successful: int
    failed: int
    failures: list[dict[str, Any]] = []


class _Hits(msgspec.Struct):
    hits: list[Any]


class _Sharded(msgspec.Struct):
    shards: _Shards = msgspec.field(name="_shards")


class _Search(_Sharded):
    hits: _Hits
    aggregations: dict[str, Any] = {}


class _Responses(msgspec.Struct):
    responses: list[dict[str, Any]]


class _Failed(msgspec.Struct):
    error: dict[str, Any]
    status: int = 500


class _Point(_Sharded):
    pit_id: str


class _Written(msgspec.Struct):
    sequence: int = msgspec.field(name="_seq_no")
    term: int = msgspec.field(name="_primary_term")


class _Record(msgspec.Struct):
    record: str


class _Document(_Written):
    source: _Record = msgspec.field(name="_source")


class _Aliases(msgspec.Struct):
    aliases: dict[str, Any]


class _Settings(msgspec.Struct):
    settings: dict[str, dict[str, Any]]


class _Outcome(msgspec.Struct):
    status: int


class _Items(msgspec.Struct):
    items: list[dict[str, _Outcome]]


def is_expected(method: str, path: str, answer: Any) -> bool:
    """Whether the search engine answers a request in this form.

    Args:
        method: The HTTP method of the request.
        path: Its path.
        answer: The decoded answer.
    """
    try:
        _convert(method, path, answer)
    except (msgspec.ValidationError, LookupError):
        return False
    return True


_FORMS: dict[tuple[str, str], Any] = {
    ("POST", "point_in_time"): _Point,
    ("PUT", "_doc"): _Written,
    ("GET", "_alias"): dict[str, _Aliases],
    ("POST", "_bulk"): _Items,
    ("POST", "_refresh"): _Sharded,
    ("GET", "_stats"): _Sharded,
}


def _convert(method: str, path: str, answer: Any) -> None:
    """Convert an answer, for the errors that this raises."""
    index, *rest = path.lstrip("/").split("/")
    action = "point_in_time" if path.endswith("/point_in_time") else rest[0] if rest else index
    answer = msgspec.convert(answer, _FORMS.get((method, action), dict[str, Any]))
    if action == "_search":
        _check_search(answer)
    elif action == "_msearch":
        for each in msgspec.convert(answer, _Responses).responses:
            _check_one_of_several(each)
    elif (method, action) == ("GET", "_doc"):
        if msgspec.convert(answer["found"], bool):
            msgspec.convert(answer, _Document)
    elif (method, action) == ("GET", "_settings"):
        msgspec.convert(answer[index], _Settings)


def _check_one_of_several(answer: dict[str, Any]) -> None:
    if "error" in answer:
        msgspec.convert(answer, _Failed)
    else:
        _check_search(answer)


def _check_search(answer: dict[str, Any]) -> None:
    hits = msgspec.convert(answer, _Search).hits.hits
    if not all(isinstance(hit, dict) and isinstance(hit.get("fields", {}), dict) for hit in hits):
        raise LookupError


def status_of(error: TransportError) -> int:
    """The status of an error; 0 where there was no answer, 503 where nodes lack a shard."""
    status = error.status_code if isinstance(error.status_code, int) else 0
    return UNAVAILABLE if _NO_COPY in reason_of(error)[1] else status


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


def lacks_a_shard(path: str, answer: Any) -> bool:
    """Whether a search of several failed because no copy of a shard answers.

    Args:
        path: The path of the request.
        answer: Its answer, in the form that is expected.
    """
    return path == SEVERAL and any(
        each.get("status") == UNAVAILABLE or _NO_COPY in str(each.get("error", ""))
        for each in answer["responses"]
    )


@dataclass(eq=False)
class Tolerance:
    """The shards that answers may lack, and those that they lacked.

    Attributes:
        is_partial: Whether answers may lack shards.
        lacking: The most shards that an answer lacked.
        shards: The number of shards that were asked then.
    """

    is_partial: bool = False
    lacking: int = 0
    shards: int = 0

    @property
    def params(self) -> dict[str, str]:
        """The parameter of a search."""
        return {"allow_partial_search_results": str(self.is_partial).lower()}

    def checked(self, answer: dict[str, Any], where: object) -> dict[str, Any]:
        """An answer of a search.

        Raises:
            ClusterError: It lacks shards, and must not, or it lacks all.
        """
        found = answer["_shards"]
        total = int(found["total"])
        lacking = max(found["failed"], total - found["successful"], bool(answer.get("timed_out")))
        if not lacking:
            return answer
        if not self.is_partial or lacking >= total:
            reasons = [
                str(each.get("reason", {}).get("reason")) for each in found.get("failures", [])
            ]
            why = f": {reasons[0][:200]}" if reasons else ""
            raise ClusterError(f"{where}: {_missing_shards(lacking, total)} in time{why}", 503)
        if lacking >= self.lacking:
            self.lacking, self.shards = lacking, total
        return answer

    def __str__(self) -> str:
        return _missing_shards(self.lacking, self.shards) if self.lacking else ""


WHOLE = Tolerance()
"""Every shard must answer."""


def _missing_shards(lacking: int, shards: int) -> str:
    return f"{lacking} of {counted(shards, 'shard')} gave no answer"
