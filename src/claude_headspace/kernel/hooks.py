"""Kinds of hooks. Each client package maps its own hook names to these kinds."""

from enum import StrEnum

PROBE = "HeadspaceDoctor"
"""Name of a test event. `headspace doctor` sends it through the installed hooks to see that it arrives."""


class HookKind(StrEnum):
    """When a client runs a hook."""

    SESSION_START = "session_start"
    SESSION_END = "session_end"
    PROMPT = "prompt"
    BEFORE_TOOL = "before_tool"
    AFTER_TOOL = "after_tool"
    TOOL_FAILED = "tool_failed"
    TOOL_REFUSED = "tool_refused"
    PERMISSION = "permission"
    ELICITATION = "elicitation"
    NOTIFICATION = "notification"
    TURN_END = "turn_end"
    SUBAGENT_START = "subagent_start"
    SUBAGENT_END = "subagent_end"
    BEFORE_COMPACTION = "before_compaction"
    TEAMMATE_IDLE = "teammate_idle"
    TASK_COMPLETED = "task_completed"
    CONFIGURATION_CHANGE = "configuration_change"


HELD = frozenset({HookKind.PERMISSION, HookKind.ELICITATION})
"""Hooks that a client keeps open while its own dialog is on the screen. An answer to the hook closes the dialog."""
