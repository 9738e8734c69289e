"""What the API looks like, for machines: endpoints as data, described as OpenAPI from the types that they use."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec
from starlette.requests import Request

from claude_headspace import __version__
from claude_headspace.inputs.receive.receiver import WireIdentity
from claude_headspace.outputs.reply import HookReply


class Parameter(msgspec.Struct, frozen=True):
    """A query parameter."""

    name: str
    description: str
    schema: dict[str, Any]


class Endpoint(msgspec.Struct, frozen=True):
    """One path of the API."""

    method: str
    path: str
    summary: str
    handler: Callable[[Any, Request], Awaitable[Any]] | None
    """None for what is served elsewhere."""
    answers: Any
    scope: str = "read"
    takes: Any = None
    parameters: tuple[Parameter, ...] = ()
    produces: str = "application/json"


HOOK = Endpoint(
    "POST",
    "/hook/{event}",
    "Tell of a hook of Claude Code; the event's name in kebab case, unknown ones too.",
    None,
    HookReply,
    scope="ingest",
    takes=WireIdentity,
)


def describe(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """The description of the API, from the endpoints' own types."""
    endpoints = [HOOK, *endpoints]
    types = [endpoint.answers for endpoint in endpoints] + [e.takes for e in endpoints if e.takes is not None]
    schemas, components = msgspec.json.schema_components(
        [kind for kind in types if kind is not str], ref_template="#/components/schemas/{name}", schema_hook=_raw_schema
    )
    by_type = dict(zip([repr(kind) for kind in types if kind is not str], schemas, strict=True))
    paths: dict[str, Any] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint, by_type)
    components["Error"] = ERROR_SCHEMA
    return {
        "openapi": "3.1.0",
        "info": {"title": "Headspace", "version": __version__, "description": "Mission control for Claude Code."},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


ERROR_SCHEMA = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message", "hint"],
            "properties": {name: {"type": "string"} for name in ("code", "message", "hint")},
        }
    },
}


def _raw_schema(kind: type) -> dict[str, Any]:
    if kind is msgspec.Raw:
        return {"type": "object"}
    raise NotImplementedError(kind)


def _operation(endpoint: Endpoint, by_type: dict[str, Any]) -> dict[str, Any]:
    in_path = [part[1:-1] for part in endpoint.path.split("/") if part.startswith("{")]
    parameters = [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in in_path]
    parameters += [
        {"name": p.name, "in": "query", "required": False, "description": p.description, "schema": p.schema}
        for p in endpoint.parameters
    ]
    answer = {"type": "string"} if endpoint.answers is str else by_type[repr(endpoint.answers)]
    error = {"description": "An error that says what to do.", "content": _json({"$ref": "#/components/schemas/Error"})}
    operation: dict[str, Any] = {
        "summary": endpoint.summary,
        "parameters": parameters,
        "responses": {
            "200": {"description": endpoint.summary, "content": {endpoint.produces: {"schema": answer}}},
            "4XX": error,
        },
        "security": [] if endpoint.scope == "none" else [{"token": []}],
        "x-scope": endpoint.scope,
    }
    if endpoint.takes is not None:
        operation["requestBody"] = {"required": True, "content": _json(by_type[repr(endpoint.takes)])}
    return operation


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
