"""Views of turns and tool calls."""

import msgspec

from claude_headspace.kernel.agent import ToolCall
from claude_headspace.kernel.state_machine import Actor, Intent
from claude_headspace.kernel.text import iso
from claude_headspace.kernel.views.agent import agent_view
from claude_headspace.kernel.views.work import newest_tool, turn_view
from tests.kernel.story import Story, bash, in_subagent, running, time_at


def as_json(shown: object) -> dict[str, object]:
    """What the API sends."""
    sent: dict[str, object] = msgspec.json.decode(msgspec.json.encode(shown))
    return sent


def test_a_turn_has_its_fields() -> None:
    """A turn shows its actor, its intent, its text and the source of its time."""
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


def test_a_tool_without_a_name_is_not_blank() -> None:
    """A client may send a name in a form that Headspace does not know."""
    call = ToolCall(id="c", tool="", digest="", summary="", started_at=time_at(1), subagent_id=None)
    shown = newest_tool((call,), None)
    assert shown is not None
    assert shown.name == "unknown tool"


def test_the_tool_of_a_subagent_is_not_the_tool_of_its_agent() -> None:
    """An agent whose turn has ended shows no tool, even while its sub-agent runs one."""
    story = Story()
    story.prompted()
    story.calls("t1", **in_subagent())
    story.stops("Sent.", background_tasks=running("sub-1"))
    view = agent_view(story.agent)
    assert (view.dialects.claude_os, view.tool) == ("active", None)
    assert [(sub.id, sub.tool and sub.tool.name) for sub in view.subagents] == [("sub-1", "Bash")]


def test_a_shell_call_is_summarised_by_its_command() -> None:
    """The summary of a running shell call is its command, on one line."""
    story = Story()
    story.hook("PreToolUse", **bash("t1", "make   all\n"))
    view = agent_view(story.agent)
    assert view.tool is not None
    assert view.tool.summary == "make all"
