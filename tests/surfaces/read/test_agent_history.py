"""Time travel: an agent as it was known at a time."""

import pytest

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import SECOND
from claude_headspace.surfaces.read.agent_history import agent_at
from claude_headspace.testing import START, hook
from tests.journals import TemporaryJournal, store

STORY = (
    ("SessionStart", {"source": "startup"}),
    ("UserPromptSubmit", {"prompt": "Fix it"}),
    ("PreToolUse", {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "make"}}),
    ("PostToolUse", {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "make"}}),
    ("Stop", {"last_assistant_message": "Which one do you mean?"}),
)


def recorded() -> tuple[TemporaryJournal, list[Agent]]:
    """A journal, and the agent after each of its events."""
    journal, states = TemporaryJournal(), []
    for number, (name, payload) in enumerate(STORY):
        store(journal, hook(name, START + number * SECOND, **payload))  # type: ignore[arg-type]
        states += journal.agents()
    return journal, states


def test_every_past_state_is_reproduced() -> None:
    """At the time of each event, and between events."""
    journal, states = recorded()
    for number, state in enumerate(states):
        assert agent_at(journal, states[-1], START + number * SECOND) == state
        assert agent_at(journal, states[-1], START + number * SECOND + SECOND // 2) == state
    assert agent_at(journal, states[-1], START + 10**15) == states[-1]


def test_before_the_first_event() -> None:
    """It is an error."""
    journal, states = recorded()
    with pytest.raises(BadRequest) as refusal:
        agent_at(journal, states[-1], START - SECOND)
    assert (refusal.value.code, refusal.value.status) == ("unknown_then", 404)


def test_pruned_history_starts_at_the_snapshot() -> None:
    """Later times are unchanged; earlier ones are an error."""
    journal, states = recorded()
    journal.prune(START + 3 * SECOND)
    for number in (2, 3, 4):
        assert agent_at(journal, states[-1], START + number * SECOND) == states[number]
    with pytest.raises(BadRequest) as refusal:
        agent_at(journal, states[-1], START + SECOND)
    assert refusal.value.code == "pruned"
    assert "retention_days" in refusal.value.hint
