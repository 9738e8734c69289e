"""Which kind of hook each hook of Codex is. Hooks that are not listed have no kind of their own."""

from claude_headspace.kernel.hooks import HookKind

KINDS: dict[str, HookKind] = {
    "SessionStart": HookKind.SESSION_START,
    "SessionEnd": HookKind.SESSION_END,
    "UserPromptSubmit": HookKind.PROMPT,
    "PreToolUse": HookKind.BEFORE_TOOL,
    "PostToolUse": HookKind.AFTER_TOOL,
    "PermissionRequest": HookKind.PERMISSION,
    "Stop": HookKind.TURN_END,
    "SubagentStart": HookKind.SUBAGENT_START,
    "SubagentStop": HookKind.SUBAGENT_END,
    "PreCompact": HookKind.BEFORE_COMPACTION,
}
