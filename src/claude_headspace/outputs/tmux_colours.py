"""tmux's windows in the colours of the fleet: what the most urgent agent in a window is, seen from every other window.

Only where the setting `tmux_colours` asks for it. A window's own style is remembered and given back when its agents are
gone or the daemon stops. Every pane of an agent also has its word and its colour in the options `@headspace` and
`@headspace_style`: `headspace tmux --borders` shows them in its border, or one's own format does.
tmux is asked once for all panes of a server, and told only what changed.
"""

from collections.abc import Sequence

from claude_headspace.errors import HeadspaceError
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.fleet import combined_status
from claude_headspace.kernel.views import dialects
from claude_headspace.outputs import tmux

STYLES = {
    "error": "fg=red,bold",
    "attention": "fg=black,bg=yellow",
    "working": "fg=blue",
    "checked": "fg=yellow",
    "done": "default",
}
"""The fleet's words, and how a window looks."""

STYLE, WORD, WORD_STYLE = "window-status-style", "@headspace", "@headspace_style"

Place = tuple[str, str]
"""A server's socket, and a window or a pane in it."""


class Colours:
    """Paints, and remembers what was there."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._servers: dict[int, str] = {}
        self._windows: dict[Place, str] = {}
        self._before: dict[Place, str | None] = {}
        self._panes: dict[Place, str] = {}

    def show(self, agents: Sequence[Agent]) -> None:
        """Paint the windows of the agents that run here."""
        panes = self._words(agents)
        windows = _by_window(panes)
        for window, word in windows.items():
            if self._windows.get(window) != word:
                self._paint(window, word)
        for window in [known for known in self._windows if known not in windows]:
            self._give_back(window)
        for pane, word in panes.items():
            if self._panes.get(pane) != word:
                tmux.tmux(pane[0], "set-option", "-p", "-t", pane[1], WORD, word)
                tmux.tmux(pane[0], "set-option", "-p", "-t", pane[1], WORD_STYLE, STYLES[word])
        for pane in self._panes.keys() - panes.keys():
            _unname(pane)
        self._panes = panes

    def clear(self) -> None:
        """Give everything back."""
        for window in list(self._windows):
            self._give_back(window)
        for pane in self._panes:
            _unname(pane)
        self._panes = {}

    def _words(self, agents: Sequence[Agent]) -> dict[Place, str]:
        """Each agent's pane with its word."""
        found: dict[Place, str] = {}
        for agent in agents:
            if agent.host == self._host and agent.tmux_pane and agent.pid and agent.ended_at is None:
                socket = self._servers.setdefault(agent.pid, tmux.server_of(agent.pid, {}))
                found[socket, agent.tmux_pane] = dialects(agent).fleet
        return found

    def _paint(self, window: Place, word: str) -> None:
        socket, name = window
        if window not in self._before:
            own = tmux.tmux(socket, "show-options", "-wqv", "-t", name, STYLE)
            self._before[window] = own[0] if own else None
        tmux.tmux(socket, "set-option", "-w", "-t", name, STYLE, STYLES[word])
        self._windows[window] = word

    def _give_back(self, window: Place) -> None:
        socket, name = window
        before = self._before.pop(window, None)
        given = ("-w", "-t", name, STYLE, before) if before is not None else ("-wu", "-t", name, STYLE)
        _quietly(socket, "set-option", *given)
        self._windows.pop(window, None)


def _by_window(panes: dict[Place, str]) -> dict[Place, str]:
    """What each window is; a pane that is gone has none."""
    words: dict[Place, list[str]] = {}
    for socket in {socket for socket, _ in panes}:
        for line in tmux.tmux(socket, "list-panes", "-a", "-F", "#{pane_id} #{window_id}"):
            pane, _, window = line.partition(" ")
            if (socket, pane) in panes:
                words.setdefault((socket, window), []).append(panes[socket, pane])
    return {window: combined_status(found) for window, found in words.items()}


def _unname(pane: Place) -> None:
    for option in (WORD, WORD_STYLE):
        _quietly(pane[0], "set-option", "-pu", "-t", pane[1], option)


def _quietly(socket: str, *arguments: str) -> None:
    """What is gone already needs nothing back."""
    try:
        tmux.tmux(socket, *arguments)
    except HeadspaceError:
        return
