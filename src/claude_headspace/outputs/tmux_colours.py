"""Colours tmux windows by the status of their most urgent agent, if the setting `tmux_colours` is on.

Rules
- A window's original style is restored when its agents ended or the daemon stops.
- Each pane of an agent has its status and style in the options `@headspace` and `@headspace_style`. A pane border can
  show them: `headspace tmux --borders`, or the user's own format.
- tmux is queried once per server for all panes, and only changes are written.
"""

from collections.abc import Sequence

from claude_headspace.errors import HeadspaceError
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.fleet import combined_status
from claude_headspace.kernel.views.dialects import dialects
from claude_headspace.outputs import tmux

STYLES = {
    "error": "fg=red,bold",
    "attention": "fg=black,bg=yellow",
    "working": "fg=blue",
    "checked": "fg=yellow",
    "done": "default",
}
"""The tmux style of each fleet status."""

STYLE_OPTION, STATUS_OPTION, STATUS_STYLE_OPTION = "window-status-style", "@headspace", "@headspace_style"

Target = tuple[str, str]
"""The socket of a tmux server, and the id of a window or pane."""


class TmuxColours:
    """Sets window and pane styles, and restores the original ones."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._sockets: dict[int, str] = {}
        self._window_statuses: dict[Target, str] = {}
        self._original_styles: dict[Target, str | None] = {}
        self._pane_statuses: dict[Target, str] = {}

    def show(self, agents: Sequence[Agent]) -> None:
        """Set the styles for the agents of this host."""
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
        """Restore all original styles."""
        for window in list(self._window_statuses):
            self._restore_style(window)
        for pane in self._pane_statuses:
            _clear_pane(pane)
        self._pane_statuses = {}

    def _find_pane_statuses(self, agents: Sequence[Agent]) -> dict[Target, str]:
        """Return the status of each agent's pane."""
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
        flag, value = ("-wu", ()) if original is None else ("-w", (original,))
        _run_ignoring_errors(socket, "set-option", flag, "-t", name, STYLE_OPTION, *value)
        self._window_statuses.pop(window, None)


def _window_statuses(panes: dict[Target, str]) -> dict[Target, str]:
    """Return the most urgent status in each window. Panes that no longer exist are ignored."""
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
    """Run a tmux command. Never fails: the window or pane may no longer exist."""
    try:
        tmux.run_tmux(socket, *arguments)
    except HeadspaceError:
        return
