"""Tracks what people are looking at: panes in attached terminals, and what open pages report.

A person is looking at an agent if its pane is visible in a terminal that was used recently, or if a visible page shows
it. A person is present if any terminal of that tmux server was used recently, or any page is visible.
"""

import time
from collections.abc import Callable, Iterable

import msgspec

from claude_headspace.errors import HeadspaceError
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.notify.plan import Attention
from claude_headspace.outputs import tmux

PAGE_TIMEOUT_SECONDS = 150.0
"""A page reports every 30 seconds. Browsers limit a hidden page to once a minute."""
MAX_PAGES = 100


class PageReport(msgspec.Struct, frozen=True):
    """The last report of a page: the agent that it shows, whether it is visible, and whether it may notify."""

    at: float
    agent_id: str | None
    visible: bool
    notifies: bool


class AttentionTracker:
    """Tracks attention."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._pages: dict[str, PageReport] = {}

    # --- pages ---

    def report_page(self, page_id: str, agent_id: str | None, *, visible: bool, notifies: bool) -> bool:
        """Store what a page shows. Returns whether it changed."""
        before = self._pages.pop(page_id, None)
        now = self._pages[page_id] = PageReport(self._clock(), agent_id, visible, notifies)
        while len(self._pages) > MAX_PAGES:
            self._pages.pop(next(iter(self._pages)))
        return before is None or msgspec.structs.replace(before, at=now.at) != now

    def _open_pages(self) -> list[PageReport]:
        return [page for page in list(self._pages.values()) if self._clock() - page.at < PAGE_TIMEOUT_SECONDS]

    def has_page(self) -> bool:
        """Whether an open page may notify."""
        return any(page.notifies for page in self._open_pages())

    # --- pages and terminals ---

    def observe(self, agents: Iterable[Agent], present_for: Micros) -> Attention:
        """Return which agents people are looking at. `present_for`: how long a person counts as present after a key."""
        visible = [page for page in self._open_pages() if page.visible]
        watched = {page.agent_id for page in visible if page.agent_id}
        is_present = bool(visible)
        since = self._clock() - present_for / SECOND
        servers: dict[str, list[tmux.AttachedTerminal]] = {}
        for agent in agents:
            activity = _terminal_activity(agent, servers)
            is_present = is_present or any(at >= since for at, _ in activity)
            if any(is_visible and at >= since for at, is_visible in activity):
                watched.add(agent.id)
        return Attention(frozenset(watched), is_present)


def _terminal_activity(agent: Agent, servers: dict[str, list[tmux.AttachedTerminal]]) -> list[tuple[float, bool]]:
    """When each terminal of the agent's tmux server was last used, and whether it shows the agent's pane."""
    if not agent.tmux_pane or agent.pid is None or not tmux.is_installed():
        return []
    try:
        pane = tmux.find_pane(tmux.server_socket(agent.pid, {}), agent.tmux_pane)
        if pane.socket not in servers:
            servers[pane.socket] = tmux.attached_terminals(pane.socket)
        return [(terminal.used_at, tmux.shows_pane(terminal, pane)) for terminal in servers[pane.socket]]
    except HeadspaceError:
        return []  # the pane or the tmux server no longer exists
