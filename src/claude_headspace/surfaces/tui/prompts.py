"""Prompts that the user types in `top`. A text that was not sent is kept as a draft of its agent until `top` ends."""

from collections.abc import Callable
from functools import partial

from claude_headspace.errors import HeadspaceError
from claude_headspace.surfaces.text.formatting import Json, clean_text
from claude_headspace.surfaces.tui.dialogs import Prompt, Typed

Open = Callable[[Prompt, Callable[[Typed | None], None]], None]
"""Shows the input, unless another dialog is open."""
Send = Callable[[Json, str, Callable[[HeadspaceError], None]], None]
"""Sends a text to an agent. The last argument is called if it is refused."""


class Prompts:
    """Asks for prompts, and keeps the drafts."""

    def __init__(self, open_input: Open, send: Send, say: Callable[[str], None], palette: Callable[[], str]) -> None:
        self._open_input = open_input
        self._send = send
        self._say = say
        self._palette = palette
        self._drafts: dict[str, str] = {}

    def ask(self, agent: Json, problem: str = "") -> None:
        """Ask for a prompt to an agent. The input begins with its draft."""
        prompt = Prompt(agent["name"], self._palette(), self._drafts.get(agent["id"], ""), problem)
        self._open_input(prompt, partial(self._finish, agent))

    def _finish(self, agent: Json, typed: Typed | None) -> None:
        text = typed.text if typed is not None else ""
        self._keep(agent, text)
        if typed is not None and typed.is_final and text.strip():
            self._drafts.pop(agent["id"], None)
            self._send(agent, text.strip(), partial(self._refuse, agent, text))
        elif text.strip():
            self._say(f"The prompt to {agent['name']} was not sent. Press s to continue it.")

    def _keep(self, agent: Json, text: str) -> None:
        self._drafts.pop(agent["id"], None)
        if text.strip():
            self._drafts[agent["id"]] = text

    def _refuse(self, agent: Json, text: str, error: HeadspaceError) -> None:
        """A refused prompt is a draft again, and its input opens with the reason."""
        self._keep(agent, text)
        self.ask(agent, clean_text(error.message))
