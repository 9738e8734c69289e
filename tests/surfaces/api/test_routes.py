"""The JSON API of a running daemon: responses, refusals, and the same state on every surface."""

import gzip
from itertools import count
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support import RunningDaemon, wait_until

_numbers = count(1)

ASK: dict[str, object] = {
    "tool_name": "AskUserQuestion",
    "tool_use_id": "ask",
    "tool_input": {
        "questions": [
            {
                "question": "Which database?",
                "header": "Database",
                "multiSelect": False,
                "options": [{"label": "SQLite", "description": "One file"}, {"label": "PostgreSQL"}],
            }
        ]
    },
}
BASH: dict[str, object] = {"tool_name": "Bash", "tool_use_id": "run", "tool_input": {"command": "make test"}}


class Agent:
    """An agent of one test."""

    def __init__(self, daemon: RunningDaemon) -> None:
        number = next(_numbers)
        self.daemon = daemon
        self.session = f"api-{number}"
        self.cwd = f"/projects/api-{number}"
        self.id = self.fire("session-start", source="startup", model="opus")["agent_id"]

    def fire(self, event: str, **fields: object) -> dict[str, Any]:
        """Send a hook; the reply."""
        reply = self.daemon.post(event, {"session_id": self.session, "cwd": self.cwd, **fields})
        assert reply.status == 200, reply.body
        answer: dict[str, Any] = reply.json()
        return answer

    def get(self, part: str = "") -> Any:
        """A part of the agent from the API."""
        return self.daemon.get(f"/api/agents/{self.id}{part}").json()


@pytest.fixture
def agent(daemon: RunningDaemon) -> Agent:
    """An agent that has just started."""
    return Agent(daemon)


@pytest.mark.parametrize("path", ["/api/agents/{}/screen", "/api/agents/{}/worktree", "/api/launches/directory?path=/"])
def test_some_endpoints_need_act_to_be_read(agent: Agent, path: str) -> None:
    """They show more than the stored conversation: screens, files that are not committed, directories."""
    refused = agent.daemon.get(path.format(agent.id), scope="read")
    assert (refused.status, refused.error["code"]) == (403, "token_refused")
    assert agent.daemon.send("HEAD", path.format(agent.id), scope="act").status != 403


def test_large_responses_are_compressed_on_request(daemon: RunningDaemon) -> None:
    """For requesters that accept it; small ones never."""
    plain = daemon.get("/api/settings")
    packed = daemon.send("GET", "/api/settings", headers={"Accept-Encoding": "br, gzip"}, scope="read")
    assert (plain.headers["content-encoding"], packed.headers["content-encoding"]) == (None, "gzip")
    assert gzip.decompress(packed.body) == plain.body
    small = daemon.send("GET", "/health", headers={"Accept-Encoding": "gzip"}, scope="read")
    assert small.headers["content-encoding"] is None


# --- reading ----------------------------------------------------------------------------------------------------------


def test_changes_of_a_command(agent: Agent) -> None:
    """Files with their diffs and counts, for the agent, for one command, and for one file."""
    agent.fire("user-prompt-submit", prompt="Add a file")
    for name in ("a.txt", "b.txt"):
        agent.fire(
            "post-tool-use",
            tool_name="Write",
            tool_use_id=f"write-{name}",
            tool_input={"file_path": f"{agent.cwd}/{name}", "content": "hi\n"},
            tool_response={"type": "create", "content": "hi\n", "structuredPatch": [], "originalFile": None},
        )
    agent.fire("stop", last_assistant_message="Done.")
    agent.fire("user-prompt-submit", prompt="Something else")
    everything, command = agent.get("/changes"), agent.get("/changes?command=1")
    assert command["command_id"] == agent.get("/commands")[0]["id"]
    assert command["files"] == everything["files"]
    assert [(file["path"], file["status"], file["source"]) for file in command["files"]] == [
        ("a.txt", "added", "tool"),
        ("b.txt", "added", "tool"),
    ]
    assert command["files"][0]["diff"] == "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+hi\n"
    assert (command["added"], command["removed"], command["complete"], command["left_out"]) == (2, 0, True, 0)
    assert [file["path"] for file in agent.get("/changes?files=b.txt")["files"]] == ["b.txt"]
    assert agent.get("/changes?command=latest")["files"] == []
    assert agent.get("/changes?command=7")["error"]["code"] == "unknown_command"


def test_fields_of_an_agent(agent: Agent) -> None:
    """The JSON of an agent has every field that a surface shows."""
    agent.fire("user-prompt-submit", prompt="Run the tests.", permission_mode="acceptEdits")
    agent.fire("pre-tool-use", **BASH)
    shown = agent.get()
    assert shown["state"] == "working"
    assert shown["project"]["root"] == agent.cwd
    assert shown["cwd"] == agent.cwd
    assert shown["session_id"] == agent.session
    assert shown["session"]["ordinal"] == 1
    assert shown["model"] == "opus"
    assert shown["permission_mode"] == "acceptEdits"
    assert (shown["tool"]["name"], shown["tool"]["summary"]) == ("Bash", "make test")
    assert (shown["command"]["text"], shown["command"]["state"]) == ("Run the tests.", "PROCESSING")
    assert shown["dialects"] == {
        "headspace": "PROCESSING",
        "plate": "running",
        "fleet": "working",
        "claude_os": "tool_active",
    }
    assert shown["ended_at"] is None


def test_an_agent_is_found_by_id_name_or_start_of_the_id(agent: Agent) -> None:
    """All references return the same agent."""
    shown = agent.get()
    for reference in (agent.id, shown["name"], agent.id[:13]):
        assert agent.daemon.agent(reference) == shown


def test_turns_are_in_order(agent: Agent) -> None:
    """The turns of an agent, and of one command."""
    agent.fire("user-prompt-submit", prompt="First.")
    agent.fire("stop", last_assistant_message="I did the first thing.")
    agent.fire("user-prompt-submit", prompt="Second.")
    agent.fire("stop", last_assistant_message="I did the second thing.")
    said = ["First.", "I did the first thing.", "Second.", "I did the second thing."]
    turns = agent.get("/turns")
    assert [turn["text"] for turn in turns] == said
    assert [turn["actor"] for turn in turns] == ["USER", "AGENT"] * 2
    assert [turn["text"] for turn in agent.get("/turns?limit=1")] == said[-1:]
    commands = agent.get("/commands")
    assert [(command["text"], command["outcome"]) for command in commands] == [
        ("First.", "completed"),
        ("Second.", "completed"),
    ]
    of_one = agent.daemon.get(f"/api/commands/{commands[0]['id']}/turns").json()
    assert [turn["text"] for turn in of_one] == said[:2]


def test_sessions_are_in_order(agent: Agent) -> None:
    """Compaction and clearing open the next session of the same agent."""
    agent.fire("session-start", source="compact")
    agent.session += "-cleared"
    agent.fire("session-start", source="clear")
    sessions = agent.get("/sessions")
    assert [session["source"] for session in sessions] == ["startup", "compact", "clear"]
    assert [session["ordinal"] for session in sessions] == [1, 2, 3]
    assert [session["prev_session_id"] for session in sessions] == [None, sessions[0]["id"], sessions[1]["id"]]
    assert agent.get()["session"] == sessions[-1]


def test_events_are_returned_as_they_arrived(agent: Agent) -> None:
    """With payload and correlation, in order and in pages."""
    agent.fire("user-prompt-submit", prompt="Go.", unknown_field={"kept": True})
    agent.fire("some-event-of-next-year", anything=[1])
    events = agent.get("/events")
    assert [event["name"] for event in events] == ["SessionStart", "UserPromptSubmit", "SomeEventOfNextYear"]
    assert [event["correlation"] for event in events] == ["new", "memory", "memory"]
    assert events[1]["payload"]["unknown_field"] == {"kept": True}
    assert [event["anomaly"] for event in events] == [None, None, "unknown event SomeEventOfNextYear"]
    after = agent.get(f"/events?after={events[0]['seq']}&limit=1")
    assert after == events[1:2]
    assert agent.daemon.get("/api/events?limit=1").json() == events[-1:]


def test_open_waits_have_their_options(agent: Agent) -> None:
    """A question is listed with its options until it is answered."""
    agent.fire("user-prompt-submit", prompt="Choose.")
    agent.fire("pre-tool-use", **ASK)
    (wait,) = agent.daemon.get(f"/api/waits?agent={agent.id}").json()
    assert (wait["kind"], wait["text"], wait["closed_at"]) == ("question", "Which database?", None)
    (question,) = wait["questions"]
    assert [option["label"] for option in question["options"]] == ["SQLite", "PostgreSQL"]
    assert wait in agent.daemon.get("/api/waits").json()
    agent.fire("post-tool-use", **ASK, tool_response={"answers": {"Which database?": "SQLite"}})
    assert agent.daemon.get(f"/api/waits?agent={agent.id}").json() == []
    (closed,) = agent.daemon.get(f"/api/waits?agent={agent.id}&all=true").json()
    assert (closed["id"], closed["resolution"]) == (wait["id"], "answered")


def test_the_board_is_sorted_by_urgency(daemon: RunningDaemon) -> None:
    """Waiting before error, working, idle and ended."""
    endings: list[tuple[str, dict[str, object]]] = [
        ("session-end", {"reason": "other"}),
        ("stop", {"last_assistant_message": "I did it."}),
        ("pre-tool-use", BASH),
        ("stop-failure", {"error": "overloaded"}),
        ("pre-tool-use", ASK),
    ]
    mine = []
    for event, fields in endings:
        agent = Agent(daemon)
        agent.fire("user-prompt-submit", prompt="Go.")
        agent.fire(event, **fields)
        mine.append(agent.id)
    board = [shown["id"] for shown in daemon.agents() if shown["id"] in mine]
    assert board == mine[::-1]
    for state in ("waiting", "error", "working", "idle", "ended"):
        shown = daemon.get(f"/api/agents?state={state}").json()
        assert {one["state"] for one in shown} == {state}
    by_project = daemon.get(f"/api/agents?project={quote(Agent(daemon).cwd, safe='')}").json()
    assert len(by_project) == 1


# --- one state on every surface ---------------------------------------------------------------------------------------

STEPS: list[tuple[str, dict[str, object]]] = [
    ("user-prompt-submit", {"prompt": "Choose a database."}),
    ("pre-tool-use", BASH),
    ("permission-request", {"tool_name": "Bash", "tool_input": BASH["tool_input"]}),
    ("post-tool-use", BASH),
    ("pre-tool-use", ASK),
    ("post-tool-use", {**ASK, "tool_response": {"answers": {"Which database?": "SQLite"}}}),
    ("stop", {"last_assistant_message": "SQLite it is. Shall I migrate the data too?"}),
    ("user-prompt-submit", {"prompt": "Yes."}),
    ("stop-failure", {"error": "overloaded"}),
    ("user-prompt-submit", {"prompt": "Again."}),
    ("stop", {"last_assistant_message": "I migrated the data."}),
    ("session-end", {"reason": "other"}),
    ("session-start", {"source": "resume"}),
]


def test_every_surface_shows_the_same_state(agent: Agent) -> None:
    """The hook's reply, the agent, the board, the evidence and the stream agree after each event."""
    seen = []
    state: tuple[str, str | None] = ("idle", None)
    with agent.daemon.stream(agent_id=agent.id, types="state_changed") as stream:
        for event, fields in STEPS:
            reply = agent.fire(event, **fields)
            shown = agent.get()
            evidence = agent.get("/evidence")[-1]
            (on_board,) = [one for one in agent.daemon.agents() if one["id"] == agent.id]
            if (reply["state"], reply["waiting_for"]) != state:
                message = stream.next().data
                assert (message["from_state"], message["from_waiting_for"]) == state
                state = (message["state"], message["waiting_for"])
                assert message["dialects"] == shown["dialects"]
                assert message["evidence"] == shown["evidence"]
            for surface in (reply, shown, on_board, evidence):
                assert (surface["state"], surface["waiting_for"]) == state
            assert reply["dialects"] == shown["dialects"]
            assert evidence["why"] == shown["evidence"]["why"]
            assert agent.daemon.status["agents"][state[0]] >= 1
            seen.append(state)
    assert seen == [
        ("working", None),
        ("working", None),
        ("waiting", "permission"),
        ("working", None),
        ("waiting", "question"),
        ("working", None),
        ("waiting", "question"),
        ("working", None),
        ("error", None),
        ("working", None),
        ("idle", None),
        ("ended", None),
        ("idle", None),
    ]


def test_the_changes_in_the_stream_are_complete(agent: Agent) -> None:
    """A reader that applies all changes has the same agent as the API."""
    known = agent.get()
    with agent.daemon.stream(agent_id=agent.id) as stream:
        for event, fields in STEPS:
            agent.fire(event, **fields)
            while known != agent.get():
                known.update(stream.next().data.get("changes", {}))


# --- acting -----------------------------------------------------------------------------------------------------------


def rename(agent: Agent, name: object) -> Any:
    """Request another name."""
    return agent.daemon.send("POST", f"/api/agents/{agent.id}/rename", {"name": name}, scope="act")


def test_rename(agent: Agent) -> None:
    """The new name works as a reference, is in the stream, and the log has the act."""
    with agent.daemon.stream(agent_id=agent.id) as stream:
        reply = rename(agent, " Build-Bot.2 ")
        assert reply.status == 200
        assert reply.json()["name"] == "build-bot.2"
        assert stream.next().data["changes"] == {"name": "build-bot.2"}
    assert agent.daemon.agent("build-bot.2")["id"] == agent.id
    event = agent.get("/events")[-1]
    assert (event["name"], event["origin"]) == ("AgentRenamed", "operator")
    assert rename(agent, "build-bot.2").status == 200, "its own name is no conflict"


def test_names_of_living_agents_are_unique(agent: Agent) -> None:
    """A name in use is refused. It is free again after the agent ended."""
    other = Agent(agent.daemon)
    assert rename(other, "one-of-a-kind").status == 200
    with agent.daemon.untouched():
        reply = rename(agent, "one-of-a-kind")
        assert (reply.status, reply.error["code"]) == (409, "name_taken")
    other.fire("session-end", reason="other")
    assert rename(agent, "one-of-a-kind").status == 200
    assert agent.daemon.agent("one-of-a-kind")["id"] == agent.id, "the living one is meant"


@pytest.mark.parametrize(
    "name", ["", " ", "-a", "a-", "a b", "Ä", "a/b", "..", "x" * 41, "a\0b", "\x1b[2J", None, 7, ["a"], {}, True]
)
def test_invalid_names_are_refused(agent: Agent, name: object) -> None:
    """Names are short and easy to type."""
    with agent.daemon.untouched():
        reply = rename(agent, name)
    assert reply.status == 400
    assert reply.error["code"] in {"bad_name", "bad_json"}


@pytest.mark.parametrize("payload", [b"", b"x", b"[]", b"{}", b"null", b'{"name": "\xff"}', b"[" * 60_000])
def test_invalid_bodies_are_refused(agent: Agent, payload: bytes) -> None:
    """They get 400."""
    with agent.daemon.untouched():
        reply = agent.daemon.send("POST", f"/api/agents/{agent.id}/rename", payload, scope="act")
    assert (reply.status, reply.error["code"]) == (400, "bad_json")


def test_large_bodies_are_refused(agent: Agent) -> None:
    """They get 413."""
    with agent.daemon.untouched():
        reply = agent.daemon.send("POST", f"/api/agents/{agent.id}/rename", {"name": "x" * 1024 * 1024}, scope="act")
    assert (reply.status, reply.error["code"]) == (413, "too_large")


def test_rebuild_changes_nothing(agent: Agent) -> None:
    """All views are rebuilt from the log and stay the same."""
    agent.fire("user-prompt-submit", prompt="Choose.")
    agent.fire("pre-tool-use", **ASK)
    rename(agent, "rebuilt")
    before = [agent.get(part) for part in ("", "/turns", "/commands", "/sessions", "/evidence", "/events")]
    reply = agent.daemon.send("POST", "/api/admin/db/rebuild", scope="admin")
    assert reply.status == 200
    assert reply.json()["events"] == agent.daemon.status["events_total"]
    assert [agent.get(part) for part in ("", "/turns", "/commands", "/sessions", "/evidence", "/events")] == before
    assert agent.fire("post-tool-use", **ASK)["agent_id"] == agent.id
    assert agent.daemon.verified()


# --- refusing ---------------------------------------------------------------------------------------------------------

BAD_REQUESTS = {
    "/api/agents/nobody": (404, "unknown_agent"),
    "/api/agents/nobody/turns": (404, "unknown_agent"),
    "/api/agents/nobody/events": (404, "unknown_agent"),
    "/api/agents/%00": (404, "unknown_agent"),
    "/api/agents/%ff%fe": (404, "unknown_agent"),
    "/api/agents/%25": (404, "unknown_agent"),
    "/api/agents/_____": (404, "unknown_agent"),
    "/api/agents/..": (404, "unknown_agent"),
    "/api/agents/..%2f..%2fetc": (404, "not_found"),
    "/api/agents/": (404, "not_found"),
    "/api/agents/x/nothing": (404, "not_found"),
    "/api/agents/" + "x" * 5_000: (404, "unknown_agent"),
    "/api/commands/nothing/turns": (404, "unknown_command"),
    "/api/waits?agent=nobody": (404, "unknown_agent"),
    "/api/waits?all=perhaps": (400, "bad_parameter"),
    "/api/agents?state=happy": (400, "bad_parameter"),
    "/api/agents?state=%00": (400, "bad_parameter"),
    "/api/agents?all=2": (400, "bad_parameter"),
    "/api/events?limit=0": (400, "bad_parameter"),
    "/api/events?limit=-1": (400, "bad_parameter"),
    "/api/events?limit=1001": (400, "bad_parameter"),
    "/api/events?limit=ten": (400, "bad_parameter"),
    "/api/events?limit=1.5": (400, "bad_parameter"),
    "/api/events?limit=1e3": (400, "bad_parameter"),
    "/api/events?limit=%D9%A3": (400, "bad_parameter"),
    "/api/events?limit=" + "9" * 5_000: (400, "bad_parameter"),
    "/api/events?after=-1": (400, "bad_parameter"),
    "/api/events?after=9223372036854775808": (400, "bad_parameter"),
    "/api/events?after=x": (400, "bad_parameter"),
    "/api/events/stream?types=nonsense": (400, "unknown_type"),
    "/api/events/stream?last_event_id=x": (400, "bad_parameter"),
    "/api/events/stream?last_event_id=-1": (400, "bad_parameter"),
    "/nothing": (404, "not_found"),
    "/api": (404, "not_found"),
    "/health/": (404, "not_found"),
    "//health": (404, "not_found"),
    "/HEALTH": (404, "not_found"),
    "/health%00": (404, "not_found"),
    "/openapi.json/../health": (404, "not_found"),
    "/%F0%9F%A6%8A": (404, "not_found"),
}


@pytest.mark.parametrize("path", BAD_REQUESTS, ids=lambda path: str(path)[:60])
def test_bad_urls_are_refused(daemon: RunningDaemon, path: str) -> None:
    """Unknown paths and invalid parameters get an error with a hint."""
    with daemon.untouched():
        reply = daemon.get(path)
    assert (reply.status, reply.error["code"]) == BAD_REQUESTS[path]


def test_a_bad_last_event_id_is_refused(daemon: RunningDaemon) -> None:
    """It is an error, not the start of the stream."""
    reply = daemon.send("GET", "/api/events/stream", headers={"Last-Event-ID": "yesterday"}, scope="read")
    assert (reply.status, reply.error["code"]) == (400, "bad_parameter")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "POST", "OPTIONS"])
@pytest.mark.parametrize("path", ["/health", "/api/waits", "/metrics", "/openapi.json", "/hook/status"])
def test_wrong_methods_are_refused(daemon: RunningDaemon, method: str, path: str) -> None:
    """Read endpoints accept only GET and HEAD."""
    with daemon.untouched():
        reply = daemon.send(method, path, b"{}" if method == "POST" else None, scope="admin")
    assert (reply.status, reply.error["code"]) == (405, "method_not_allowed")


MALFORMED = {
    "no http at all": b"hello\r\n\r\n",
    "a greeting of tls": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 40 + b"\r\n\r\n",
    "an unknown method": b"FROB /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "a path in raw bytes": b"GET /\xff\xfe HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "two lengths": b"POST /hook/stop HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    "length and chunks": (
        b"POST /hook/stop HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}"
    ),
    "a negative length": b"POST /hook/stop HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -2\r\n\r\n{}",
    "a length beyond numbers": b"POST /hook/stop HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9%s\r\n\r\n"
    % (b"9" * 40),
    "NUL in a header": b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX: a\0b\r\n\r\n",
    "another version": b"GET /health HTTP/3.7\r\nHost: 127.0.0.1\r\n\r\n",
    "a header without end": b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"x" * 65_536,
    "an address without end": b"GET /" + b"x" * 65_536,
}


@pytest.mark.parametrize("request_bytes", MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_http_gets_the_same_error_shape(daemon: RunningDaemon, request_bytes: bytes) -> None:
    """And the connection is closed."""
    with daemon.untouched():
        head, _, payload = daemon.raw(request_bytes).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"content-type: application/json" in head
    assert payload.startswith(b'{"error":{"code":"bad_http"')


def test_head_answers_like_get_without_a_body(daemon: RunningDaemon) -> None:
    """Also for the stream, which has no end."""
    for path in ("/health", "/api/agents", "/api/events/stream"):
        with daemon.client() as client:
            for _ in range(2):
                reply = client.send("HEAD", path, headers=daemon.credentials("read"))
                assert (reply.status, reply.body) == (200, b"")

    def readers() -> str:
        return str(daemon.get("/health", scope=None).json()["parts"]["stream"]["detail"])

    wait_until(lambda: readers() == "0 readers", "the end of all readers")


methods = st.sampled_from(["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"])
known_parts = [
    "api",
    "agents",
    "events",
    "stream",
    "turns",
    "hook",
    "status",
    "stop",
    "health",
    "rename",
    "..",
    "admin",
]
parts = st.sampled_from(known_parts) | st.text(max_size=8)
parameters = st.dictionaries(
    st.sampled_from(["limit", "after", "state", "all", "agent", "types", "project"]) | st.text(max_size=5),
    st.text(max_size=8) | st.integers().map(str),
    max_size=3,
)


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    method=methods,
    path=st.lists(parts, max_size=5),
    query=parameters,
    payload=st.binary(max_size=50),
    scope=st.sampled_from([None, "read", "act"]),
)
def test_no_request_gives_a_server_error(
    daemon: RunningDaemon, method: str, path: list[str], query: dict[str, str], payload: bytes, scope: str | None
) -> None:
    """Every method, path and scope gets a response or a clear refusal."""
    address = "/" + "/".join(quote(part, safe="") for part in path)
    if query:
        address += "?" + "&".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in query.items())
    if method == "GET" and path == ["api", "events", "stream"]:
        method = "HEAD"
    reply = daemon.send(method, address, payload if method in {"POST", "PUT", "PATCH"} else None, scope=scope)
    assert reply.status < 500, (reply.status, reply.body)
    assert reply.status == 200 or method == "HEAD" or reply.error
