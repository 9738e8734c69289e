"""The API client, with a real daemon and with other servers."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from claude_headspace.config import Paths, find_paths
from claude_headspace.errors import BadRequest, DaemonMissing, Forbidden, HeadspaceError, JournalUnavailable
from claude_headspace.surfaces.auth.tokens import Scope
from claude_headspace.surfaces.client.api_client import ApiClient, Message, follow, read_messages
from claude_headspace.surfaces.client.running_daemon import code_fingerprint
from tests.support import RunningDaemon, running_daemon

SHOP = {"session_id": "one", "cwd": "/projects/shop"}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    """A daemon with one agent that asks a question."""
    with running_daemon(tmp_path_factory.mktemp("client")) as running:
        running.post("session-start", SHOP)
        running.post("user-prompt-submit", {**SHOP, "prompt": "Fix the login."})
        running.post("stop", {**SHOP, "last_assistant_message": "It works. Shall I push?"})
        yield running


def paths_of(home: Path) -> Paths:
    """The paths in a directory."""
    return find_paths({"HEADSPACE_HOME": str(home)})


@pytest.fixture
def client(daemon: RunningDaemon) -> ApiClient:
    """A client for the running daemon."""
    return ApiClient.local(paths_of(daemon.home))


@contextmanager
def answering(answer: bytes | None) -> Iterator[ApiClient]:
    """A client of a server that always sends this response, or none."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            try:
                while True:
                    connection, _ = server.accept()
                    connection.recv(65_536)
                    if answer is not None:
                        connection.sendall(answer)
                        connection.close()
                    else:
                        kept.append(connection)
            except OSError:
                return

        kept: list[socket.socket] = []
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield ApiClient(f"http://127.0.0.1:{server.getsockname()[1]}", {}, timeout=0.2)
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join(10)
            for connection in kept:
                connection.close()


def http(status: str, body: str) -> bytes:
    """An HTTP response."""
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()


# --- reading and acting ---


def test_read_methods(client: ApiClient) -> None:
    """Every method returns decoded JSON."""
    (agent,) = client.agents()
    assert agent["state"] == "waiting"
    assert client.agents(state="idle") == []
    assert client.agents(project="shop", include_old=True) == [agent]
    assert client.agent(agent["name"]) == client.agent(agent["id"]) == agent
    assert [turn["actor"] for turn in client.turns(agent["id"])] == ["USER", "AGENT"]
    assert len(client.turns(agent["id"], limit=1)) == 1
    assert [command["text"] for command in client.commands(agent["id"])] == ["Fix the login."]
    assert [session["ordinal"] for session in client.sessions(agent["id"])] == [1]
    assert [state["state"] for state in client.evidence(agent["id"])] == ["idle", "working", "waiting"]
    assert [wait["agent_id"] for wait in client.waits()] == [agent["id"]]
    assert client.waits(agent=agent["name"]) == client.waits(include_closed=True) == client.waits()
    names = ["SessionStart", "UserPromptSubmit", "Stop"]
    assert [event["name"] for event in client.events()] == names
    first = client.events(agent["id"], limit=1, after=0)
    assert [event["name"] for event in first] == names[:1]
    assert client.status()["events_total"] == 3
    assert client.health()["status"] == "ok"


def test_act_methods(tmp_path: Path) -> None:
    """Each request uses a token with the required scope."""
    with running_daemon(tmp_path) as daemon:
        daemon.post("session-start", SHOP)
        client = ApiClient.local(paths_of(tmp_path))
        agent = client.agents()[0]
        assert client.rename(agent["name"], "shopkeeper")["name"] == "shopkeeper"
        assert client.db_verify() == {"ok": True, "differences": []}
        assert client.db_rebuild() == {"events": 2}


@pytest.mark.parametrize("reference", ["nobody", "a/b", "../status", "ü ?&#%"])
def test_an_unknown_agent(client: ApiClient, reference: str) -> None:
    """References are quoted; the error has the code, message and hint of the API."""
    with pytest.raises(BadRequest) as raised:
        client.agent(reference)
    assert raised.value.status == 404
    assert raised.value.code in ("unknown_agent", "not_found")
    assert raised.value.hint


@pytest.mark.parametrize("reference", ["", " ", "a/b", "/"])
def test_what_is_not_a_name_is_no_path(client: ApiClient, reference: str) -> None:
    """The error does not name an endpoint."""
    with pytest.raises(BadRequest) as caught:
        client.agent(reference)
    assert caught.value.message == f"{reference!r} is not a name."


def test_a_wrong_token_is_forbidden(daemon: RunningDaemon) -> None:
    """Without a token, and with a wrong one."""
    for tokens in ({}, {Scope.READ: "hs_read_wrong"}):
        with pytest.raises(Forbidden):
            ApiClient(daemon.url, tokens).agents()


# --- nobody there ---


def test_no_daemon(tmp_path: Path) -> None:
    """The hint says how to start it."""
    with pytest.raises(DaemonMissing) as raised:
        ApiClient.local(paths_of(tmp_path))
    assert raised.value.hint == "Start it with `headspace up`."
    with pytest.raises(DaemonMissing):
        ApiClient("http://127.0.0.1:1", {}).agents()


def test_the_address_of_a_killed_daemon_is_not_used(tmp_path: Path) -> None:
    """Another program may use the port, and must not get a token."""
    with running_daemon(tmp_path) as daemon:
        daemon.kill()
        assert (tmp_path / "run" / "daemon.json").exists()
        with pytest.raises(DaemonMissing):
            ApiClient.local(paths_of(tmp_path))


def test_requests_have_a_time_limit() -> None:
    """A server that never answers is an error."""
    with answering(None) as client, pytest.raises(DaemonMissing) as raised:
        client.agents()
    assert raised.value.code == "daemon_silent"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (b"SSH-2.0-OpenSSH_9.6\r\n", DaemonMissing),
        (b"", DaemonMissing),
        (http("200 OK", "<html>"), HeadspaceError),
        (http("502 Bad Gateway", "<html>"), HeadspaceError),
        (http("500 Oops", "{}"), HeadspaceError),
        (http("500 Oops", "[]"), HeadspaceError),
        (http("503 No", '{"error": {"code": "c", "message": "m", "hint": "h"}}'), JournalUnavailable),
    ],
)
def test_invalid_responses_are_errors(answer: bytes, kind: type[HeadspaceError]) -> None:
    """They are raised as `HeadspaceError`."""
    with answering(answer) as client, pytest.raises(HeadspaceError) as raised:
        client.agents()
    assert type(raised.value) is kind
    assert raised.value.hint


@pytest.mark.parametrize(
    ("code", "expected"), [("of another version", "other_version"), (code_fingerprint(), "not_found")]
)
def test_a_daemon_of_another_version_is_named(code: str, expected: str) -> None:
    """An unknown endpoint of a daemon with other code is explained."""
    answer = http("404 Not Found", '{"error": {"code": "not_found", "message": "m", "hint": "h"}}')
    with answering(answer) as client, pytest.raises(BadRequest) as raised:
        ApiClient(client.url, {}, code=code).efforts()
    assert raised.value.code == expected
    assert ("headspace up" in raised.value.hint) is (expected == "other_version")


# --- following ---


def test_stream(daemon: RunningDaemon, client: ApiClient) -> None:
    """From the beginning, filtered, and after an event number."""
    stream = client.stream(after=0)
    messages = [next(stream) for _ in range(3)]
    stream.close()  # type: ignore[attr-defined]  # a generator
    assert [message.type for message in messages] == ["agent_created", "state_changed", "turn_created"]
    resumed = client.stream(after=messages[1].id, types=["turn_created"], agent_id=messages[0].data["agent_id"])
    assert next(resumed) == messages[2]
    resumed.close()  # type: ignore[attr-defined]
    with pytest.raises(BadRequest, match="sunrise"):
        next(client.stream(types=["sunrise"]))
    assert daemon.get("/health", scope=None).status == 200


def test_follow_continues_after_a_restart(tmp_path: Path) -> None:
    """No event is missing or repeated, and both callbacks are called."""
    reported: list[str] = []
    with running_daemon(tmp_path) as first:
        first.post("session-start", SHOP)
        messages = follow(
            lambda: ApiClient.local(paths_of(tmp_path)),
            0,
            ["turn_created"],
            on_lost=lambda: reported.append("lost"),
            on_reconnect=lambda: reported.append("back"),
        )
        first.post("user-prompt-submit", {**SHOP, "prompt": "Before."})
        assert next(messages).data["text"] == "Before."
        first.stop()
    with running_daemon(tmp_path) as second:
        second.post("user-prompt-submit", {**SHOP, "prompt": "After."})
        assert next(messages).data["text"] == "After."
        messages.close()  # type: ignore[attr-defined]  # a generator
    assert reported == ["lost", "back"]


def test_follow_needs_a_daemon_at_the_beginning(tmp_path: Path) -> None:
    """Otherwise it raises an error."""
    with pytest.raises(DaemonMissing):
        next(follow(lambda: ApiClient.local(paths_of(tmp_path)), None))


@pytest.mark.parametrize(
    ("wire", "messages"),
    [
        (b'retry: 1000\n: connected\n\nid: 7\nevent: gap\ndata: {"a": 1}\n\n', [Message(7, "gap", {"a": 1})]),
        (b'data: {"a":\ndata: 1}\n\n', [Message(None, "message", {"a": 1})]),
        (b'id: 7\r\nevent: x\r\ndata:{"a": 1}\r\n\r\n', [Message(7, "x", {"a": 1})]),
        (b": heartbeat\n\n: heartbeat\n\n", []),
        (b'id: 7\nevent: x\ndata: {"cut": "off', []),
        (b"id: 7\nevent: x\n\nid: 8\nevent: y\ndata: {}\n\n", [Message(8, "y", {})]),
        (b'data: {"half": "\\ud83d"}\n\n', [Message(None, "message", {"half": "\ud83d"})]),
        (b"", []),
    ],
)
def test_server_sent_events(wire: bytes, messages: list[Message]) -> None:
    """Comments and incomplete events are skipped, data lines are joined."""
    assert list(read_messages(wire.splitlines(keepends=True))) == messages
