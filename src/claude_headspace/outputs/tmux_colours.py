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

STYLE_OPTION, STATUS_OPTION, STATUS_STYLE_OPTION = "window-status-style", "@headspace", "@headspace_style"

Target = tuple[str, str]
"""A server's socket, and a window or a pane in it."""


class TmuxColours:
    """Paints, and remembers what was there."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._sockets: dict[int, str] = {}
        self._window_statuses: dict[Target, str] = {}
        self._original_styles: dict[Target, str | None] = {}
        self._pane_statuses: dict[Target, str] = {}

    def show(self, agents: Sequence[Agent]) -> None:
        """Paint the windows of the agents that run here."""
        panes = self._find_pane_statuses(agents)
        windows = _window_statuses(panes)
        for window, status in windows.items():
            if self._window_statuses.get(window) != status:
                self._set_style(window, status)
        for window in [known for known in self._window_statuses if known not in windows]:
            self._restore_style(window)
        for pane, status in panes.items():
            if self._pane_statuses.get(pane) != status:
                tmux.run_tmux(pane[0], "set-option", "-p", "-t", pane[1], STATUS_OPTION, status)
                tmux.run_tmux(pane[0], "set-option", "-p", "-t", pane[1], STATUS_STYLE_OPTION, STYLES[status])
        for pane in self._pane_statuses.keys() - panes.keys():
            _clear_pane(pane)
        self._pane_statuses = panes

    def clear(self) -> None:
        """Give everything back."""
        for window in list(self._window_statuses):
            self._restore_style(window)
        for pane in self._pane_statuses:
            _clear_pane(pane)
        self._pane_statuses = {}

    def _find_pane_statuses(self, agents: Sequence[Agent]) -> dict[Target, str]:
        """Each agent's pane with its word."""
        found: dict[Target, str] = {}
        for agent in agents:
            if agent.host == self._host and agent.tmux_pane and agent.pid and agent.ended_at is None:
                socket = self._sockets.setdefault(agent.pid, tmux.server_socket(agent.pid, {}))
                found[socket, agent.tmux_pane] = dialects(agent).fleet
        return found

    def _set_style(self, window: Target, status: str) -> None:
        socket, name = window
        if window not in self._original_styles:
            style = tmux.run_tmux(socket, "show-options", "-wqv", "-t", name, STYLE_OPTION)
            self._original_styles[window] = style[0] if style else None
        tmux.run_tmux(socket, "set-option", "-w", "-t", name, STYLE_OPTION, STYLES[status])
        self._window_statuses[window] = status

    def _restore_style(self, window: Target) -> None:
        socket, name = window
        original = self._original_styles.pop(window, None)
        arguments = (
            ("-w", "-t", name, STYLE_OPTION, original) if original is not None else ("-wu", "-t", name, STYLE_OPTION)
        )
        _run_ignoring_errors(socket, "set-option", *arguments)
        self._window_statuses.pop(window, None)


def _window_statuses(panes: dict[Target, str]) -> dict[Target, str]:
    """What each window is; a pane that is gone has none."""
    statuses: dict[Target, list[str]] = {}
    for socket in {socket for socket, _ in panes}:
        for line in tmux.run_tmux(socket, "list-panes", "-a", "-F", "#{pane_id} #{window_id}"):
            pane, _, window = line.partition(" ")
            if (socket, pane) in panes:
                statuses.setdefault((socket, window), []).append(panes[socket, pane])
    return {window: combined_status(found) for window, found in statuses.items()}


def _clear_pane(pane: Target) -> None:
    for option in (STATUS_OPTION, STATUS_STYLE_OPTION):
        _run_ignoring_errors(pane[0], "set-option", "-pu", "-t", pane[1], option)


def _run_ignoring_errors(socket: str, *arguments: str) -> None:
    """What is gone already needs nothing back."""
    try:
        tmux.run_tmux(socket, *arguments)
    except HeadspaceError:
        return
