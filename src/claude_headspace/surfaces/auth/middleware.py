"""Authentication and authorization: an ASGI middleware that checks every HTTP request and WebSocket.

Requests from loopback are checked like all others. The checks, in this order:
1. `Host` must be one of our names. This prevents DNS rebinding.
2. `Origin`, if present, must match `Host`. No other site can write or open a WebSocket.
3. A POST must have the content type JSON, which an HTML form cannot send. The only form is the one behind an answer
   link, and the link is the permission (`answer_links`).
4. The request needs a token of the required scope. A signed-in browser can read and act. Without `ingest = "token"`,
   hooks of this host and `/health` and `/hook/status` need no token. Some endpoints show more than the stored
   conversation, and need `act` to be read: `check_scope`, which they call, refuses the others.

The name of the token's owner is stored in the ASGI scope (`ACTOR`). Every response has a content security policy of
`self` and is not cached, unless it sets these headers itself. No response allows another origin.
"""

from collections.abc import Awaitable, Callable

import msgspec
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from claude_headspace.errors import BadRequest, Forbidden, HeadspaceError
from claude_headspace.inputs.receive.http import TRUSTED, send_json
from claude_headspace.kernel.text import iso
from claude_headspace.surfaces.auth import answer_links, tokens
from claude_headspace.surfaces.auth.named_tokens import Principal
from claude_headspace.surfaces.auth.sign_in import BrowserSignIn
from claude_headspace.surfaces.auth.tokens import DerivedTokens

LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})
LOOPBACK_PEERS = frozenset({"127.0.0.1", "::1"})
SAFE_METHODS = frozenset({"GET", "HEAD"})
STATUS_PATHS = frozenset({"/health", "/hook/status"})
"""They contain nothing private, and are as open as the hook endpoints."""
READ_PATHS = frozenset({"/metrics", "/plates"})
"""Read endpoints that are not below `/api/`."""
ACTOR = "headspace.actor"
"""The key in the ASGI scope for the name of the requester: of a named token, or the local user."""
PRINCIPAL = "headspace.principal"
"""The key in the ASGI scope for the owner of the credentials."""

FindNamedToken = Callable[[bytes], Awaitable[Principal | None]]
"""Looks up a named token."""


HEADERS = [
    (b"content-security-policy", b"default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
]
"""Added to every response that does not set them itself."""

_READ_HEADERS = frozenset(
    {b"host", b"origin", b"content-type", b"authorization", b"sec-fetch-site", b"cookie", b"x-headspace-key"}
)


class AuthenticationMiddleware:
    """Passes permitted requests on, and refuses all others with a reason."""

    def __init__(
        self,
        app: ASGIApp,
        derived_tokens: DerivedTokens,
        browser_sign_in: BrowserSignIn,
        allowed_hosts: frozenset[str],
        *,
        open_ingest: bool,
        find_named_token: FindNamedToken,
    ) -> None:
        self._app = app
        self._derived_tokens = derived_tokens
        self._browser_sign_in = browser_sign_in
        self._hosts = LOOPBACK_NAMES | {host.lower() for host in allowed_hosts if host}
        self._open_ingest = open_ingest
        self._find_named_token = find_named_token
        self._user = tokens.local_user()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, then pass it on."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", ()))
                present = {name.lower() for name, _ in headers}
                message["headers"] = [*headers, *(header for header in HEADERS if header[0] not in present)]
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
                    raise BadRequest("doubled_header", f"The header {key.decode()} occurs twice.", "Send it once.")
                headers[key] = value
        host_name = self._check_host(headers.get(b"host", b""))
        _check_origin(scope, headers)
        client = scope.get("client")
        is_local = (client is None or client[0] in LOOPBACK_PEERS) and host_name in LOOPBACK_NAMES
        required = self._required_scopes(scope["path"], scope.get("method", "GET"), is_local)
        authorization = headers.get(b"authorization")
        if not required and authorization is None:
            return
        if authorization is None:
            cookie, key = headers.get(b"cookie"), headers.get(b"x-headspace-key")
            principal = Principal(self._user, self._browser_sign_in.scopes(cookie, key))
        else:
            principal = await self._principal(authorization)
        scope[TRUSTED] = tokens.Scope.INGEST in principal.scopes
        scope[ACTOR] = principal.name if principal.scopes else None
        scope[PRINCIPAL] = principal if authorization is not None or principal.scopes else None
        if required and not required & principal.scopes:
            raise _refusal(min(required), principal if authorization is not None else None)

    async def _principal(self, authorization: bytes) -> Principal:
        """The principal of a bearer token. Derived tokens are verified without the journal."""
        kind, _, text = authorization.partition(b" ")
        token = text.strip() if kind.lower() == b"bearer" else None
        if scopes := self._derived_tokens.scopes(token):
            return Principal(self._user, scopes)
        found = await self._find_named_token(token) if token else None
        return found or Principal("", frozenset())

    def _check_host(self, host: bytes) -> str:
        """The name in a `Host` header, without its port."""
        name = host.decode("latin-1").lower()
        before, colon, port = name.rpartition(":")
        if colon and not name.endswith("]"):
            name = before if _is_port(port) else ""
        if name not in self._hosts:
            raise Forbidden(
                "foreign_host",
                "Headspace does not serve this host name.",
                "Use http://127.0.0.1, or add the name to `allowed_hosts`.",
            )
        return name

    def _required_scopes(self, path: str, method: str, is_local: bool) -> frozenset[tokens.Scope]:
        """The scopes of which a request needs one; empty if it needs no token. `is_local`: it comes from this host and
        names it. A proxy for other hosts sends another `Host`.
        """
        if path in STATUS_PATHS:
            return NONE if self._open_ingest else INGEST_OR_READ
        if path.startswith("/hook/") or path == "/events":
            return NONE if self._open_ingest and is_local else INGEST
        if path.startswith("/api/admin/"):
            return ADMIN
        if path.startswith("/api/") or path in READ_PATHS:
            return READ if method in SAFE_METHODS else ACT
        return NONE


def check_scope(scope: Scope, required: tokens.Scope) -> None:
    """Raise `Forbidden` unless a request that was passed on has the scope of its endpoint."""
    principal: Principal | None = scope.get(PRINCIPAL)
    if principal is None or required not in principal.scopes:
        raise _refusal(required, principal)


def _is_port(text: str) -> bool:
    """Whether a text is a port: digits such as `²` are not."""
    return text.isascii() and text.isdigit() and len(text) <= 5 and 0 < int(text) < 65_536


NONE: frozenset[tokens.Scope] = frozenset()
INGEST = frozenset({tokens.Scope.INGEST})
INGEST_OR_READ = frozenset({tokens.Scope.INGEST, tokens.Scope.READ})
READ = frozenset({tokens.Scope.READ})
ACT = frozenset({tokens.Scope.ACT})
ADMIN = frozenset({tokens.Scope.ADMIN})


def _check_origin(scope: Scope, headers: dict[bytes, bytes]) -> None:
    """Check that no other site sends the request: its `Origin`, and the content type of a POST."""
    origin = headers.get(b"origin")
    host = headers[b"host"].lower()
    is_same_origin = origin is None or origin.lower() in (b"http://" + host, b"https://" + host)
    is_write = scope["type"] == "websocket" or scope["method"] not in SAFE_METHODS
    is_cross_site_write = is_write and headers.get(b"sec-fetch-site") in (b"cross-site", b"same-site")
    if not is_same_origin or is_cross_site_write:
        raise Forbidden(
            "foreign_origin", "Requests from other sites are refused.", "Open the dashboard with `headspace open`."
        )
    if scope.get("method") != "POST":
        return
    kind = headers.get(b"content-type", b"").split(b";", 1)[0].strip().lower()
    is_form = kind == b"application/x-www-form-urlencoded" and scope["path"].startswith(answer_links.PATH)
    if kind != b"application/json" and not is_form:
        raise BadRequest(
            "not_json",
            "The body of a POST must be JSON.",
            "Send the header `Content-Type: application/json`.",
            status=415,
        )


def _refusal(required: tokens.Scope, principal: Principal | None) -> Forbidden:
    """The reason for a refusal: no token, an expired or unknown one, or one with the wrong scope."""
    get_one = (
        f"Get one with `headspace token --scope {required.value}` and send it as `Authorization: Bearer …`; "
        "in a browser, sign in with `headspace open`."
    )
    problem = f"This needs a token with the scope {required.value}"
    if principal is None:
        return Forbidden("token_needed", f"{problem}.", get_one, status=401)
    if principal.expired_at is not None:
        message = f"The token {principal.name} expired at {iso(principal.expired_at)}."
        return Forbidden("token_expired", message, "Create a new one with `headspace token create`.", status=401)
    if not principal.scopes:
        return Forbidden("token_unknown", "This token is unknown or was revoked.", get_one, status=401)
    return Forbidden("token_refused", f"{problem}; yours has {', '.join(sorted(principal.scopes))}.", get_one)


async def _refuse(scope: Scope, send: Send, refusal: HeadspaceError) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": refusal.message})
    else:
        await send_json(send, refusal.status, msgspec.json.encode(refusal.body()))
