"""The command `peek`."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import running_daemon, wait_until
from tests.surfaces.cli.conftest import Headspace
from tests.terminals import Terminal, needs_tmux, run_in, terminal


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Terminal]:
    """A terminal and its daemon."""
    with running_daemon(tmp_path / "home") as daemon, terminal(tmp_path, daemon) as made:
        yield made


@needs_tmux
def test_the_screen_of_an_agent(tmux: Terminal) -> None:
    """In colour if wanted, as JSON with its pane; `--follow` shows it live."""
    pane = tmux.start("printf '\\033[1;35mWelcome\\033[0m\\n'; exec claude")
    agent = tmux.agent_in(pane)
    plain = run_in(tmux, "peek", agent["name"])
    assert (plain.returncode, plain.stderr) == (0, "")
    assert plain.stdout.splitlines()[0] == "Welcome"
    assert "\x1b[1;35mWelcome" in run_in(tmux, "peek", agent["name"], FORCE_COLOR="1").stdout
    found = json.loads(run_in(tmux, "peek", agent["name"], "--json").stdout)
    assert (found["pane"], found["screen"][0], found["problem"]) == (pane, "Welcome", "")
    viewer = tmux.start(f"headspace peek {agent['name']} --follow")
    tmux.wait_for(viewer, "Welcome")
    tmux.keys(pane, "-l", "a draft")
    tmux.wait_for(viewer, "a draft")
    tmux.keys(viewer, "C-c")
    wait_until(lambda: viewer not in tmux.tmux("list-panes", "-a", "-F", "#{pane_id}").split(), "its end")


@needs_tmux
def test_a_client_that_asks_before_it_reports(tmux: Terminal) -> None:
    """A client that asks at its start reports nothing, but its screen is shown."""
    program = tmux.folder / "silent" / "claude"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 'Do you trust this folder?'\nexec cat\n")
    program.chmod(0o755)
    pane = tmux.start(f'PATH="{program.parent}:$PATH" headspace run --here --name careful')
    tmux.wait_for(pane, "Do you trust this folder?")
    assert tmux.agent_in(pane, "starting")["pid"] is None
    done = run_in(tmux, "peek", "careful")
    assert done.stdout.splitlines()[0] == "Do you trust this folder?", done


def test_an_agent_without_a_pane(headspace: Headspace, names: dict[str, str]) -> None:
    """Its last message and the running tool are shown, with the reason."""
    done = headspace("peek", names["runs"])
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{names['runs']} does not run in tmux" in done.stdout
    assert "Bash: npm test" in done.stdout
    assert "All 214 links work." in headspace("peek", names["done"]).stdout
    asks = json.loads(headspace("peek", names["asks"], "--json").stdout)
    assert (asks["screen"], asks["pane"], len(asks["waits"])) == (None, None, 1)


def test_hostile_text_is_marked(headspace: Headspace, names: dict[str, str]) -> None:
    """No control character reaches the terminal."""
    assert "\x1b" not in headspace("peek", names["hostile"]).stdout


def test_following_needs_a_terminal(headspace: Headspace, names: dict[str, str]) -> None:
    """In a pipe there is an error that says so."""
    done = headspace("peek", names["runs"], "--follow")
    assert (done.returncode, done.stdout) == (1, "")
    assert "needs a terminal" in done.stderr
