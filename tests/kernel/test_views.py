"""The one truth in every dialect, and the names of its JSON."""

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from claude_headspace.kernel.agent import Agent, AgentState, Command, Trigger, Wait
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.state_machine import Actor, CommandState, Intent
from claude_headspace.kernel.views import agent_view, dialects, iso, turn_view, view_changes, wait_view
from tests.kernel.histories import believable
from tests.kernel.story import START, Story, bash, in_subagent, new_agent, question, running, time_at

DIALECTS = """
starting             IDLE            starting           working    active
idle                 IDLE            idle               done       idle
commanded            COMMANDED       running            working    active
working              PROCESSING      running            working    active
tool                 PROCESSING      running            working    tool_active
waiting:question     AWAITING_INPUT  awaiting_input     attention  active
waiting:elicitation  AWAITING_INPUT  awaiting_input     attention  active
waiting:dialog       AWAITING_INPUT  awaiting_input     attention  active
waiting:plan         AWAITING_INPUT  awaiting_approval  attention  active
waiting:permission   AWAITING_INPUT  awaiting_approval  attention  active
error                COMPLETE        error              error      idle
ended                COMPLETE        closed             done       ended
"""

AGENT_FIELDS = """
id name project cwd branch host pid tmux tmux_session session_id session state waiting_for state_since last_active_at
evidence tool command subagents background_tasks model context_percent tokens cost_usd permission_mode role mode
dialects ended_at
""".split()


def agent_that_is(state: str) -> Agent:
    """An agent in a state, with the parts that the dialects look at."""
    if state == "commanded":
        command = Command(
            id="c",
            agent_id="a",
            session_id="s",
            state=CommandState.COMMANDED,
            trigger=Trigger.PROMPT,
            started_at=START,
        )
        return new_agent(state=AgentState.WORKING, command=command)
    if state == "tool":
        story = Story()
        story.calls("t1")
        return story.agent
    name, _, kind = state.partition(":")
    return new_agent(state=AgentState(name), waiting_for=kind or None)


@pytest.mark.parametrize("row", DIALECTS.split("\n")[1:-1], ids=lambda row: row.split()[0])
def test_each_state_in_each_dialect(row: str) -> None:
    """Headspace, plate-spinner, fleet and Claude OS each have their word for it."""
    state, *words = row.split()
    assert list(msgspec.structs.astuple(dialects(agent_that_is(state)))) == words


def test_a_subagents_tool_is_not_the_agents() -> None:
    """An agent whose turn has stopped runs no tool, though its sub-agent does."""
    story = Story()
    story.prompted()
    story.calls("t1", **in_subagent())
    story.stops("Sent.", background_tasks=running("sub-1"))
    view = agent_view(story.agent)
    assert (view.dialects.claude_os, view.tool) == ("active", None)
    assert [(sub.id, sub.tool and sub.tool.name) for sub in view.subagents] == [("sub-1", "Bash")]


# --- JSON -------------------------------------------------------------------------------------------------------------


def as_json(shown: object) -> dict[str, object]:
    """What the API sends."""
    sent: dict[str, object] = msgspec.json.decode(msgspec.json.encode(shown))
    return sent


def test_an_agent_has_all_its_fields() -> None:
    """The names in the JSON of an agent are promised to everybody who reads it."""
    shown = as_json(agent_view(Story().agent))
    assert set(AGENT_FIELDS) <= set(shown)


def test_the_parts_of_an_agent_have_their_fields() -> None:
    """Nested parts have the promised names too."""
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


def test_a_wait_shows_its_options() -> None:
    """A question with its options, a permission with the client's suggestions."""
    story = Story()
    story.hook("PreToolUse", **question("q1"))
    story.asks_permission("rm x", permission_suggestions=[{"type": "setMode", "mode": "acceptEdits"}])
    asked, permission = (as_json(wait_view(wait)) for wait in story.agent.waits)
    assert asked["questions"] == [
        {
            "text": "Which colour?",
            "header": "Colour",
            "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}],
        }
    ]
    assert permission["suggestions"] == [{"type": "setMode", "mode": "acceptEdits"}]
    assert (permission["text"], permission["closed_at"]) == ("Bash: rm x", None)


@pytest.mark.parametrize("stored", ["nonsense", "{}", "[1]", "[" * 5000 + "]" * 5000])
def test_malformed_suggestions_are_left_out(stored: str) -> None:
    """Whatever was stored, the wait can be shown."""
    wait = Wait(id="w", agent_id="a", kind="permission", text="", opened_at=START, suggestions=stored)
    assert wait_view(wait).suggestions == []


def test_a_turn_has_its_fields() -> None:
    """Who said what, when, and how that is known."""
    story = Story()
    story.prompted("Fix it")
    [turn] = story.turn_rows.values()
    assert as_json(turn_view(turn)) == {
        "turn_id": turn.id,
        "agent_id": "agent-1",
        "project_id": "project-1",
        "command_id": turn.command_id,
        "actor": Actor.USER,
        "intent": Intent.COMMAND,
        "text": "Fix it",
        "timestamp": iso(time_at(1)),
        "timestamp_source": "server",
        "reason": "",
    }


@pytest.mark.parametrize(
    ("at", "shown"),
    [
        (0, "1970-01-01T00:00:00.000000+00:00"),
        (1_790_000_000_123_456, "2026-09-21T14:13:20.123456+00:00"),
        (-1, "1969-12-31T23:59:59.999999+00:00"),
        (10**18, "9999-12-31T23:59:59.000000+00:00"),
        (-(10**18), "0001-01-01T00:00:00.000000+00:00"),
        (10**30, "9999-12-31T23:59:59.000000+00:00"),
    ],
)
def test_moments_are_shown_in_utc(at: int, shown: str) -> None:
    """All moments have the same length, so that they sort as texts; what no calendar has is clamped."""
    assert iso(at) == shown


@settings(max_examples=100, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(believable())
def test_changes_bring_one_view_to_the_next(history: list[Event]) -> None:
    """Who has the view of an agent and every change of it since has the view of now; nothing unchanged is sent."""
    story = Story()
    shown = agent_view(story.agent)
    for event in history:
        before = story.agent
        story.apply(event)
        changes = view_changes(before, story.agent)
        assert all(getattr(shown, name) != value for name, value in changes.items())
        shown = msgspec.structs.replace(shown, **changes)
        assert shown == agent_view(story.agent)


def test_bash_is_summed_up_by_its_command() -> None:
    """A tool in flight is shown by what people recognise it by."""
    story = Story()
    story.hook("PreToolUse", **bash("t1", "make   all\n"))
    view = agent_view(story.agent)
    assert view.tool is not None
    assert view.tool.summary == "make all"
