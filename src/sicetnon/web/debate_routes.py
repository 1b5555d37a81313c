"""The protocol of retrieval-augmented debating: `POST /` with messages."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends

from sicetnon.library.debating import read_messages, respond
from sicetnon.web.fields import json_alone
from sicetnon.web.problems import documented
from sicetnon.web.state import Served

router = APIRouter(responses=documented(400, 415, 422, 503), dependencies=[Depends(json_alone)])

_EXAMPLE = {"messages": [{"role": "user", "content": "I think that zoos should be closed."}]}
# what clients should send; more is understood
_MESSAGES: dict[str, Any] = {
    "type": "object",
    "required": ["messages"],
    "properties": {
        "messages": {
            "type": "array",
            "minItems": 1,
            "maxItems": 1000,
            "items": {
                "type": "object",
                "required": ["role", "content"],
                "properties": {
                    "role": {"enum": ["user", "assistant"]},
                    "content": {"type": "string", "pattern": "[A-Za-z]", "maxLength": 20_000},
                },
            },
        }
    },
}


@router.post("/")
async def debate(
    served: Served, request: Annotated[Any, Body(examples=[_EXAMPLE], json_schema_extra=_MESSAGES)]
) -> dict[str, Any]:
    """The next turn of a debate: at most 60 words, and the arguments that they rest on."""
    messages = read_messages(request)
    served.noted(messages[-1].content)
    turn = await served.on_index(lambda index: respond(index, messages))
    return turn.as_json()
