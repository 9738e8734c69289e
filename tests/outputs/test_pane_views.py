"""Attention is checked once somebody came to the pane; who is elsewhere has not looked."""

import time
from pathlib import Path

from tests.support import running_daemon, wait_until
from tests.terminals import needs_tmux, terminal


@needs_tmux
def test_who_comes_to_a_pane_has_looked_at_its_agent(tmp_path: Path) -> None:
    """The agent before somebody is checked, on every surface; the other one goes on calling."""
    with running_daemon(tmp_path / "home") as daemon, terminal(tmp_path, daemon) as tmux:
        panes = [tmux.start("claude", session=name) for name in ("near", "far")]
        for pane in panes:
            tmux.agent_in(pane)
            tmux.keys(pane, "ask", "Enter")
        near, far = (tmux.agent_in(pane, "waiting")["id"] for pane in panes)
        assert daemon.agent(near)["dialects"]["fleet"] == "attention"
        asked = time.time()
        wait_until(lambda: time.time() > asked + 1.1, "a moment, since tmux counts in seconds")
        with tmux.attached("near"):
            wait_until(lambda: daemon.agent(near)["dialects"]["fleet"] == "checked", "somebody to have looked")
        assert daemon.agent(far)["dialects"]["fleet"] == "attention"
        events = daemon.get(f"/api/agents/{near}/events").json()
        assert [event["name"] for event in events].count("AgentSeen") == 1
