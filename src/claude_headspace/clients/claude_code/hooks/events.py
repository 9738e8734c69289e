"""Which hooks are registered, and why: one table for the installer, the documentation and the tests.

Every event that the decoder knows stands in one of the two tables. A new one has to be given its place here. A client
that does not know an event in its settings stops with a dialog at its start (seen with 2.1.197), so newer events are
registered only for clients that are known to have them.
"""

from claude_headspace.clients.claude_code.hook_kinds import HELD_HOOKS

Version = tuple[int, ...]

REGISTERED = {
    "SessionStart": "the agent is there, and which context window it has",
    "SessionEnd": "it is gone, or begins anew",
    "Setup": "a sign of life before the first session",
    "InstructionsLoaded": "which instructions it follows",
    "UserPromptSubmit": "a command begins, or a question is answered",
    "UserPromptExpansion": "which slash command was meant",
    "PreToolUse": "what it is about to do; questions and plans wait for you from here on",
    "PermissionRequest": "it waits for a permission",
    "PermissionDenied": "a call was refused without asking you",
    "PostToolUse": "the call is over, and so is its wait",
    "PostToolUseFailure": "the call failed",
    "PostToolBatch": "all calls of a step are over, also those that tell nothing themselves",
    "Notification": "it wants your attention, where nothing else says so",
    "SubagentStart": "a sub-agent works",
    "SubagentStop": "a sub-agent is done",
    "TaskCreated": "its list of things to do grows",
    "TaskCompleted": "something on its list is done",
    "Stop": "the turn is over: done, or it asks you something",
    "StopFailure": "the turn ended in an error",
    "PreCompact": "it compacts its context",
    "PostCompact": "it has compacted",
    "PreModelSwitch": "another model is being chosen",
    "PostModelSwitch": "another model answers",
    "ConfigChange": "its settings changed, for instance these hooks",
    "CwdChanged": "it works in another directory",
    "DirectoryAdded": "it may work in one more directory",
    "FileChanged": "a file that it watches changed",
    "TeammateIdle": "a teammate has nothing to do",
    "Elicitation": "a server asks you something through it",
    "ElicitationResult": "that question is answered",
}
"""The event, and what Headspace learns from it."""

LEFT_OUT = {
    "MessageDisplay": "fires for every piece of streamed text; the transcript has the whole",
    "WorktreeCreate": "a hook there replaces the client's own making of the worktree",
    "WorktreeRemove": "a hook there replaces the client's own removal",
}
"""Events without a hook, and why."""

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
