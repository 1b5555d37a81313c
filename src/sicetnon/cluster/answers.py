"""Check that answers come from the search engine, and from no other server at its address."""

from __future__ import annotations

from typing import Any

import msgspec


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


class _Found(_Written):
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
        _check(method, path, answer)
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


def _check(method: str, path: str, answer: Any) -> None:
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
            msgspec.convert(answer, _Found)
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
