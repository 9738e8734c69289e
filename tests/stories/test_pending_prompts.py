"""Prompts to several agents, and prompts that wait until an agent is idle, in a separate tmux server."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import running_daemon, wait_until
from tests.terminals import Terminal, needs_tmux, run_in, terminal

pytestmark = needs_tmux


@pytest.fixture(scope="module")
def tmux(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    """A shared terminal and its daemon. Each test has its own panes."""
    folder = tmp_path_factory.mktemp("prompts")
    with running_daemon(folder / "home") as daemon, terminal(folder, daemon) as made:
        yield made


def busy_agent(tmux: Terminal) -> tuple[str, dict[str, Any]]:
    """A pane, and its agent, which works until it gets another prompt."""
    pane = tmux.start("claude")
    tmux.agent_in(pane)
    tmux.keys(pane, "work", "Enter")
    return pane, tmux.agent_in(pane, "working")


def pending(tmux: Terminal, agent: dict[str, Any]) -> list[dict[str, Any]]:
    """The pending prompts of an agent."""
    found: list[dict[str, Any]] = tmux.daemon.get(f"/api/agents/{agent['id']}").json()["pending_prompts"]
    return found


def test_a_prompt_waits_until_the_agent_is_idle(tmux: Terminal) -> None:
    """It is visible in the queue, on the board and with the agent; after the turn it is typed once."""
    pane, agent = busy_agent(tmux)
    done = run_in(tmux, "send", agent["name"], "--when-idle", "Then", "test", "it.")
    assert done.stdout == f"Queued for {agent['name']}: it is sent when the agent is idle.\n"
    assert "“Then test it.” waits until it is idle" in run_in(tmux, "queue").stdout
    assert "1 prompt pending" in run_in(tmux, "list").stdout
    assert "“Then test it.”" in run_in(tmux, "show", agent["name"]).stdout
    assert "Then test it." not in tmux.prompts()
    tmux.keys(pane, "finish", "Enter")
    wait_until(lambda: not pending(tmux, agent), "an empty queue")
    assert tmux.prompts().count("Then test it.") == 1
    assert run_in(tmux, "queue").stdout.startswith("No prompt is pending.")
    assert tmux.daemon.verified()
    tmux.keys(pane, "/exit", "Enter")


def test_a_cancelled_prompt_is_never_typed(tmux: Terminal) -> None:
    """Without an id, all prompts of the agent are cancelled."""
    pane, agent = busy_agent(tmux)
    for text in ("First of two.", "Second of two."):
        run_in(tmux, "send", agent["name"], "--when-idle", text)
    first = pending(tmux, agent)[0]["id"]
    assert run_in(tmux, "queue", "cancel", agent["name"], first[:8]).stdout == "Cancelled: First of two.\n"
    assert run_in(tmux, "queue", "cancel", agent["name"]).stdout == "Cancelled: Second of two.\n"
    again = run_in(tmux, "queue", "cancel", agent["name"])
    assert (again.returncode, "No prompt waits for" in again.stderr) == (1, True)
    run_in(tmux, "send", agent["name"], "--when-idle", "The one that counts.")
    tmux.keys(pane, "finish", "Enter")
    wait_until(lambda: "The one that counts." in tmux.prompts(), "the third prompt")
    assert not {"First of two.", "Second of two."} & set(tmux.prompts())
    tmux.keys(pane, "/exit", "Enter")


def test_a_draft_delays_a_pending_prompt(tmux: Terminal) -> None:
    """The reason is shown; when the person has sent the draft, the prompt follows."""
    pane = tmux.start("claude")
    agent = tmux.agent_in(pane)
    tmux.keys(pane, "half a thought")
    tmux.wait_for(pane, "half a thought")
    run_in(tmux, "send", agent["name"], "--when-idle", "After the draft.")
    wait_until(lambda: "draft" in pending(tmux, agent)[0]["reason"], "the reason")
    tmux.keys(pane, "Enter")
    wait_until(lambda: not pending(tmux, agent), "an empty queue")
    assert tmux.prompts()[-2:] == ["half a thought", "After the draft."]
    tmux.keys(pane, "/exit", "Enter")


def test_several_agents_get_a_prompt_and_each_result_is_shown(tmux: Terminal) -> None:
    """A refusal by one agent does not affect the others, and the exit code tells that there was one."""
    panes = [tmux.start("claude", project="several") for _ in range(3)]
    names = [tmux.agent_in(pane)["name"] for pane in panes]
    tmux.keys(panes[2], "ask", "Enter")
    tmux.agent_in(panes[2], "waiting")
    done = run_in(tmux, "send", ",".join(names), "To all three.")
    lines = done.stdout.splitlines()
    assert lines[:2] == [f"{name} received the prompt." for name in names[:2]]
    assert lines[2].startswith(f"{names[2]}: not sent. {names[2]} waits at a dialog")
    assert (done.returncode, tmux.prompts().count("To all three.")) == (1, 2)
    for pane in panes[:2]:
        tmux.agent_in(pane)
    asked = run_in(tmux, "send", "--project", "several", "--state", "idle", "By filter.")
    assert (asked.returncode, "2 agents would get this prompt" in asked.stderr) == (1, True)
    assert "By filter." not in tmux.prompts()
    done = run_in(tmux, "send", "--project", "several", "--state", "idle", "--yes", "--json", "By filter.")
    assert [each["status"] for each in json.loads(done.stdout)] == ["confirmed", "confirmed"]
    assert tmux.prompts().count("By filter.") == 2
    nobody = run_in(tmux, "send", "--project", "several", "--client", "codex", "--yes", "Nobody.")
    assert "No agent matches" in nobody.stderr
    for pane in panes:
        tmux.tmux("kill-pane", "-t", pane)


def test_a_saved_prompt_is_sent_by_its_name(tmux: Terminal) -> None:
    """The rest of the command line is added to its text."""
    pane = tmux.start("claude")
    agent = tmux.agent_in(pane)
    assert run_in(tmux, "prompt", "save", "review", "Review your changes.").stdout == "Saved the prompt review.\n"
    assert run_in(tmux, "prompt", "list").stdout == "review  Review your changes.\n"
    run_in(tmux, "send", agent["name"], "--saved", "review", "Be brief.")
    assert tmux.prompts()[-1] == "Review your changes.\n\nBe brief."
    unknown = run_in(tmux, "send", agent["name"], "--saved", "other")
    assert (unknown.returncode, "Saved prompts: review." in unknown.stderr) == (1, True)
    tmux.keys(pane, "/exit", "Enter")


def test_agents_and_empty_prompts_are_named(tmux: Terminal) -> None:
    """Without a terminal, a command line that lacks the agent or the text is refused."""
    assert "Missing argument 'AGENT'" in run_in(tmux, "send", "--saved", "review").stderr
    pane = tmux.start("claude")
    assert "Missing argument 'TEXT'" in run_in(tmux, "send", tmux.agent_in(pane)["name"]).stderr
    tmux.keys(pane, "/exit", "Enter")


def test_pending_prompts_survive_a_restart_of_the_daemon(tmp_path: Path) -> None:
    """The queue is part of the log: the next daemon sends the prompt, once, and a cancelled one not at all."""
    home = tmp_path / "home"
    with running_daemon(home) as daemon, terminal(tmp_path / "terminal", daemon) as tmux:
        pane, agent = busy_agent(tmux)
        for text in ("After the restart.", "Cancelled."):
            run_in(tmux, "send", agent["name"], "--when-idle", text)
        run_in(tmux, "queue", "cancel", agent["name"], pending(tmux, agent)[1]["id"])
        daemon.kill()
        with running_daemon(home) as tmux.daemon:
            assert [each["summary"] for each in pending(tmux, agent)] == ["After the restart."]
            tmux.keys(pane, "finish", "Enter")
            wait_until(lambda: not pending(tmux, agent), "an empty queue")
            assert tmux.prompts().count("After the restart.") == 1
            assert "Cancelled." not in tmux.prompts()
            assert tmux.daemon.verified()
