"""How a browser signs in: a link that works once, and from then on a cookie with a key that belongs to it.

`headspace open` asks the daemon for a code, with a token that only the user can make. Whoever brings the code back gets
a pass: a cookie that scripts cannot read (HttpOnly) and other sites cannot use (SameSite=Strict). Cookies are shared by
all ports of a host, so another program on this machine could be handed it by the browser; therefore it is worth nothing
without its key, which the link brings in the part of the address that is never sent, and which the page keeps for its
own origin. Passes are made from the secret of this home: they outlive the daemon, and deleting the secret revokes them.
"""

import hashlib
import hmac
import secrets
from http.cookies import CookieError, SimpleCookie

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from claude_headspace.kernel.envelope import SECOND
from claude_headspace.ports import Clock
from claude_headspace.surfaces.auth.tokens import Scope

CODE_SECONDS = 300
PASS_SECONDS = 30 * 24 * 3600
MOST_CODES = 32
COOKIE = "headspace"
PATH = "/signin"
GRANTS = frozenset({Scope.READ, Scope.ACT})


class Invitation(msgspec.Struct, frozen=True):
    """A link that works once."""

    path: str
    expires_in_seconds: int


class Pass(msgspec.Struct, frozen=True):
    """What a browser keeps: the cookie, and the key without which it is worth nothing."""

    cookie: str
    key: str


class SignIns:
    """Hands out codes, takes them back once, and knows passes."""

    def __init__(self, secret: bytes, clock: Clock) -> None:
        self._secret = secret
        self._clock = clock
        self._codes: dict[str, int] = {}

    def invite(self) -> Invitation:
        """A link that works once, for some minutes; of too many open ones the oldest is forgotten."""
        code = secrets.token_urlsafe(24)
        self._codes[code] = self._seconds() + CODE_SECONDS
        while len(self._codes) > MOST_CODES:
            del self._codes[next(iter(self._codes))]
        return Invitation(f"{PATH}?code={code}", CODE_SECONDS)

    def redeem(self, code: str) -> Pass | None:
        """A pass for a code; the code is used up, whether it was still good or not."""
        if self._codes.pop(code, 0) < self._seconds():
            return None
        body = f"{self._seconds() + PASS_SECONDS}.{secrets.token_hex(8)}"
        return Pass(f"{body}.{self._mac('pass', body)}", self._mac("key", body))

    def scopes(self, cookies: bytes | None, key: bytes | None) -> frozenset[Scope]:
        """What a browser may do that sends these cookies with this key."""
        if cookies is None or key is None:
            return frozenset()
        return GRANTS if any(self._is_good(value, key) for value in _ours(cookies)) else frozenset()

    def _is_good(self, cookie: str, key: bytes) -> bool:
        body, _, mac = cookie.rpartition(".")
        expires = body.partition(".")[0]
        is_ours = hmac.compare_digest(self._mac("pass", body), mac) and hmac.compare_digest(
            self._mac("key", body).encode(), key
        )
        return is_ours and expires.isdigit() and int(expires) > self._seconds()

    def _mac(self, purpose: str, body: str) -> str:
        return hmac.new(self._secret, f"headspace page {purpose} {body}".encode(), hashlib.sha256).hexdigest()[:40]

    def _seconds(self) -> int:
        return self._clock() // SECOND

    def routes(self) -> list[Route]:
        """Where the link leads."""
        return [Route(PATH, self._sign_in, methods=["GET"])]

    async def _sign_in(self, request: Request) -> Response:
        """Set the cookie and go on to the page; HEAD, which previews send, uses nothing up."""
        if request.method == "HEAD":
            return Response()
        found = self.redeem(request.query_params.get("code", ""))
        if found is None:
            return RedirectResponse("/?signin=expired", 303)
        answer = RedirectResponse(f"/#key={found.key}", 303)
        port = request.scope["server"][1] if request.scope.get("server") else 0
        answer.set_cookie(
            f"{COOKIE}-{port}", found.cookie, max_age=PASS_SECONDS, path="/", httponly=True, samesite="strict"
        )
        return answer


def _ours(cookies: bytes) -> list[str]:
    """The values of our cookies; another Headspace on this machine has its own."""
    try:
        jar: SimpleCookie = SimpleCookie(cookies.decode("latin-1"))
    except CookieError:
        return []
    return [morsel.value for name, morsel in jar.items() if name.startswith(f"{COOKIE}-") and morsel.value.isascii()]
