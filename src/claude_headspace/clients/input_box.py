"""The input boxes of all clients, read from their screens. Pure. For code that types into the terminal of an agent.

Each package has a module `input_box` with a function `read_input_box`. It returns None for a screen on which it does
not recognise the box for certain: then nothing is typed.
"""

from collections.abc import Callable

from claude_headspace.clients.catalog import DEFAULT
from claude_headspace.clients.claude_code import input_box as claude_code
from claude_headspace.clients.claude_code.input_box import STASH_KEY
from claude_headspace.clients.codex import input_box as codex
from claude_headspace.clients.copilot import input_box as copilot
from claude_headspace.clients.gemini import input_box as gemini
from claude_headspace.clients.opencode import input_box as opencode
from claude_headspace.clients.screen import InputBox, Screen

__all__ = ["STASH_KEY", "InputBox", "Screen", "is_client_command", "read_input_box"]

READERS: dict[str, Callable[[Screen], InputBox | None]] = {
    "claude-code": claude_code.read_input_box,
    "codex": codex.read_input_box,
    "opencode": opencode.read_input_box,
    "copilot": copilot.read_input_box,
    "gemini": gemini.read_input_box,
}
"""How the input box of each client is read."""


def read_input_box(client: str, screen: Screen) -> InputBox | None:
    """The input box of a client; None if the screen shows none, or something else."""
    return READERS.get(client, READERS[DEFAULT])(screen)


def is_client_command(text: str) -> bool:
    """Whether a client runs a text itself, without reporting it as a prompt: `/model`, `!ls`. All clients do so."""
    return text.startswith(("/", "!"))
