"""Which hooks of Copilot CLI are registered, and why: one table for the installer, the documentation and the tests.

The names are those that Copilot shares with Claude Code, because their payloads have more fields. Timeouts are in
seconds. A hook delays the turn, so none waits for a person: Copilot shows its dialog only after the hook.
"""

REGISTERED = {
    "SessionStart": "a context window opens; comes with the first prompt",
    "SessionEnd": "a context window closes: the agent ended, or starts a new one",
    "UserPromptSubmit": "a command starts",
    "PreToolUse": "a tool is about to run; guard rules decide here",
    "PermissionRequest": "the agent may ask for a permission",
    "Notification": "the agent waits for a permission or for the answer to a question",
    "PostToolUse": "a tool call finished, and with it its wait",
    "PostToolUseFailure": "a tool call failed",
    "Stop": "the turn ended: done, or with a question",
    "SubagentStart": "a sub-agent started",
    "SubagentStop": "a sub-agent finished",
    "PreCompact": "the agent compacts its context",
    "ErrorOccurred": "the turn ended in an error",
}
"""The registered events, and what each reports."""

NOT_REGISTERED: dict[str, str] = {}
"""The events that are not registered, and why."""

TIMEOUT_SECONDS = 5
"""After this the client ends a hook. The script itself stops after 2 s; this is a safeguard."""
