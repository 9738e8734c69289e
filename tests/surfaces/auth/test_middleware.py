"""The door: no web page gets in, every endpoint asks for its own scope, and a refusal says what to do."""

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


# --- the guard alone --------------------------------------------------------------------------------------------------

SECRET = b"a secret"
Headers = list[tuple[bytes, bytes]]
NAMED = (b"authorization", b"Bearer hs_named_ann")
ANN = Principal("ann", frozenset({TokenScope.READ}))


async def door_opened(_scope: Scope, _receive: Receive, send: Send) -> None:
    """What stands behind the guard: whoever gets here got in."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"in"})


def knock(
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
    """What the guard sends to whoever knocks like this; `seen` is told who came in."""

    async def find(token: bytes) -> Principal | None:
        return named if token == NAMED[1].removeprefix(b"Bearer ") else None

    nobody = BrowserSignIn(SECRET, ManualClock())
    guard = AuthenticationMiddleware(
        door_opened, DerivedTokens(SECRET), nobody, frozenset(allowed), open_ingest=open_ingest, find_named_token=find
    )
    scope: Scope = {"type": kind, "method": method, "path": path, "headers": headers or [], "client": client}
    if kind == "websocket":
        del scope["method"]
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(guard(scope, receive, send))
    if seen is not None:
        seen.append(scope.get(ACTOR))
    return sent


def status(messages: list[Message]) -> int:
    """The status of an answer."""
    return int(messages[0]["status"])


def code(messages: list[Message]) -> str:
    """Why it was refused."""
    return str(json.loads(messages[1]["body"])["error"]["code"])


def bearer(scope: str) -> tuple[bytes, bytes]:
    """The header that carries a token."""
    return (b"authorization", b"Bearer " + make_token(SECRET, TokenScope(scope)).encode())


OURS = (b"host", b"127.0.0.1:5055")


@pytest.mark.parametrize(
    "host", [b"127.0.0.1:5055", b"127.0.0.1", b"localhost:5055", b"LOCALHOST", b"[::1]:5055", b"[::1]", b"board.lan:80"]
)
def test_our_own_names_are_answered(host: bytes) -> None:
    """Loopback by every name, and the names that the configuration adds."""
    assert status(knock(path="/health", headers=[(b"host", host)], allowed=("Board.lan",))) == 200


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
def test_rebound_names_are_refused(host: bytes, allowed: tuple[str, ...]) -> None:
    """A page whose name was turned to our address still sends its own name; an empty setting opens nothing."""
    answer = knock(path="/health", headers=[(b"host", host)], allowed=allowed)
    assert (status(answer), code(answer)) == (403, "foreign_host")


def test_a_request_without_a_host_is_refused() -> None:
    """Who does not say whom it asks is not answered."""
    assert code(knock(path="/health")) == "foreign_host"
    assert code(knock(path="/health", allowed=("",))) == "foreign_host"


@pytest.mark.parametrize("name", [b"host", b"origin", b"authorization", b"content-type", b"sec-fetch-site"])
def test_what_decides_may_come_only_once(name: bytes) -> None:
    """Two of a header that decides are refused: whoever checks one and uses the other is fooled."""
    answer = knock(path="/health", headers=[OURS, (name, b"x"), (name, b"127.0.0.1")])
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
def test_other_sites_are_refused(method: str, path: str, origin: bytes) -> None:
    """Whatever page it is, even one from another port of this machine, and even with a token."""
    headers = [OURS, (b"origin", origin), (b"content-type", b"application/json"), bearer("admin")]
    answer = knock(method, path, headers)
    assert (status(answer), code(answer)) == (403, "foreign_origin")


@pytest.mark.parametrize("origin", [b"http://127.0.0.1:5055", b"HTTP://127.0.0.1:5055", b"https://127.0.0.1:5055"])
def test_our_own_page_may_write(origin: bytes) -> None:
    """The page that was asked from the very address it is served at."""
    headers = [OURS, (b"origin", origin), (b"content-type", b"application/json"), bearer("act")]
    assert status(knock("POST", "/api/agents/x/rename", headers)) == 200


@pytest.mark.parametrize("site", [b"cross-site", b"same-site"])
def test_a_write_that_the_browser_calls_foreign_is_refused(site: bytes) -> None:
    """Browsers tell where a request comes from even when they send no origin."""
    headers = [OURS, (b"sec-fetch-site", site), (b"content-type", b"application/json")]
    assert code(knock("POST", "/hook/stop", headers)) == "foreign_origin"
    assert status(knock("GET", "/health", headers)) == 200


@pytest.mark.parametrize("origin", FOREIGN)
def test_websockets_of_other_sites_are_closed(origin: bytes) -> None:
    """A socket is held to the same rules, before it is accepted."""
    (message,) = knock(path="/api/events/stream", headers=[OURS, (b"origin", origin)], kind="websocket")
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
def test_a_post_says_that_it_is_json(content_type: bytes) -> None:
    """What a form of a web page can send is not taken."""
    answer = knock("POST", "/hook/stop", [OURS, (b"content-type", content_type)])
    assert (status(answer), code(answer)) == (415, "not_json")


@pytest.mark.parametrize(
    "content_type", [b"application/json", b"Application/JSON; charset=utf-8", b"application/json;"]
)
def test_json_may_be_written_in_several_ways(content_type: bytes) -> None:
    """Case and parameters do not matter."""
    assert status(knock("POST", "/hook/stop", [OURS, (b"content-type", content_type)])) == 200


JSON = (b"content-type", b"application/json")


@pytest.mark.parametrize("client", [("192.168.1.5", 1), ("10.0.0.1", 1), ("::ffff:192.168.1.5", 1)])
def test_hooks_from_another_machine_need_a_token(client: tuple[str, int]) -> None:
    """Only this machine may tell events without a token."""
    assert status(knock("POST", "/hook/stop", [OURS, JSON], client=client)) == 401
    assert status(knock("POST", "/hook/stop", [OURS, JSON, bearer("ingest")], client=client)) == 200


@pytest.mark.parametrize("path", ["/health", "/hook/status"])
def test_how_it_is_doing_is_as_open_as_ingestion(path: str) -> None:
    """Anybody may ask, unless events need a token: then any token that tells or reads is good."""
    assert status(knock("GET", path, [OURS])) == 200
    assert status(knock("GET", path, [OURS], open_ingest=False)) == 401
    for scope in ("ingest", "read", "act", "admin"):
        assert status(knock("GET", path, [OURS, bearer(scope)], open_ingest=False)) == 200
    assert status(knock("GET", "/openapi.json", [OURS], open_ingest=False)) == 200


def test_a_named_token_says_who_acts() -> None:
    """It opens what its scopes allow, and its name is known to whatever it opens."""
    seen: list[object] = []
    assert status(knock("GET", "/api/agents", [OURS, NAMED], named=ANN, seen=seen)) == 200
    assert status(knock("POST", "/api/agents/x/rename", [OURS, JSON, NAMED], named=ANN)) == 403
    assert status(knock("GET", "/api/agents", [OURS, (b"authorization", b"Bearer other")], named=ANN)) == 401
    assert status(knock("GET", "/api/agents", [OURS, bearer("read")], named=ANN, seen=seen)) == 200
    assert seen == ["ann", getpass.getuser()]


def test_ingest_can_be_closed() -> None:
    """With `ingest = "token"` this machine needs one too."""
    assert status(knock("POST", "/hook/stop", [OURS, JSON], open_ingest=False)) == 401
    assert status(knock("POST", "/hook/stop", [OURS, JSON, bearer("read")], open_ingest=False)) == 403
    assert status(knock("POST", "/hook/stop", [OURS, JSON, bearer("ingest")], open_ingest=False)) == 200


@pytest.mark.parametrize(
    "credentials", [b"", b"Bearer", b"Bearer ", b"Basic aHM6eA==", b"Bearer hs_read_0", b"hs_admin_x", b"Bearer \xff"]
)
def test_a_token_that_is_none_of_ours_is_refused(credentials: bytes) -> None:
    """Nothing but the whole token opens."""
    answer = knock(headers=[OURS, (b"authorization", credentials)])
    assert (status(answer), code(answer)) == (401, "token_unknown")
    cut = bearer("read")[1][:-1]
    assert status(knock(headers=[OURS, (b"authorization", cut)])) == 401


def test_whoever_has_a_token_learns_why_it_does_not_open() -> None:
    """One that has expired says so, by its name; one of another scope says which it has. Neither lets anybody in."""
    expired = knock(headers=[OURS, NAMED], named=Principal("ann", frozenset(), START))
    assert (status(expired), code(expired)) == (401, "token_expired")
    assert b"The token ann expired at" in expired[1]["body"]
    narrow = knock("POST", "/api/agents/x/rename", [OURS, JSON, NAMED], named=ANN)
    assert (status(narrow), code(narrow)) == (403, "token_refused")
    assert b"the scope act; yours has read" in narrow[1]["body"]


def test_an_expired_token_names_nobody() -> None:
    """Where none is needed, it is no reason to believe who sends it."""
    seen: list[object] = []
    hook = knock("POST", "/hook/stop", [OURS, JSON, NAMED], named=Principal("ann", frozenset(), START), seen=seen)
    assert (status(hook), seen) == (200, [None])


@pytest.mark.parametrize("path", ["/hook/../api/agents", "//api/agents", "/hook/..%2fapi", "/API/agents", "/api"])
def test_what_the_guard_lets_through_leads_nowhere(daemon: RunningDaemon, path: str) -> None:
    """A path that only looks like a guarded one is no way around the guard."""
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


def ask(daemon: RunningDaemon, method: str, path: str, headers: dict[str, str]) -> tuple[int, http.client.HTTPMessage]:
    """Status and headers; the body is not waited for, since a stream's has no end."""
    connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=LIMIT_SECONDS)
    told = {"Content-Type": "application/json"} if method == "POST" else {}
    try:
        connection.request(method, path, HOOK if method == "POST" else None, {**told, **headers})
        with connection.getresponse() as response:
            return response.status, response.headers
    finally:
        connection.close()


def test_every_endpoint_asks_for_a_token(daemon: RunningDaemon) -> None:
    """Without a token only what tells nothing private is open; with a wrong one nothing more is."""
    guarded = [(method, path) for method, path, scope in operations(daemon) if scope not in {"none", "ingest"}]
    assert len(guarded) > 10
    with daemon.untouched():
        assert {ask(daemon, method, path, {})[0] for method, path in guarded} == {401}
        wrong = {"Authorization": "Bearer hs_admin_0123456789012345678901234567890123456789"}
        assert {ask(daemon, method, path, wrong)[0] for method, path in guarded} == {401}
    open_to_all = [(method, path) for method, path, scope in operations(daemon) if scope == "none"]
    assert {path for _, path in open_to_all} == {"/health", "/hook/status"}
    assert {ask(daemon, method, path, {})[0] for method, path in open_to_all} == {200}


@pytest.mark.parametrize("held", SCOPES)
def test_every_endpoint_asks_for_its_own_scope(daemon: RunningDaemon, held: str) -> None:
    """A token opens what its scope says and nothing else: reading does not act, telling does not read."""
    implied = {scope.value for scope in INCLUDED_SCOPES[TokenScope(held)]}
    for method, path, needed in operations(daemon):
        answered, _ = ask(daemon, method, path, daemon.credentials(held))
        if needed in {"none", "ingest"} or needed in implied:
            assert answered not in {401, 403}, (method, path, held)
        else:
            assert answered == 403, (method, path, held)


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    """A daemon that takes events only with a token."""
    with running_daemon(tmp_path_factory.mktemp("closed"), ingest="token") as running:
        yield running


def test_a_closed_daemon_takes_events_only_with_a_token(closed: RunningDaemon) -> None:
    """`ingest = "token"` shuts hooks to everybody without one."""
    with closed.untouched():
        reply = closed.post("stop", HOOK)
        assert (reply.status, reply.error["code"]) == (401, "token_needed")
        assert closed.post("stop", HOOK, closed.credentials("read")).status == 403
    assert closed.post("stop", HOOK, closed.credentials("ingest")).status == 200
    assert closed.post("stop", HOOK, closed.credentials("admin")).status == 200


def refused_start(home: Path, **settings: object) -> str:
    """Start a daemon that must not start; what it says."""
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
def test_an_open_door_to_the_network_is_refused(tmp_path: Path, host: str) -> None:
    """Nobody is let in from the network without tokens."""
    said = refused_start(tmp_path, host=host)
    assert host in said
    assert "token" in said
    assert not (tmp_path / "run" / "daemon.json").exists()


def test_the_network_is_served_with_tokens(tmp_path: Path) -> None:
    """With tokens a daemon may listen everywhere, and still asks everybody for one."""
    with running_daemon(tmp_path, host="0.0.0.0", ingest="token") as daemon:  # noqa: S104  # that is the test
        assert daemon.post("stop", HOOK).status == 401
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
def test_no_page_gets_in(
    daemon: RunningDaemon,
    method: str,
    path: str,
    headers: dict[str, str],
    payload: bytes | None,
    *,
    with_token: bool,
) -> None:
    """No page of another site reads, writes or approves anything, and none is told that it may."""
    with daemon.untouched():
        reply = daemon.send(method, path, payload, headers, scope="admin" if with_token else None)
    assert reply.status in {401, 403, 405, 415}
    assert reply.error
    assert allows_nobody(reply)


def test_a_websocket_is_not_opened(daemon: RunningDaemon) -> None:
    """There is no socket to talk to, whoever asks."""
    upgrade = (
        b"GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n%s"
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    with daemon.untouched():
        for path in (b"/", b"/api/events/stream", b"/hook/stop"):
            for origin in (b"", b"Origin: https://evil.example\r\n"):
                answer = first_line(daemon, upgrade % (path, origin))
                # Where the page is, the wish to upgrade is ignored: the answer is the page, or why there is none.
                page = {b"200", b"503"} if path == b"/" and not origin else set()
                assert answer.split(b" ")[1] in {b"401", b"403", b"404", b"405"} | page, answer


def first_line(daemon: RunningDaemon, request: bytes) -> bytes:
    """The status line of an answer."""
    with socket.create_connection(("127.0.0.1", daemon.port), timeout=LIMIT_SECONDS) as connection:
        connection.sendall(request)
        return connection.recv(65_536).split(b"\r\n", 1)[0]


def test_every_answer_carries_the_same_protection(daemon: RunningDaemon) -> None:
    """Answers and refusals alike: a policy of `self`, nothing cached, no sniffing, no other origin."""
    replies: list[Reply] = [
        daemon.get("/health", scope=None),
        daemon.get("/openapi.json", scope=None),
        daemon.get("/api/agents"),
        daemon.get("/metrics"),
        daemon.get("/api/agents", scope=None),
        daemon.get("/nothing", scope=None),
        daemon.post("stop", HOOK),
        daemon.post("stop", b"nonsense"),
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
        assert allows_nobody(reply)


def allows_nobody(reply: Reply) -> bool:
    """Whether no header lets another site in."""
    return not [name for name in reply.headers if name.lower().startswith("access-control-")]
