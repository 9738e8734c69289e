"""Which hooks of Copilot CLI are registered, and why: one table for the installer, the documentation and the tests.

The names are those that Copilot shares with Claude Code, because their payloads have more fields. Timeouts are in
seconds. A hook delays the turn, so none waits for a person: Copilot shows its dialog only after the hook.
"""

REGISTERED = {
    "SessionStart": "a context window opens; comes with the first prompt",
    "SessionEnd": "a context window closes: the agent ended, or starts a new one",
    "UserPromptSubmit": "a command starts",
    "PreToolUse": "a tool is about to run; guard rules decide here",
    "PostToolUse": "a tool call finished, and with it its wait",
    "PostToolUseFailure": "a tool call failed",
    "Stop": "the turn ended",
    "SubagentStart": "a sub-agent started",
    "SubagentStop": "a sub-agent finished",
    "PreCompact": "the agent compacts its context",
}
"""The registered events, and what each reports."""

NOT_REGISTERED: dict[str, str] = {
    "PermissionRequest": "fires before the dialog, also if there is none, and delays it; the transcript reports it",
    "Notification": "does not say which call or question it is about; the transcript and PreToolUse do",
    "ErrorOccurred": "also fires for errors after which Copilot tries again; the transcript reports the end of a turn",
}
"""The events that are not registered, and why."""

TIMEOUT_SECONDS = 5
"""After this the client ends a hook. The script itself stops after 2 s; this is a safeguard."""
