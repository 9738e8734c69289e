"""Prompts that the user types in `top`. A text that was not sent is kept as a draft of its agents until `top` ends."""

from collections.abc import Callable, Sequence
from functools import partial

from claude_headspace.errors import HeadspaceError
from claude_headspace.surfaces.text.formatting import Json, clean_text
from claude_headspace.surfaces.tui.dialogs import Prompt, Typed

Open = Callable[[Prompt, Callable[[Typed | None], None]], None]
"""Shows the input, unless another dialog is open."""
Send = Callable[[Sequence[Json], Typed, Callable[[HeadspaceError], None]], None]
"""Sends a text to agents. The last argument is called if it is refused."""


class Prompts:
    """Asks for prompts, and keeps the drafts."""

    def __init__(
        self,
        open_input: Open,
        send: Send,
        say: Callable[[str], None],
        palette: Callable[[], str],
        saved: Callable[[], Sequence[str]],
    ) -> None:
        self._open_input = open_input
        self._send = send
        self._say = say
        self._palette = palette
        self._saved = saved
        self._drafts: dict[tuple[str, ...], str] = {}

    def ask(self, agents: Sequence[Json], problem: str = "") -> None:
        """Ask for a prompt to agents. The input begins with their draft."""
        draft = self._drafts.get(_key(agents), "")
        prompt = Prompt(names_text(agents), self._palette(), self._saved, draft, problem)
        self._open_input(prompt, partial(self._finish, agents))

    def _finish(self, agents: Sequence[Json], typed: Typed | None) -> None:
        text = typed.text if typed is not None else ""
        self._keep(agents, text)
        if typed is not None and typed.is_final and text.strip():
            self._drafts.pop(_key(agents), None)
            self._send(agents, typed._replace(text=text.strip()), partial(self._refuse, agents, text))
        elif text.strip():
            self._say(f"The prompt to {names_text(agents)} was not sent. Press s to continue it.")

    def _keep(self, agents: Sequence[Json], text: str) -> None:
        self._drafts.pop(_key(agents), None)
        if text.strip():
            self._drafts[_key(agents)] = text

    def _refuse(self, agents: Sequence[Json], text: str, error: HeadspaceError) -> None:
        """A refused prompt is a draft again, and its input opens with the reason."""
        self._keep(agents, text)
        self.ask(agents, clean_text(error.message))


def names_text(agents: Sequence[Json]) -> str:
    """The names of a few agents, or the number of many."""
    return ", ".join(agent["name"] for agent in agents) if len(agents) <= 3 else f"{len(agents)} agents"


def _key(agents: Sequence[Json]) -> tuple[str, ...]:
    return tuple(sorted(agent["id"] for agent in agents))
