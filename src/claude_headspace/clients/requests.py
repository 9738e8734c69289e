"""What a tool call requests: the edits of files, and the permissions that can be granted with it. Pure and total."""

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

FindEdits = Callable[[ToolUse], tuple[RequestedEdit, ...]]


def _of_one_file(find: Callable[[ToolUse], RequestedEdit | None]) -> FindEdits:
    """The edits of a client whose calls edit one file each."""
    return lambda use: (found,) if (found := find(use)) is not None else ()


EDITS: dict[str, FindEdits] = {
    claude_code.NAME: _of_one_file(edits.requested_edit),
    "codex": codex_edits.requested_edits,
    "copilot": _of_one_file(copilot_edits.requested_edit),
    "gemini": _of_one_file(gemini_edits.requested_edit),
    "opencode": _of_one_file(opencode_edits.requested_edit),
}
GRANT_OPTIONS: dict[str, Callable[[str], tuple[GrantOption, ...]]] = {
    claude_code.NAME: suggestions.grant_options,
    "codex": codex_grants.grant_options,
    "opencode": opencode_suggestions.grant_options,
}


def requested_edits(client: str, use: ToolUse) -> tuple[RequestedEdit, ...]:
    """What a call does to files, completely; empty if it is not an edit, or cannot be described as edits."""
    find = EDITS.get(client)
    return find(use) if find is not None else ()


def grant_options(client: str, suggested: str) -> tuple[GrantOption, ...]:
    """The permissions that a client suggests with a dialog, from the JSON that it sent."""
    find = GRANT_OPTIONS.get(client)
    return find(suggested) if find is not None else ()
