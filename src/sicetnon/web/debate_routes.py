"""The protocol of retrieval-augmented debating: `POST /` with messages."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body

from sicetnon.library.debating import read_messages, respond
from sicetnon.web.problems import documented
from sicetnon.web.state import Served

router = APIRouter(responses=documented(422, 503))

_EXAMPLE = {"messages": [{"role": "user", "content": "I think that zoos should be closed."}]}


@router.post("/")
async def debate(
    served: Served, request: Annotated[Any, Body(examples=[_EXAMPLE])]
) -> dict[str, Any]:
    """The next turn of a debate: at most 60 words, and the arguments that they rest on."""
    messages = read_messages(request)
    turn = await served.on_index(lambda index: respond(index, messages))
    return turn.as_json()
