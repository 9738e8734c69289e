"""Every database: the timeline of all agents in a time range."""

from typing import Any

from sqlalchemy import text

from claude_headspace.journal.sql import SqlJournal
from claude_headspace.kernel.envelope import SECOND, Envelope, Micros
from claude_headspace.surfaces.read.timeline import Timeline, TimelineQueries
from claude_headspace.testing import START, hook
from tests.journals import store

MINUTE: Micros = 60 * SECOND
HOUR = 60 * MINUTE


def session(name: str, at: Micros) -> list[Envelope]:
    """A session that works for ten minutes, with a sub-agent, and ends two hours later."""
    known: dict[str, Any] = {"session_id": name, "cwd": f"/{name}"}
    sub: dict[str, Any] = {"agent_id": f"sub-{name}", "agent_type": "explorer"}
    return [
        hook("SessionStart", at, source="startup", **known),
        hook("UserPromptSubmit", at + MINUTE, prompt="Fix the parser", prompt_id=f"p-{name}", **known),
        hook("SubagentStart", at + 2 * MINUTE, **sub, **known),
        hook("SubagentStop", at + 4 * MINUTE, **sub, **known),
        hook("Stop", at + 11 * MINUTE, last_assistant_message="Done.", prompt_id=f"p-{name}", **known),
        hook("SessionEnd", at + 2 * HOUR, reason="other", **known),
    ]


def timeline(journal: SqlJournal, since: Micros, until: Micros) -> Timeline:
    """The timeline of a time range."""
    return TimelineQueries(journal, lambda: until).between(since, until)


def minutes(at: int) -> float:
    """A time of the timeline as minutes after the start."""
    return (at - START // 1_000) / 60_000


def test_states_commands_and_sub_agents(any_journal: SqlJournal) -> None:
    """Those of the time range, with the evidence of each state."""
    store(any_journal, *session("shop", START))
    found = timeline(any_journal, START, START + HOUR)
    [agent] = found.agents
    assert [(minutes(each.at), each.state) for each in agent.states] == [(0, "idle"), (1, "working"), (11, "idle")]
    assert all(found.evidence[each.evidence].why for each in agent.states)
    assert [(minutes(each.at), each.text, each.outcome) for each in agent.commands] == [
        (1, "Fix the parser", "completed")
    ]
    [subagent] = agent.subagents
    assert (subagent.type, minutes(subagent.started_at), minutes(subagent.ended_at or 0)) == ("explorer", 2, 4)
    assert found.projects[agent.project].name == "shop"


def test_the_state_at_the_beginning(any_journal: SqlJournal) -> None:
    """A state that began before the range is its first one. Agents that had ended, or had not begun, are left out."""
    store(any_journal, *session("early", START - 3 * HOUR), *session("shop", START), *session("late", START + 3 * HOUR))
    [agent] = timeline(any_journal, START + 5 * MINUTE, START + HOUR).agents
    assert [(minutes(each.at), each.state) for each in agent.states] == [(1, "working"), (11, "idle")]
    assert (agent.commands, agent.subagents) == ([], [])


def test_reasons_are_listed_once(any_journal: SqlJournal) -> None:
    """Agents with the same reason share it."""
    store(any_journal, *session("one", START), *session("two", START + SECOND))
    found = timeline(any_journal, START, START + 3 * HOUR)
    assert len(found.evidence) == len(set(found.evidence)) < sum(len(agent.states) for agent in found.agents)


def test_states_are_found_with_an_index(any_journal: SqlJournal) -> None:
    """The index is by agent and time."""
    with any_journal.transaction() as batch:
        if batch.connection.dialect.name == "sqlite":
            query = text("SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'states'")
        else:
            query = text("SELECT indexname FROM pg_indexes WHERE tablename = 'states'")
        assert "ix_states_agent_id_at" in set(batch.connection.execute(query).scalars())
