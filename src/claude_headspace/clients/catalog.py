"""All clients that Headspace supports. Pure."""

from claude_headspace.clients.claude_code.description import CLIENT as CLAUDE_CODE
from claude_headspace.clients.client import Client
from claude_headspace.clients.codex.description import CLIENT as CODEX
from claude_headspace.clients.copilot.description import CLIENT as COPILOT
from claude_headspace.clients.gemini.description import CLIENT as GEMINI
from claude_headspace.clients.opencode.description import CLIENT as OPENCODE
from claude_headspace.kernel.hooks import HookKind

CLIENTS: dict[str, Client] = {each.name: each for each in (CLAUDE_CODE, CODEX, OPENCODE, COPILOT, GEMINI)}
"""The clients by name, in the order in which they are shown."""
DEFAULT = CLAUDE_CODE.name
"""The client of everything that names none."""


def title_of(name: str) -> str:
    """The name of a client for people. An unknown client keeps its name."""
    found = CLIENTS.get(name)
    return found.title if found is not None else name


def may_hold(name: str, hook: HookKind | None) -> bool:
    """Whether a hook of this client can be held open for a person."""
    found = CLIENTS.get(name)
    return found is not None and hook in found.held
