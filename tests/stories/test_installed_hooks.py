"""From the hook to the board: the installed script, a real daemon, and all that can come between them."""

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


def play(hooks: Hooks, session: str = "one") -> None:
    """A whole turn."""
    for event, fields in TURN:
        assert hooks.fire(event, {"session_id": session, "cwd": "/projects/shop", **fields}) == b""


def heard(daemon: RunningDaemon) -> list[str]:
    """The events in the journal that hooks told, in order."""
    return [event["name"] for event in daemon.events() if event["origin"] == "hook"]


def wait_for_turns(daemon: RunningDaemon, turns: int) -> None:
    """Wait until whole turns have arrived."""
    wait_until(lambda: len(heard(daemon)) >= turns * len(TURN), "the events of the hooks")


def result(daemon: RunningDaemon) -> tuple[object, ...]:
    """What a person sees of a turn."""
    [agent] = daemon.agents()
    turns = daemon.get(f"/api/agents/{agent['id']}/turns").json()
    commands = daemon.get(f"/api/agents/{agent['id']}/commands").json()
    return (
        agent["state"],
        [(turn["actor"], turn["intent"], turn["text"]) for turn in turns],
        [(command["state"], command["outcome"], command["text"]) for command in commands],
    )


def test_what_hooks_tell_is_on_the_board(tmp_path: Path) -> None:
    """A turn that is told through the installed hooks is seen as it happened, with the client's process and times."""
    with running_daemon(tmp_path, policy_preset="off") as daemon:
        hooks = Hooks(tmp_path)
        play(hooks)
        wait_for_turns(daemon, 1)
        [agent] = daemon.agents()
        assert (agent["state"], agent["session_id"], agent["pid"]) == ("idle", "one", os.getpid())
        events = daemon.events()
        assert heard(daemon) == [event for event, _ in TURN]
        assert all(event["fired_at"] < event["received_at"] for event in events)
        assert daemon.status["spool"]["taken"] == len(TURN)
        assert daemon.verified()


def test_a_prompt_of_many_megabytes_is_kept_in_bounds(tmp_path: Path) -> None:
    """Told or asked, it is an event like any other, and its text says how much was left out."""
    with running_daemon(tmp_path) as daemon:
        hooks = Hooks(tmp_path)
        for session in ("told", "asked"):
            role = {"CLAUDE_SESSION_ROLE": "reviewer"} if session == "asked" else {}
            payload = {"session_id": session, "cwd": "/projects/a", "prompt": "x" * 12_000_000}
            hooks.fire("UserPromptSubmit", payload, **role)
        wait_until(lambda: len(heard(daemon)) == 2, "both prompts")
        prompts = [event["payload"]["prompt"] for event in daemon.events() if event["origin"] == "hook"]
        assert all("bytes left out" in prompt and len(prompt) < 1_000_000 for prompt in prompts)
        assert daemon.status["spool"]["rejected"] == 0


def test_the_tmux_session_reaches_the_agent_only_when_it_is_set(tmp_path: Path) -> None:
    """The name that the wrapper exports is kept; without it there is none."""
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


def test_a_session_without_a_daemon_ends_as_one_with_it(tmp_path: Path) -> None:
    """What was told while nobody listened gives the same state, commands and turns afterwards."""
    with running_daemon(tmp_path / "up") as daemon:
        play(Hooks(tmp_path / "up"))
        wait_for_turns(daemon, 1)
        expected = result(daemon)
    play(Hooks(tmp_path / "down"))
    with running_daemon(tmp_path / "down") as daemon:
        wait_for_turns(daemon, 1)
        assert result(daemon) == expected
        assert heard(daemon) == [event for event, _ in TURN]
        assert list((tmp_path / "down" / "spool").glob("*.json")) == []


def test_questions_are_answered_and_stored(tmp_path: Path) -> None:
    """Hooks that wait for an answer reach the daemon at once, and print nothing when it has nothing to say."""
    with running_daemon(tmp_path, asked_hooks="*") as daemon:
        hooks = Hooks(tmp_path)
        wait_until((tmp_path / "address").exists, "the daemon's sign")
        for count, (event, fields) in enumerate(TURN, start=1):
            assert hooks.fire(event, {"session_id": "one", "cwd": "/projects/shop", **fields}) == b""
            assert len(heard(daemon)) == count
        assert daemon.status["spool"]["taken"] == 0


def test_only_the_hooks_that_are_named_wait(tmp_path: Path) -> None:
    """One event is asked, the others are told; all of them arrive."""
    with running_daemon(tmp_path, asked_hooks="PreToolUse,PermissionRequest") as daemon:
        hooks = Hooks(tmp_path)
        wait_until((tmp_path / "address").exists, "the daemon's sign")
        play(hooks)
        wait_for_turns(daemon, 1)
        assert daemon.status["spool"]["taken"] == len(TURN) - 1


def test_a_restart_on_another_port_is_followed(tmp_path: Path) -> None:
    """Nothing has to be installed again when the daemon comes back elsewhere."""
    with running_daemon(tmp_path, asked_hooks="*") as first:
        hooks = Hooks(tmp_path)
        wait_until((tmp_path / "address").exists, "the first daemon's sign")
        play(hooks)
        assert len(heard(first)) == len(TURN)
    assert not (tmp_path / "address").exists()
    with running_daemon(tmp_path, asked_hooks="*") as second:
        wait_until((tmp_path / "address").exists, "the second daemon's sign")
        play(hooks, "two")
        assert len(heard(second)) == 2 * len(TURN)


def test_a_daemon_that_is_killed_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """Killed between two hooks and started again, with events told meanwhile, it has each of them once."""
    hooks = Hooks(tmp_path)
    with running_daemon(tmp_path) as daemon:
        play(hooks, "one")
        daemon.kill()
        play(hooks, "two")
    with running_daemon(tmp_path) as daemon:
        wait_for_turns(daemon, 2)
        names = [(event["payload"]["session_id"], event["name"]) for event in daemon.events()]
        assert sorted(names) == sorted((session, event) for session in ("one", "two") for event, _ in TURN)
        assert daemon.verified()


def test_a_hanging_daemon_gets_its_events_when_it_is_back(tmp_path: Path) -> None:
    """A daemon that stands still costs the hooks nothing but one wait; afterwards everything is there, once."""
    with running_daemon(tmp_path, asked_hooks="SessionEnd") as daemon:
        hooks = Hooks(tmp_path)
        wait_until((tmp_path / "address").exists, "the daemon's sign")
        daemon.process.send_signal(signal.SIGSTOP)
        try:
            play(hooks)
            assert hooks.fire("SessionEnd", {"session_id": "one", "reason": "other"}) == b""
            assert (tmp_path / "silent").exists()
            assert hooks.fire("SessionEnd", {"session_id": "two", "reason": "other"}) == b""
        finally:
            daemon.process.send_signal(signal.SIGCONT)
        wait_until(lambda: len(heard(daemon)) >= len(TURN) + 2, "all events")
        wait_until(lambda: not (tmp_path / "silent").exists(), "the mark to go")
        ends = [event["payload"]["session_id"] for event in daemon.events() if event["name"] == "SessionEnd"]
        assert sorted(ends) == ["one", "two"]


def test_a_payload_with_broken_text_is_kept_and_marked(tmp_path: Path) -> None:
    """What nobody would send again is repaired on both ways in, and the journal says that it was."""
    broken = b'{"session_id":"one","cwd":"/x","prompt":"half \\ud83d and \xff"}'
    with running_daemon(tmp_path, asked_hooks="UserPromptSubmit") as daemon:
        hooks = Hooks(tmp_path)
        wait_until((tmp_path / "address").exists, "the daemon's sign")
        hooks.fire("UserPromptSubmit", broken)
        hooks.fire("Stop", broken)
        wait_until(lambda: len(heard(daemon)) == 2, "both events")
        for event in daemon.events():
            assert event["payload"]["prompt"] == "half \ufffd and \ufffd"
            assert "repaired" in event["anomaly"]
        assert daemon.post("stop", broken).status == 400


def test_many_sessions_at_once_are_told_apart(tmp_path: Path) -> None:
    """Ten sessions that end at the same moment, while nobody listens, are ten agents afterwards."""
    hooks = Hooks(tmp_path)
    for number in range(10):
        for event, fields in TURN[:2]:
            payload = {"session_id": f"s{number}", "cwd": f"/projects/p{number}", **fields}
            hooks.fire(event, payload, CLAUDE_PID=str(100_000 + number))
    with running_daemon(tmp_path) as daemon:
        wait_until(lambda: len(heard(daemon)) == 20, "all events")
        assert {agent["session_id"] for agent in daemon.agents()} == {f"s{number}" for number in range(10)}


def test_a_long_pause_is_caught_up_through_any_number_of_crashes(tmp_path: Path) -> None:
    """Six hundred events that wait are each stored once, in order, though the daemon is killed again and again."""
    spool = tmp_path / "spool"
    spool.mkdir(parents=True)
    for number in range(600):
        notes = {"event": "Notification", "delivery-id": f"d{number}", "fired-at": f"{1_700_000_000 + number}.5"}
        payload = {"session_id": f"s{number % 5}", "cwd": f"/projects/{number % 5}", "message": str(number)}
        name = f"{notes['fired-at']}-1-{number}.json"
        (spool / name).write_text(f"{json.dumps(notes)}\n{json.dumps(payload)}\n")
    for most_left in (550, 400, 200):
        daemon = start_daemon(tmp_path)
        wait_until(lambda: sum(1 for _ in spool.glob("*.json")) <= most_left, "some events to be taken")  # noqa: B023
        daemon.kill()
    with running_daemon(tmp_path) as daemon:
        wait_until(lambda: not any(spool.glob("*.json")), "the rest to be taken")
        told = [int(event["payload"]["message"]) for event in daemon.events() if event["origin"] == "hook"]
        assert told == list(range(600))
        assert daemon.verified()
