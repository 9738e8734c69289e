"""From the hook to the board: the installed hook script, a real daemon, and failures between them."""

import json
import os
import signal
from pathlib import Path
from typing import Any

from tests.support import RunningDaemon, running_daemon, start_daemon, wait_until
from tests.support_hooks import Hooks

TURN: tuple[tuple[str, dict[str, Any]], ...] = (
    ("SessionStart", {"source": "startup"}),
    ("UserPromptSubmit", {"prompt": "Fix the login."}),
    ("PreToolUse", {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "npm test"}}),
    ("PostToolUse", {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "npm test"}}),
    ("Stop", {"last_assistant_message": "The login works again."}),
)


def send_turn(hooks: Hooks, session: str = "one") -> None:
    """Send the hooks of a complete turn."""
    for event, fields in TURN:
        assert hooks.fire(event, {"session_id": session, "cwd": "/projects/shop", **fields}) == b""


def hook_events(daemon: RunningDaemon) -> list[str]:
    """The events from hooks in the journal, in order."""
    return [event["name"] for event in daemon.events() if event["origin"] == "hook"]


def wait_for_turns(daemon: RunningDaemon, turns: int) -> None:
    """Wait until this many complete turns have arrived."""
    wait_until(lambda: len(hook_events(daemon)) >= turns * len(TURN), "the events of the hooks")


def result(daemon: RunningDaemon) -> tuple[object, ...]:
    """The visible result of a turn."""
    [agent] = daemon.agents()
    turns = daemon.get(f"/api/agents/{agent['id']}/turns").json()
    commands = daemon.get(f"/api/agents/{agent['id']}/commands").json()
    return (
        agent["state"],
        [(turn["actor"], turn["intent"], turn["text"]) for turn in turns],
        [(command["state"], command["outcome"], command["text"]) for command in commands],
    )


def test_hooks_appear_on_the_board(tmp_path: Path) -> None:
    """The board shows a turn from the installed hooks, with the client's process and times."""
    with running_daemon(tmp_path, policy_preset="off") as daemon:
        hooks = Hooks(tmp_path)
        send_turn(hooks)
        wait_for_turns(daemon, 1)
        [agent] = daemon.agents()
        assert (agent["state"], agent["session_id"], agent["pid"]) == ("idle", "one", os.getpid())
        events = daemon.events()
        assert hook_events(daemon) == [event for event, _ in TURN]
        assert all(event["fired_at"] < event["received_at"] for event in events)
        assert daemon.status["spool"]["taken"] == len(TURN)
        assert daemon.verified()


def test_a_prompt_of_many_megabytes_is_truncated(tmp_path: Path) -> None:
    """With or without a reply, the event is stored, and its text says how much was left out."""
    with running_daemon(tmp_path) as daemon:
        hooks = Hooks(tmp_path)
        for session in ("reported", "asked"):
            role = {"CLAUDE_SESSION_ROLE": "reviewer"} if session == "asked" else {}
            payload = {"session_id": session, "cwd": "/projects/a", "prompt": "x" * 12_000_000}
            hooks.fire("UserPromptSubmit", payload, **role)
        wait_until(lambda: len(hook_events(daemon)) == 2, "both prompts")
        prompts = [event["payload"]["prompt"] for event in daemon.events() if event["origin"] == "hook"]
        assert all("bytes left out" in prompt and len(prompt) < 1_000_000 for prompt in prompts)
        assert daemon.status["spool"]["rejected"] == 0


def test_the_tmux_session_reaches_the_agent_only_when_it_is_set(tmp_path: Path) -> None:
    """The name that the wrapper exports is stored. Otherwise there is none."""
    with running_daemon(tmp_path) as daemon:
        hooks = Hooks(tmp_path)
        hooks.fire("SessionStart", {"session_id": "a", "cwd": "/projects/a"}, CLAUDE_PID="1", TMUX_PANE="%1")
        hooks.fire(
            "SessionStart",
            {"session_id": "b", "cwd": "/projects/b"},
            CLAUDE_PID="2",
            TMUX_PANE="%2",
            CLAUDE_HEADSPACE_TMUX_SESSION="work",
        )
        wait_until(lambda: len(daemon.agents()) == 2, "both agents")
        found = {agent["session_id"]: (agent["tmux_session"], agent["tmux"]["pane"]) for agent in daemon.agents()}
        assert found == {"a": (None, "%1"), "b": ("work", "%2")}


def test_a_session_without_a_daemon_gives_the_same_result(tmp_path: Path) -> None:
    """Hooks that were sent while no daemon ran give the same state, commands and turns."""
    with running_daemon(tmp_path / "up") as daemon:
        send_turn(Hooks(tmp_path / "up"))
        wait_for_turns(daemon, 1)
        expected = result(daemon)
    send_turn(Hooks(tmp_path / "down"))
    with running_daemon(tmp_path / "down") as daemon:
        wait_for_turns(daemon, 1)
        assert result(daemon) == expected
        assert hook_events(daemon) == [event for event, _ in TURN]
        assert list((tmp_path / "down" / "spool").glob("*.json")) == []


def test_questions_are_answered_and_stored(tmp_path: Path) -> None:
    """Hooks that wait for a reply reach the daemon at once and print nothing if the reply is empty."""
    with running_daemon(tmp_path, asked_hooks="*") as daemon:
        hooks = Hooks(tmp_path)
        wait_until((tmp_path / "address").exists, "the daemon's address file")
        for count, (event, fields) in enumerate(TURN, start=1):
            assert hooks.fire(event, {"session_id": "one", "cwd": "/projects/shop", **fields}) == b""
            assert len(hook_events(daemon)) == count
        assert daemon.status["spool"]["taken"] == 0


def test_only_the_configured_hooks_wait(tmp_path: Path) -> None:
    """One event waits for a reply, the others do not. All of them arrive."""
    with running_daemon(tmp_path, asked_hooks="PreToolUse,PermissionRequest") as daemon:
        hooks = Hooks(tmp_path)
        wait_until((tmp_path / "address").exists, "the daemon's address file")
        send_turn(hooks)
        wait_for_turns(daemon, 1)
        assert daemon.status["spool"]["taken"] == len(TURN) - 1


def test_hooks_find_the_daemon_after_a_restart_on_another_port(tmp_path: Path) -> None:
    """A new port needs no new installation."""
    with running_daemon(tmp_path, asked_hooks="*") as first:
        hooks = Hooks(tmp_path)
        wait_until((tmp_path / "address").exists, "the first daemon's address file")
        send_turn(hooks)
        assert len(hook_events(first)) == len(TURN)
    assert not (tmp_path / "address").exists()
    with running_daemon(tmp_path, asked_hooks="*") as second:
        wait_until((tmp_path / "address").exists, "the second daemon's address file")
        send_turn(hooks, "two")
        assert len(hook_events(second)) == 2 * len(TURN)


def test_a_killed_daemon_loses_and_duplicates_no_events(tmp_path: Path) -> None:
    """After a kill and a restart, also the events in between are stored exactly once."""
    hooks = Hooks(tmp_path)
    with running_daemon(tmp_path) as daemon:
        send_turn(hooks, "one")
        daemon.kill()
        send_turn(hooks, "two")
    with running_daemon(tmp_path) as daemon:
        wait_for_turns(daemon, 2)
        names = [(event["payload"]["session_id"], event["name"]) for event in daemon.events()]
        assert sorted(names) == sorted((session, event) for session in ("one", "two") for event, _ in TURN)
        assert daemon.verified()


def test_a_daemon_that_hung_gets_its_events_afterwards(tmp_path: Path) -> None:
    """Only one hook waits for a daemon that hangs. Afterwards every event is stored once."""
    with running_daemon(tmp_path, asked_hooks="SessionEnd") as daemon:
        hooks = Hooks(tmp_path)
        wait_until((tmp_path / "address").exists, "the daemon's address file")
        daemon.process.send_signal(signal.SIGSTOP)
        try:
            send_turn(hooks)
            assert hooks.fire("SessionEnd", {"session_id": "one", "reason": "other"}) == b""
            assert (tmp_path / "silent").exists()
            assert hooks.fire("SessionEnd", {"session_id": "two", "reason": "other"}) == b""
        finally:
            daemon.process.send_signal(signal.SIGCONT)
        wait_until(lambda: len(hook_events(daemon)) >= len(TURN) + 2, "all events")
        wait_until(lambda: not (tmp_path / "silent").exists(), "the mark to be removed")
        ends = [event["payload"]["session_id"] for event in daemon.events() if event["name"] == "SessionEnd"]
        assert sorted(ends) == ["one", "two"]


def test_a_payload_with_invalid_text_is_repaired_and_marked(tmp_path: Path) -> None:
    """A hook is not sent again, so invalid text is repaired on both input paths, and the journal records that."""
    broken = b'{"session_id":"one","cwd":"/x","prompt":"half \\ud83d and \xff"}'
    with running_daemon(tmp_path, asked_hooks="UserPromptSubmit") as daemon:
        hooks = Hooks(tmp_path)
        wait_until((tmp_path / "address").exists, "the daemon's address file")
        hooks.fire("UserPromptSubmit", broken)
        hooks.fire("Stop", broken)
        wait_until(lambda: len(hook_events(daemon)) == 2, "both events")
        for event in daemon.events():
            assert event["payload"]["prompt"] == "half \ufffd and \ufffd"
            assert "repaired" in event["anomaly"]
        assert daemon.curl("stop", broken).status == 400


def test_many_simultaneous_sessions_are_separate_agents(tmp_path: Path) -> None:
    """Ten sessions at the same time, without a daemon, are ten agents afterwards."""
    hooks = Hooks(tmp_path)
    for number in range(10):
        for event, fields in TURN[:2]:
            payload = {"session_id": f"s{number}", "cwd": f"/projects/p{number}", **fields}
            hooks.fire(event, payload, CLAUDE_PID=str(100_000 + number))
    with running_daemon(tmp_path) as daemon:
        wait_until(lambda: len(hook_events(daemon)) == 20, "all events")
        assert {agent["session_id"] for agent in daemon.agents()} == {f"s{number}" for number in range(10)}


def test_a_long_spool_is_stored_in_spite_of_crashes(tmp_path: Path) -> None:
    """Six hundred spooled events are stored once and in order, although the daemon is killed several times."""
    spool = tmp_path / "spool"
    spool.mkdir(parents=True)
    for number in range(600):
        notes = {"event": "Notification", "delivery-id": f"d{number}", "fired-at": f"{1_700_000_000 + number}.5"}
        payload = {"session_id": f"s{number % 5}", "cwd": f"/projects/{number % 5}", "message": str(number)}
        name = f"{notes['fired-at']}-1-{number}.json"
        (spool / name).write_text(f"{json.dumps(notes)}\n{json.dumps(payload)}\n")
    for most_left in (550, 400, 200):
        daemon = start_daemon(tmp_path)
        wait_until(lambda: sum(1 for _ in spool.glob("*.json")) <= most_left, "some events to be stored")  # noqa: B023
        daemon.kill()
    with running_daemon(tmp_path) as daemon:
        wait_until(lambda: not any(spool.glob("*.json")), "the rest to be stored")
        numbers = [int(event["payload"]["message"]) for event in daemon.events() if event["origin"] == "hook"]
        assert numbers == list(range(600))
        assert daemon.verified()
