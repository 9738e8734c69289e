"""The door: a pure ASGI middleware that every request and WebSocket passes. Loopback is no boundary.

Rules, in this order
1. `Host` must be one of ours, exactly: a page cannot rebind its name to us.
2. `Origin`, where a browser sends one, must be the very address that was asked; so no other site can write, nor open a
   socket.
3. A POST carries JSON and says so: a form of a web page cannot. Only what a message's link opens is a form of our own,
   and whoever knows that address may answer there (`links`).
4. Reading, acting and administration need a token of their scope; for reading and acting a browser that signed in will
   do. Hooks of this machine are recorded without one, and `/health` and `/hook/status` told, unless `ingest = "token"`.
Whose token it is stands in the request's scope from then on (`ACTOR`).
Answers carry a content policy of `self`, are kept by nobody unless they say so, and never allow another origin.
"""

from collections.abc import Awaitable, Callable

import msgspec
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from claude_headspace.errors import BadRequest, Forbidden, HeadspaceError
from claude_headspace.inputs.receive.http import TRUSTED, send_json
from claude_headspace.kernel.views import iso
from claude_headspace.surfaces.auth import answer_links as links
from claude_headspace.surfaces.auth import tokens
from claude_headspace.surfaces.auth.named_tokens import Holder
from claude_headspace.surfaces.auth.sign_in import SignIns
from claude_headspace.surfaces.auth.tokens import Tokens

LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})
LOOPBACK_PEERS = frozenset({"127.0.0.1", "::1"})
SAFE_METHODS = frozenset({"GET", "HEAD"})
AS_OPEN_AS_INGEST = frozenset({"/health", "/hook/status"})
"""They tell nothing private."""
READ_PATHS = frozenset({"/metrics", "/plates"})
"""What is read elsewhere than below `/api/`."""
ACTOR = "headspace.actor"
"""Where the guard notes who sends a request: the name of a token, or this home's user for those of the home."""

Find = Callable[[bytes], Awaitable[Holder | None]]
"""Finds whose token a text is, among those that have a name."""


async def _nobody(_token: bytes) -> Holder | None:
    return None


HEADERS = [
    (b"content-security-policy", b"default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
]
"""What every answer carries, unless it says so itself."""

_READ_HEADERS = frozenset(
    {b"host", b"origin", b"content-type", b"authorization", b"sec-fetch-site", b"cookie", b"x-headspace-key"}
)


class Guard:
    """Lets in who may come in, and says clearly why not."""

    def __init__(
        self,
        app: ASGIApp,
        known: Tokens,
        signed_in: SignIns,
        allowed_hosts: frozenset[str],
        *,
        open_ingest: bool,
        named: Find = _nobody,
    ) -> None:
        self._app = app
        self._tokens = known
        self._signed_in = signed_in
        self._hosts = LOOPBACK_NAMES | {host.lower() for host in allowed_hosts if host}
        self._open_ingest = open_ingest
        self._named = named
        self._user = tokens.local_user()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check, then pass on."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                told = list(message.get("headers", ()))
                said = {name.lower() for name, _ in told}
                message["headers"] = [*told, *(header for header in HEADERS if header[0] not in said)]
            await send(message)

        try:
            await self._check(scope)
        except HeadspaceError as refusal:
            await _refuse(scope, send_with_headers, refusal)
        else:
            await self._app(scope, receive, send_with_headers)

    async def _check(self, scope: Scope) -> None:
        headers: dict[bytes, bytes] = {}
        for key, value in scope["headers"]:
            if key in _READ_HEADERS:
                if key in headers:
                    raise BadRequest("doubled_header", f"The header {key.decode()} came twice.", "Send it once.")
                headers[key] = value
        self._check_host(headers.get(b"host"))
        _check_origin(scope, headers)
        method = scope.get("method", "GET")
        if method == "POST":
            _check_content_type(headers.get(b"content-type", b""), is_form=scope["path"].startswith(links.PATH))
        needed = self._needed(scope["path"], method, _is_local(scope, headers[b"host"]))
        authorization = headers.get(b"authorization")
        if not needed and authorization is None:
            return
        if authorization is None:
            holder = Holder(self._user, self._signed_in.scopes(headers.get(b"cookie"), headers.get(b"x-headspace-key")))
        else:
            holder = await self._holder(_bearer(authorization))
        scope[TRUSTED], scope[ACTOR] = tokens.Scope.INGEST in holder.scopes, holder.name if holder.scopes else None
        if needed and not needed & holder.scopes:
            raise _refusal(min(needed), holder if authorization is not None else None)

    async def _holder(self, token: bytes | None) -> Holder:
        """Whose token it is: this home's own need no look into the journal."""
        if scopes := self._tokens.scopes(token):
            return Holder(self._user, scopes)
        found = await self._named(token) if token else None
        return found or Holder("", frozenset())

    def _check_host(self, host: bytes | None) -> None:
        if _bare(host or b"") not in self._hosts:
            raise Forbidden(
                "foreign_host",
                "This address is not one that Headspace answers to.",
                "Use http://127.0.0.1, or add the name to `allowed_hosts`.",
            )

    def _needed(self, path: str, method: str, is_local: bool) -> frozenset[tokens.Scope]:
        """The scopes of which a request needs one; none if it needs none."""
        if path.startswith("/hook/") or path == "/events" or path in AS_OPEN_AS_INGEST:
            if self._open_ingest and (is_local or path in AS_OPEN_AS_INGEST):
                return ANYTHING
            return LOOKING if path in AS_OPEN_AS_INGEST else TELLING
        if path.startswith("/api/admin/"):
            return ADMINISTERING
        if path.startswith("/api/") or path in READ_PATHS:
            return READING if method in SAFE_METHODS else ACTING
        return ANYTHING


ANYTHING: frozenset[tokens.Scope] = frozenset()
TELLING = frozenset({tokens.Scope.INGEST})
LOOKING = frozenset({tokens.Scope.INGEST, tokens.Scope.READ})
READING = frozenset({tokens.Scope.READ})
ACTING = frozenset({tokens.Scope.ACT})
ADMINISTERING = frozenset({tokens.Scope.ADMIN})


def _bare(host: bytes) -> str:
    """The name in a `Host`, without its port; empty if it is none."""
    name = host.decode("latin-1").lower()
    if name.endswith("]") or ":" not in name:
        return name
    bare, _, port = name.rpartition(":")
    return bare if port.isdigit() else ""


def _is_local(scope: Scope, host: bytes) -> bool:
    """Whether it comes from this machine under its own name: a proxy that passes others on asks under theirs."""
    client = scope.get("client")
    return (client is None or client[0] in LOOPBACK_PEERS) and _bare(host) in LOOPBACK_NAMES


def _check_origin(scope: Scope, headers: dict[bytes, bytes]) -> None:
    origin = headers.get(b"origin")
    host = headers[b"host"].lower()
    ours = origin is None or origin.lower() in (b"http://" + host, b"https://" + host)
    is_write = scope["type"] == "websocket" or scope["method"] not in SAFE_METHODS
    crosses = is_write and headers.get(b"sec-fetch-site") in (b"cross-site", b"same-site")
    if not ours or crosses:
        raise Forbidden("foreign_origin", "Another site may not speak to Headspace.", "Open Headspace's own page.")


def _check_content_type(content_type: bytes, *, is_form: bool) -> None:
    kind = content_type.split(b";", 1)[0].strip().lower()
    if kind != b"application/json" and not (is_form and kind == b"application/x-www-form-urlencoded"):
        raise BadRequest(
            "not_json",
            "A POST must say that its body is JSON.",
            "Send the header `Content-Type: application/json`.",
            status=415,
        )


def _bearer(authorization: bytes | None) -> bytes | None:
    kind, _, token = (authorization or b"").partition(b" ")
    return token.strip() if kind.lower() == b"bearer" else None


def _refusal(needed: tokens.Scope, holder: Holder | None) -> Forbidden:
    """Why somebody is not let in: without a token, with one that is good no more or for nothing here, or for less."""
    get_one = (
        f"Get one with `headspace token --scope {needed.value}` and send it as `Authorization: Bearer …`; "
        "in a browser, sign in with `headspace open`."
    )
    wanted = f"This needs a token with the scope {needed.value}"
    if holder is None:
        return Forbidden("token_needed", f"{wanted}.", get_one, status=401)
    if holder.expired_at is not None:
        message = f"The token {holder.name} has expired ({iso(holder.expired_at)})."
        return Forbidden("token_expired", message, "Make a new one with `headspace token create`.", status=401)
    if not holder.scopes:
        message = "This token is not known here: it is misspelt, or has been revoked."
        return Forbidden("token_unknown", message, get_one, status=401)
    return Forbidden("token_refused", f"{wanted}; yours has {', '.join(sorted(holder.scopes))}.", get_one)


async def _refuse(scope: Scope, send: Send, refusal: HeadspaceError) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": refusal.message})
    else:
        await send_json(send, refusal.status, msgspec.json.encode(refusal.body()))
