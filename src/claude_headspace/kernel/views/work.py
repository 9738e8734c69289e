"""Views of the work of an agent: sessions, commands, turns, tool calls, sub-agents and background tasks."""

import msgspec

from claude_headspace.kernel.agent import Agent, Command, Session, ToolCall, Turn
from claude_headspace.kernel.state_machine import CommandState
from claude_headspace.kernel.text import Time, iso, optional_iso
from claude_headspace.kernel.views.fields import view_of

UNKNOWN_TOOL = "unknown tool"
"""The name of a tool that its client did not name in a known way."""


class SessionView(msgspec.Struct, frozen=True):
    """The current context window."""

    id: str
    ordinal: int
    source: str
    started_at: Time
    prev_session_id: str | None
    transcript_path: str | None


class CommandView(msgspec.Struct, frozen=True):
    """The command of the agent, with its state and outcome."""

    id: str
    state: CommandState
    text: str
    trigger: str
    started_at: Time
    ended_at: Time | None
    outcome: str | None


class TurnView(msgspec.Struct, frozen=True):
    """One message in a command."""

    turn_id: str
    agent_id: str
    project_id: str
    command_id: str
    actor: str
    intent: str
    text: str
    timestamp: Time
    timestamp_source: str
    reason: str


class ToolView(msgspec.Struct, frozen=True):
    """The running tool call."""

    name: str
    summary: str
    since: Time


class SubagentView(msgspec.Struct, frozen=True):
    """A running sub-agent."""

    id: str
    type: str
    description: str
    started_at: Time
    tool: ToolView | None


class BackgroundTaskView(msgspec.Struct, frozen=True):
    """Background work that continues after the turn."""

    id: str
    kind: str
    description: str
    started_at: Time


class TodoView(msgspec.Struct, frozen=True):
    """The agent's to-do list: entries done and in total."""

    done: int
    total: int


def session_view(session: Session) -> SessionView:
    """A context window."""
    return view_of(SessionView, session, started_at=iso(session.started_at))


def command_view(command: Command) -> CommandView:
    """A command."""
    started_at, ended_at = iso(command.started_at), optional_iso(command.ended_at)
    return view_of(CommandView, command, started_at=started_at, ended_at=ended_at)


def turn_view(turn: Turn) -> TurnView:
    """A turn, as the API and the stream show it."""
    return view_of(TurnView, turn, turn_id=turn.id, timestamp=iso(turn.at))


def subagent_views(agent: Agent) -> tuple[SubagentView, ...]:
    """The running sub-agents."""
    if not agent.subagents:
        return ()
    return tuple(
        SubagentView(sub.id, sub.type, sub.description, iso(sub.started_at), newest_tool(agent.calls, sub.id))
        for sub in agent.running_subagents
    )


def background_views(agent: Agent) -> tuple[BackgroundTaskView, ...]:
    """The running background work."""
    return tuple(
        BackgroundTaskView(task.id, task.kind, task.description, iso(task.started_at))
        for task in agent.running_background
    )


def newest_tool(calls: tuple[ToolCall, ...], subagent_id: str | None) -> ToolView | None:
    """The newest open call of a thread."""
    for call in reversed(calls):
        if call.subagent_id == subagent_id:
            return ToolView(call.tool or UNKNOWN_TOOL, call.summary, iso(call.started_at))
    return None
