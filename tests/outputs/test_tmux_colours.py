"""tmux's windows in the colours of the fleet: the most urgent agent decides, and everything is given back."""

from pathlib import Path

from claude_headspace.kernel.fleet import PRIORITY
from claude_headspace.outputs.tmux_colours import STYLES
from tests.support import running_daemon, wait_until
from tests.terminals import Terminal, needs_tmux, run_in, terminal


def test_every_status_has_a_style() -> None:
    """No word of the fleet is without a colour."""
    assert set(STYLES) == set(PRIORITY)


def style(tmux: Terminal, pane: str) -> str:
    """The style that a window has of its own."""
    return tmux.tmux("show-options", "-wv", "-t", pane, "window-status-style", check=False)


def border(tmux: Terminal, pane: str) -> str:
    """What a pane's border says, before its title."""
    shown = tmux.tmux("display-message", "-p", "-t", pane, "#{E:pane-border-format}")
    return shown.removesuffix(f" {tmux.tmux('display-message', '-p', '-t', pane, '#{pane_title}')} ")


@needs_tmux
def test_windows_and_panes_follow_their_agents_and_are_given_back(tmp_path: Path) -> None:
    """A window waits visibly, is calm once somebody looked, and has its own style again when the daemon stops."""
    with running_daemon(tmp_path / "home", tmux_colours="true") as daemon, terminal(tmp_path, daemon) as tmux:
        pane = tmux.start("claude")
        other = tmux.start("sh")
        agent = tmux.agent_in(pane)
        tmux.tmux("set-option", "-w", "-t", other, "window-status-style", "fg=magenta")
        wait_until(lambda: style(tmux, pane) == STYLES["done"], "a window that is done")
        tmux.keys(pane, "ask", "Enter")
        wait_until(lambda: style(tmux, pane) == STYLES["attention"], "a window that wants attention")
        assert tmux.tmux("show-options", "-pv", "-t", pane, "@headspace") == "attention"
        config = tmp_path / "tmux.conf"
        config.write_text(run_in(tmux, "tmux", "--borders").stdout)
        tmux.tmux("source-file", str(config))
        wait_until(lambda: border(tmux, pane) == f"#[{STYLES['attention']}] attention #[default]", "a pane's border")
        assert border(tmux, other) == ""
        daemon.send("POST", f"/api/agents/{agent['id']}/seen", {}, scope="act")
        wait_until(lambda: style(tmux, pane) == STYLES["checked"], "a window that was looked at")
        assert style(tmux, other) == "fg=magenta"
        daemon.stop()
        assert style(tmux, pane) == ""
        assert tmux.tmux("show-options", "-pv", "-t", pane, "@headspace", check=False) == ""
