"""What the stream is told about a change: which messages, with which fields, and nothing twice."""

import msgspec
import pytest

from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.evolve.change import Change
from claude_headspace.kernel.facts import AgentWrote
from claude_headspace.kernel.react import STREAM_TYPES, Publish, react
from claude_headspace.kernel.text import iso
from tests.kernel.story import Story, answered, question, time_at


class Listener(Story):
    """A story with the messages of its last event."""

    before: Agent | None = None

    def told(self, change: Change) -> dict[str, dict[str, object]]:
        """The messages about a change, by type; there is at most one of each here."""
        before = self.changes[-2].agent if len(self.changes) > 1 else None
        messages = react(before, change)
        assert len({message.type for message in messages}) == len(messages)
        assert all(message.type in STREAM_TYPES for message in messages)
        return {message.type: body(message) for message in messages}


def body(message: Publish) -> dict[str, object]:
    """A message as JSON; all have the agent and the project."""
    sent: dict[str, object] = msgspec.json.decode(msgspec.json.encode(message.data))
    assert (sent["agent_id"], sent["project_id"]) == (message.agent_id, message.project_id) == ("agent-1", "project-1")
    return sent


@pytest.fixture
def story() -> Listener:
    """A client that has started."""
    told = Listener()
    told.starts()
    return told


def test_a_new_agent_is_published_completely() -> None:
    """The first event publishes the complete JSON and no changes."""
    story = Listener()
    told = story.told(story.starts())
    assert list(told) == ["agent_created"]
    agent = told["agent_created"]["agent"]
    assert isinstance(agent, dict)
    assert (agent["id"], agent["state"], told["agent_created"]["timestamp"]) == ("agent-1", "idle", iso(time_at(0)))


def test_a_prompt_is_a_turn_and_a_state(story: Listener) -> None:
    """The state changes because of a turn, and says which."""
    told = story.told(story.prompted("Fix it"))
    turn, state = told["turn_created"], told["state_changed"]
    assert list(told) == ["state_changed", "turn_created"]
    assert {
        name: turn[name]
        for name in ("agent_id", "project_id", "text", "actor", "intent", "command_id", "turn_id", "timestamp")
    } == {
        "agent_id": "agent-1",
        "project_id": "project-1",
        "text": "Fix it",
        "actor": "USER",
        "intent": "COMMAND",
        "command_id": story.command.id,
        "turn_id": next(iter(story.turn_rows)),
        "timestamp": iso(time_at(2)),
    }
    assert (state["turn_id"], state["timestamp"]) == (turn["turn_id"], turn["timestamp"])
    assert (state["state"], state["waiting_for"], state["from_state"], state["name"]) == (
        "working",
        None,
        "idle",
        "calm-otter",
    )
    assert state["dialects"] == {
        "headspace": "PROCESSING",
        "plate": "running",
        "fleet": "working",
        "claude_os": "active",
    }
    assert state["evidence"] == {
        "source": "hook",
        "confidence": "high",
        "at": iso(time_at(2)),
        "why": "a prompt was submitted",
    }


def test_a_change_of_state_carries_only_what_differs(story: Listener) -> None:
    """What did not change is not sent again."""
    changes = story.told(story.prompted("Fix it"))["state_changed"]["changes"]
    assert isinstance(changes, dict)
    assert set(changes) == {"state", "state_since", "last_active_at", "evidence", "command", "dialects"}


def test_other_changes_are_updates(story: Listener) -> None:
    """A tool in flight changes the agent, but not its state."""
    story.prompted()
    told = story.told(story.calls("t1"))
    assert list(told) == ["agent_updated"]
    changes = told["agent_updated"]["changes"]
    assert isinstance(changes, dict)
    assert set(changes) == {"last_active_at", "tool", "last_tool", "dialects"}
    assert told["agent_updated"]["timestamp"] == iso(time_at(3))


def test_late_events_publish_nothing(story: Listener) -> None:
    """An event that is older than everything known."""
    story.prompted()
    assert story.told(story.hook("ConfigChange", at=1.5)) == {}


def test_a_wait_opens_and_closes(story: Listener) -> None:
    """A need for a human is announced once with its options, and once with how it ended."""
    story.prompted()
    told = story.told(story.hook("PreToolUse", at=4, **question("q1")))
    assert list(told) == ["state_changed", "turn_created", "wait_opened"]
    opened = told["wait_opened"]
    assert (opened["kind"], opened["text"], opened["closed_at"]) == ("question", "Which colour?", None)
    joined = story.told(story.hook("PermissionRequest", at=4.05, **question(None)))
    assert list(joined) == ["agent_updated"]
    told = story.told(story.hook("PostToolUse", at=9, **answered("q1")))
    assert list(told) == ["state_changed", "turn_created", "wait_closed"]
    closed = told["wait_closed"]
    assert (closed["id"], closed["resolution"], closed["closed_at"]) == (opened["id"], "answered", iso(time_at(9)))


def test_a_corrected_turn_is_published(story: Listener) -> None:
    """With the source of its exact time."""
    story.prompted()
    story.stops("All tests pass now.", at=9)
    told = story.told(story.report(AgentWrote("All tests pass now."), at=8.5))
    updated = told["turn_updated"]
    assert "turn_created" not in told
    assert {name: updated[name] for name in ("turn_id", "timestamp", "timestamp_source", "command_id")} == {
        "turn_id": list(story.turn_rows)[-1],
        "timestamp": iso(time_at(8.5)),
        "timestamp_source": "jsonl",
        "command_id": story.command.id,
    }


def test_an_end_is_published_last(story: Listener) -> None:
    """After the change of state; a duplicated end is not published."""
    told = story.told(story.hook("SessionEnd", at=9, reason="other"))
    assert list(told) == ["state_changed", "agent_ended"]
    assert (told["agent_ended"]["reason"], told["agent_ended"]["ended_at"]) == ("other", iso(time_at(9)))
    again = story.told(story.hook("SessionEnd", at=9.002, reason="other"))
    assert "agent_ended" not in again


def test_a_revival_is_one_message(story: Listener) -> None:
    """A hook after the end publishes one change of state."""
    story.hook("SessionEnd", reason="other")
    told = story.told(story.hook("InstructionsLoaded"))
    assert list(told) == ["state_changed"]
    assert (told["state_changed"]["from_state"], told["state_changed"]["state"]) == ("ended", "idle")
