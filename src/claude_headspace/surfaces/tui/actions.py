"""What keys do outside the screen: the interface of the actions, and their result."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from claude_headspace.surfaces.text.formatting import Json


class ActionResult(NamedTuple):
    """A message for the user. `foreground` is a program that must run in the terminal."""

    message: str
    foreground: Sequence[str] = ()


class Actions(Protocol):
    """Actions on an agent. They may block, and raise a `HeadspaceError` with a hint."""

    def jump(self, agent: Json) -> ActionResult:
        """Show the agent's tmux pane."""

    def send(self, agent: Json, text: str) -> ActionResult:
        """Type a prompt into the agent's terminal."""

    def answer(self, agent: Json, wait: Json, answer: dict[str, Any]) -> ActionResult:
        """Answer a wait."""

    def interrupt(self, agent: Json) -> ActionResult:
        """Press Esc in the agent's terminal."""

    def resume(self, agent: Json) -> ActionResult:
        """Resume an ended agent."""

    def mark_seen(self, agent: Json) -> None:
        """Record that the user has looked at the agent."""

    def should_ring(self, agent: Json) -> bool:
        """Whether the bell should ring. False if the user is looking at the agent's pane."""
