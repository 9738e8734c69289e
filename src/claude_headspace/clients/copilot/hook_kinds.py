"""Which kind of hook each hook of Copilot CLI is. Hooks that are not listed have no kind of their own."""

from claude_headspace.clients.copilot.wire import EVENTS
from claude_headspace.kernel.hooks import HookKind

_KINDS: dict[str, HookKind] = {
    "SessionStart": HookKind.SESSION_START,
    "SessionEnd": HookKind.SESSION_END,
    "UserPromptSubmit": HookKind.PROMPT,
    "PreToolUse": HookKind.BEFORE_TOOL,
    "PostToolUse": HookKind.AFTER_TOOL,
    "PostToolUseFailure": HookKind.TOOL_FAILED,
    "PermissionRequest": HookKind.PERMISSION,
    "Notification": HookKind.NOTIFICATION,
    "Stop": HookKind.TURN_END,
    "SubagentStart": HookKind.SUBAGENT_START,
    "SubagentStop": HookKind.SUBAGENT_END,
    "PreCompact": HookKind.BEFORE_COMPACTION,
}
KINDS = _KINDS | {own: _KINDS[name] for own, name in EVENTS.items() if name in _KINDS}
"""The kinds by both names of each event."""
