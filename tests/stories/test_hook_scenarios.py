"""What the specification of the hooks promises, scenario by scenario and under the scenario's own name.

All of it is seen from outside, with a real daemon; only what transcript times mean is shown on the kernel itself.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest

from claude_headspace.clients.claude_code.wire import HOOKS, kebab
from claude_headspace.clients.decode import decode
from claude_headspace.inputs.watch.reconcile import Cadence, Mode, Polling, polling
from claude_headspace.kernel.correlate import create_agent
from claude_headspace.kernel.envelope import SECOND, Observations, Origin
from claude_headspace.kernel.evolve import evolve
from claude_headspace.kernel.facts import AgentWrote, Event, Meta
from claude_headspace.kernel.react import react
from claude_headspace.kernel.views import iso
from claude_headspace.testing import START, ManualClock, hook
from tests.support import Message, RunningDaemon, running_daemon, wait_until

_numbers = count(1)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    """One daemon for all scenarios; each works in a directory of its own."""
    with running_daemon(tmp_path_factory.mktemp("home")) as running:
        yield running


class Session:
    """One Claude Code session, as its hooks tell it."""

    def __init__(self, daemon: RunningDaemon, cwd: str | None = None) -> None:
        number = next(_numbers)
        self.daemon = daemon
        self.id = f"session-{number}"
        self.cwd = cwd or f"/projects/scenario-{number}"

    def fire(self, event: str, **fields: object) -> dict[str, Any]:
        """Send a hook, which must be taken."""
        reply = self.daemon.post(event, {"session_id": self.id, "cwd": self.cwd, **fields})
        assert reply.status == 200, reply.body
        answer: dict[str, Any] = reply.json()
        return answer

    def agent(self) -> dict[str, Any]:
        """The agent of the session, as the API shows it."""
        found = [agent for agent in self.daemon.agents() if agent["session_id"] == self.id]
        assert len(found) == 1
        return found[0]

    def turns(self) -> list[dict[str, Any]]:
        """What was said."""
        answer: list[dict[str, Any]] = self.daemon.get(f"/api/agents/{self.agent()['id']}/turns").json()
        return answer


@pytest.fixture
def session(daemon: RunningDaemon) -> Session:
    """A new session in a directory of its own."""
    return Session(daemon)


# --- Hook Event Reception Endpoints -----------------------------------------------------------------------------------


def test_session_start_event(session: Session) -> None:
    """A session that starts makes an agent, or wakes one, and it is idle."""
    assert session.fire("session-start", source="startup")["state"] == "idle"
    assert session.agent()["state"] == "idle"


def test_user_prompt_submit_event(session: Session) -> None:
    """A prompt sets the agent to work."""
    session.fire("session-start")
    reply = session.fire("user-prompt-submit", prompt="Add a test.")
    assert reply["state"] == "working"
    assert reply["dialects"]["headspace"] == "PROCESSING"
    assert session.agent()["command"]["state"] == "PROCESSING"


def test_stop_turn_complete_event(session: Session) -> None:
    """The end of a turn makes the agent idle."""
    session.fire("session-start")
    session.fire("user-prompt-submit", prompt="Add a test.")
    reply = session.fire("stop", last_assistant_message="The test is there and passes.")
    assert reply["state"] == "idle"
    assert session.agent()["command"]["state"] == "COMPLETE"


def test_session_end_event(session: Session) -> None:
    """The end of a session ends the agent."""
    session.fire("session-start")
    assert session.fire("session-end", reason="other")["state"] == "ended"
    agent = session.agent()
    assert agent["state"] == "ended"
    assert agent["ended_at"] is not None
    assert agent["end_reason"] == "other"


def test_notification_event(session: Session) -> None:
    """A notification is a sign of life."""
    session.fire("session-start")
    before = session.agent()
    session.fire("notification", message="Logged in", notification_type="auth_success")
    after = session.agent()
    assert after["last_active_at"] > before["last_active_at"]
    assert after["state"] == before["state"]


# --- Hook Status Endpoint ---------------------------------------------------------------------------------------------


def test_status_query(session: Session) -> None:
    """The status tells whether hooks are enabled, when the last one came, and the mode in use."""
    before = datetime.now(UTC).isoformat()
    session.fire("session-start")
    status = session.daemon.status
    assert status["enabled"] is True
    assert status["last_event_at"] >= before
    assert status["mode"] == "hooks_active"


# --- Session Correlation ----------------------------------------------------------------------------------------------


def test_known_session_id(session: Session) -> None:
    """An event of a session that was seen before goes to its agent."""
    first = session.fire("session-start")
    second = session.fire("user-prompt-submit", prompt="Go on.")
    assert second["agent_id"] == first["agent_id"]
    assert (first["correlation"], second["correlation"]) == ("new", "memory")


def test_new_session_in_known_directory(session: Session) -> None:
    """A new session in a directory where an agent rests belongs to that agent."""
    first = session.fire("session-start")
    second = Session(session.daemon, session.cwd).fire("session-start")
    assert second["agent_id"] == first["agent_id"]
    assert second["correlation"] == "working_directory"


def test_new_session_in_unknown_directory(session: Session) -> None:
    """A session in a directory that nobody knows makes a new agent."""
    known = {agent["id"] for agent in session.daemon.agents()}
    reply = session.fire("session-start")
    assert reply["correlation"] == "new"
    assert reply["agent_id"] not in known


@pytest.mark.parametrize(
    ("known", "strategy"),
    [
        ({"headspace_session_id": "headspace-id"}, "headspace_id"),
        ({"tmux_pane": "%4711"}, "tmux_pane"),
        ({}, "working_directory"),
    ],
)
def test_the_strategies_after_the_session(session: Session, known: dict[str, object], strategy: str) -> None:
    """A new session is recognised by its wrapper's id, its pane or its directory, and the reply says by which."""
    first = session.fire("session-start", **known)
    session.fire("session-end", reason="clear")
    second = Session(session.daemon, session.cwd).fire("session-start", source="clear", **known)
    assert (first["correlation"], second["correlation"]) == ("new", strategy)
    assert second["agent_id"] == first["agent_id"]


def test_two_clients_in_one_directory_are_two_agents(session: Session) -> None:
    """The directory decides only while nothing better speaks: two clients alive at once are not one."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as client:
        first = session.fire("session-start", client_pid=client.pid)
        second = Session(session.daemon, session.cwd).fire("session-start", client_pid=os.getpid())
        assert second["correlation"] == "new"
        assert second["agent_id"] != first["agent_id"]
        client.kill()


@pytest.mark.parametrize("event", [*map(kebab, HOOKS), "some-event-of-next-year"])
def test_hook_routes_pass_tmux_session(session: Session, event: str) -> None:
    """Every hook may bring the name of the tmux session, which the agent keeps if it has none yet."""
    session.fire("notification")
    assert session.agent()["tmux_session"] is None
    session.fire(event, tmux_session="first")
    assert session.agent()["tmux_session"] == "first"
    session.fire(event, tmux_session="second")
    assert session.agent()["tmux_session"] == "first"


# --- High Confidence State Updates ------------------------------------------------------------------------------------


def test_hook_originated_update(session: Session) -> None:
    """A state that a hook told is believed with high confidence, and announced."""
    agent_id = session.fire("session-start")["agent_id"]
    with session.daemon.stream(agent_id=agent_id) as stream:
        session.fire("user-prompt-submit", prompt="Add a test.")
        told = stream.until_type("state_changed")
    assert told.data["evidence"]["confidence"] == "high"
    assert session.agent()["evidence"]["confidence"] == "high"
    assert session.agent()["evidence"]["source"] == "hook"


# --- Hook Turn Creation with SSE Broadcasting -------------------------------------------------------------------------

QUESTION = {"questions": [{"question": "Which one?", "header": "Choice", "options": [{"label": "A"}, {"label": "B"}]}]}
ASKED = {"tool_name": "AskUserQuestion", "tool_input": QUESTION, "tool_use_id": "ask-1"}
ANSWERED = {**ASKED, "tool_response": {"answers": {"Which one?": "A"}}}
PROMPT = {"prompt": "Choose one."}
TOLD = {"agent_id", "project_id", "text", "actor", "intent", "command_id", "turn_id", "timestamp"}

TURNS = [
    pytest.param([], "user-prompt-submit", PROMPT, ("USER", "COMMAND", "Choose one."), id="user-prompt-submit"),
    pytest.param(
        [("user-prompt-submit", PROMPT)],
        "stop",
        {"last_assistant_message": "I renamed the function and updated its callers."},
        ("AGENT", "COMPLETION", "I renamed the function and updated its callers."),
        id="stop",
    ),
    pytest.param(
        [("user-prompt-submit", PROMPT), ("pre-tool-use", ASKED)],
        "post-tool-use",
        ANSWERED,
        ("USER", "ANSWER", "Which one? A"),
        id="post-tool-use",
    ),
]


@pytest.mark.parametrize(("before", "event", "fields", "said"), TURNS)
def test_turn_created_from_hook_with_sse_broadcast(
    session: Session,
    before: list[tuple[str, dict[str, object]]],
    event: str,
    fields: dict[str, object],
    said: tuple[str, str, str],
) -> None:
    """What was said becomes a turn with the server's time, and the stream tells all of it."""
    agent_id = session.fire("session-start")["agent_id"]
    for name, body in before:
        session.fire(name, **body)
    with session.daemon.stream(agent_id=agent_id, types="turn_created") as stream:
        asked = datetime.now(UTC)
        session.fire(event, **fields)
        answered = datetime.now(UTC)
        told = stream.next().data
    turn = session.turns()[-1]
    assert told.keys() >= TOLD
    assert {name: turn[name] for name in TOLD} == {name: told[name] for name in TOLD}
    assert (turn["actor"], turn["intent"], turn["text"]) == said
    assert turn["timestamp_source"] == "server"
    assert asked <= datetime.fromisoformat(turn["timestamp"]) <= answered


def test_jsonl_timestamps_used_for_progress_capture() -> None:
    """Words that come from the transcript carry the transcript's time, and say that they do."""
    start = hook("UserPromptSubmit", START, prompt="Look around.")
    agent = evolve(create_agent("agent-1", start, decode(start)), decode(start)).agent
    written_at = START + 3 * SECOND
    meta = Meta(
        event_id="line-1",
        name="assistant",
        origin=Origin.TRANSCRIPT,
        at=written_at,
        received_at=written_at + 40 * SECOND,
        session_id="session-1",
    )
    change = evolve(agent, Event(meta, AgentWrote("I look at the tests first."), Observations()))
    (turn,) = change.turns
    assert (turn.at, turn.timestamp_source, turn.intent) == (written_at, "jsonl", "PROGRESS")
    (told,) = [message for message in react(agent, change) if message.type == "turn_created"]
    assert told.data["timestamp"] == iso(written_at)


def test_a_turn_gets_the_transcripts_time_later() -> None:
    """A turn that a hook told first is corrected when the transcript tells it too, and never doubled."""
    agent = create_agent("agent-1", first := hook("UserPromptSubmit", START, prompt="Look around."), decode(first))
    agent = evolve(agent, decode(first)).agent
    stop = hook("Stop", START + 9 * SECOND, last_assistant_message="All done.")
    agent = evolve(agent, decode(stop)).agent
    meta = msgspec.structs.replace(
        decode(stop).meta, event_id="line-2", origin=Origin.TRANSCRIPT, at=START + 8 * SECOND
    )
    change = evolve(agent, Event(meta, AgentWrote("All done.", final=True), Observations()))
    assert change.turns == []
    (patch,) = change.patches
    assert (patch.at, patch.timestamp_source) == (START + 8 * SECOND, "jsonl")
    assert [message.type for message in react(agent, change)].count("turn_updated") == 1


def test_broadcast_includes_timestamp(session: Session) -> None:
    """A change of state is announced with the time of the turn that made it."""
    agent_id = session.fire("session-start")["agent_id"]
    with session.daemon.stream(agent_id=agent_id) as stream:
        session.fire("user-prompt-submit", prompt="Add a test.")
        messages = stream.until(_tells_of_work_and_words())
        session.fire("stop", last_assistant_message="Done, all green.")
        messages += stream.until(_tells_of_work_and_words())
    changes = [message.data for message in messages if message.type == "state_changed"]
    turns = {message.data["turn_id"]: message.data for message in messages if message.type == "turn_created"}
    assert [change["state"] for change in changes] == ["working", "idle"]
    for change in changes:
        assert change["timestamp"] == turns[change["turn_id"]]["timestamp"]
        assert datetime.fromisoformat(change["timestamp"]).tzinfo is not None


class _tells_of_work_and_words:  # noqa: N801 - reads as a function where it is used
    """True once both a change of state and a turn were told, in whichever order."""

    def __init__(self) -> None:
        self._missing = {"state_changed", "turn_created"}

    def __call__(self, message: Message) -> bool:
        self._missing.discard(message.type)
        return not self._missing


# --- Hybrid Mode ------------------------------------------------------------------------------------------------------


def test_hooks_active() -> None:
    """While hooks arrive, Headspace looks for itself once a minute."""
    clock = ManualClock()
    heard = clock.now
    clock.advance(299.9)
    assert polling(Cadence(), clock(), heard) == Polling(Mode.HOOKS_ACTIVE, 60)


def test_hooks_silent() -> None:
    """After 300 seconds without a hook it looks every two seconds."""
    clock = ManualClock()
    heard = clock.now
    clock.advance(300)
    assert polling(Cadence(), clock(), heard) == Polling(Mode.POLLING_FALLBACK, 2)


def test_hooks_resume() -> None:
    """The first hook after the silence brings the minute back."""
    clock = ManualClock()
    clock.advance(1_000)
    heard = clock.now
    clock.advance(1)
    assert polling(Cadence(), clock(), heard) == Polling(Mode.HOOKS_ACTIVE, 60)


def test_a_daemon_starts_with_the_specified_intervals(daemon: RunningDaemon) -> None:
    """Without configuration the interval in use is the minute of the specification."""
    status = daemon.status
    assert (status["mode"], status["polling_interval_seconds"]) == ("hooks_active", 60)


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    """A daemon whose minutes are short."""
    home = tmp_path_factory.mktemp("impatient")
    settings = {"hooks_silent_after": 0.5, "polling_seconds": 45, "silent_polling_seconds": 0.05}
    with running_daemon(home, **settings) as running:
        yield running


def is_silent(daemon: RunningDaemon) -> bool:
    """Whether the daemon looks for itself, at the interval for that."""
    status = daemon.status
    return (status["mode"], status["polling_interval_seconds"]) == ("polling_fallback", 0.05)


def test_the_daemon_really_looks_when_hooks_are_silent(impatient: RunningDaemon) -> None:
    """The mode that is reported is the one in use: after the silence one look follows the other."""
    Session(impatient).fire("session-start")
    wait_until(lambda: is_silent(impatient), "polling_fallback")
    looks: set[str] = set()

    def has_looked_often() -> bool:
        looks.add(impatient.status["last_look_at"])
        return len(looks - {None}) >= 3

    wait_until(has_looked_often, "three looks")


def test_the_daemon_leaves_its_haste_when_hooks_resume(impatient: RunningDaemon) -> None:
    """A hook after the silence brings the long interval back, and silence the short one."""
    session = Session(impatient)
    for _ in range(2):
        wait_until(lambda: is_silent(impatient), "polling_fallback")

        def is_active_after_a_hook() -> bool:
            session.fire("notification")
            status = impatient.status
            return (status["mode"], status["polling_interval_seconds"]) == ("hooks_active", 45)

        wait_until(is_active_after_a_hook, "hooks_active")


def test_a_client_that_was_killed_is_found_by_looking(impatient: RunningDaemon) -> None:
    """A killed client fires no hook; the next look ends its agent, and does not claim high confidence."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as client:
        session = Session(impatient)
        agent_id = session.fire("session-start", client_pid=client.pid)["agent_id"]
        session.fire("user-prompt-submit", prompt="Take your time.", client_pid=client.pid)
        wait_until(lambda: is_silent(impatient), "polling_fallback")
        assert impatient.agent(agent_id)["state"] == "working"
        client.kill()
        client.wait()
        wait_until(lambda: impatient.agent(agent_id)["state"] == "ended", "the end of the agent")
    agent = impatient.agent(agent_id)
    assert agent["evidence"]["source"] == "process"
    assert agent["evidence"]["confidence"] == "medium"
    assert impatient.verified()


# --- Agent Last Active Time -------------------------------------------------------------------------------------------


def test_last_active_time_is_told_as_it_changes(session: Session) -> None:
    """Whoever shows an agent learns from the stream when it was last active."""
    agent_id = session.fire("session-start")["agent_id"]
    with session.daemon.stream(agent_id=agent_id) as stream:
        session.fire("notification", message="Logged in", notification_type="auth_success")
        told = stream.until_type("agent_updated").data
    assert told["changes"]["last_active_at"] == session.agent()["last_active_at"]


def test_a_fresh_home_stays_in_its_place(daemon: RunningDaemon) -> None:
    """Everything that a daemon keeps lies in its home, readable by its user alone."""
    kept = {path.relative_to(daemon.home) for path in daemon.home.rglob("*") if path.is_file()}
    assert {Path("headspace.db"), Path("headspace.log"), Path("secret"), Path("run/daemon.json")} <= kept
    open_to_others = [str(name) for name in kept - {Path("output.txt")} if (daemon.home / name).stat().st_mode & 0o077]
    assert open_to_others == []
