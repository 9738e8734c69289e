"""Snapshots: a replay that starts from any snapshot gives the same result."""

from typing import Any

import msgspec
import pytest

from claude_headspace.clients.decode import decode
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.correlate import Identity, Strategy
from claude_headspace.kernel.envelope import SECOND, Envelope
from claude_headspace.kernel.replay import NOT_UNDERSTOOD, replay_event
from claude_headspace.kernel.snapshot import Snapshot, SnapshotBuilder
from claude_headspace.testing import START, hook

CALL: dict[str, Any] = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "make"}}
STORY = [
    hook("SessionStart", START, source="startup"),
    hook("UserPromptSubmit", START + SECOND, prompt="Fix it", prompt_id="p1"),
    hook("PreToolUse", START + 2 * SECOND, prompt_id="p1", **CALL),
    hook("PermissionRequest", START + 3 * SECOND, tool_name="Bash", tool_input={"command": "make"}),
    hook("PostToolUse", START + 4 * SECOND, prompt_id="p1", **CALL),
    hook("Stop", START + 5 * SECOND, last_assistant_message="Which one?", prompt_id="p1"),
    hook("UserPromptSubmit", START + 6 * SECOND, prompt="The second", prompt_id="p2"),
    hook("SessionStart", START + 7 * SECOND, session_id="session-2", source="clear"),
    hook("SessionEnd", START + 8 * SECOND, session_id="session-2", reason="other"),
]


def replayed(events: list[Envelope], before: Snapshot | None = None) -> SnapshotBuilder:
    """The agent and the rows after these events."""
    found = SnapshotBuilder(before)
    for event in events:
        retold = replay_event(found.agent, "agent-1", event, decode(event), Strategy.MEMORY, None)
        assert retold is not None
        found.add(retold.change)
    return found


@pytest.mark.parametrize("cut", range(1, len(STORY)))
def test_a_replay_continues_from_any_snapshot(cut: int) -> None:
    """Agent and rows are the same; the snapshot survives as JSON."""
    whole = replayed(STORY)
    snapshot = replayed(STORY[:cut]).snapshot(cut, START, [Identity("session", "session-1")])
    kept = msgspec.json.decode(msgspec.json.encode(snapshot), type=Snapshot)
    rest = replayed(STORY[cut:], kept)
    assert rest.agent == whole.agent
    for name in ("sessions", "commands", "turns", "waits"):
        later = getattr(rest, name)
        assert later == {key: getattr(whole, name)[key] for key in later}


def test_a_snapshot_has_only_rows_that_can_change() -> None:
    """Old commands and turns are left out."""
    prompts = [
        hook("UserPromptSubmit" if n % 2 else "Stop", START + n * SECOND, prompt=f"{n}", last_assistant_message="Done.")
        for n in range(1, 60)
    ]
    found = replayed([STORY[0], *prompts])
    snapshot = found.snapshot(1, START, [])
    assert len(found.turns) > 40
    assert len(snapshot.turns) <= 10
    assert len(snapshot.commands) <= 3
    assert isinstance(snapshot.agent, Agent)


def test_events_without_an_agent_are_not_replayed() -> None:
    """Probes, and events that could not be processed."""
    assert replay_event(None, "a", STORY[0], decode(STORY[0]), Strategy.NOBODY, None) is None
    assert replay_event(None, "a", STORY[0], decode(STORY[0]), Strategy.NEW, f"{NOT_UNDERSTOOD}ValueError") is None
