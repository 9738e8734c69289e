"""What a tool call requests: the edit of a file, and the permissions that can be granted with it. Pure and total."""

from collections.abc import Callable

from claude_headspace.clients import claude_code
from claude_headspace.clients.claude_code import edits, suggestions
from claude_headspace.clients.codex import edits as codex_edits
from claude_headspace.clients.codex import grants as codex_grants
from claude_headspace.clients.copilot import edits as copilot_edits
from claude_headspace.clients.gemini import edits as gemini_edits
from claude_headspace.clients.opencode import edits as opencode_edits
from claude_headspace.clients.opencode import suggestions as opencode_suggestions
from claude_headspace.kernel.tools import ToolUse
from claude_headspace.kernel.wait.grants import GrantOption
from claude_headspace.kernel.wait.requested_edit import RequestedEdit

EDITS: dict[str, Callable[[ToolUse], RequestedEdit | None]] = {
    claude_code.NAME: edits.requested_edit,
    "codex": codex_edits.requested_edit,
    "copilot": copilot_edits.requested_edit,
    "gemini": gemini_edits.requested_edit,
    "opencode": opencode_edits.requested_edit,
}
GRANT_OPTIONS: dict[str, Callable[[str], tuple[GrantOption, ...]]] = {
    claude_code.NAME: suggestions.grant_options,
    "codex": codex_grants.grant_options,
    "opencode": opencode_suggestions.grant_options,
}


def requested_edit(client: str, use: ToolUse) -> RequestedEdit | None:
    """What a call does to one file; None if it is not an edit."""
    find = EDITS.get(client)
    return find(use) if find is not None else None


def grant_options(client: str, suggested: str) -> tuple[GrantOption, ...]:
    """The permissions that a client suggests with a dialog, from the JSON that it sent."""
    find = GRANT_OPTIONS.get(client)
    return find(suggested) if find is not None else ()
