"""The authentication middleware: no web page gets access, every endpoint requires its scope, every refusal has a
hint.
"""

import asyncio
import getpass
import http.client
import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from claude_headspace.surfaces.auth.middleware import ACTOR, AuthenticationMiddleware
from claude_headspace.surfaces.auth.named_tokens import Principal
from claude_headspace.surfaces.auth.sign_in import BrowserSignIn
from claude_headspace.surfaces.auth.tokens import INCLUDED_SCOPES, DerivedTokens, make_token
from claude_headspace.surfaces.auth.tokens import Scope as TokenScope
from claude_headspace.testing import START, ManualClock
from tests.support import LIMIT_SECONDS, Reply, RunningDaemon, environment, running_daemon

SCOPES = ("ingest", "read", "act", "admin")
HOOK = b'{"session_id": "guarded", "cwd": "/projects/guarded"}'


# --- the middleware alone ---------------------------------------------------------------------------------------------

SECRET = b"a secret"
Headers = list[tuple[bytes, bytes]]
NAMED = (b"authorization", b"Bearer hs_named_ann")
ANN = Principal("ann", frozenset({TokenScope.READ}))


async def protected_app(_scope: Scope, _receive: Receive, send: Send) -> None:
    """The application behind the middleware."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"in"})


def response_to(
    method: str = "GET",
    path: str = "/api/agents",
    headers: Headers | None = None,
    *,
    kind: str = "http",
    client: tuple[str, int] | None = ("127.0.0.1", 50_000),
    allowed: tuple[str, ...] = (),
    open_ingest: bool = True,
    named: Principal | None = None,
    seen: list[object] | None = None,
) -> list[Message]:
    """The response of the middleware; `seen` receives the actor of permitted requests."""

    async def find(token: bytes) -> Principal | None:
        return named if token == NAMED[1].removeprefix(b"Bearer ") else None

    browser_sign_in = BrowserSignIn(SECRET, ManualClock())
    middleware = AuthenticationMiddleware(
        protected_app,
        DerivedTokens(SECRET),
        browser_sign_in,
        frozenset(allowed),
        open_ingest=open_ingest,
        find_named_token=find,
    )
    scope: Scope = {"type": kind, "method": method, "path": path, "headers": headers or [], "client": client}
    if kind == "websocket":
        del scope["method"]
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(middleware(scope, receive, send))
    if seen is not None:
        seen.append(scope.get(ACTOR))
    return sent


def status(messages: list[Message]) -> int:
    """The status of a response."""
    return int(messages[0]["status"])


def code(messages: list[Message]) -> str:
    """The error code of a response."""
    return str(json.loads(messages[1]["body"])["error"]["code"])


def bearer(scope: str) -> tuple[bytes, bytes]:
    """The header with a token."""
    return (b"authorization", b"Bearer " + make_token(SECRET, TokenScope(scope)).encode())


OURS = (b"host", b"127.0.0.1:5055")


@pytest.mark.parametrize(
    "host", [b"127.0.0.1:5055", b"127.0.0.1", b"localhost:5055", b"LOCALHOST", b"[::1]:5055", b"[::1]", b"board.lan:80"]
)
def test_own_host_names_are_accepted(host: bytes) -> None:
    """All names of loopback, and the configured ones."""
    assert status(response_to(path="/health", headers=[(b"host", host)], allowed=("Board.lan",))) == 200


@pytest.mark.parametrize(
    "host",
    [
        b"",
        b"evil.example",
        b"evil.example:5055",
        b"127.0.0.1.evil.example",
        b"localhost.evil.example",
        b"127.0.0.1:evil",
        b"127.0.0.1:",
        b"127.0.0.1:5055:5055",
        b"127.0.0.1@evil.example",
        b"evil.example#127.0.0.1",
        b"::1",
        b"0.0.0.0:5055",
        b"[::ffff:127.0.0.1]",
        b"127.0.0.2",
        b"localhost,evil.example",
        b" localhost",
        b"\xff\xfe",
    ],
)
@pytest.mark.parametrize("allowed", [(), ("",)])
def test_other_host_names_are_refused(host: bytes, allowed: tuple[str, ...]) -> None:
    """A page that rebinds its name to our address still sends its own name. An empty setting allows nothing."""
    answer = response_to(path="/health", headers=[(b"host", host)], allowed=allowed)
    assert (status(answer), code(answer)) == (403, "foreign_host")


def test_a_request_without_a_host_is_refused() -> None:
    """`Host` is required."""
    assert code(response_to(path="/health")) == "foreign_host"
    assert code(response_to(path="/health", allowed=("",))) == "foreign_host"


@pytest.mark.parametrize("name", [b"host", b"origin", b"authorization", b"content-type", b"sec-fetch-site"])
def test_duplicate_security_headers_are_refused(name: bytes) -> None:
    """Otherwise two components could read different values."""
    answer = response_to(path="/health", headers=[OURS, (name, b"x"), (name, b"127.0.0.1")])
    assert (status(answer), code(answer)) == (400, "doubled_header")


FOREIGN = [
    b"https://evil.example",
    b"null",
    b"",
    b"http://127.0.0.1:8000",
    b"http://localhost:5055",
    b"http://127.0.0.1:5055.evil.example",
    b"http://127.0.0.1:5055, https://evil.example",
    b"file://",
    b"chrome-extension://abc",
    b"ftp://127.0.0.1:5055",
]


@pytest.mark.parametrize("origin", FOREIGN)
@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/health"), ("POST", "/hook/stop"), ("POST", "/api/agents/x/rename")]
)
def test_other_origins_are_refused(method: str, path: str, origin: bytes) -> None:
    """Any page, even from another port of this machine, and even with a token."""
    headers = [OURS, (b"origin", origin), (b"content-type", b"application/json"), bearer("admin")]
    answer = response_to(method, path, headers)
    assert (status(answer), code(answer)) == (403, "foreign_origin")


@pytest.mark.parametrize("origin", [b"http://127.0.0.1:5055", b"HTTP://127.0.0.1:5055", b"https://127.0.0.1:5055"])
def test_own_origin_may_write(origin: bytes) -> None:
    """The page served from the requested address."""
    headers = [OURS, (b"origin", origin), (b"content-type", b"application/json"), bearer("act")]
    assert status(response_to("POST", "/api/agents/x/rename", headers)) == 200


@pytest.mark.parametrize("site", [b"cross-site", b"same-site"])
def test_cross_site_writes_are_refused(site: bytes) -> None:
    """Browsers report cross-site requests even without `Origin`."""
    headers = [OURS, (b"sec-fetch-site", site), (b"content-type", b"application/json")]
    assert code(response_to("POST", "/hook/stop", headers)) == "foreign_origin"
    assert status(response_to("GET", "/health", headers)) == 200


@pytest.mark.parametrize("origin", FOREIGN)
def test_websockets_of_other_sites_are_closed(origin: bytes) -> None:
    """A WebSocket is checked like a request, before it is accepted."""
    (message,) = response_to(path="/api/events/stream", headers=[OURS, (b"origin", origin)], kind="websocket")
    assert message["type"] == "websocket.close"


@pytest.mark.parametrize(
    "content_type",
    [
        b"",
        b"text/plain",
        b"application/x-www-form-urlencoded",
        b"multipart/form-data; boundary=x",
        b"application/jsonp",
    ],
)
def test_a_post_must_be_json(content_type: bytes) -> None:
    """The content types of an HTML form are refused."""
    answer = response_to("POST", "/hook/stop", [OURS, (b"content-type", content_type)])
    assert (status(answer), code(answer)) == (415, "not_json")


@pytest.mark.parametrize(
    "content_type", [b"application/json", b"Application/JSON; charset=utf-8", b"application/json;"]
)
def test_variants_of_the_json_content_type(content_type: bytes) -> None:
    """Case and parameters do not matter."""
    assert status(response_to("POST", "/hook/stop", [OURS, (b"content-type", content_type)])) == 200


JSON = (b"content-type", b"application/json")


@pytest.mark.parametrize("client", [("192.168.1.5", 1), ("10.0.0.1", 1), ("::ffff:192.168.1.5", 1)])
def test_hooks_from_another_machine_need_a_token(client: tuple[str, int]) -> None:
    """Only this machine may report events without a token."""
    assert status(response_to("POST", "/hook/stop", [OURS, JSON], client=client)) == 401
    assert status(response_to("POST", "/hook/stop", [OURS, JSON, bearer("ingest")], client=client)) == 200


@pytest.mark.parametrize("path", ["/health", "/hook/status"])
def test_status_paths_are_as_open_as_hooks(path: str) -> None:
    """If events need a token, a token for ingest or read is required."""
    assert status(response_to("GET", path, [OURS])) == 200
    assert status(response_to("GET", path, [OURS], open_ingest=False)) == 401
    for scope in ("ingest", "read", "act", "admin"):
        assert status(response_to("GET", path, [OURS, bearer(scope)], open_ingest=False)) == 200
    assert status(response_to("GET", "/openapi.json", [OURS], open_ingest=False)) == 200


def test_a_named_token_sets_the_actor() -> None:
    """It allows what its scopes allow, and its name is passed on."""
    seen: list[object] = []
    assert status(response_to("GET", "/api/agents", [OURS, NAMED], named=ANN, seen=seen)) == 200
    assert status(response_to("POST", "/api/agents/x/rename", [OURS, JSON, NAMED], named=ANN)) == 403
    assert status(response_to("GET", "/api/agents", [OURS, (b"authorization", b"Bearer other")], named=ANN)) == 401
    assert status(response_to("GET", "/api/agents", [OURS, bearer("read")], named=ANN, seen=seen)) == 200
    assert seen == ["ann", getpass.getuser()]


def test_ingest_with_token() -> None:
    """With `ingest = "token"` this machine needs one, too."""
    assert status(response_to("POST", "/hook/stop", [OURS, JSON], open_ingest=False)) == 401
    assert status(response_to("POST", "/hook/stop", [OURS, JSON, bearer("read")], open_ingest=False)) == 403
    assert status(response_to("POST", "/hook/stop", [OURS, JSON, bearer("ingest")], open_ingest=False)) == 200


@pytest.mark.parametrize(
    "credentials", [b"", b"Bearer", b"Bearer ", b"Basic aHM6eA==", b"Bearer hs_read_0", b"hs_admin_x", b"Bearer \xff"]
)
def test_unknown_tokens_are_refused(credentials: bytes) -> None:
    """Only the complete token is accepted."""
    answer = response_to(headers=[OURS, (b"authorization", credentials)])
    assert (status(answer), code(answer)) == (401, "token_unknown")
    cut = bearer("read")[1][:-1]
    assert status(response_to(headers=[OURS, (b"authorization", cut)])) == 401


def test_refusals_of_named_tokens_have_a_reason() -> None:
    """An expired token and a token with another scope."""
    expired = response_to(headers=[OURS, NAMED], named=Principal("ann", frozenset(), START))
    assert (status(expired), code(expired)) == (401, "token_expired")
    assert b"The token ann expired at" in expired[1]["body"]
    narrow = response_to("POST", "/api/agents/x/rename", [OURS, JSON, NAMED], named=ANN)
    assert (status(narrow), code(narrow)) == (403, "token_refused")
    assert b"the scope act; yours has read" in narrow[1]["body"]


def test_an_expired_token_sets_no_actor() -> None:
    """Also where no token is required."""
    seen: list[object] = []
    hook = response_to("POST", "/hook/stop", [OURS, JSON, NAMED], named=Principal("ann", frozenset(), START), seen=seen)
    assert (status(hook), seen) == (200, [None])


@pytest.mark.parametrize("path", ["/hook/../api/agents", "//api/agents", "/hook/..%2fapi", "/API/agents", "/api"])
def test_unusual_paths_do_not_bypass_the_check(daemon: RunningDaemon, path: str) -> None:
    """A path that only looks like a protected one leads to no endpoint."""
    assert daemon.get(path, scope=None).status in {401, 404, 405}


# --- a real daemon ----------------------------------------------------------------------------------------------------


def operations(daemon: RunningDaemon) -> list[tuple[str, str, str]]:
    """Method, path and scope of every endpoint, from the daemon's own description."""
    paths: dict[str, dict[str, Any]] = daemon.get("/openapi.json", scope=None).json()["paths"]
    return [
        (method.upper(), path.replace("{event}", "stop").replace("{", "").replace("}", ""), operation["x-scope"])
        for path, methods in paths.items()
        for method, operation in methods.items()
    ]


def send(daemon: RunningDaemon, method: str, path: str, headers: dict[str, str]) -> tuple[int, http.client.HTTPMessage]:
    """Status and headers. The body is not read, because a stream has no end."""
    connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=LIMIT_SECONDS)
    content_type = {"Content-Type": "application/json"} if method == "POST" else {}
    try:
        connection.request(method, path, HOOK if method == "POST" else None, {**content_type, **headers})
        with connection.getresponse() as response:
            return response.status, response.headers
    finally:
        connection.close()


def test_every_endpoint_requires_a_token(daemon: RunningDaemon) -> None:
    """Except those without private data. A wrong token gives no more access than none."""
    protected = [(method, path) for method, path, scope in operations(daemon) if scope not in {"none", "ingest"}]
    assert len(protected) > 10
    with daemon.untouched():
        assert {send(daemon, method, path, {})[0] for method, path in protected} == {401}
        wrong = {"Authorization": "Bearer hs_admin_0123456789012345678901234567890123456789"}
        assert {send(daemon, method, path, wrong)[0] for method, path in protected} == {401}
    open_to_all = [(method, path) for method, path, scope in operations(daemon) if scope == "none"]
    assert {path for _, path in open_to_all} == {"/health", "/hook/status"}
    assert {send(daemon, method, path, {})[0] for method, path in open_to_all} == {200}


@pytest.mark.parametrize("held", SCOPES)
def test_every_endpoint_requires_its_scope(daemon: RunningDaemon, held: str) -> None:
    """Read tokens cannot act, and ingest tokens cannot read."""
    implied = {scope.value for scope in INCLUDED_SCOPES[TokenScope(held)]}
    for method, path, needed in operations(daemon):
        answered, _ = send(daemon, method, path, daemon.credentials(held))
        if needed in {"none", "ingest"} or needed in implied:
            assert answered not in {401, 403}, (method, path, held)
        else:
            assert answered == 403, (method, path, held)


@pytest.fixture(scope="module")
def closed_ingest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    """A daemon that accepts events only with a token."""
    with running_daemon(tmp_path_factory.mktemp("closed"), ingest="token") as running:
        yield running


def test_closed_ingest_of_a_running_daemon(closed_ingest: RunningDaemon) -> None:
    """`ingest = "token"` refuses hooks without one."""
    with closed_ingest.untouched():
        reply = closed_ingest.curl("stop", HOOK)
        assert (reply.status, reply.error["code"]) == (401, "token_needed")
        assert closed_ingest.curl("stop", HOOK, closed_ingest.credentials("read")).status == 403
    assert closed_ingest.curl("stop", HOOK, closed_ingest.credentials("ingest")).status == 200
    assert closed_ingest.curl("stop", HOOK, closed_ingest.credentials("admin")).status == 200


def refused_start(home: Path, **settings: object) -> str:
    """Start a daemon that must not start; its error message."""
    done = subprocess.run(
        [sys.executable, "-m", "claude_headspace", "serve"],
        env=environment(home, **settings),
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert done.returncode not in {0, None}
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    return done.stderr


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])  # noqa: S104  # that it is refused is the point
def test_open_bind_is_refused(tmp_path: Path, host: str) -> None:
    """The daemon does not listen on the network without tokens."""
    said = refused_start(tmp_path, host=host)
    assert host in said
    assert "token" in said
    assert not (tmp_path / "run" / "daemon.json").exists()


def test_network_access_with_tokens(tmp_path: Path) -> None:
    """With tokens a daemon may listen everywhere, and requires one from everybody."""
    with running_daemon(tmp_path, host="0.0.0.0", ingest="token") as daemon:  # noqa: S104  # that is the test
        assert daemon.curl("stop", HOOK).status == 401
        assert daemon.get("/api/agents").status == 200


# --- web pages --------------------------------------------------------------------------------------------------------

PAGES: dict[str, tuple[str, str, dict[str, str], bytes | None]] = {
    "reads the board": ("GET", "/api/agents", {"Origin": "https://evil.example"}, None),
    "reads the stream": ("GET", "/api/events/stream", {"Origin": "null"}, None),
    "tells an event": ("POST", "/hook/stop", {"Origin": "https://evil.example"}, HOOK),
    "tells an event from a sandbox": ("POST", "/hook/stop", {"Origin": "null"}, HOOK),
    "sends a form": ("POST", "/hook/stop", {"Content-Type": "application/x-www-form-urlencoded"}, b"session_id=x"),
    "sends a file": ("POST", "/hook/stop", {"Content-Type": "multipart/form-data; boundary=x"}, b"--x--"),
    "sends plain text": ("POST", "/hook/stop", {"Content-Type": "text/plain"}, HOOK),
    "sends nothing of the kind": ("POST", "/hook/stop", {"Content-Type": ""}, HOOK),
    "has our address under its name": ("POST", "/hook/stop", {"Host": "evil.example"}, HOOK),
    "has our port under its name": ("GET", "/api/agents", {"Host": "evil.example:5055"}, None),
    "asks before it writes": (
        "OPTIONS",
        "/hook/stop",
        {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"},
        None,
    ),
    "beacons": ("POST", "/hook/stop", {"Sec-Fetch-Site": "cross-site", "Content-Type": "application/json"}, HOOK),
    "renames": ("POST", "/api/agents/x/rename", {"Origin": "https://evil.example"}, b'{"name": "evil"}'),
    "rebuilds": ("POST", "/api/admin/db/rebuild", {"Origin": "https://evil.example"}, b"{}"),
}


@pytest.mark.parametrize("with_token", [False, True], ids=["stranger", "with a token"])
@pytest.mark.parametrize(("method", "path", "headers", "payload"), PAGES.values(), ids=PAGES.keys())
def test_other_sites_have_no_access(
    daemon: RunningDaemon,
    method: str,
    path: str,
    headers: dict[str, str],
    payload: bytes | None,
    *,
    with_token: bool,
) -> None:
    """No other site reads, writes or approves anything, and no response permits it."""
    with daemon.untouched():
        reply = daemon.send(method, path, payload, headers, scope="admin" if with_token else None)
    assert reply.status in {401, 403, 405, 415}
    assert reply.error
    assert allows_no_origin(reply)


def test_there_is_no_websocket(daemon: RunningDaemon) -> None:
    """No endpoint accepts one."""
    upgrade = (
        b"GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n%s"
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    with daemon.untouched():
        for path in (b"/", b"/api/events/stream", b"/hook/stop"):
            for origin in (b"", b"Origin: https://evil.example\r\n"):
                answer = first_line(daemon, upgrade % (path, origin))
                # The page ignores the upgrade header: the response is the page, or the explanation.
                page = {b"200", b"503"} if path == b"/" and not origin else set()
                assert answer.split(b" ")[1] in {b"401", b"403", b"404", b"405"} | page, answer


def first_line(daemon: RunningDaemon, request: bytes) -> bytes:
    """The status line of a response."""
    with socket.create_connection(("127.0.0.1", daemon.port), timeout=LIMIT_SECONDS) as connection:
        connection.sendall(request)
        return connection.recv(65_536).split(b"\r\n", 1)[0]


def test_every_response_has_the_security_headers(daemon: RunningDaemon) -> None:
    """Also refusals: content policy, no caching, no sniffing, no other origin."""
    replies: list[Reply] = [
        daemon.get("/health", scope=None),
        daemon.get("/openapi.json", scope=None),
        daemon.get("/api/agents"),
        daemon.get("/metrics"),
        daemon.get("/api/agents", scope=None),
        daemon.get("/nothing", scope=None),
        daemon.curl("stop", HOOK),
        daemon.curl("stop", b"nonsense"),
        daemon.send("DELETE", "/api/agents", scope="admin"),
        daemon.send("GET", "/api/agents", headers={"Origin": f"http://127.0.0.1:{daemon.port}"}, scope="read"),
        daemon.send("POST", "/hook/stop", HOOK, {"Host": "evil.example"}),
    ]
    for reply in replies:
        assert "default-src 'self'" in reply.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in reply.headers["content-security-policy"]
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["cache-control"] == "no-store"
        assert reply.headers["server"] is None
        assert allows_no_origin(reply)


def allows_no_origin(reply: Reply) -> bool:
    """Whether no header permits another origin."""
    return not [name for name in reply.headers if name.lower().startswith("access-control-")]
