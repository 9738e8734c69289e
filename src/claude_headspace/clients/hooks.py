"""The hooks of all clients: their names, by kind. Pure.

For code that has no event, such as a filter for stored events. An event has the kind of its hook already decoded.
"""

from collections.abc import Collection

from claude_headspace.clients.claude_code import hook_kinds as claude_code
from claude_headspace.clients.claude_code import wire
from claude_headspace.kernel.hooks import HookKind

KNOWN_HOOKS = frozenset(wire.HOOKS)
"""The names of all known hooks."""
STATUS_LINE = wire.STATUS_LINE
"""The name of the event that a status line script sends."""
EVENT_NAMES = {wire.kebab(name): name for name in KNOWN_HOOKS} | {name: name for name in (*KNOWN_HOOKS, STATUS_LINE)}
"""The names of events by their spelling in a path: in kebab case, or as they are."""


def hook_names(kinds: Collection[HookKind]) -> frozenset[str]:
    """The names of the hooks of these kinds."""
    return claude_code.hook_names(kinds)
