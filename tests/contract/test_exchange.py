"""A log written by one journal and brought in by another of any kind: the same states, commands and turns."""

import json
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from claude_headspace.engine.log_transfer import BroughtIn, import_lines, log_lines, read_header
from claude_headspace.errors import BadRequest
from claude_headspace.kernel.agent import AgentState
from claude_headspace.kernel.correlate import Strategy
from claude_headspace.kernel.effort import acts
from claude_headspace.kernel.envelope import SECOND, Observations, Origin
from claude_headspace.ports import Journal
from claude_headspace.surfaces.read.agent_history import agent_at
from claude_headspace.testing import START, MemoryJournal, hook
from tests.journals import store


def origin() -> MemoryJournal:
    """A journal with an agent that has worked and asks, in two sessions."""
    journal = MemoryJournal()
    call: dict[str, Any] = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "ls \n\t…"}}
    store(
        journal,
        hook("SessionStart", observations=Observations(tmux_pane="%1", branch="main"), delivery_id="d1"),
        hook("UserPromptSubmit", START + 1, prompt="Fix it, 日本"),
        hook("PreToolUse", START + 2, **call),
        hook("PostToolUse", START + 3, tool_response="ok", **call),
        hook(
            "SessionStart", START + 4, session_id="session-2", source="clear", observations=Observations(tmux_pane="%1")
        ),
        hook("Mystery", START + 5, session_id="session-2"),
        hook("Stop", START + SECOND, session_id="session-2", last_assistant_message="Which one do you mean?"),
    )
    return journal


def written(journal: Journal, session: str | None = None) -> list[bytes]:
    """The agent's log as lines."""
    [agent] = journal.agents()
    return list(log_lines(journal, agent, session, "laptop", START + 2 * SECOND))


def unmarked(journal: Journal) -> list[bytes]:
    """The agent's log but for its last line: it is not yet said that it was brought in."""
    return written(journal)[:-1]


def brought_in(journal: Journal, lines: Sequence[bytes]) -> BroughtIn:
    """What comes of lines."""
    with journal.transaction() as transaction:
        return import_lines(transaction, read_header(lines[0]), lines[1:], 2, "import-1", START + 3 * SECOND)


def told(journal: Journal) -> tuple[Any, ...]:
    """All that is shown of the agent, but where it came from."""
    [agent] = journal.agents()
    events = [(e.envelope, e.agent_id, e.strategy, e.anomaly) for e in journal.events(limit=100)]
    return (
        agent,
        journal.turns(agent_id=agent.id),
        journal.commands(agent.id),
        journal.sessions(agent.id),
        journal.waits(only_open=False),
        [(row.at, row.state, row.why) for row in journal.states(agent.id)],
        events,
    )


def test_everything_is_the_same(any_journal: Journal) -> None:
    """In an empty journal nothing differs."""
    there = origin()
    assert brought_in(any_journal, unmarked(there)) == BroughtIn("agent-1", 7, 0)
    assert told(any_journal) == told(there)
    assert list(any_journal.verify()) == []
    assert any_journal.stream(0, 10) == []


def test_who_was_brought_in_does_not_run_here(any_journal: Journal) -> None:
    """With the last line the agent says from where it is, and that it ended, as its client is not heard here."""
    brought_in(any_journal, written(origin()))
    [agent] = any_journal.agents(ended_after=0)
    assert (agent.imported_from, agent.state, agent.end_reason) == ("laptop", AgentState.ENDED, "imported")
    assert agent.ended_at == START + 2 * SECOND
    assert "laptop" in (agent.evidence.why if agent.evidence else "")
    assert any_journal.waits() == []
    assert list(any_journal.verify()) == []
    store(any_journal, hook("UserPromptSubmit", START + 9 * SECOND, session_id="session-2", prompt="Here I am"))
    assert [each.state for each in any_journal.agents()] == [AgentState.WORKING]


def test_who_ended_before_ended_as_it_did(any_journal: Journal) -> None:
    """Its end is told by its own log."""
    there = origin()
    store(there, hook("SessionEnd", START + SECOND + 1, session_id="session-2", reason="logout"))
    [agent] = there.agents(ended_after=0)
    brought_in(any_journal, list(log_lines(there, agent, None, "laptop", START + 2 * SECOND)))
    assert [each.end_reason for each in any_journal.agents(ended_after=0)] == ["logout"]


def test_an_agent_that_goes_on_here_does_not_end_by_an_old_file(any_journal: Journal) -> None:
    """It was heard of since the file was written."""
    lines = written(origin())
    brought_in(any_journal, lines[:4])
    store(any_journal, hook("UserPromptSubmit", START + 9 * SECOND, session_id="session-2", prompt="Still here"))
    brought_in(any_journal, lines)
    [agent] = any_journal.agents()
    assert agent.ended_at is None


def test_its_past_can_be_seen_however_it_came(any_journal: Journal) -> None:
    """In parts, and longer the second time: at every moment it is what it was where it is from."""
    there = origin()
    lines = written(there)
    for line in lines[1:-2]:
        brought_in(any_journal, [lines[0], line])
    brought_in(any_journal, [lines[0], lines[-2], lines[-1]])
    store(there, hook("UserPromptSubmit", START + 2 * SECOND + 5, session_id="session-2", prompt="The second"))
    [agent] = there.agents()
    longer = list(log_lines(there, agent, None, "laptop", START + 4 * SECOND))
    with any_journal.transaction() as transaction:
        import_lines(transaction, read_header(longer[0]), longer[1:], 2, "import-2", START + 5 * SECOND)
    for moment in (START + 1, START + 3, START + 5, START + SECOND, START + 2 * SECOND):
        assert agent_at(any_journal, agent, moment) == agent_at(there, agent, moment)
    assert [each.end_reason for each in any_journal.agents(ended_after=0)] == ["imported"]
    assert list(any_journal.verify()) == []


def test_bringing_it_in_again_changes_nothing(any_journal: Journal) -> None:
    """And a longer log adds only what is new."""
    there = origin()
    brought_in(any_journal, unmarked(there))
    before = any_journal.counts()
    assert brought_in(any_journal, written(there)) == BroughtIn("agent-1", 0, 7)
    assert any_journal.counts() == before
    store(there, hook("UserPromptSubmit", START + 4 * SECOND, session_id="session-2", prompt="The second"))
    assert brought_in(any_journal, unmarked(there)) == BroughtIn("agent-1", 1, 7)
    assert told(any_journal) == told(there)
    assert list(any_journal.verify()) == []


def test_a_pruned_log_begins_with_its_snapshot(any_journal: Journal) -> None:
    """What is left of it is the same elsewhere too."""
    there = origin()
    there.prune(START + 5)
    lines = written(there)
    assert lines[1].startswith(b'{"snapshot":')
    brought_in(any_journal, lines[:-1])
    assert told(any_journal) == told(there)
    assert list(any_journal.verify()) == []


def test_a_log_of_which_only_the_snapshot_is_left_comes_too(any_journal: Journal) -> None:
    """And its past begins there, whatever number it had where it is from."""
    there = origin()
    there.prune(START + 2 * SECOND)
    [agent] = there.agents()
    brought_in(any_journal, written(there))
    assert [each.end_reason for each in any_journal.agents(ended_after=0)] == ["imported"]
    store(any_journal, hook("UserPromptSubmit", START + 5 * SECOND, session_id="session-2", prompt="Here I am"))
    then = agent_at(any_journal, agent, START + 5 * SECOND)
    assert (then.state, list(any_journal.verify())) == (AgentState.WORKING, [])


def test_efforts_stay_where_they_are(any_journal: Journal) -> None:
    """Neither what was done to one nor what counted for one makes an effort elsewhere, whoever wrote the file."""
    there = origin()
    [agent] = there.agents()
    act = acts.EffortStarted(
        effort_id="e1", host="laptop", task_dir="/a", project_root="/a", skill="fix", ordinal=1, holder=agent.id
    )
    begun = hook("EffortStarted", START + SECOND + 1, origin=Origin.OPERATOR)
    store(there, msgspec.structs.replace(begun, client="headspace", payload=msgspec.json.encode(act)))
    lines = written(there)
    assert not any(b"EffortStarted" in line for line in lines)
    stored = there.events(limit=1)[0]
    assert stored.strategy is Strategy.EFFORT
    foreign = json.loads(lines[-2]) | {"id": "act", "name": "EffortStarted", "origin": "operator", "strategy": "effort"}
    foreign["payload"] = json.loads(stored.envelope.payload)
    counted = json.loads(lines[-2]) | {"id": "counted", "context": {"effort_id": "e1"}}
    store(any_journal, msgspec.structs.replace(begun, id="own", payload=msgspec.json.encode(act)))
    brought_in(any_journal, [*lines[:-1], json.dumps(foreign).encode(), json.dumps(counted).encode(), lines[-1]])
    assert len(any_journal.efforts()) == 1
    assert list(any_journal.verify()) == []


def test_one_session_can_be_written_alone() -> None:
    """Only its events, and those that belong to no session."""
    names = [json.loads(line)["name"] for line in written(origin(), "session-2")[1:-1]]
    assert names == ["SessionStart", "Mystery", "Stop"]


def test_every_payload_survives(any_journal: Journal) -> None:
    """JSON as it is, and what is no JSON, or spans lines, as well."""
    there = origin()
    lines = written(there)
    line = json.loads(lines[2])
    texts = ['{"a":  1,\n "b": "é"}', "{broken", '{"session_id": "session-1", "x": 1.50}']
    doctored = [
        json.dumps({**line, "id": f"odd-{n}", "delivery_id": None, "payload": text}).encode()
        for n, text in enumerate(texts)
    ]
    brought_in(any_journal, [lines[0], *doctored])
    stored = {event.envelope.id: event.envelope.payload.decode() for event in any_journal.events(limit=10)}
    assert [stored[f"odd-{n}"] for n in range(3)] == texts
    again = written(any_journal)
    assert [json.loads(each)["id"] for each in again[1:4]] == ["odd-0", "odd-1", "odd-2"]


@pytest.mark.parametrize(
    "line",
    [b"", b"{}", b"[1]", b'{"id": 1}', b'{"snapshot": {}}', b"\xff\xfe", b"[" * 100_000],
)
def test_what_is_no_log_is_refused(line: bytes) -> None:
    """With the number of the line, and nothing is written."""
    journal = MemoryJournal()
    lines = written(origin())
    with pytest.raises(BadRequest, match="Line 3"):
        brought_in(journal, [*lines[:2], line])
    assert journal.counts().events == 0
    with pytest.raises(BadRequest):
        read_header(line)


def test_lines_of_another_agent_are_refused() -> None:
    """A file is the log of one agent."""
    lines = written(origin())
    other = lines[2].replace(b'"agent_id":"agent-1"', b'"agent_id":"agent-2"')
    with pytest.raises(BadRequest, match="another agent"):
        brought_in(MemoryJournal(), [lines[0], other])


def test_another_format_says_which_one_is_read() -> None:
    """A newer version is not guessed at."""
    header = written(origin())[0].replace(b'"version":1', b'"version":9')
    with pytest.raises(BadRequest) as refusal:
        read_header(header)
    assert "headspace-log 1" in refusal.value.hint
