"""Which hooks of Codex are registered, and why: one table for the installer, the documentation and the tests.

Timeouts are in seconds. Every hook delays the turn, so none waits for a person: Codex shows its dialog only after the
hook.
"""

REGISTERED = {
    "SessionStart": "a context window opens; comes with the first prompt",
    "SessionEnd": "a context window closes; with Codex's daemon a minute after the last client left",
    "UserPromptSubmit": "a command starts",
    "PreToolUse": "a tool is about to run; questions wait from here on",
    "PermissionRequest": "the agent waits for a permission",
    "PostToolUse": "a tool call finished, and with it its wait",
    "Stop": "the turn ended: done, or with a question",
    "Interrupt": "a person interrupted the turn, or rejected a permission",
    "SubagentStart": "a sub-agent started",
    "SubagentStop": "a sub-agent finished",
    "PreCompact": "the agent compacts its context",
    "PostCompact": "the agent has compacted its context",
}
"""The registered events, and what each reports."""

NOT_REGISTERED = {
    "PreModelRequest": "delays every request to the model and adds nothing to the state",
    "PostModelRequest": "delays every reply of the model; usage is in the transcript",
}
"""The events that are not registered, and why."""

TIMEOUT_SECONDS = 5
SHORT_TIMEOUT_SECONDS = 3
"""The longest time that Codex gives to SessionEnd."""

TIMEOUTS = {"SessionEnd": SHORT_TIMEOUT_SECONDS, "Interrupt": SHORT_TIMEOUT_SECONDS}
"""Hooks with a shorter timeout. Their default is one second, which a busy machine can exceed."""


def timeout_of(event: str) -> int:
    """The timeout of a hook, in seconds. The script itself stops after 2 s, or 1 s at the end of a session."""
    return TIMEOUTS.get(event, TIMEOUT_SECONDS)
