"""Several searches in one request, each with an answer or an error of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sicetnon.cluster.answers import SEVERAL
from sicetnon.cluster.connection import ClusterError, Connection, TimeLimits, lines
from sicetnon.cluster.shards import Tolerance


def search_several(
    connection: Connection,
    index: str,
    bodies: Sequence[dict[str, Any]],
    time_limits: TimeLimits,
    tolerance: Tolerance,
) -> list[dict[str, Any] | ClusterError]:
    """The answer or the error of each search.

    Args:
        connection: The cluster.
        index: The engine's index.
        bodies: The searches.
        time_limits: Time limits of the request and of its retries.
        tolerance: Whether shards may be lacking.

    Raises:
        ClusterError: There is no usable answer to the request.
    """
    header = {"index": index, "allow_partial_search_results": tolerance.is_partial}
    data = lines([part for body in bodies for part in (header, body)])
    found = connection.ask("POST", SEVERAL, data, time_limits=time_limits)
    return [_checked(answer, connection, tolerance) for answer in found["responses"]]


def _checked(
    answer: dict[str, Any], connection: Connection, tolerance: Tolerance
) -> dict[str, Any] | ClusterError:
    if "error" in answer:
        reason = str(answer["error"].get("reason"))[:300]
        kind = str(answer["error"].get("type", ""))
        message = f"{connection.address}: status {answer.get('status')}: {reason}"
        return ClusterError(message, int(answer.get("status", 500)), kind)
    try:
        return tolerance.checked(answer, connection.address)
    except ClusterError as error:
        return error
