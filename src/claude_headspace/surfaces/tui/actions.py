"""What a key does outside of the screen: jump, send, answer, interrupt, resume, note that somebody looked, call."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from claude_headspace.surfaces.text.formatting import Json


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

    def answer(self, agent: Json, wait: Json, answer: dict[str, Any]) -> Done:
        """Answer what the agent waits for."""

    def interrupt(self, agent: Json) -> Done:
        """Press Esc in the agent's terminal."""

    def resume(self, agent: Json) -> Done:
        """Bring an ended agent back."""

    def seen(self, agent: Json) -> None:
        """Somebody has looked at it."""

    def call(self, agent: Json) -> bool:
        """Whether the bell should ring: not if the agent's own pane is before the user."""
