"""Payload shapes of the hooks of Copilot CLI, tolerant: every field may be missing, unknown fields are ignored.

With the event names of Claude Code the payloads are in snake case, except those of PermissionRequest, SubagentStart and
Notification. With Copilot's own names they are in camel case. `in_snake_case` makes them alike. Measured with 1.0.102.
"""

from typing import Any

import msgspec

EVENTS = {
    "sessionStart": "SessionStart",
    "sessionEnd": "SessionEnd",
    "userPromptSubmitted": "UserPromptSubmit",
    "preToolUse": "PreToolUse",
    "postToolUse": "PostToolUse",
    "postToolUseFailure": "PostToolUseFailure",
    "permissionRequest": "PermissionRequest",
    "notification": "Notification",
    "agentStop": "Stop",
    "subagentStart": "SubagentStart",
    "subagentStop": "SubagentStop",
    "preCompact": "PreCompact",
    "errorOccurred": "ErrorOccurred",
}
"""Copilot's own names of events, and the other names for the same events."""

_NAMES = {
    "sessionId": "session_id",
    "transcriptPath": "transcript_path",
    "toolName": "tool_name",
    "toolInput": "tool_input",
    "toolArgs": "tool_input",
    "toolResult": "tool_result",
    "tool_response": "tool_result",
    "agentName": "agent_name",
    "agentId": "agent_id",
    "agentType": "agent_type",
    "parentAgentId": "parent_agent_id",
    "resultType": "result_type",
    "textResultForLlm": "text_result_for_llm",
}
"""Other names of fields."""


class WireHook(msgspec.Struct, kw_only=True):
    """The fields of all hooks that are used."""

    session_id: str = ""
    transcript_path: str | None = None
    cwd: str | None = None
    agent_id: str | None = None
    """The sub-agent. Its hooks have its own id as `session_id`."""
    agent_type: str | None = None
    agent_name: str | None = None
    parent_agent_id: str | None = None
    """The session in which the sub-agent runs."""
    source: str = "new"
    reason: str = "other"
    prompt: str = ""
    trigger: str = ""
    stop_hook_active: bool = False
    last_assistant_message: str | None = None


class WireTool(WireHook):
    """A hook about a tool call. It has no id."""

    tool_name: str = ""
    tool_input: Any = None
    tool_result: Any = None
    error: Any = None


class WireToolResult(msgspec.Struct):
    """The result of a call."""

    result_type: str = "success"
    text_result_for_llm: str = ""


class WireLock(msgspec.Struct):
    """A lock file, as Headspace stores it."""

    session_id: str = ""
    cwd: str | None = None
    pid: int = 0


TOOL_HOOKS = frozenset({"PreToolUse", "PostToolUse", "PostToolUseFailure"})
"""Hooks that report a tool call. PermissionRequest names another tool and another input than the call has."""
HOOKS = frozenset(EVENTS.values())
"""The known events."""


def event_of(name: str, body: Any) -> str:
    """The name of an event. Hooks of Claude Code that Copilot runs do not always name it; then the payload does."""
    if name not in EVENTS and name not in HOOKS and isinstance(body, dict):
        given = body.get("hookName")
        name = given if isinstance(given, str) and given in EVENTS else name
    return EVENTS.get(name, name)


def in_snake_case(body: Any) -> Any:
    """A payload with the names of fields in snake case."""
    return {_NAMES.get(name, name): value for name, value in body.items()} if isinstance(body, dict) else body
