"""The page API: what the OpenAPI document says, for people."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from sicetnon.web.rendering import page_answer

router = APIRouter(include_in_schema=False)

Document = Mapping[str, Any]
_JSON = "application/json"


@router.get("/api", response_class=HTMLResponse)
async def api(request: Request) -> Response:
    """The page API: the OpenAPI document for people."""
    said = request.app.openapi()
    about = said["info"]["description"]
    return await page_answer("api.html.jinja", section="", about=about, operations=operations(said))


@dataclass(frozen=True)
class RequestField:
    """A field of a request.

    Attributes:
        kind: Its type, or the values that it may have.
        is_required: Whether it must be given.
        default: Its value where it is not given; empty for none.
    """

    name: str
    meaning: str
    kind: str
    is_required: bool
    default: str


@dataclass(frozen=True)
class Operation:
    """Something that the API does.

    Attributes:
        fields: The fields of its query or body.
        trial: An address that asks for an example; empty where there is none.
        body: An example of a body; empty where it has none.
    """

    method: str
    path: str
    meaning: str
    fields: Sequence[RequestField]
    trial: str
    body: str


def operations(document: Document) -> list[Operation]:
    """The operations of an OpenAPI document, in its order."""
    return [
        _operation(document, method, path, each)
        for path, methods in document["paths"].items()
        for method, each in methods.items()
    ]


def _operation(document: Document, method: str, path: str, said: Document) -> Operation:
    parameters = said.get("parameters", [])
    content = said.get("requestBody", {}).get("content", {}).get(_JSON, {})
    schema = _resolved(document, content.get("schema", {}))
    required = schema.get("required", ())
    fields = [
        _field(document, each["name"], each["schema"] | _meaning(each), each.get("required", False))
        for each in parameters
    ]
    fields += [
        _field(document, name, each, name in required)
        for name, each in schema.get("properties", {}).items()
    ]
    return Operation(
        method.upper(),
        path,
        " ".join(said.get("description", "").split()),
        fields,
        _trial(method, path, parameters),
        _body(document, schema, content),
    )


def _meaning(parameter: Document) -> dict[str, str]:
    said = parameter.get("description")
    return {"description": said} if said else {}


def _field(document: Document, name: str, said: Document, is_required: bool) -> RequestField:
    schema = _resolved(document, said)
    values = schema.get("enum") or schema.get("items", {}).get("enum")
    kind = ", ".join(f"{each}" for each in values) if values else str(schema.get("type", ""))
    default = schema.get("default")
    return RequestField(
        name,
        str(schema.get("description", "")),
        kind,
        is_required,
        "" if default in (None, "") else json.dumps(default).strip('"'),
    )


def _trial(method: str, path: str, parameters: Sequence[Document]) -> str:
    """The address of an example, where all that it needs has an example."""
    needed = [each for each in parameters if each.get("required")]
    given = {each["name"]: _example(each["schema"]) for each in needed}
    if method != "get" or "{" in path or None in given.values():
        return ""
    return f"{path}?{urlencode(given)}" if given else path


def _body(document: Document, schema: Document, content: Document) -> str:
    """An example of a body: what must be given."""
    whole = _example(schema) or _example(content)
    if whole is None:
        required = schema.get("required", ())
        fields = {
            name: _resolved(document, each)
            for name, each in schema.get("properties", {}).items()
            if name in required
        }
        whole = {
            name: example
            for name, each in fields.items()
            if (example := _example(each) or next(iter(each.get("enum", ())), None)) is not None
        }
    return json.dumps(whole, ensure_ascii=False) if whole else ""


def _example(schema: Document) -> Any:
    examples = schema.get("examples")
    return examples[0] if isinstance(examples, list) and examples else None


def _resolved(document: Document, schema: Document) -> Document:
    """A schema in the place of a reference to it."""
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    found: Document = document["components"]["schemas"][name] if name else schema
    return found
