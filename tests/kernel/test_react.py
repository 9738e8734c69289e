"""The messages that the stream gets about a change: types, fields, no repetition."""

import msgspec
import pytest

from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.evolve.change import Change
from claude_headspace.kernel.facts import AgentWrote
from claude_headspace.kernel.react import STREAM_TYPES, Publish, react
from claude_headspace.kernel.text import iso
from tests.kernel.story import Story, answered, question, time_at


class PublishedStory(Story):
    """A story with the messages of its last event."""

    before: Agent | None = None

    def messages_of(self, change: Change) -> dict[str, dict[str, object]]:
        """The messages about a change, by type; at most one of each type."""
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
def story() -> PublishedStory:
    """A client that has started."""
    started = PublishedStory()
    started.starts()
    return started


def test_a_new_agent_is_published_completely() -> None:
    """The first event publishes the complete JSON and no changes."""
    story = PublishedStory()
    messages = story.messages_of(story.starts())
    assert list(messages) == ["agent_created"]
    agent = messages["agent_created"]["agent"]
    assert isinstance(agent, dict)
    assert (agent["id"], agent["state"], messages["agent_created"]["timestamp"]) == (
        "agent-1",
        "idle",
        iso(time_at(0)),
    )


def test_a_prompt_publishes_a_turn_and_a_state(story: PublishedStory) -> None:
    """The change of state names its turn."""
    messages = story.messages_of(story.prompted("Fix it"))
    turn, state = messages["turn_created"], messages["state_changed"]
    assert list(messages) == ["state_changed", "turn_created"]
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


def test_a_change_of_state_has_only_changed_fields(story: PublishedStory) -> None:
    """Other fields are not sent again."""
    changes = story.messages_of(story.prompted("Fix it"))["state_changed"]["changes"]
    assert isinstance(changes, dict)
    assert set(changes) == {"state", "state_since", "last_active_at", "evidence", "command", "dialects"}


def test_other_changes_are_updates(story: PublishedStory) -> None:
    """A running tool changes the agent, but not its state."""
    story.prompted()
    messages = story.messages_of(story.calls("t1"))
    assert list(messages) == ["agent_updated"]
    changes = messages["agent_updated"]["changes"]
    assert isinstance(changes, dict)
    assert set(changes) == {"last_active_at", "tool", "last_tool", "dialects"}
    assert messages["agent_updated"]["timestamp"] == iso(time_at(3))


def test_late_events_publish_nothing(story: PublishedStory) -> None:
    """An event that is older than everything known."""
    story.prompted()
    assert story.messages_of(story.hook("ConfigChange", at=1.5)) == {}


def test_a_wait_opens_and_closes(story: PublishedStory) -> None:
    """It is published once with its options, and once with its resolution."""
    story.prompted()
    messages = story.messages_of(story.hook("PreToolUse", at=4, **question("q1")))
    assert list(messages) == ["state_changed", "turn_created", "wait_opened"]
    opened = messages["wait_opened"]
    assert (opened["kind"], opened["text"], opened["closed_at"]) == ("question", "Which colour?", None)
    joined = story.messages_of(story.hook("PermissionRequest", at=4.05, **question(None)))
    assert list(joined) == ["agent_updated"]
    messages = story.messages_of(story.hook("PostToolUse", at=9, **answered("q1")))
    assert list(messages) == ["state_changed", "turn_created", "wait_closed"]
    closed = messages["wait_closed"]
    assert (closed["id"], closed["resolution"], closed["closed_at"]) == (opened["id"], "answered", iso(time_at(9)))


def test_a_corrected_turn_is_published(story: PublishedStory) -> None:
    """With the source of its exact time."""
    story.prompted()
    story.stops("All tests pass now.", at=9)
    messages = story.messages_of(story.report(AgentWrote("All tests pass now."), at=8.5))
    updated = messages["turn_updated"]
    assert "turn_created" not in messages
    assert {name: updated[name] for name in ("turn_id", "timestamp", "timestamp_source", "command_id")} == {
        "turn_id": list(story.turn_rows)[-1],
        "timestamp": iso(time_at(8.5)),
        "timestamp_source": "jsonl",
        "command_id": story.command.id,
    }


def test_an_end_is_published_last(story: PublishedStory) -> None:
    """After the change of state; a duplicated end is not published."""
    messages = story.messages_of(story.hook("SessionEnd", at=9, reason="other"))
    assert list(messages) == ["state_changed", "agent_ended"]
    assert (messages["agent_ended"]["reason"], messages["agent_ended"]["ended_at"]) == ("other", iso(time_at(9)))
    again = story.messages_of(story.hook("SessionEnd", at=9.002, reason="other"))
    assert "agent_ended" not in again


def test_a_revival_is_one_message(story: PublishedStory) -> None:
    """A hook after the end publishes one change of state."""
    story.hook("SessionEnd", reason="other")
    messages = story.messages_of(story.hook("InstructionsLoaded"))
    assert list(messages) == ["state_changed"]
    assert (messages["state_changed"]["from_state"], messages["state_changed"]["state"]) == ("ended", "idle")
