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
from claude_headspace.kernel.notify.plan import Looking
from claude_headspace.outputs import tmux

PAGE_SECONDS = 150.0
"""A page tells every half minute what it shows; a hidden one is let do so once a minute."""
MOST_PAGES = 100


class Sight(msgspec.Struct, frozen=True):
    """What a page last said: which agent it shows, whether anybody can see it, and whether it may notify."""

    at: float
    agent_id: str | None
    visible: bool
    notifies: bool


class Attention:
    """Knows where people look."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._pages: dict[str, Sight] = {}

    # --- pages ---

    def page(self, page_id: str, agent_id: str | None, *, visible: bool, notifies: bool) -> bool:
        """A page says what it shows; whether that is something else than before."""
        before = self._pages.pop(page_id, None)
        now = self._pages[page_id] = Sight(self._clock(), agent_id, visible, notifies)
        while len(self._pages) > MOST_PAGES:
            self._pages.pop(next(iter(self._pages)))
        return before is None or msgspec.structs.replace(before, at=now.at) != now

    def _open(self) -> list[Sight]:
        return [page for page in list(self._pages.values()) if self._clock() - page.at < PAGE_SECONDS]

    def has_page(self) -> bool:
        """Whether a page is open that may notify."""
        return any(page.notifies for page in self._open())

    # --- all of it ---

    def look(self, agents: Iterable[Agent], recent: Micros) -> Looking:
        """Who has which of these agents before him; `recent`: how long after the last key somebody is there."""
        visible = [page for page in self._open() if page.visible]
        watched = {page.agent_id for page in visible if page.agent_id}
        present = bool(visible)
        since = self._clock() - recent / SECOND
        servers: dict[str, list[tmux.Attached]] = {}
        for agent in agents:
            used = _used(agent, servers)
            present = present or any(at >= since for at, _ in used)
            if any(watches and at >= since for at, watches in used):
                watched.add(agent.id)
        return Looking(frozenset(watched), present)


def _used(agent: Agent, servers: dict[str, list[tmux.Attached]]) -> list[tuple[float, bool]]:
    """When each tmux client around an agent was last used, and whether it has the agent's pane before it."""
    if not agent.tmux_pane or agent.pid is None or not tmux.is_there():
        return []
    try:
        pane = tmux.look_up(tmux.server_of(agent.pid, {}), agent.tmux_pane)
        if pane.socket not in servers:
            servers[pane.socket] = tmux.clients(pane.socket)
        return [(client.used_at, tmux.shows(client, pane)) for client in servers[pane.socket]]
    except HeadspaceError:
        return []  # the pane is gone, or tmux is
