"""Agents by tmux pane, window and session."""

from typing import Any

import pytest

from claude_headspace.kernel.fleet import PRIORITY, combined_status
from claude_headspace.surfaces.cli.presentation.fleet import ELSEWHERE, UNKNOWN_SESSION, fleet_lines, group_by_pane


def agent(name: str, status: str, pane: str | None = None, **known: Any) -> dict[str, Any]:
    """An agent with what the fleet needs."""
    where = {"session": None, "pane": pane}
    return {"id": name, "name": name, "state": "working", "tmux": where, "dialects": {"fleet": status}, **known}


def pane(name: str, window: str = "@1", socket: str = "/tmp/tmux/default") -> dict[str, str]:
    """A pane of tmux."""
    return {
        "pane_id": name,
        "window_id": window,
        "window_index": "0",
        "window_name": "work",
        "session_name": "main",
        "socket_path": socket,
    }


@pytest.mark.parametrize("at", range(len(PRIORITY)))
def test_a_group_has_the_most_urgent_status(at: int) -> None:
    """Error, attention, working, checked, done; an empty group is done."""
    order = ("error", "attention", "working", "checked", "done")
    assert combined_status(reversed(order[at:])) == order[at]
    assert combined_status([]) == "done"


def test_agents_are_grouped_by_session_and_window() -> None:
    """Agents outside of tmux have their own group; ended agents are left out."""
    agents = [
        agent("a", "working", "%1"),
        agent("b", "error", "%2"),
        agent("c", "done"),
        agent("d", "done", "%1", state="ended"),
    ]
    found = group_by_pane(agents, {"a": pane("%1", "@1"), "b": pane("%2", "@2")})
    assert [(each["name"], each["status"]) for each in found["sessions"]] == [("main", "error"), (ELSEWHERE, "done")]
    assert [(each["id"], each["status"]) for each in found["sessions"][0]["windows"]] == [
        ("@1", "working"),
        ("@2", "error"),
    ]
    assert found["status"] == "error"
    assert len(fleet_lines(found)) == 7


def test_the_same_pane_of_two_servers_is_two_panes() -> None:
    """Requirement: panes on other tmux sockets are found. Sessions of the same name are apart."""
    agents = [agent("a", "working", "%1"), agent("b", "done", "%1")]
    found = group_by_pane(agents, {"a": pane("%1"), "b": pane("%1", socket="/tmp/tmux/other")})
    assert [(each["name"], each["socket"]) for each in found["sessions"]] == [
        ("main", "/tmp/tmux/default"),
        ("main", "/tmp/tmux/other"),
    ]


def test_a_pane_that_was_not_found_is_in_tmux() -> None:
    """Its server may have ended, or it runs on another machine."""
    [session] = group_by_pane([agent("a", "working", "%1")], {})["sessions"]
    assert session["name"] == UNKNOWN_SESSION


def test_an_empty_fleet() -> None:
    """The output suggests a command."""
    assert "headspace status" in "".join(span.text for line in fleet_lines(group_by_pane([], {})) for span in line)
