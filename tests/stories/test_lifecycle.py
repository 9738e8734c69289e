"""The life of agents in real terminals: stop and archive, in a separate tmux server."""

import os
import signal
from collections.abc import Iterator

import psutil
import pytest

from tests.support import running_daemon, wait_until
from tests.terminals import Terminal, needs_tmux, run_in, terminal

pytestmark = needs_tmux


@pytest.fixture(scope="module")
def tmux(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    """A shared terminal and its daemon. Each test has its own panes."""
    folder = tmp_path_factory.mktemp("lifecycle")
    with running_daemon(folder / "home") as daemon, terminal(folder, daemon) as made:
        yield made


# --- stop -------------------------------------------------------------------------------------------------------------


def test_an_idle_client_is_stopped_with_its_exit_command(tmux: Terminal) -> None:
    """The client exits by itself, and the end is known as one that a person wanted."""
    agent = tmux.agent_in(tmux.start("claude"))
    done = run_in(tmux, "stop", "--yes", agent["name"])
    assert (done.stdout, done.stderr) == (f"{agent['name']} has ended.\n", "")
    assert tmux.prompts()[-1] == "/exit"
    after = tmux.daemon.agent(agent["id"])
    assert (after["state"], after["end_reason"], after["crashed"]) == ("ended", "stopped", False)
    events = tmux.daemon.get(f"/api/agents/{agent['id']}/events").json()
    (asked,) = [event for event in events if event["name"] == "StopRequested"]
    assert asked["payload"]["via"] == "cli"
    assert tmux.daemon.verified()


def test_a_client_at_a_dialog_is_ended_with_a_signal(tmux: Terminal) -> None:
    """Nothing is typed into a dialog: the client gets SIGTERM."""
    pane = tmux.start("claude")
    tmux.agent_in(pane)
    tmux.keys(pane, "ask", "Enter")
    agent = tmux.agent_in(pane, "waiting")
    before = len(tmux.prompts())
    done = run_in(tmux, "stop", "--yes", agent["name"])
    assert done.stdout == f"{agent['name']} has ended, after SIGTERM.\n", done.stderr
    assert len(tmux.prompts()) == before
    assert not psutil.pid_exists(agent["pid"])


def test_a_client_that_ignores_everything_is_killed(tmux: Terminal) -> None:
    """With `--force` nothing is typed. A stopped process ends only with SIGKILL."""
    agent = tmux.agent_in(tmux.start("claude"))
    os.kill(agent["pid"], signal.SIGSTOP)
    done = run_in(tmux, "stop", "--force", "--yes", agent["name"])
    assert done.stdout == f"{agent['name']} was killed: it did not end by itself.\n", done.stderr
    assert tmux.daemon.agent(agent["id"])["end_reason"] == "stopped"


def test_stopping_needs_a_confirmation_and_the_exact_name(tmux: Terminal) -> None:
    """Without a terminal `--yes` is required. An agent that has ended is not stopped again."""
    agent = tmux.agent_in(tmux.start("claude"))
    done = run_in(tmux, "stop", agent["name"])
    assert (done.returncode, "Use --yes." in done.stderr) == (1, True)
    assert tmux.daemon.agent(agent["id"])["state"] == "idle"
    assert run_in(tmux, "stop", "--yes", agent["id"]).returncode == 0
    again = run_in(tmux, "stop", "--yes", agent["name"])
    assert (again.returncode, "has ended already" in again.stderr) == (1, True)


# --- archive ----------------------------------------------------------------------------------------------------------


def test_an_archived_agent_leaves_the_board_until_it_runs_again(tmux: Terminal) -> None:
    """Only ended agents can be archived. `--undo` and a resumed client put the agent back."""
    agent = tmux.agent_in(tmux.start("claude", project="archived"))
    name = agent["name"]
    refused = run_in(tmux, "archive", "--yes", name)
    assert (refused.returncode, "still running" in refused.stderr) == (1, True)
    run_in(tmux, "stop", "--yes", name)
    assert run_in(tmux, "archive", "--yes", name).stdout == f"Archived {name}.\n"
    assert agent["id"] not in [each["id"] for each in tmux.daemon.agents()]
    assert name in run_in(tmux, "list", "--all").stdout
    assert run_in(tmux, "archive", "--undo", name).stdout == f"Back on the board: {name}.\n"
    assert agent["id"] in [each["id"] for each in tmux.daemon.agents()]
    run_in(tmux, "archive", "--yes", name)
    pane = tmux.start(f"headspace resume {name}", project="archived")
    assert tmux.agent_in(pane)["id"] == agent["id"]
    assert tmux.daemon.verified()


# --- names that other tools use ---------------------------------------------------------------------------------------


def test_names_of_other_tools_work_or_name_the_command(tmux: Terminal) -> None:
    """`ls` and `ps` list agents, `attach` jumps, `kill` names the right command."""
    agent = tmux.agent_in(tmux.start("claude"))
    for name in ("ls", "ps"):
        assert agent["name"] in run_in(tmux, name).stdout
    assert "AGENT" in run_in(tmux, "attach", "--help").stdout
    refused = run_in(tmux, "kill", agent["name"])
    assert (refused.returncode, "Use `headspace stop --force AGENT`." in refused.stderr) == (2, True)
    wait_until(lambda: tmux.daemon.agent(agent["id"])["state"] == "idle", "the untouched agent")
