"""A log written by one journal and brought in by another of any kind: the same states, commands and turns."""

import json
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from claude_headspace.errors import BadRequest
from claude_headspace.inputs.exchange import BroughtIn, bring_in, log_lines, read_header
from claude_headspace.kernel.envelope import SECOND, Context
from claude_headspace.ports import Journal
from claude_headspace.testing import START, MemoryJournal, hook
from tests.journals import store


def origin() -> MemoryJournal:
    """A journal with an agent that has worked and asks, in two sessions."""
    journal = MemoryJournal()
    call: dict[str, Any] = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "ls \n\t…"}}
    store(
        journal,
        hook("SessionStart", context=Context(tmux_pane="%1", branch="main"), delivery_id="d1"),
        hook("UserPromptSubmit", START + 1, prompt="Fix it, 日本"),
        hook("PreToolUse", START + 2, **call),
        hook("PostToolUse", START + 3, tool_response="ok", **call),
        hook("SessionStart", START + 4, session_id="session-2", source="clear", context=Context(tmux_pane="%1")),
        hook("Mystery", START + 5, session_id="session-2"),
        hook("Stop", START + SECOND, session_id="session-2", last_assistant_message="Which one do you mean?"),
    )
    return journal


def written(journal: Journal, session: str | None = None) -> list[bytes]:
    """The agent's log as lines."""
    [agent] = journal.agents()
    return list(log_lines(journal, agent, session, "laptop", START + 2 * SECOND))


def brought_in(journal: Journal, lines: Sequence[bytes]) -> BroughtIn:
    """What comes of lines."""
    return bring_in(journal, read_header(lines[0]), lines[1:], 2, "import-1", START + 3 * SECOND)


def told(journal: Journal) -> tuple[Any, ...]:
    """All that is shown of the agent, but where it came from."""
    [known] = journal.agents()
    agent = msgspec.structs.replace(known, imported_from=None)
    events = [(e.envelope, e.agent_id, e.strategy, e.anomaly) for e in journal.events(limit=100)]
    return (
        agent,
        journal.turns(agent_id=agent.id),
        journal.commands(agent.id),
        journal.sessions(agent.id),
        journal.waits(only_open=False),
        [(row.at, row.state, row.why) for row in journal.states(agent.id)],
        [event for event in events if event[0].name != "AgentImported"],
    )


def test_everything_is_the_same(any_journal: Journal) -> None:
    """In an empty journal nothing differs but the mark of where it came from."""
    there = origin()
    assert brought_in(any_journal, written(there)) == BroughtIn("agent-1", 7, 0)
    [agent] = any_journal.agents()
    assert agent.imported_from == "laptop"
    assert told(any_journal) == told(there)
    assert list(any_journal.verify()) == []
    assert any_journal.stream(0, 10) == []


def test_bringing_it_in_again_changes_nothing(any_journal: Journal) -> None:
    """And a longer log adds only what is new."""
    there = origin()
    brought_in(any_journal, written(there))
    before = any_journal.counts()
    assert brought_in(any_journal, written(there)) == BroughtIn("agent-1", 0, 7)
    assert any_journal.counts() == before
    store(there, hook("UserPromptSubmit", START + 4 * SECOND, session_id="session-2", prompt="The second"))
    assert brought_in(any_journal, written(there)) == BroughtIn("agent-1", 1, 7)
    assert told(any_journal) == told(there)
    assert list(any_journal.verify()) == []


def test_a_pruned_log_begins_with_its_snapshot(any_journal: Journal) -> None:
    """What is left of it is the same elsewhere too."""
    there = origin()
    there.prune(START + 5)
    lines = written(there)
    assert lines[1].startswith(b'{"snapshot":')
    brought_in(any_journal, lines)
    assert told(any_journal) == told(there)
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
