"""The hooks of all clients: their names, by kind. Pure.

For code that has no event, such as a filter for stored events. An event has the kind of its hook already decoded.
"""

from collections.abc import Collection, Iterator

from claude_headspace.clients import catalog
from claude_headspace.clients.claude_code import hook_kinds as claude_code
from claude_headspace.clients.claude_code import wire
from claude_headspace.clients.codex import events as codex_events
from claude_headspace.clients.codex import hook_kinds as codex
from claude_headspace.clients.copilot import events as copilot_events
from claude_headspace.clients.copilot import hook_kinds as copilot
from claude_headspace.clients.gemini import events as gemini_events
from claude_headspace.clients.gemini import hook_kinds as gemini
from claude_headspace.clients.opencode import events as opencode_events
from claude_headspace.clients.opencode import hook_kinds as opencode
from claude_headspace.kernel.hooks import HELD, HookKind

KINDS: dict[str, dict[str, HookKind]] = {
    "claude-code": claude_code.KINDS,
    "codex": codex.KINDS,
    "opencode": opencode.KINDS,
    "copilot": copilot.KINDS,
    "gemini": gemini.KINDS,
}
"""The kind of each hook, by client. Hooks that are not listed have no kind of their own."""

KNOWN_HOOKS = frozenset(wire.HOOKS).union(*KINDS.values())
"""The names of all known hooks."""
STATUS_LINE = wire.STATUS_LINE
"""The name of the event that a status line script sends."""
EVENT_NAMES = {wire.kebab(name): name for name in wire.HOOKS} | {name: name for name in (*wire.HOOKS, STATUS_LINE)}
"""The names of Claude Code's events by their spelling in a path: in kebab case, or as they are."""
_EVENTS = {"codex": codex_events, "opencode": opencode_events, "copilot": copilot_events, "gemini": gemini_events}
OTHER_EVENT_NAMES: dict[str, dict[str, str]] = {
    client: {wire.kebab(name): name for name in (*events.REGISTERED, *events.NOT_REGISTERED, *KINDS[client])}
    for client, events in _EVENTS.items()
}
"""The same in kebab case for each other client."""


def kind_of(client: str, hook: str) -> HookKind | None:
    """The kind of a hook."""
    return KINDS.get(client, {}).get(hook)


def hook_names(kinds: Collection[HookKind]) -> frozenset[str]:
    """The names of the hooks of these kinds, of all clients."""
    return frozenset(name for _, name in _hooks(kinds))


def asking_hooks(kinds: Collection[HookKind]) -> frozenset[str]:
    """The hooks of these kinds that can ask, as the hook scripts name them: with the client as a prefix.

    Those of Claude Code have none. A hook that waits for a person is included if its client shows its own dialog
    meanwhile.
    """
    return frozenset(
        name if client == catalog.DEFAULT else f"{client}.{name}"
        for client, name in _hooks(kinds)
        if _can_ask(client, KINDS[client][name])
    )


def _hooks(kinds: Collection[HookKind]) -> Iterator[tuple[str, str]]:
    return ((client, name) for client, hooks in KINDS.items() for name, kind in hooks.items() if kind in kinds)


def _can_ask(client: str, kind: HookKind) -> bool:
    found = catalog.CLIENTS[client]
    return kind in (found.held if kind in HELD else found.asked)


EVERY_ASKING_HOOK = frozenset(wire.HOOKS) | asking_hooks(frozenset(HookKind))
"""The hooks that ask if all of them are meant."""
