"""Browser sign-in: a link that works once, then a cookie with a matching key.

`headspace open` requests a code from the daemon, with a token that only the user can create. The browser exchanges the
code for credentials: a cookie that scripts cannot read (HttpOnly) and other sites cannot send (SameSite=Strict), and a
key. Browsers send cookies to every port of a host, so another program on this machine could receive the cookie.
Therefore it is valid only together with the key. The key is in the fragment of the redirect URL, which is never sent;
the page stores it for its own origin and sends it as a header.

Credentials are signed with the secret of this installation: they survive a restart, and deleting the secret revokes
them.
"""

import hashlib
import hmac
import secrets
from collections.abc import Awaitable, Callable
from http.cookies import CookieError, SimpleCookie

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.ports import Clock
from claude_headspace.surfaces.auth.canonical_address import redirect_to_address
from claude_headspace.surfaces.auth.tokens import Scope

CODE_SECONDS = 300
COOKIE_SECONDS = 30 * 24 * 3600
MAX_CODES = 32
COOKIE = "headspace"
PATH = "/signin"
CheckRequester = Callable[[Request], Awaitable[None]]
"""Raises if the request does not come from a person."""
BROWSER_SCOPES = frozenset({Scope.READ, Scope.ACT})


class SignInLink(msgspec.Struct, frozen=True):
    """A link that signs a browser in, once."""

    path: str
    expires_in_seconds: int


class BrowserCredentials(msgspec.Struct, frozen=True):
    """The cookie and the key of a browser. Each is valid only together with the other."""

    cookie: str
    key: str


class SignedInBrowser(msgspec.Struct, frozen=True):
    """A browser that is signed in, and until when."""

    id: str
    expires_at: Micros


class BrowserSignIn:
    """Issues codes, exchanges them for credentials, and verifies credentials."""

    def __init__(self, secret: bytes, clock: Clock) -> None:
        self._secret = secret
        self._clock = clock
        self._codes: dict[str, int] = {}

    def create_link(self) -> SignInLink:
        """A link that works once, for five minutes. The oldest one is dropped if too many are unused."""
        code = secrets.token_urlsafe(24)
        self._codes[code] = self._seconds() + CODE_SECONDS
        while len(self._codes) > MAX_CODES:
            del self._codes[next(iter(self._codes))]
        return SignInLink(f"{PATH}?code={code}", CODE_SECONDS)

    def redeem(self, code: str) -> BrowserCredentials | None:
        """Exchange a code for credentials; None if it is unknown or expired. A code works once."""
        if self._codes.pop(code, 0) < self._seconds():
            return None
        body = f"{self._seconds() + COOKIE_SECONDS}.{secrets.token_hex(8)}"
        return BrowserCredentials(f"{body}.{self._mac('pass', body)}", self._mac("key", body))

    def scopes(self, cookies: bytes | None, key: bytes | None) -> frozenset[Scope]:
        """The scopes of a browser that sends these cookies and this key."""
        return BROWSER_SCOPES if self.browser(cookies, key) is not None else frozenset()

    def browser(self, cookies: bytes | None, key: bytes | None) -> SignedInBrowser | None:
        """The browser that sends these cookies and this key; None if it is not signed in."""
        if cookies is None or key is None:
            return None
        valid = next((value for value in _own_cookies(cookies) if self._is_valid(value, key)), None)
        if valid is None:
            return None
        expires, browser, _mac = valid.split(".")
        return SignedInBrowser(browser, int(expires) * SECOND)

    def _is_valid(self, cookie: str, key: bytes) -> bool:
        body, _, mac = cookie.rpartition(".")
        expires = body.partition(".")[0]
        is_signed = hmac.compare_digest(self._mac("pass", body), mac) and hmac.compare_digest(
            self._mac("key", body).encode(), key
        )
        return is_signed and expires.isdigit() and int(expires) > self._seconds()

    def _mac(self, purpose: str, body: str) -> str:
        return hmac.new(self._secret, f"headspace page {purpose} {body}".encode(), hashlib.sha256).hexdigest()[:40]

    def _seconds(self) -> int:
        return self._clock() // SECOND

    def routes(self, check_requester: CheckRequester) -> list[Route]:
        """The route that sign-in links lead to."""

        async def sign_in(request: Request) -> Response:
            await check_requester(request)
            return await self._sign_in(request)

        return [Route(PATH, sign_in, methods=["GET"])]

    async def _sign_in(self, request: Request) -> Response:
        """Set the cookie and redirect to the dashboard. HEAD, which link previews send, does not use the code."""
        if request.method == "HEAD":
            return Response()
        if (redirect := redirect_to_address(request)) is not None:
            return redirect
        credentials = self.redeem(request.query_params.get("code", ""))
        if credentials is None:
            return RedirectResponse("/?signin=expired", 303)
        response = RedirectResponse(f"/#key={credentials.key}", 303)
        port = request.scope["server"][1] if request.scope.get("server") else 0
        response.set_cookie(
            f"{COOKIE}-{port}", credentials.cookie, max_age=COOKIE_SECONDS, path="/", httponly=True, samesite="strict"
        )
        return response


def _own_cookies(cookies: bytes) -> list[str]:
    """The values of our cookies. Another Headspace on this host, on another port, has its own."""
    try:
        jar: SimpleCookie = SimpleCookie(cookies.decode("latin-1"))
    except CookieError:
        return []
    return [morsel.value for name, morsel in jar.items() if name.startswith(f"{COOKIE}-") and morsel.value.isascii()]
