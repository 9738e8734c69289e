"""The agent that a command was started in."""

import pytest

from claude_headspace.kernel.agent import Agent, Session
from claude_headspace.surfaces.read.agents import agent_of_environment
from tests.kernel.story import START, new_agent


def agent(name: str, **known: object) -> Agent:
    """An agent in a session."""
    session = Session(id=f"{name}-s", agent_id=name, ordinal=1, client_id=name, source="startup", started_at=START)
    return new_agent(id=name, name=name, session=session, **known)


PARENT = agent("parent", headspace_id="wrapped", pid=100, tmux_pane="%1")
CHILD = agent("child", parent_id="parent", pid=200)
OTHER = agent("other", pid=300, tmux_pane="%2")


@pytest.mark.parametrize(
    ("env", "ancestors", "found"),
    [
        ({"CLAUDE_CODE_SESSION_ID": "parent"}, (), "parent"),
        ({"CLAUDE_CODE_SESSION_ID": "new", "CLAUDE_SESSION_ID": "wrapped"}, (), "parent"),
        ({"CLAUDE_HEADSPACE_SESSION_ID": "wrapped"}, (), "parent"),
        ({"CLAUDE_CODE_SESSION_ID": "child", "CLAUDE_SESSION_ID": "wrapped"}, (), "child"),
        ({"CLAUDE_PID": "300"}, (), "other"),
        ({}, (201, 200, 100, 1), "child"),
        ({"TMUX_PANE": "%2"}, (), "other"),
        ({"TMUX_PANE": "%2"}, (200,), "child"),
        ({"CLAUDE_HEADSPACE_SESSION_ID": "wrapped"}, (200, 100), "child"),
        ({}, (), None),
        ({"CLAUDE_SESSION_ID": "", "TMUX_PANE": "", "CLAUDE_PID": "x"}, (7,), None),
    ],
)
def test_agent_of_environment(env: dict[str, str], ancestors: tuple[int, ...], found: str | None) -> None:
    """By session, nearest ancestor process, wrapper id or pane, in this order."""
    inside = agent_of_environment([PARENT, CHILD, OTHER], env, ancestors)
    assert (inside.id if inside else None) == found
