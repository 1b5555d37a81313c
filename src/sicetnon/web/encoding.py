"""Answers that may be long are encoded in a thread, so that they hold nobody up."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import msgspec
from fastapi.responses import Response

from sicetnon.web.rendering import page


async def json_answer(make: Callable[[], Any]) -> Response:
    """An answer in JSON.

    Args:
        make: Gives the value; it is called in the thread.
    """
    return await asyncio.to_thread(lambda: Response(_encoded(make()), media_type=_JSON))


async def page_answer(template: str, *, section: str, **shown: Any) -> Response:
    """A page; the arguments are those of `page`."""
    return await asyncio.to_thread(page, template, section=section, **shown)


def _encoded(value: Any) -> bytes:
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:  # half a character, which only an escape can write
        return json.dumps(value).encode()


_JSON = "application/json"
