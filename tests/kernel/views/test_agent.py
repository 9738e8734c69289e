"""The view of an agent and its changes."""

import msgspec
from hypothesis import HealthCheck, given, settings

from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.text import iso
from claude_headspace.kernel.views.agent import agent_view, view_changes
from tests.kernel.histories import plausible
from tests.kernel.story import Story, time_at

AGENT_FIELDS = """
id name project cwd branch host pid tmux tmux_session session_id session state waiting_for state_since last_active_at
evidence tool command subagents background_tasks model context_percent tokens cost_usd permission_mode role mode
dialects ended_at
""".split()


def as_json(shown: object) -> dict[str, object]:
    """What the API sends."""
    sent: dict[str, object] = msgspec.json.decode(msgspec.json.encode(shown))
    return sent


def test_an_agent_has_all_its_fields() -> None:
    """The JSON of an agent has all documented fields."""
    shown = as_json(agent_view(Story().agent))
    assert set(AGENT_FIELDS) <= set(shown)


def test_nested_objects_have_their_fields() -> None:
    """Nested objects have their documented fields too."""
    story = Story()
    story.starts()
    story.prompted("Fix it")
    story.calls("t1", "pytest -q")
    story.hook("TaskCreated", task_id="1")
    story.called("t0", "sleep 9", tool_response={"backgroundTaskId": "b1"})
    shown = as_json(agent_view(story.agent))
    assert shown["tmux"] == {"session": None, "pane": "%1"}
    assert shown["session_id"] == "session-1"
    assert set(as_json(shown["session"])) >= {"id", "ordinal"}
    assert set(as_json(shown["evidence"])) >= {"source", "confidence", "at"}
    assert set(as_json(shown["command"])) >= {"id", "state", "text", "started_at"}
    assert set(as_json(shown["dialects"])) == {"headspace", "plate", "fleet", "claude_os"}
    assert shown["tool"] == {"name": "Bash", "summary": "pytest -q", "since": iso(time_at(3))}
    assert shown["todo"] == {"done": 0, "total": 1}
    assert shown["background_tasks"] == [
        {"id": "b1", "kind": "shell", "description": "sleep 9", "started_at": iso(time_at(5))}
    ]


@settings(max_examples=100, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(plausible())
def test_changes_turn_one_view_into_the_next(history: list[Event]) -> None:
    """A view with all later changes applied equals the current view; unchanged fields are not sent."""
    story = Story()
    shown = agent_view(story.agent)
    for event in history:
        before = story.agent
        story.apply(event)
        changes = view_changes(before, story.agent)
        assert all(getattr(shown, name) != value for name, value in changes.items())
        shown = msgspec.structs.replace(shown, **changes)
        assert shown == agent_view(story.agent)
