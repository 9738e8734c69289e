"""Hooks over HTTP: events are stored as they arrived, everything else is refused with a reason."""

import asyncio
import json
import socket
import threading
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claude_headspace.clients.claude_code.transcript import is_message
from claude_headspace.clients.claude_code.wire import HOOKS, kebab
from claude_headspace.clients.hooks import OTHER_EVENT_NAMES
from claude_headspace.errors import BadRequest
from claude_headspace.inputs.receive.body import read_identity, replace_lone_surrogates
from claude_headspace.inputs.receive.receiver import HookReceiver, Sanitizer, event_name, new_id
from claude_headspace.inputs.redaction.rules import build_redactor
from claude_headspace.kernel.envelope import SECOND, Envelope, Observations, Origin
from claude_headspace.kernel.redaction.redactor import REDACTED
from claude_headspace.kernel.sanitize import Bounds
from claude_headspace.testing import START, ManualClock
from tests.support import RunningDaemon

MIB = 1024 * 1024


def body(**fields: object) -> bytes:
    """A valid body with these fields."""
    return json.dumps({"session_id": "one", "cwd": "/projects/one", **fields}).encode()


# --- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", HOOKS)
def test_every_hook_has_a_path(name: str) -> None:
    """The event name in kebab case, or the event name itself."""
    assert event_name(kebab(name)) == name
    assert event_name(name) == name


@pytest.mark.parametrize(
    ("path", "name"),
    [("brand-new-event", "BrandNewEvent"), ("BrandNewEvent", "BrandNewEvent"), ("x", "X"), ("a_b", "AB")],
)
def test_an_unknown_event_is_converted_to_camel_case(path: str, name: str) -> None:
    """An event of a later Claude Code gets the name that it has there."""
    assert event_name(path) == name


@pytest.mark.parametrize("path", ["", "-", "1st", "a b", "a.b", "ü", "a/b", "a" * 65, "stop\n", "%2e%2e", "<script>"])
def test_an_invalid_event_name_is_refused(path: str) -> None:
    """Only letters, digits and dashes are allowed."""
    with pytest.raises(BadRequest, match="letters, digits and dashes"):
        event_name(path)


@pytest.mark.parametrize(
    ("client", "path", "name"),
    [
        ("gemini", "before-agent", "BeforeAgent"),
        ("gemini", "BeforeAgent", "BeforeAgent"),
        ("codex", "interrupt", "Interrupt"),
        ("copilot", "user-prompt-submit", "UserPromptSubmit"),
        ("copilot", "user-prompt-submitted", "userPromptSubmitted"),
        ("opencode", "tool.execute.before", "tool.execute.before"),
        ("codex", "SomethingNew", "SomethingNew"),
    ],
)
def test_other_clients_have_their_own_event_names(client: str, path: str, name: str) -> None:
    """As they are, or in kebab case. An unknown name is kept."""
    assert event_name(path, client) == name


@pytest.mark.parametrize(("client", "path"), [("gemini", "user-prompt-submit"), ("opencode", "stop")])
def test_an_event_of_another_client_is_refused(client: str, path: str) -> None:
    """It would create an agent in a wrong state. The error lists the events of the client."""
    with pytest.raises(BadRequest, match=f"has no event {path}") as refusal:
        event_name(path, client)
    assert next(iter(OTHER_EVENT_NAMES[client])) in refusal.value.hint


def test_ids_are_unique_and_sort_by_time() -> None:
    """No id repeats, and ids of later milliseconds sort after earlier ones."""
    ids = [new_id() for _ in range(5_000)]
    assert len(set(ids)) == len(ids)
    assert [each[:12] for each in ids] == sorted(each[:12] for each in ids)


# --- envelopes --------------------------------------------------------------------------------------------------------


async def no_repository(directory: str | None) -> Observations:
    """Every directory is its own project."""
    return Observations(project_root=directory, branch="main")


def receive(
    payload: bytes, headers: dict[str, str] | None = None, path: str = "stop", *, trusted: bool = True
) -> Envelope:
    """The envelope of a body that arrives at START."""
    encoded = [(name.lower().encode(), value.encode()) for name, value in (headers or {}).items()]
    receiver = HookReceiver("laptop", ManualClock(), no_repository)
    return asyncio.run(receiver.receive(path, payload, encoded, trusted=trusted)).envelope


def test_the_payload_is_stored_as_it_arrived() -> None:
    """Including spaces, unknown fields and order."""
    payload = b'{ "z": [1,  2], "session_id":"one" , "new_field": {"a": null} }'
    envelope = receive(payload)
    assert envelope.payload == payload
    assert (envelope.name, envelope.origin, envelope.host) == ("Stop", Origin.HOOK, "laptop")


def test_a_timestamp_in_the_payload_is_ignored() -> None:
    """The fire time is that of the header, or the time of reception."""
    envelope = receive(body(timestamp=1234567890))
    assert (envelope.fired_at, envelope.received_at) == (START, START)


@pytest.mark.parametrize(
    ("header", "fired_at"),
    [
        (str(START / SECOND - 2.5), START - 5 * SECOND // 2),
        (str(START / SECOND + 3600), START),
        ("0", START),
        ("-1", START),
        ("nan", START),
        ("inf", START),
        ("1e999", START),
        ("soon", START),
        ("", START),
    ],
)
def test_the_fire_time_comes_from_the_header(header: str, fired_at: int) -> None:
    """A time before the reception is used; one in the future or an invalid one is ignored."""
    assert receive(body(), {"X-Headspace-Fired-At": header}).fired_at == fired_at


def test_headers_become_observations() -> None:
    """Headers of the hook script take precedence over fields with the same meaning."""
    headers = {
        "X-Headspace-Tmux-Session": "work",
        "X-Headspace-Tmux-Pane": "%7",
        "X-Headspace-Client-Pid": "4711",
        "X-Headspace-Session-Id": "hs-1",
        "X-Headspace-Wrapper-Id": "w-1",
        "X-Headspace-Delivery-Id": "d-1",
    }
    envelope = receive(body(tmux_session="other", tmux_pane="%1", client_pid=1, headspace_session_id="x"), headers)
    assert envelope.delivery_id == "d-1"
    assert envelope.observations == Observations(
        tmux_session="work",
        tmux_pane="%7",
        client_pid=4711,
        headspace_id="hs-1",
        wrapper_id="w-1",
        project_root="/projects/one",
        branch="main",
    )


def test_fields_become_observations() -> None:
    """Another sender can send the same values in the body."""
    envelope = receive(body(tmux_session="work", tmux_pane="%7", client_pid=4711, headspace_session_id="hs-1"))
    context = envelope.observations
    assert (context.tmux_session, context.tmux_pane, context.client_pid) == ("work", "%7", 4711)
    assert context.headspace_id == "hs-1"


def test_without_the_token_nothing_identifies_the_client() -> None:
    """Neither headers nor fields name a process, a terminal, an ancestor or a wrapper. Project and time still count."""
    names = ("Tmux-Session", "Tmux-Pane", "Session-Id", "Wrapper-Id", "Agent-Id", "Role", "Mode", "Mission-Id")
    numbers = {"X-Headspace-Client-Pid": "1", "X-Headspace-Ancestor-Pids": "1 2", "X-Headspace-Unauthenticated": ""}
    headers = {f"X-Headspace-{name}": "x" for name in names} | numbers | {"X-Headspace-Delivery-Id": "d-1"}
    fields = body(tmux_session="work", tmux_pane="%7", client_pid=4711, headspace_session_id="hs-1")
    envelope = receive(fields, headers, trusted=False)
    assert envelope.delivery_id == "d-1"
    assert envelope.observations == Observations(project_root="/projects/one", branch="main", unauthenticated=True)


def test_a_header_does_not_remove_the_trust_of_the_hook_script() -> None:
    """Only the missing token makes a request unauthenticated."""
    assert not receive(body(), {"X-Headspace-Unauthenticated": "1"}).observations.unauthenticated


@pytest.mark.parametrize("pid", ["-1", "x", "1.5", "99999999999999999999", "", "²"])
def test_a_header_that_is_not_a_number_is_ignored(pid: str) -> None:
    """The event is still stored."""
    assert receive(body(), {"X-Headspace-Client-Pid": pid}).observations.client_pid is None


def test_a_delivery_id_is_never_truncated() -> None:
    """Ids with the same start are different deliveries, so one that is too long is refused."""
    assert receive(body(), {"X-Headspace-Delivery-Id": "d" * 200}).delivery_id == "d" * 200
    with pytest.raises(BadRequest, match="longer than"):
        receive(body(), {"X-Headspace-Delivery-Id": "d" * 201})


def test_a_hook_that_a_client_runs_twice_is_one_delivery() -> None:
    """Copilot CLI runs its own hooks and those of a project. Each hook before a tool call needs its own verdict."""

    def delivery(event: str, number: int, client: str = "copilot", *, trusted: bool = True, **fields: str) -> str:
        headers = {"X-Headspace-Delivery-Id": f"d-{number}", "X-Headspace-Client": client}
        given = body(**{"timestamp": "2026-11-16T19:01:22.475Z", **fields})
        return receive(given, headers, event, trusted=trusted).delivery_id or ""

    assert delivery("UserPromptSubmit", 1) == delivery("UserPromptSubmit", 2)
    assert delivery("UserPromptSubmit", 1) != delivery("UserPromptSubmit", 2, timestamp="2026-11-16T19:01:22.476Z")
    assert delivery("UserPromptSubmit", 1) != delivery("Stop", 2)
    assert delivery("PreToolUse", 1) == "d-1"
    assert delivery("UserPromptSubmit", 1, "claude-code") == "d-1"
    assert delivery("UserPromptSubmit", 1, trusted=False) == "d-1"
    without_time = receive(body(), {"X-Headspace-Delivery-Id": "d-1", "X-Headspace-Client": "copilot"}, "Stop")
    assert without_time.delivery_id == "d-1"


# --- lone surrogates --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("escaped", "repaired"),
    [
        (rb'"\ud83d"', rb'"\ufffd"'),
        (rb'"\uDE00 x"', rb'"\ufffd x"'),
        (rb'"\ud83d\ud83d\ude00"', rb'"\ufffd\ud83d\ude00"'),
        (rb'"\ud83d\ude00"', rb'"\ud83d\ude00"'),
        (rb'"\\ud83d"', rb'"\\ud83d"'),
        (rb'"\\\ud83d"', rb'"\\\ufffd"'),
        (rb'"\u00e4 \n \" plain"', rb'"\u00e4 \n \" plain"'),
    ],
)
def test_lone_surrogates_are_replaced(escaped: bytes, repaired: bytes) -> None:
    """Valid pairs and escaped backslashes are unchanged."""
    assert replace_lone_surrogates(escaped) == repaired


@given(st.text(st.characters(exclude_categories=()), max_size=40))
def test_any_javascript_string_is_accepted(text: str) -> None:
    """Every string, also with lone surrogates, becomes valid JSON."""
    identity, repaired = read_identity(json.dumps({"session_id": "one", "prompt": text}).encode())
    assert identity.session_id == "one"
    expected = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert json.loads(repaired)["prompt"].replace("\ufffd", "") == expected.replace("\ufffd", "")


def test_an_event_with_a_lone_surrogate_is_stored(daemon: RunningDaemon) -> None:
    """Claude Code may cut a text within an emoji."""
    payload = rb'{"session_id": "half", "cwd": "/projects/half", "prompt": "Draw \ud83d"}'
    reply = daemon.curl("user-prompt-submit", payload)
    assert reply.status == 200
    assert daemon.agent(reply.json()["agent_id"])["command"]["text"] == "Draw \ufffd"
    assert daemon.get(f"/api/agents/{reply.json()['agent_id']}/events").json()[0]["payload"]["prompt"] == "Draw \ufffd"


# --- refused bodies ---------------------------------------------------------------------------------------------------

DEEP = b'{"session_id": "one", "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"

BAD_BODIES: dict[str, bytes] = {
    "empty": b"",
    "white space": b" \n ",
    "not json": b"hello",
    "truncated": b'{"session_id": "on',
    "two objects": b'{"session_id": "one"}{"session_id": "two"}',
    "an array": b'[{"session_id": "one"}]',
    "a string": b'"one"',
    "null": b"null",
    "a form": b"session_id=one&cwd=/tmp",
    "no session_id": b'{"cwd": "/tmp"}',
    "session_id is a number": b'{"session_id": 1}',
    "session_id is null": b'{"session_id": null}',
    "session_id is an object": b'{"session_id": {"a": "b"}}',
    "session_id is empty": b'{"session_id": ""}',
    "session_id is blank": b'{"session_id": "  "}',
    "session_id is too long": body(session_id="x" * 501),
    "cwd is a number": body(cwd=1),
    "cwd is a list": body(cwd=["/tmp"]),
    "cwd is too long": body(cwd="/" + "x" * 9_000),
    "working_directory is an object": body(working_directory={}),
    "transcript_path is true": body(transcript_path=True),
    "tmux_session is a number": body(tmux_session=3),
    "tmux_pane is a number": body(tmux_pane=3),
    "client_pid is a text": body(client_pid="4711"),
    "client_pid is negative": body(client_pid=-1),
    "client_pid is huge": body(client_pid=10**30),
    "client_pid has 5,000 digits": b'{"session_id": "one", "client_pid": ' + b"9" * 5_000 + b"}",
    "client_pid is a fraction": body(client_pid=1.5),
    "a number that is too large": b'{"session_id": "one", "client_pid": 1e999}',
    "not a number": b'{"session_id": "one", "x": NaN}',
    "NUL": b'{"session_id": "o\0ne"}',
    "NUL escaped in session_id": rb'{"session_id": "o\u0000ne"}',
    "a control character in session_id": rb'{"session_id": "\u001b[2Jone"}',
    "a lone surrogate in session_id": rb'{"session_id": "one \ud800"}',
    "not utf-8": b'{"session_id": "\xff\xfe"}',
    "not utf-8 elsewhere": b'{"session_id": "one", "x": "\xc3\x28"}',
    "utf-16": '{"session_id": "one"}'.encode("utf-16"),
    "a byte order mark": b'\xef\xbb\xbf{"session_id": "one"}',
    "nested too deeply": DEEP,
    "comments": b'{"session_id": "one"} // really',
    "a trailing comma": b'{"session_id": "one",}',
    "single quotes": b"{'session_id': 'one'}",
}


@pytest.mark.parametrize("payload", BAD_BODIES.values(), ids=BAD_BODIES.keys())
def test_invalid_bodies_are_refused(daemon: RunningDaemon, payload: bytes) -> None:
    """They get a 400 with a reason, and nothing is stored."""
    with daemon.untouched():
        reply = daemon.curl("session-start", payload)
    assert reply.status == 400
    assert reply.error["code"] in {"bad_json", "bad_field"}


def test_the_error_names_the_field(daemon: RunningDaemon) -> None:
    """The sender sees what to correct."""
    assert "session_id" in daemon.curl("stop", b"{}").error["message"]
    assert "cwd" in daemon.curl("stop", body(cwd=7)).error["message"]


BAD_NAMES = [
    "/hook/",
    "/hook/%20",
    "/hook/1st",
    "/hook/a%2fb",
    "/hook/a/b",
    "/hook/%00",
    "/hook/%ff",
    "/hook/" + "a" * 999,
]
BAD_NAMES += ["/hook/..%2f..%2fetc%2fpasswd", "/hook/../api/agents", "/hook/%F0%9F%98%80", "/hook/stop/", "/hook/a.b"]


@pytest.mark.parametrize("path", BAD_NAMES)
def test_invalid_event_names_are_refused(daemon: RunningDaemon, path: str) -> None:
    """However the path is encoded."""
    with daemon.untouched():
        reply = daemon.send("POST", path, body())
    assert reply.status in {400, 404}
    assert reply.error


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
def test_hooks_are_sent_with_post(daemon: RunningDaemon, method: str) -> None:
    """Every other method is refused."""
    with daemon.untouched():
        reply = daemon.send(method, "/hook/session-start", body() if method in {"PUT", "PATCH"} else None)
    assert reply.status == 405
    assert method == "HEAD" or reply.error["code"] == "method_not_allowed"


def test_a_body_over_the_limit_is_refused(daemon: RunningDaemon) -> None:
    """It gets a 413, with or without a declared length, and is counted."""
    large = body(x="x" * (64 * MIB))
    with daemon.untouched():
        answers = [
            daemon.raw(HEAD + b"Content-Length: %d\r\n\r\n%s" % (len(large), large)),
            daemon.raw(HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + in_chunks(large)),
            daemon.raw(HEAD + b"Content-Length: 999999999999\r\n\r\n"),
        ]
    assert [answer.split(b" ", 2)[1] for answer in answers] == [b"413"] * 3
    assert all(b'"too_large"' in answer for answer in answers)
    assert daemon.curl("stop", large).error["code"] == "too_large"
    assert 'headspace_refused_total{code="too_large"} 4.0' in daemon.get("/metrics").body.decode()


HEAD = b"POST /hook/stop HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nConnection: close\r\n"


def in_chunks(payload: bytes) -> bytes:
    """A body in chunked encoding."""
    pieces = [payload[at : at + 65_536] for at in range(0, len(payload), 65_536)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


@pytest.mark.parametrize("megabytes", [7, 40])
def test_a_large_body_within_the_limit_is_accepted(daemon: RunningDaemon, megabytes: int) -> None:
    """Long tool output is truncated, and the stored text says so."""
    output = {"tool_name": "Bash", "tool_use_id": "large", "tool_response": {"stdout": "x" * (megabytes * MIB)}}
    reply = daemon.curl("post-tool-use", body(session_id="large", cwd="/projects/large", **output))
    assert reply.status == 200
    *_, event = (event for event in daemon.events() if event["name"] == "PostToolUse")
    kept = event["payload"]["tool_response"]["stdout"]
    assert len(kept) < MIB
    assert f"{megabytes * MIB - kept.count('x'):,} bytes left out" in kept
    chunked = in_chunks(body(session_id="large", x="x" * MIB))
    assert daemon.raw(HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunked).startswith(b"HTTP/1.1 200")


def test_large_bodies_are_read_one_at_a_time(daemon: RunningDaemon) -> None:
    """A slow one makes other large ones wait, but not small ones; then both are accepted."""
    large = body(session_id="slow", x="x" * (5 * MIB))
    replies: list[int] = []
    other = threading.Thread(target=lambda: replies.append(daemon.curl("stop", large).status))
    with socket.create_connection(("127.0.0.1", daemon.port), timeout=60) as connection:
        connection.sendall(HEAD + b"Content-Length: %d\r\n\r\n%s" % (len(large), large[:-1]))
        other.start()
        assert daemon.curl("stop", body(session_id="small")).status == 200
        assert replies == []
        connection.sendall(large[-1:])
        assert connection.recv(12) == b"HTTP/1.1 200"
    other.join(60)
    assert replies == [200]


def test_an_incomplete_request_is_not_stored(daemon: RunningDaemon) -> None:
    """The sender disconnected."""
    with daemon.untouched(), socket.create_connection(("127.0.0.1", daemon.port), timeout=60) as connection:
        connection.sendall(HEAD + b'Content-Length: 100\r\n\r\n{"session_id": "one", ')
        connection.shutdown(socket.SHUT_WR)
        answer = connection.recv(65_536)
    assert answer == b"" or b" 400 " in answer.split(b"\r\n", 1)[0]


# --- unusual fields ---------------------------------------------------------------------------------------------------

STRANGE: dict[str, dict[str, Any]] = {
    "fields of wrong types": {"prompt": 7, "tool_name": ["Bash"], "tool_input": "ls", "permission_mode": {}},
    "huge numbers": {"prompt": "x", "timestamp": 10**40, "cost": 1.5e300},
    "NUL in a text": {"prompt": "a\0b"},
    "terminal control": {"prompt": "\x1b[2J\x1b]0;title\x07"},
    "right to left": {"prompt": "\u202egnp.exe"},
    "a relative directory": {"cwd": "relative/path"},
    "a directory with NUL": {"cwd": "/tmp/\0evil"},
    "an empty directory": {"cwd": ""},
    "a name with many faces": {"cwd": "/projects/🦊 & 'quotes' \"double\" \\ %s {0}"},
    "permission rules of strange types": {"tool_name": "Bash", "permission_suggestions": [{"a": 10**25}, {}]},
    "answers of strange types": {"tool_name": "AskUserQuestion", "tool_response": {"answers": {"q": [10**25, None]}}},
    "nested a little": {"tool_input": json.loads("[" * 90 + "]" * 90)},
}


@pytest.mark.parametrize("event", ["session-start", "user-prompt-submit", "pre-tool-use", "permission-request", "stop"])
@pytest.mark.parametrize("fields", STRANGE.values(), ids=STRANGE.keys())
def test_other_fields_may_have_any_type(daemon: RunningDaemon, event: str, fields: dict[str, Any]) -> None:
    """The event is stored as it arrived, and the agent can still be read."""
    session = f"strange-{event}-{list(STRANGE.values()).index(fields)}"
    payload = {"session_id": session, "cwd": f"/projects/{session}", **fields}
    reply = daemon.curl(event, payload)
    assert reply.status == 200, reply.body
    agent_id = reply.json()["agent_id"]
    assert daemon.agent(agent_id)["session_id"] == session
    stored = daemon.get(f"/api/agents/{agent_id}/events").json()
    assert stored[-1]["payload"] == payload
    for part in ("turns", "commands", "sessions", "evidence"):
        assert daemon.get(f"/api/agents/{agent_id}/{part}").status == 200


def test_unusual_fields_survive_a_replay(daemon: RunningDaemon) -> None:
    """The projections still equal a replay of the log."""
    assert daemon.verified()


# --- fuzzing ----------------------------------------------------------------------------------------------------------

numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
FIELDS = ["cwd", "prompt", "tool_name", "tool_input", "tool_use_id", "agent_id", "agent_type", "background_tasks"]
FIELDS += [
    "tool_response",
    "permission_suggestions",
    "last_assistant_message",
    "message",
    "notification_type",
    "source",
]
FIELDS += ["reason", "client_pid", "tmux_pane", "transcript_path", "prompt_id", "task_id", "tool_calls", "error"]
events = st.sampled_from([kebab(name) for name in HOOKS]) | st.text(max_size=12)
bodies = st.fixed_dictionaries(
    {"session_id": st.sampled_from(["fuzz-1", "fuzz-2"]) | json_values},
    optional=dict.fromkeys(FIELDS, json_values),
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(event=events, payload=bodies)
def test_no_json_causes_a_server_error(daemon: RunningDaemon, event: str, payload: dict[str, Any]) -> None:
    """Any JSON for any event is accepted or refused."""
    reply = daemon.send("POST", f"/hook/{quote(event, safe='')}", json.dumps(payload).encode())
    assert reply.status in {200, 400, 404, 405}, (reply.status, reply.body)
    assert reply.status == 200 or reply.error


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(payload=st.binary(max_size=300), event=st.sampled_from(["stop", "session-start", "what-ever"]))
def test_no_bytes_cause_a_server_error(daemon: RunningDaemon, payload: bytes, event: str) -> None:
    """Random bytes are refused."""
    reply = daemon.curl(event, payload)
    assert reply.status == 400
    assert reply.error


def test_projections_equal_a_replay_after_random_events(daemon: RunningDaemon) -> None:
    """The journal verifies."""
    assert daemon.verified()


# --- sanitizing ---

SECRET = "sk-ant-" + "a" * 40


def test_secrets_are_redacted_before_text_is_truncated() -> None:
    """No part of a secret is stored."""
    sanitizer = Sanitizer(Bounds(message=1_024, result=1_024))
    text = ("x " * 300 + SECRET + " y") * 30
    assert SECRET[:20].encode() not in sanitizer.sanitize_hook(json.dumps({"prompt": text}).encode())


def test_hook_and_transcript_store_the_same_text() -> None:
    """A prompt that both report is one turn, so both must be sanitized alike."""
    sanitizer = Sanitizer(Bounds(message=2_000, result=1_024), build_redactor(patterns=["pin"]))
    prompt = f"pin {SECRET} " + "wörd " * 1_000
    hook = json.loads(sanitizer.sanitize_hook(json.dumps({"prompt": prompt}).encode()))
    line = json.loads(
        sanitizer.sanitize_line(
            json.dumps({"message": {"role": "user", "content": prompt}}).encode() + b"\n", is_message
        )
    )
    assert hook["prompt"] == line["message"]["content"]
    assert hook["prompt"].startswith(f"{REDACTED} {REDACTED} wörd")
