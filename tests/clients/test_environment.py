"""Environment variables of processes inside a client."""

import pytest

from claude_headspace.clients.environment import (
    IDENTITY,
    NOT_INHERITED,
    client_pid_in,
    is_inside_client,
    session_in,
    tool_variables_of_others,
)


@pytest.mark.parametrize(
    ("env", "session"), [({"CLAUDE_CODE_SESSION_ID": "s1"}, "s1"), ({"CLAUDE_CODE_SESSION_ID": ""}, None), ({}, None)]
)
def test_the_session_of_a_process(env: dict[str, str], session: str | None) -> None:
    """It is in a variable that the client sets; an empty variable counts as unset."""
    assert session_in(env) == session


def test_processes_inside_a_client_are_recognised() -> None:
    """By any variable that the client sets. Those of Headspace do not count: a person can set them."""
    assert is_inside_client({"CLAUDECODE": "1"})
    assert not is_inside_client({"CLAUDE_HEADSPACE_SESSION_ID": "a"})


def test_the_process_of_a_client() -> None:
    """Its id is in a variable, as text."""
    assert client_pid_in({"CLAUDE_PID": "12"}) == "12"


@pytest.mark.parametrize(
    ("client", "kept"),
    [("codex", {"CODEX_THREAD_ID", "HOME"}), ("claude-code", {"CLAUDECODE", "HOME"}), ("gemini", {"HOME"})],
)
def test_variables_of_an_outer_client_are_dropped(client: str, kept: set[str]) -> None:
    """Only if its marks are there: `COLUMNS` alone is a variable of the user's terminal."""
    env = {"CLAUDECODE": "1", "CODEX_THREAD_ID": "t", "HOME": "/h"}
    assert set(env) - tool_variables_of_others(client, env) == kept
    assert tool_variables_of_others("codex", {"COLUMNS": "80"}) == frozenset()


def test_a_client_in_a_client_has_its_own_identity() -> None:
    """A client that a tool starts inherits neither session, process, role, mode nor mission."""
    kept = {
        "CLAUDE_HEADSPACE_SESSION_ID",
        "CLAUDE_SESSION_ID",
        "CLAUDE_HEADSPACE_TMUX_SESSION",
        "AGENT_ID",
        "TMUX_PANE",
    }
    assert set(IDENTITY) - NOT_INHERITED == kept
