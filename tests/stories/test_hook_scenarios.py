"""The scenarios of the hook specification, each under its own name.

They use a real daemon and its public interfaces. Only the meaning of transcript times is tested on the kernel.
"""

import json
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
from claude_headspace.kernel.text import iso
from claude_headspace.testing import START, ManualClock, hook
from tests.support import Message, RunningDaemon, running_daemon, wait_until
from tests.surfaces.cli.conftest import run_headspace

_numbers = count(1)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    """One daemon for all scenarios. Each scenario has its own directory."""
    with running_daemon(tmp_path_factory.mktemp("home")) as running:
        yield running


class Session:
    """One Claude Code session that sends hooks."""

    def __init__(self, daemon: RunningDaemon, cwd: str | None = None) -> None:
        number = next(_numbers)
        self.daemon = daemon
        self.id = f"session-{number}"
        self.cwd = cwd or f"/projects/scenario-{number}"

    def fire(self, event: str, **fields: object) -> dict[str, Any]:
        """Send a hook, which must be accepted."""
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
        """The turns of the agent."""
        answer: list[dict[str, Any]] = self.daemon.get(f"/api/agents/{self.agent()['id']}/turns").json()
        return answer


@pytest.fixture
def session(daemon: RunningDaemon) -> Session:
    """A new session in its own directory."""
    return Session(daemon)


# --- Hook Event Reception Endpoints -----------------------------------------------------------------------------------


def test_session_start_event(session: Session) -> None:
    """The start of a session creates or resumes an agent, which is idle."""
    assert session.fire("session-start", source="startup")["state"] == "idle"
    assert session.agent()["state"] == "idle"


def test_user_prompt_submit_event(session: Session) -> None:
    """A prompt changes the state to working."""
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


def test_every_stop_of_turns_in_quick_succession_ends_its_turn(session: Session) -> None:
    """“When POST /hook/stop is called, then the agent transitions to idle state.”

    Scripts send prompts and stops without an id of the turn, faster than a duplicate of a hook would arrive.
    """
    session.fire("session-start")
    for _ in range(3):
        assert session.fire("user-prompt-submit", prompt="Go on.")["state"] == "working"
        assert session.fire("stop", last_assistant_message="Done.")["state"] == "idle"
    assert [turn["text"] for turn in session.turns()] == ["Go on.", "Done."] * 3


def test_session_end_event(session: Session) -> None:
    """The end of a session ends the agent."""
    session.fire("session-start")
    assert session.fire("session-end", reason="other")["state"] == "ended"
    agent = session.agent()
    assert agent["state"] == "ended"
    assert agent["ended_at"] is not None
    assert agent["end_reason"] == "other"


def test_notification_event(session: Session) -> None:
    """A notification updates the activity time."""
    session.fire("session-start")
    before = session.agent()
    session.fire("notification", message="Logged in", notification_type="auth_success")
    after = session.agent()
    assert after["last_active_at"] > before["last_active_at"]
    assert after["state"] == before["state"]


# --- Hook Status Endpoint ---------------------------------------------------------------------------------------------


def test_status_query(session: Session) -> None:
    """The status has whether hooks are enabled, the time of the last hook, and the current mode."""
    before = datetime.now(UTC).isoformat()
    session.fire("session-start")
    status = session.daemon.status
    assert status["enabled"] is True
    assert status["hooks"] == {
        "installed": False,
        "firing": True,
        "summary": "events arrive, although no hooks are installed in the known config dirs",
    }
    assert status["last_event_at"] >= before
    assert status["mode"] == "hooks_active"


def consistent_status(daemon: RunningDaemon) -> tuple[bool, bool, bool, str]:
    """The status of the hooks, after a check that its fields do not contradict each other on any surface."""
    status = daemon.status
    hooks = status["hooks"]
    assert status["enabled"] is (hooks["installed"] or hooks["firing"])
    assert (status["mode"] == "hooks_active") is hooks["firing"]
    assert status["last_event_at"] is not None or not hooks["firing"]
    shown = " ".join(run_headspace(daemon.home, "status").stdout.split())
    assert f"hooks {hooks['summary']}" in shown
    checks = json.loads(run_headspace(daemon.home, "doctor", "--json").stdout)["places"][0]["checks"]
    assert [check["detail"] for check in checks if check["name"] == "reception"] == [hooks["summary"]]
    return status["enabled"], hooks["installed"], hooks["firing"], hooks["summary"]


def test_the_status_says_whether_hooks_are_installed_and_firing(tmp_path: Path) -> None:
    """“The response includes whether hooks are enabled” and the “current mode (hooks active vs polling fallback)”."""
    not_installed = "not installed: run `headspace install`"
    with running_daemon(tmp_path) as daemon:
        assert consistent_status(daemon) == (False, False, False, not_installed)
        run_headspace(tmp_path, "install", "--yes")
        assert consistent_status(daemon) == (True, True, False, "installed, but no event has arrived yet")
        Session(daemon).fire("session-start")
        assert consistent_status(daemon) == (True, True, True, "installed, and events arrive")
    with running_daemon(tmp_path) as daemon:
        assert consistent_status(daemon) == (True, True, True, "installed, and events arrive")
    with running_daemon(tmp_path, hooks_silent_after=0.001) as daemon:
        assert consistent_status(daemon) == (True, True, False, "installed, but no event has arrived recently")
        run_headspace(tmp_path, "uninstall", "--yes")
        assert consistent_status(daemon) == (False, False, False, not_installed)


# --- Session Correlation ----------------------------------------------------------------------------------------------


def test_known_session_id(session: Session) -> None:
    """An event of a known session belongs to its agent."""
    first = session.fire("session-start")
    second = session.fire("user-prompt-submit", prompt="Go on.")
    assert second["agent_id"] == first["agent_id"]
    assert (first["correlation"], second["correlation"]) == ("new", "memory")


def test_new_session_in_known_directory(session: Session) -> None:
    """A new session in the directory of an idle agent belongs to that agent."""
    first = session.fire("session-start")
    second = Session(session.daemon, session.cwd).fire("session-start")
    assert second["agent_id"] == first["agent_id"]
    assert second["correlation"] == "working_directory"


def test_new_session_in_unknown_directory(session: Session) -> None:
    """A session in an unknown directory creates an agent."""
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
def test_a_new_session_is_correlated_by_each_strategy(
    session: Session, known: dict[str, object], strategy: str
) -> None:
    """A new session is correlated by its wrapper's id, its pane or its directory, and the reply names the strategy."""
    first = session.fire("session-start", **known)
    session.fire("session-end", reason="clear")
    second = Session(session.daemon, session.cwd).fire("session-start", source="clear", **known)
    assert (first["correlation"], second["correlation"]) == ("new", strategy)
    assert second["agent_id"] == first["agent_id"]


def test_two_clients_in_one_directory_are_two_agents(session: Session) -> None:
    """The directory decides only without better evidence. Two running clients are two agents."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as client:
        first = session.fire("session-start", client_pid=client.pid)
        second = Session(session.daemon, session.cwd).fire("session-start", client_pid=os.getpid())
        assert second["correlation"] == "new"
        assert second["agent_id"] != first["agent_id"]
        client.kill()


@pytest.mark.parametrize("event", [*map(kebab, HOOKS), "some-event-of-next-year"])
def test_hook_routes_pass_tmux_session(session: Session, event: str) -> None:
    """Every hook may contain the name of the tmux session. It is stored if the agent has none yet."""
    session.fire("notification")
    assert session.agent()["tmux_session"] is None
    session.fire(event, tmux_session="first")
    assert session.agent()["tmux_session"] == "first"
    session.fire(event, tmux_session="second")
    assert session.agent()["tmux_session"] == "first"


# --- High Confidence State Updates ------------------------------------------------------------------------------------


def test_hook_originated_update(session: Session) -> None:
    """A state from a hook has high confidence and is published."""
    agent_id = session.fire("session-start")["agent_id"]
    with session.daemon.stream(agent_id=agent_id) as stream:
        session.fire("user-prompt-submit", prompt="Add a test.")
        message = stream.until_type("state_changed")
    assert message.data["evidence"]["confidence"] == "high"
    assert session.agent()["evidence"]["confidence"] == "high"
    assert session.agent()["evidence"]["source"] == "hook"


# --- Hook Turn Creation with SSE Broadcasting -------------------------------------------------------------------------

QUESTION = {"questions": [{"question": "Which one?", "header": "Choice", "options": [{"label": "A"}, {"label": "B"}]}]}
ASKED = {"tool_name": "AskUserQuestion", "tool_input": QUESTION, "tool_use_id": "ask-1"}
ANSWERED = {**ASKED, "tool_response": {"answers": {"Which one?": "A"}}}
PROMPT = {"prompt": "Choose one."}
TURN_FIELDS = {"agent_id", "project_id", "text", "actor", "intent", "command_id", "turn_id", "timestamp"}

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


@pytest.mark.parametrize(("before", "event", "fields", "expected"), TURNS)
def test_turn_created_from_hook_with_sse_broadcast(
    session: Session,
    before: list[tuple[str, dict[str, object]]],
    event: str,
    fields: dict[str, object],
    expected: tuple[str, str, str],
) -> None:
    """A text becomes a turn with the server's time, and the stream publishes all its fields."""
    agent_id = session.fire("session-start")["agent_id"]
    for name, body in before:
        session.fire(name, **body)
    with session.daemon.stream(agent_id=agent_id, types="turn_created") as stream:
        asked = datetime.now(UTC)
        session.fire(event, **fields)
        answered = datetime.now(UTC)
        message = stream.next().data
    turn = session.turns()[-1]
    assert message.keys() >= TURN_FIELDS
    assert {name: turn[name] for name in TURN_FIELDS} == {name: message[name] for name in TURN_FIELDS}
    assert (turn["actor"], turn["intent"], turn["text"]) == expected
    assert turn["timestamp_source"] == "server"
    assert asked <= datetime.fromisoformat(turn["timestamp"]) <= answered


def test_jsonl_timestamps_used_for_progress_capture() -> None:
    """A text from the transcript has the transcript's time, and the source of the time is stored."""
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
    (message,) = [message for message in react(agent, change) if message.type == "turn_created"]
    assert message.data["timestamp"] == iso(written_at)


def test_a_turn_gets_the_time_of_the_transcript_later() -> None:
    """A turn from a hook is corrected, not duplicated, when the transcript contains it too."""
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
    """A state change is published with the time of its turn."""
    agent_id = session.fire("session-start")["agent_id"]
    with session.daemon.stream(agent_id=agent_id) as stream:
        session.fire("user-prompt-submit", prompt="Add a test.")
        messages = stream.until(_has_state_change_and_turn())
        session.fire("stop", last_assistant_message="Done, all green.")
        messages += stream.until(_has_state_change_and_turn())
    changes = [message.data for message in messages if message.type == "state_changed"]
    turns = {message.data["turn_id"]: message.data for message in messages if message.type == "turn_created"}
    assert [change["state"] for change in changes] == ["working", "idle"]
    for change in changes:
        assert change["timestamp"] == turns[change["turn_id"]]["timestamp"]
        assert datetime.fromisoformat(change["timestamp"]).tzinfo is not None


class _has_state_change_and_turn:  # noqa: N801 - reads as a function where it is used
    """True once a state change and a turn were published, in any order."""

    def __init__(self) -> None:
        self._missing = {"state_changed", "turn_created"}

    def __call__(self, message: Message) -> bool:
        self._missing.discard(message.type)
        return not self._missing


# --- Hybrid Mode ------------------------------------------------------------------------------------------------------


def test_hooks_active() -> None:
    """While hooks arrive, Headspace polls once a minute."""
    clock = ManualClock()
    last_hook_at = clock.now
    clock.advance(299.9)
    assert polling(Cadence(), clock(), last_hook_at) == Polling(Mode.HOOKS_ACTIVE, 60)


def test_hooks_silent() -> None:
    """After 300 seconds without a hook it polls every two seconds."""
    clock = ManualClock()
    last_hook_at = clock.now
    clock.advance(300)
    assert polling(Cadence(), clock(), last_hook_at) == Polling(Mode.POLLING_FALLBACK, 2)


def test_hooks_resume() -> None:
    """The first hook after the silence restores the interval of a minute."""
    clock = ManualClock()
    clock.advance(1_000)
    last_hook_at = clock.now
    clock.advance(1)
    assert polling(Cadence(), clock(), last_hook_at) == Polling(Mode.HOOKS_ACTIVE, 60)


def test_a_daemon_uses_the_specified_intervals(session: Session) -> None:
    """Without configuration the interval is the minute of the specification."""
    session.fire("session-start")
    status = session.daemon.status
    assert (status["mode"], status["polling_interval_seconds"]) == ("hooks_active", 60)


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    """A daemon with short intervals."""
    home = tmp_path_factory.mktemp("impatient")
    settings = {"hooks_silent_after": 0.5, "polling_seconds": 45, "silent_polling_seconds": 0.05}
    with running_daemon(home, **settings) as running:
        yield running


def is_silent(daemon: RunningDaemon) -> bool:
    """Whether the daemon polls at the short interval."""
    status = daemon.status
    return (status["mode"], status["polling_interval_seconds"]) == ("polling_fallback", 0.05)


def test_the_daemon_polls_when_hooks_are_silent(quick: RunningDaemon) -> None:
    """The reported mode is the actual one: after the silence the daemon polls at the short interval."""
    Session(quick).fire("session-start")
    wait_until(lambda: is_silent(quick), "polling_fallback")
    polls: set[str] = set()

    def has_polled_often() -> bool:
        polls.add(quick.status["last_look_at"])
        return len(polls - {None}) >= 3

    wait_until(has_polled_often, "three looks")


def test_the_daemon_polls_slowly_again_when_hooks_resume(quick: RunningDaemon) -> None:
    """A hook after the silence restores the long interval, and silence the short one."""
    session = Session(quick)
    for _ in range(2):
        wait_until(lambda: is_silent(quick), "polling_fallback")

        def is_active_after_a_hook() -> bool:
            session.fire("notification")
            status = quick.status
            return (status["mode"], status["polling_interval_seconds"]) == ("hooks_active", 45)

        wait_until(is_active_after_a_hook, "hooks_active")


def test_a_killed_client_is_found_by_polling(quick: RunningDaemon) -> None:
    """A killed client sends no hook. The next poll ends its agent, without high confidence."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as client:
        session = Session(quick)
        agent_id = session.fire("session-start", client_pid=client.pid)["agent_id"]
        session.fire("user-prompt-submit", prompt="Take your time.", client_pid=client.pid)
        wait_until(lambda: is_silent(quick), "polling_fallback")
        assert quick.agent(agent_id)["state"] == "working"
        client.kill()
        client.wait()
        wait_until(lambda: quick.agent(agent_id)["state"] == "ended", "the end of the agent")
    agent = quick.agent(agent_id)
    assert agent["evidence"]["source"] == "process"
    assert agent["evidence"]["confidence"] == "medium"
    assert quick.verified()


# --- Agent Last Active Time -------------------------------------------------------------------------------------------


def test_changes_of_the_last_active_time_are_published(session: Session) -> None:
    """The stream publishes when the agent was last active."""
    agent_id = session.fire("session-start")["agent_id"]
    with session.daemon.stream(agent_id=agent_id) as stream:
        session.fire("notification", message="Logged in", notification_type="auth_success")
        message = stream.until_type("agent_updated").data
    assert message["changes"]["last_active_at"] == session.agent()["last_active_at"]


def test_a_daemon_writes_only_private_files_in_its_home(daemon: RunningDaemon) -> None:
    """All files of a daemon are in its home and readable only by its user."""
    kept = {path.relative_to(daemon.home) for path in daemon.home.rglob("*") if path.is_file()}
    assert {Path("headspace.db"), Path("headspace.log"), Path("secret"), Path("run/daemon.json")} <= kept
    open_to_others = [str(name) for name in kept - {Path("output.txt")} if (daemon.home / name).stat().st_mode & 0o077]
    assert open_to_others == []
