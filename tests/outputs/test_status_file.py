"""The status file: one short line with the names of agents that need a person, removed when the daemon stops."""

from pathlib import Path

from claude_headspace.kernel.agent import Agent, AgentState
from claude_headspace.outputs.status_file import status_line
from tests.kernel.story import new_agent
from tests.support import running_daemon, wait_until


def agent(name: str, state: str, since: int = 0) -> Agent:
    """An agent in a state."""
    result = new_agent(state=AgentState(state), state_since=since)
    result.name = name
    return result


def test_agents_that_need_a_person_are_named() -> None:
    """The longest wait is first. The number of names is limited."""
    agents = [agent("one", "waiting", 2), agent("two", "waiting", 1), agent("three", "working"), agent("four", "idle")]
    assert status_line(agents) == "◆ 2 two one  ● 1  ○ 1"
    assert status_line([agent(f"a{n}", "error", n) for n in range(5)]) == "✕ 5 a0 a1 a2 …"


def test_agents_with_a_full_context_are_named() -> None:
    """From 80 percent, the fullest first, without ended agents."""
    agents = [agent(name, "working") for name in ("a", "b", "c", "d", "e")]
    for each, percent in zip(agents, (79.9, 80, 99.5, 91, 85), strict=True):
        each.context_percent = percent
    assert status_line(agents) == "● 5  ▲ c 99% d 91% e 85% …"
    agents[2].ended_at = 1
    assert "c 99%" not in status_line(agents)
    assert status_line([agents[0]]) == "● 1"


def test_the_line_of_an_empty_board_is_empty() -> None:
    """Ended agents are not counted."""
    assert status_line([]) == ""
    assert status_line([agent("gone", "ended")]) == ""


def test_the_daemon_updates_the_file(tmp_path: Path) -> None:
    """At every change of the board. The file is removed when the daemon stops."""
    file = tmp_path / "glance"
    with running_daemon(tmp_path) as daemon:
        daemon.post("session-start", {"session_id": "one", "cwd": "/projects/one"})
        wait_until(lambda: file.exists() and file.read_text() == "○ 1\n", "an idle agent")
        daemon.post("user-prompt-submit", {"session_id": "one", "cwd": "/projects/one", "prompt": "Go."})
        wait_until(lambda: file.read_text() == "● 1\n", "a working agent")
        daemon.stop()
        assert not file.exists()
