"""Panes, windows and sessions: the most urgent speaks."""

from typing import Any

import pytest

from claude_headspace.kernel.fleet import PRIORITY, combined_status
from claude_headspace.surfaces.cli.presentation.fleet import ELSEWHERE, fleet_lines, group_by_pane


def agent(name: str, status: str, pane: str | None = None, **known: Any) -> dict[str, Any]:
    """An agent with what the fleet needs."""
    where = {"session": None, "pane": pane}
    return {"id": name, "name": name, "state": "working", "tmux": where, "dialects": {"fleet": status}, **known}


def pane(name: str, window: str = "@1") -> dict[str, str]:
    """A pane of tmux."""
    return {
        "pane_id": name,
        "window_id": window,
        "window_index": "0",
        "window_name": "work",
        "session_name": "main",
    }


@pytest.mark.parametrize("at", range(len(PRIORITY)))
def test_the_most_urgent_speaks_for_all(at: int) -> None:
    """Error before attention, working, checked, done; an empty group is done."""
    assert combined_status(reversed(PRIORITY[at:])) == PRIORITY[at]
    assert combined_status([]) == "done"


def test_agents_are_grouped_by_where_they_are() -> None:
    """By tmux session and window; those elsewhere stand apart; those that ended are gone."""
    agents = [
        agent("a", "working", "%1"),
        agent("b", "error", "%2"),
        agent("c", "done"),
        agent("d", "done", "%1", state="ended"),
    ]
    found = group_by_pane(agents, [pane("%1", "@1"), pane("%2", "@2")])
    assert [(each["name"], each["status"]) for each in found["sessions"]] == [("main", "error"), (ELSEWHERE, "done")]
    assert [(each["id"], each["status"]) for each in found["sessions"][0]["windows"]] == [
        ("@1", "working"),
        ("@2", "error"),
    ]
    assert found["status"] == "error"
    assert len(fleet_lines(found)) == 7


def test_no_agents_say_what_to_look_at() -> None:
    """An empty fleet has its next step."""
    assert "headspace status" in "".join(span.text for line in fleet_lines(group_by_pane([], [])) for span in line)
