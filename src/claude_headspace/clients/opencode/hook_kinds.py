"""Which kind of hook each event of opencode's plugin is. Events that are not listed have no kind of their own."""

from claude_headspace.kernel.hooks import HookKind

KINDS: dict[str, HookKind] = {
    "session.created": HookKind.SESSION_START,
    "dispose": HookKind.SESSION_END,
    "chat.message": HookKind.PROMPT,
    "tool.execute.before": HookKind.BEFORE_TOOL,
    "tool.execute.after": HookKind.AFTER_TOOL,
    "tool.error": HookKind.TOOL_FAILED,
    "permission.asked": HookKind.PERMISSION,
    "question.asked": HookKind.ELICITATION,
    "session.compacting": HookKind.BEFORE_COMPACTION,
}
