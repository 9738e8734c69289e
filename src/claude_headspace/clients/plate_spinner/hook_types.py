"""plate-spinner's names for the hooks of Claude Code, as in `sp hook TYPE`. Pure."""

from claude_headspace.clients.claude_code.hook_kinds import NAMES
from claude_headspace.kernel.hooks import HookKind

HOOK_TYPES = {
    "session-start": NAMES[HookKind.SESSION_START],
    "prompt-submit": NAMES[HookKind.PROMPT],
    "pre-tool-use": NAMES[HookKind.BEFORE_TOOL],
    "post-tool-use": NAMES[HookKind.AFTER_TOOL],
    "stop": NAMES[HookKind.TURN_END],
}
