"""Which hooks are registered, and why: one table for the installer, the documentation and the tests.

Every hook in `wire.HOOKS` is in one of the two tables. A client that finds an unknown hook in its settings shows a
dialog at its start (seen with 2.1.197), so newer hooks are registered only for clients that are known to have them.
"""

from claude_headspace.clients.claude_code.hook_kinds import KINDS
from claude_headspace.kernel.hooks import HELD

Version = tuple[int, ...]

REGISTERED = {
    "SessionStart": "a context window opens: the agent is running",
    "SessionEnd": "a context window closes: the agent ended, or starts a new one",
    "Setup": "proves that the client runs before the first session",
    "InstructionsLoaded": "which instruction files the agent follows",
    "UserPromptSubmit": "a command starts, or a question is answered",
    "UserPromptExpansion": "which slash command was used",
    "PreToolUse": "a tool is about to run; questions and plans wait from here on",
    "PermissionRequest": "the agent waits for a permission",
    "PermissionDenied": "a tool call was denied without asking",
    "PostToolUse": "a tool call finished, and with it its wait",
    "PostToolUseFailure": "a tool call failed",
    "PostToolBatch": "all tool calls of a step ended, including those without their own hook",
    "Notification": "the agent asks for attention and no other hook reports why",
    "SubagentStart": "a sub-agent started",
    "SubagentStop": "a sub-agent finished",
    "TaskCreated": "an entry was added to the to-do list",
    "TaskCompleted": "an entry of the to-do list is done",
    "Stop": "the turn ended: done, or with a question",
    "StopFailure": "the turn ended in an error",
    "PreCompact": "the agent compacts its context",
    "PostCompact": "the agent has compacted its context",
    "PreModelSwitch": "the model is about to change",
    "PostModelSwitch": "the model changed",
    "ConfigChange": "the settings of the client changed, for instance these hooks",
    "CwdChanged": "the working directory changed",
    "DirectoryAdded": "the agent may work in another directory",
    "FileChanged": "a watched file changed",
    "TeammateIdle": "a teammate is idle",
    "Elicitation": "an MCP server asks a question",
    "ElicitationResult": "the question of an MCP server was answered",
}
"""The registered events, and what each reports."""

NOT_REGISTERED = {
    "MessageDisplay": "fires for every piece of streamed text; the transcript has the complete text",
    "WorktreeCreate": "a hook would replace the client's own creation of the worktree",
    "WorktreeRemove": "a hook would replace the client's own removal of the worktree",
}
"""The events that are not registered, and why."""

SINCE: dict[str, Version] = {
    "PreModelSwitch": (2, 1, 325),
    "PostModelSwitch": (2, 1, 325),
    "DirectoryAdded": (2, 1, 325),
}
"""The first version with a hook, where older versions in use do not have it."""

ALWAYS_COMMAND = frozenset({"SessionStart"})
"""The client never sends these to http hooks."""

TIMEOUT_SECONDS = 5
"""After this the client ends a hook. The script itself stops after 2 s; this is a safeguard."""

HELD_TIMEOUT_SECONDS = 86_400
"""The same for hooks that wait for a person. The daemon's setting `hold_seconds` is the real limit."""


def timeout_of(event: str) -> int:
    """The timeout of a hook, in seconds."""
    return HELD_TIMEOUT_SECONDS if KINDS.get(event) in HELD else TIMEOUT_SECONDS


def events_for(version: Version | None) -> list[str]:
    """The hooks to register for a client of this version; for an unknown version, those of all versions."""
    return [event for event in REGISTERED if event not in SINCE or (version is not None and version >= SINCE[event])]
