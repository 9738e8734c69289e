"""Where people look: the panes that attached tmux clients have before them, and the pages that say what they show.

Somebody looks at an agent when its pane is on top in a client that was used a moment ago, or when a visible page has it
open. Somebody is present when any client of that tmux was used a moment ago, or any page is visible.
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
"""A page tells every half minute what it shows; a hidden one is let do so once a minute."""
MAX_PAGES = 100


class PageReport(msgspec.Struct, frozen=True):
    """What a page last said: which agent it shows, whether anybody can see it, and whether it may notify."""

    at: float
    agent_id: str | None
    visible: bool
    notifies: bool


class AttentionTracker:
    """Knows where people look."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._pages: dict[str, PageReport] = {}

    # --- pages ---

    def report_page(self, page_id: str, agent_id: str | None, *, visible: bool, notifies: bool) -> bool:
        """A page says what it shows; whether that is something else than before."""
        before = self._pages.pop(page_id, None)
        now = self._pages[page_id] = PageReport(self._clock(), agent_id, visible, notifies)
        while len(self._pages) > MAX_PAGES:
            self._pages.pop(next(iter(self._pages)))
        return before is None or msgspec.structs.replace(before, at=now.at) != now

    def _open_pages(self) -> list[PageReport]:
        return [page for page in list(self._pages.values()) if self._clock() - page.at < PAGE_TIMEOUT_SECONDS]

    def has_page(self) -> bool:
        """Whether a page is open that may notify."""
        return any(page.notifies for page in self._open_pages())

    # --- all of it ---

    def observe(self, agents: Iterable[Agent], present_for: Micros) -> Attention:
        """Who has which of these agents before him; `recent`: how long after the last key somebody is there."""
        visible = [page for page in self._open_pages() if page.visible]
        watched = {page.agent_id for page in visible if page.agent_id}
        present = bool(visible)
        since = self._clock() - present_for / SECOND
        servers: dict[str, list[tmux.AttachedTerminal]] = {}
        for agent in agents:
            activity = _terminal_activity(agent, servers)
            present = present or any(at >= since for at, _ in activity)
            if any(watches and at >= since for at, watches in activity):
                watched.add(agent.id)
        return Attention(frozenset(watched), present)


def _terminal_activity(agent: Agent, servers: dict[str, list[tmux.AttachedTerminal]]) -> list[tuple[float, bool]]:
    """When each tmux client around an agent was last used, and whether it has the agent's pane before it."""
    if not agent.tmux_pane or agent.pid is None or not tmux.is_installed():
        return []
    try:
        pane = tmux.find_pane(tmux.server_socket(agent.pid, {}), agent.tmux_pane)
        if pane.socket not in servers:
            servers[pane.socket] = tmux.attached_terminals(pane.socket)
        return [(client.used_at, tmux.shows_pane(client, pane)) for client in servers[pane.socket]]
    except HeadspaceError:
        return []  # the pane is gone, or tmux is
