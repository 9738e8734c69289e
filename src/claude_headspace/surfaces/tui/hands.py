"""What a key does outside of the screen: jump, send, resume, note that somebody looked, call."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from claude_headspace.surfaces.wording import Json


class Done(NamedTuple):
    """What was done, in words; `foreground` is a program that must have the terminal for it."""

    words: str
    foreground: Sequence[str] = ()


class Hands(Protocol):
    """They may take a moment, and raise a `HeadspaceError` that says what to do."""

    def jump(self, agent: Json) -> Done:
        """Bring the agent's pane before the user."""

    def send(self, agent: Json, text: str) -> Done:
        """Type a text to the agent."""

    def resume(self, agent: Json) -> Done:
        """Bring an ended agent back."""

    def seen(self, agent: Json) -> None:
        """Somebody has looked at it."""

    def call(self, agent: Json) -> bool:
        """Call the user, unless the agent's own pane is before him; tells whether the bell should ring."""
