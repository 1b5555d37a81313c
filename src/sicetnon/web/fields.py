"""Limits on the fields of requests, as in the OpenAPI document.

The routes check texts themselves, after white space is folded, with messages of their own.
"""

from __future__ import annotations

from typing import Any

from pydantic import BeforeValidator
from starlette.requests import Request

from sicetnon.web.problems import Problem
from sicetnon.web.settings import Settings

EXAMPLE = "Should teachers get tenure?"
# separators and the next-line mark are white space here, but not for every reader of a pattern
_NOT_BLANK, _WITH_A_LETTER = r"[^\s\u001c-\u001f\u0085]", r"[^\W\d_]"


def _text(most: int, pattern: str) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "maxLength": most, "pattern": pattern}


QUESTION = _text(Settings.question_letters, _NOT_BLANK)
"""The schema of a question."""
TEXT = _text(Settings.text_letters, _NOT_BLANK)
"""The schema of a text to annotate."""
CLAIM = _text(Settings.text_letters, _WITH_A_LETTER)
"""The schema of a text to reply to."""


def _no_truth(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("expected a whole number")
    return value


WHOLE = BeforeValidator(_no_truth)
"""Marks a whole number in JSON, for which `true` is none."""


async def json_alone(request: Request) -> None:
    """Refuse a body that is no JSON.

    Raises:
        Problem: The content type is another (415).
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    is_json = kind.startswith("application/") and kind.endswith(("/json", "+json"))
    if request.method == "POST" and not is_json:
        found = f"found {kind[:80]!r}" if kind else "found none"
        raise Problem(415, f"the content type: {found}; expected application/json")
