"""The state of an agent in each dialect."""

import msgspec
import pytest

from claude_headspace.kernel.agent import Agent, AgentState, Command, Trigger
from claude_headspace.kernel.state_machine import CommandState
from claude_headspace.kernel.views.dialects import dialects
from tests.kernel.story import START, Story, new_agent

DIALECTS = """
starting             IDLE            starting           working    active
idle                 IDLE            idle               done       idle
commanded            COMMANDED       running            working    active
working              PROCESSING      running            working    active
tool                 PROCESSING      running            working    tool_active
waiting:question     AWAITING_INPUT  awaiting_input     attention  active
waiting:elicitation  AWAITING_INPUT  awaiting_input     attention  active
waiting:dialog       AWAITING_INPUT  awaiting_input     attention  active
waiting:plan         AWAITING_INPUT  awaiting_approval  attention  active
waiting:permission   AWAITING_INPUT  awaiting_approval  attention  active
error                COMPLETE        error              error      idle
ended                COMPLETE        closed             done       ended
"""


def agent_that_is(state: str) -> Agent:
    """An agent in a state, with the fields that the dialects depend on."""
    if state == "commanded":
        command = Command(
            id="c",
            agent_id="a",
            session_id="s",
            state=CommandState.COMMANDED,
            trigger=Trigger.PROMPT,
            started_at=START,
        )
        return new_agent(state=AgentState.WORKING, command=command)
    if state == "tool":
        story = Story()
        story.calls("t1")
        return story.agent
    name, _, kind = state.partition(":")
    return new_agent(state=AgentState(name), waiting_for=kind or None)


@pytest.mark.parametrize("row", DIALECTS.split("\n")[1:-1], ids=lambda row: row.split()[0])
def test_each_state_in_each_dialect(row: str) -> None:
    """Headspace, plate-spinner, fleet and Claude OS each have their own term for a state."""
    state, *words = row.split()
    assert list(msgspec.structs.astuple(dialects(agent_that_is(state)))) == words
