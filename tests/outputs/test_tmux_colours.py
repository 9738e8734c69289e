"""tmux colours: a window shows the status of its most urgent agent, and original styles are restored."""

from pathlib import Path

from claude_headspace.kernel.fleet import PRIORITY
from claude_headspace.outputs.tmux_colours import STYLES
from tests.support import running_daemon, wait_until
from tests.terminals import Terminal, needs_tmux, run_in, terminal


def test_every_status_has_a_style() -> None:
    """Each fleet status has one."""
    assert set(STYLES) == set(PRIORITY)


def style(tmux: Terminal, pane: str) -> str:
    """The style that is set for a window."""
    return tmux.tmux("show-options", "-wv", "-t", pane, "window-status-style", check=False)


def border(tmux: Terminal, pane: str) -> str:
    """The text of a pane's border before the title."""
    shown = tmux.tmux("display-message", "-p", "-t", pane, "#{E:pane-border-format}")
    return shown.removesuffix(f" {tmux.tmux('display-message', '-p', '-t', pane, '#{pane_title}')} ")


@needs_tmux
def test_windows_and_panes_show_the_status_of_their_agents(tmp_path: Path) -> None:
    """A waiting agent, a viewed agent, and the original style after the daemon stopped."""
    with running_daemon(tmp_path / "home", tmux_colours="true") as daemon, terminal(tmp_path, daemon) as tmux:
        pane = tmux.start("claude")
        other = tmux.start("sh")
        agent = tmux.agent_in(pane)
        tmux.tmux("set-option", "-w", "-t", other, "window-status-style", "fg=magenta")
        wait_until(lambda: style(tmux, pane) == STYLES["done"], "the style for done")
        tmux.keys(pane, "ask", "Enter")
        wait_until(lambda: style(tmux, pane) == STYLES["attention"], "the style for attention")
        assert tmux.tmux("show-options", "-pv", "-t", pane, "@headspace") == "attention"
        config = tmp_path / "tmux.conf"
        config.write_text(run_in(tmux, "tmux", "--borders").stdout)
        tmux.tmux("source-file", str(config))
        wait_until(
            lambda: border(tmux, pane) == f"#[{STYLES['attention']}] attention #[default]", "the border of the pane"
        )
        assert border(tmux, other) == ""
        daemon.send("POST", f"/api/agents/{agent['id']}/seen", {}, scope="act")
        wait_until(lambda: style(tmux, pane) == STYLES["checked"], "the style for checked")
        assert style(tmux, other) == "fg=magenta"
        daemon.stop()
        assert style(tmux, pane) == ""
        assert tmux.tmux("show-options", "-pv", "-t", pane, "@headspace", check=False) == ""
