"""Which kind of hook each hook of Gemini CLI is. Hooks that are not listed have no kind of their own."""

from claude_headspace.kernel.hooks import HookKind

KINDS: dict[str, HookKind] = {
    "SessionStart": HookKind.SESSION_START,
    "SessionEnd": HookKind.SESSION_END,
    "BeforeAgent": HookKind.PROMPT,
    "BeforeTool": HookKind.BEFORE_TOOL,
    "AfterTool": HookKind.AFTER_TOOL,
    "Notification": HookKind.NOTIFICATION,
    "AfterAgent": HookKind.TURN_END,
    "PreCompress": HookKind.BEFORE_COMPACTION,
}
