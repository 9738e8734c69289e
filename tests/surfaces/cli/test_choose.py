"""Which agent a command is about."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_headspace.surfaces.cli.choose import likely_first
from tests.support import running_daemon, wait_until
from tests.surfaces.cli.conftest import Headspace
from tests.terminals import Terminal, needs_tmux, run_in, terminal
from tests.tui.board import make_agent, sample_agents


@pytest.fixture(scope="module")
def tmux(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    """A terminal and a daemon with three agents; one has ended."""
    folder = tmp_path_factory.mktemp("choose")
    with running_daemon(folder / "home") as daemon, terminal(folder, daemon) as made:
        for name in ("calm-otter", "calm-owl", "red-fox"):
            agent = daemon.post("session-start", {"session_id": name, "cwd": f"/projects/{name}"}).json()["agent_id"]
            assert run_in(made, "rename", agent, name).returncode == 0
        daemon.post("session-end", {"session_id": "red-fox", "cwd": "/projects/red-fox", "reason": "other"})
        yield made


@pytest.mark.parametrize("reference", ["Calm-Otter", "calm-ot", "CALM-OT", "red"])
def test_case_and_the_start_of_a_name(tmux: Terminal, reference: str) -> None:
    """If it fits one agent, that is enough."""
    done = run_in(tmux, "show", reference)
    assert (done.returncode, done.stderr) == (0, "")
    assert ("red-fox" if reference == "red" else "calm-otter") in done.stdout.splitlines()[0]


def test_a_part_of_a_name_is_enough_to_read(tmux: Terminal) -> None:
    """The command says which agent it found."""
    done = run_in(tmux, "show", "otter")
    assert (done.returncode, done.stderr) == (0, "There is no agent otter; this is calm-otter.\n")
    assert "calm-otter" in done.stdout


def test_a_part_of_a_name_is_not_enough_to_act(tmux: Terminal) -> None:
    """Without a terminal that could ask, the error suggests the name."""
    done = run_in(tmux, "rename", "otter", "new-name")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("There is no agent otter.\nDid you mean calm-otter?")


def test_several_agents_match(tmux: Terminal) -> None:
    """The error lists them."""
    done = run_in(tmux, "show", "calm")
    assert done.returncode == 1
    assert "Several agents match calm: calm-ot" in done.stderr or "Several agents match calm: calm-ow" in done.stderr


def test_a_typing_error(tmux: Terminal) -> None:
    """The error suggests the name; nothing else is done."""
    done = run_in(tmux, "show", "clam-owl")
    assert (done.returncode, done.stdout) == (1, "")
    assert "Did you mean calm-owl?" in done.stderr


def test_a_script_must_name_an_agent(headspace: Headspace) -> None:
    """There is no picker without a terminal."""
    for command in ("show", "approve", "jump", "peek", "interrupt", "resume", "rename", "send"):
        done = headspace(command)
        assert done.returncode == 2
        assert "Missing argument 'AGENT'" in done.stderr


@needs_tmux
def test_the_picker(tmux: Terminal) -> None:
    """Without a name it lists all agents; typing filters, enter chooses, esc cancels. Nothing stays on the screen."""
    pane = tmux.start("sh")
    tmux.keys(pane, "headspace show", "Enter")
    tmux.wait_for(pane, "3 of 3")
    tmux.keys(pane, "-l", "owl")
    tmux.wait_for(pane, "1 of 3")
    tmux.keys(pane, "Enter")
    tmux.wait_for(pane, "headspace why calm-owl")
    assert "Agent:" not in tmux.screen(pane)
    tmux.keys(pane, "clear; headspace resume; echo code $?", "Enter")
    shown = tmux.wait_for(pane, "3 of 3")
    assert "❯ – red-fox" in shown
    tmux.keys(pane, "Escape")
    tmux.wait_for(pane, "code 130")
    assert "red-fox" not in tmux.screen(pane)


@needs_tmux
def test_an_act_asks_about_a_part_of_a_name(tmux: Terminal) -> None:
    """No is the default; nothing is done then."""
    pane = tmux.start("sh")
    tmux.keys(pane, "headspace rename otter new-name", "Enter")
    tmux.wait_for(pane, "Do you mean calm-otter? [y/N]")
    tmux.keys(pane, "Enter")
    wait_until(lambda: tmux.screen(pane).rstrip().endswith(("$", "#")), "the prompt")
    assert "calm-otter" in [agent["name"] for agent in tmux.daemon.agents()]


def test_likely_agents_come_first() -> None:
    """By the state that the command is about, then by the project of this directory, then in the order of the board."""
    agents = [*sample_agents(), make_agent("old-elk", "ended", 9, "shop")]
    ended = [agent["name"] for agent in likely_first(agents, ("ended",), Path("/code/docs/pages"))]
    assert ended[:4] == ["late-wren", "old-elk", "quick-elk", "fresh-mole"]
    waiting = [agent["name"] for agent in likely_first(agents, ("waiting",), Path("/code/shop"))]
    assert waiting[:3] == ["nimble-kestrel", "able-ant", "olive-bee"]
