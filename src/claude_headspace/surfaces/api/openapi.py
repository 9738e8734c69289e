"""The endpoints as data, and their OpenAPI description, which is generated from the types that they use."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, get_type_hints

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from claude_headspace import __version__
from claude_headspace.inputs.receive.body import WireIdentity
from claude_headspace.outputs.reply import HookReply
from claude_headspace.surfaces.api.context import ApiContext

Handler = Callable[[ApiContext, Request], Awaitable[Any]]
Decorator = Callable[[Handler], Handler]

JSON = "application/json"


class Parameter(msgspec.Struct, frozen=True):
    """A query parameter."""

    name: str
    description: str
    schema: dict[str, Any]


class Endpoint(msgspec.Struct, frozen=True):
    """One method of one path."""

    method: str
    path: str
    summary: str
    handler: Handler | None
    """None if another part of the daemon serves the path."""
    returns: Any
    """The type of the response body."""
    scope: str = "read"
    body: Any = None
    """The type of the request body."""
    parameters: tuple[Parameter, ...] = ()
    produces: str = JSON


class EndpointTable(list[Endpoint]):
    """Endpoints in the order of their documentation. `get` and `post` are decorators that add a handler.

    The docstring of a handler is the summary of its endpoint; the return type is the type of the response body.
    """

    def get(self, path: str, *parameters: Parameter, scope: str = "read", produces: str = JSON) -> Decorator:
        """Add a handler that reads."""
        return partial(self._add, "GET", path, scope=scope, parameters=parameters, produces=produces)

    def post(self, path: str, body: Any = None, *, scope: str = "act") -> Decorator:
        """Add a handler that acts, with the type of its request body."""
        return partial(self._add, "POST", path, scope=scope, body=body)

    def _add(self, method: str, path: str, handler: Handler, **options: Any) -> Handler:
        returns = get_type_hints(handler)["return"]
        summary = " ".join((handler.__doc__ or "").split())
        self.append(Endpoint(method, path, summary, handler, str if returns is Response else returns, **options))
        return handler


HOOK = Endpoint(
    "POST",
    "/hook/{event}",
    "Report a hook event of a client. Names of Claude Code are in kebab case; unknown events are stored, too.",
    None,
    HookReply,
    scope="ingest",
    body=WireIdentity,
)


def describe(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """The OpenAPI description of endpoints, and of the hook endpoint."""
    endpoints = [HOOK, *endpoints]
    types = [endpoint.returns for endpoint in endpoints] + [e.body for e in endpoints if e.body is not None]
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
        "info": {"title": "Headspace", "version": __version__, "description": "Mission control for coding agents."},
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
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
    response = {"type": "string"} if endpoint.returns is str else by_type[repr(endpoint.returns)]
    error = {"description": "An error with a hint.", "content": _json({"$ref": "#/components/schemas/Error"})}
    operation: dict[str, Any] = {
        "summary": endpoint.summary,
        "parameters": parameters,
        "responses": {
            "200": {"description": endpoint.summary, "content": {endpoint.produces: {"schema": response}}},
            "4XX": error,
        },
        "security": [] if endpoint.scope == "none" else [{"token": []}],
        "x-scope": endpoint.scope,
    }
    if endpoint.body is not None:
        operation["requestBody"] = {"required": True, "content": _json(by_type[repr(endpoint.body)])}
    return operation


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {JSON: {"schema": schema}}
