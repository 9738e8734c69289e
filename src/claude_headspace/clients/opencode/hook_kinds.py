"""Which kind of hook each hook of opencode is. Hooks that are not listed have no kind of their own."""

from claude_headspace.kernel.hooks import HookKind

KINDS: dict[str, HookKind] = {
    "session.created": HookKind.SESSION_START,
    "chat.message": HookKind.PROMPT,
    "tool.execute.before": HookKind.BEFORE_TOOL,
    "tool.execute.after": HookKind.AFTER_TOOL,
    "permission.asked": HookKind.PERMISSION,
    "question.asked": HookKind.ELICITATION,
}
