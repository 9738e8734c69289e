"""Which hooks are registered, and why: one table for the installer, the documentation and the tests.

Every event that the decoder knows stands in one of the two tables. A new one has to be given its place here. A client
that does not know an event in its settings stops with a dialog at its start (seen with 2.1.197), so newer events are
registered only for clients that are known to have them.
"""

from claude_headspace.clients.claude_code.hook_kinds import HELD_HOOKS

Version = tuple[int, ...]

REGISTERED = {
    "SessionStart": "a session starts, with its context window",
    "SessionEnd": "the session ends; the agent ends or starts a new session",
    "Setup": "the client is running, before the first session",
    "InstructionsLoaded": "which instruction files were loaded",
    "UserPromptSubmit": "a command starts, or a question is answered",
    "UserPromptExpansion": "which slash command was used",
    "PreToolUse": "a tool call starts; questions and plans wait for you from here on",
    "PermissionRequest": "the agent waits for a permission",
    "PermissionDenied": "a tool call was denied without a dialog",
    "PostToolUse": "a tool call has finished; its wait closes",
    "PostToolUseFailure": "a tool call failed",
    "PostToolBatch": "all tool calls of a step have finished, with or without their own event",
    "Notification": "the agent needs attention that no other event reports",
    "SubagentStart": "a sub-agent starts",
    "SubagentStop": "a sub-agent ends",
    "TaskCreated": "an item was added to the agent's task list",
    "TaskCompleted": "an item of the agent's task list is done",
    "Stop": "the turn ends: done, or with a question to you",
    "StopFailure": "the turn ended in an error",
    "PreCompact": "a compaction of the context starts",
    "PostCompact": "the compaction has finished",
    "PreModelSwitch": "a model switch starts",
    "PostModelSwitch": "the agent uses another model",
    "ConfigChange": "the client's settings changed, for example these hooks",
    "CwdChanged": "the agent works in another directory",
    "DirectoryAdded": "the agent may use one more directory",
    "FileChanged": "a watched file changed",
    "TeammateIdle": "a teammate is idle",
    "Elicitation": "an MCP server asks you for input",
    "ElicitationResult": "the MCP server has received your input",
}
"""The event, and what it reports."""

LEFT_OUT = {
    "MessageDisplay": "fires for every piece of streamed text; the transcript has the complete text",
    "WorktreeCreate": "a hook would replace the client's own creation of the worktree",
    "WorktreeRemove": "a hook would replace the client's own removal of the worktree",
}
"""Events without a hook, and the reason."""

SINCE: dict[str, Version] = {
    "PreModelSwitch": (2, 1, 325),
    "PostModelSwitch": (2, 1, 325),
    "DirectoryAdded": (2, 1, 325),
}
"""The first version in which an event was seen, where an older one in use does not have it."""

ALWAYS_COMMAND = frozenset({"SessionStart"})
"""The client never sends these to http hooks."""

TIMEOUT_SECONDS = 5
"""After this the client ends a hook. The script keeps to 2 s by itself; this is for what it cannot foresee."""

HELD_TIMEOUT_SECONDS = 86_400
"""The same for hooks that wait for a person. How long they really wait is the daemon's setting `hold_seconds`."""


def timeout_of(event: str) -> int:
    """How long the client waits for a hook of this event, in seconds."""
    return HELD_TIMEOUT_SECONDS if event in HELD_HOOKS else TIMEOUT_SECONDS


def known_to(version: Version | None) -> list[str]:
    """The events to register for a client of this version; of an unknown one, those that all have."""
    return [event for event in REGISTERED if event not in SINCE or (version is not None and version >= SINCE[event])]
