"""Pane views: a waiting agent is seen when a person looks at its pane."""

import time
from pathlib import Path

from tests.support import running_daemon, wait_until
from tests.terminals import needs_tmux, terminal


@needs_tmux
def test_an_agent_is_seen_when_a_terminal_shows_its_pane(tmp_path: Path) -> None:
    """It becomes `checked`. An agent in another session keeps its attention status."""
    with running_daemon(tmp_path / "home") as daemon, terminal(tmp_path, daemon) as tmux:
        panes = [tmux.start("claude", session=name) for name in ("near", "far")]
        for pane in panes:
            tmux.agent_in(pane)
            tmux.keys(pane, "ask", "Enter")
        near, far = (tmux.agent_in(pane, "waiting")["id"] for pane in panes)
        assert daemon.agent(near)["dialects"]["fleet"] == "attention"
        asked = time.time()
        wait_until(lambda: time.time() > asked + 1.1, "the next second, the resolution of tmux")
        with tmux.attached("near"):
            wait_until(lambda: daemon.agent(near)["dialects"]["fleet"] == "checked", "the view of the pane")
        assert daemon.agent(far)["dialects"]["fleet"] == "attention"
        events = daemon.get(f"/api/agents/{near}/events").json()
        assert [event["name"] for event in events].count("AgentSeen") == 1
