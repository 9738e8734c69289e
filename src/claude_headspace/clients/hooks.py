"""The hooks of all clients: their names, by kind. Pure.

For code that has no event, such as a filter for stored events. An event has the kind of its hook already decoded.
"""

from collections.abc import Collection

from claude_headspace.clients.claude_code import hook_kinds as claude_code
from claude_headspace.clients.claude_code import wire
from claude_headspace.kernel.hooks import HookKind

KNOWN_HOOKS = frozenset(wire.HOOKS)
"""The names of all known hooks."""


def hook_names(kinds: Collection[HookKind]) -> frozenset[str]:
    """The names of the hooks of these kinds."""
    return claude_code.hook_names(kinds)
