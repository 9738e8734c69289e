"""Time travel: an agent as it was, as far as it was known by then."""

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


def told() -> tuple[TemporaryJournal, list[Agent]]:
    """A journal, and the agent after each of its events."""
    journal, states = TemporaryJournal(), []
    for number, (name, payload) in enumerate(STORY):
        store(journal, hook(name, START + number * SECOND, **payload))  # type: ignore[arg-type]
        states += journal.agents()
    return journal, states


def test_every_moment_can_be_seen_again() -> None:
    """At each event's time the agent is what it was right after it; between them as well."""
    journal, states = told()
    for number, state in enumerate(states):
        assert agent_at(journal, states[-1], START + number * SECOND) == state
        assert agent_at(journal, states[-1], START + number * SECOND + SECOND // 2) == state
    assert agent_at(journal, states[-1], START + 10**15) == states[-1]


def test_before_it_was_known_that_is_said() -> None:
    """There is nothing to show then."""
    journal, states = told()
    with pytest.raises(BadRequest) as refusal:
        agent_at(journal, states[-1], START - SECOND)
    assert (refusal.value.code, refusal.value.status) == ("unknown_then", 404)


def test_a_pruned_past_begins_where_it_was_pruned() -> None:
    """After it every moment is the same as before; what was before it is gone, and said to be."""
    journal, states = told()
    journal.prune(START + 3 * SECOND)
    for number in (2, 3, 4):
        assert agent_at(journal, states[-1], START + number * SECOND) == states[number]
    with pytest.raises(BadRequest) as refusal:
        agent_at(journal, states[-1], START + SECOND)
    assert refusal.value.code == "pruned"
    assert "retention_days" in refusal.value.hint
