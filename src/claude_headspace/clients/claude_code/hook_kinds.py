"""Which kind of hook each hook of Claude Code is. Hooks that are not listed have no kind of their own."""

from collections.abc import Collection

from claude_headspace.kernel.hooks import HookKind

KINDS: dict[str, HookKind] = {
    "SessionStart": HookKind.SESSION_START,
    "SessionEnd": HookKind.SESSION_END,
    "UserPromptSubmit": HookKind.PROMPT,
    "PreToolUse": HookKind.BEFORE_TOOL,
    "PostToolUse": HookKind.AFTER_TOOL,
    "PostToolUseFailure": HookKind.TOOL_FAILED,
    "PermissionDenied": HookKind.TOOL_REFUSED,
    "PermissionRequest": HookKind.PERMISSION,
    "Elicitation": HookKind.ELICITATION,
    "Notification": HookKind.NOTIFICATION,
    "Stop": HookKind.TURN_END,
    "SubagentStart": HookKind.SUBAGENT_START,
    "SubagentStop": HookKind.SUBAGENT_END,
    "PreCompact": HookKind.BEFORE_COMPACTION,
    "TeammateIdle": HookKind.TEAMMATE_IDLE,
    "TaskCompleted": HookKind.TASK_COMPLETED,
    "ConfigChange": HookKind.CONFIGURATION_CHANGE,
}

NAMES: dict[HookKind, str] = {kind: name for name, kind in KINDS.items()}


def hook_names(kinds: Collection[HookKind]) -> frozenset[str]:
    """The names of the hooks of these kinds."""
    return frozenset(NAMES[kind] for kind in kinds)
