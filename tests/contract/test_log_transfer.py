"""Every database: an exported log is imported with the same states, commands and turns."""

import json
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from claude_headspace.engine.log_transfer import ImportedLog, import_lines, log_lines, read_header
from claude_headspace.errors import BadRequest
from claude_headspace.kernel.agent import AgentState
from claude_headspace.kernel.correlate import Strategy
from claude_headspace.kernel.effort import acts
from claude_headspace.kernel.envelope import SECOND, Observations, Origin
from claude_headspace.ports import Journal
from claude_headspace.surfaces.read.agent_history import agent_at
from claude_headspace.testing import START, hook
from tests.journals import TemporaryJournal, store


def origin() -> TemporaryJournal:
    """A journal with an agent that has worked in two sessions and asks a question."""
    journal = TemporaryJournal()
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


def export(journal: Journal, session: str | None = None) -> list[bytes]:
    """The exported lines of the agent."""
    [agent] = journal.agents()
    return list(log_lines(journal, agent, session, "laptop", START + 2 * SECOND))


def export_without_end(journal: Journal) -> list[bytes]:
    """The exported lines except the last, which ends the agent as imported."""
    return export(journal)[:-1]


def import_all(journal: Journal, lines: Sequence[bytes]) -> ImportedLog:
    """The result of importing lines."""
    with journal.transaction() as transaction:
        return import_lines(transaction, read_header(lines[0]), lines[1:], 2, "import-1", START + 3 * SECOND)


def contents(journal: Journal) -> tuple[Any, ...]:
    """Everything that is stored about the agent."""
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


def test_an_import_equals_the_original(any_journal: Journal) -> None:
    """In an empty journal nothing differs."""
    source = origin()
    assert import_all(any_journal, export_without_end(source)) == ImportedLog("agent-1", 7, 0)
    assert contents(any_journal) == contents(source)
    assert list(any_journal.verify()) == []
    assert any_journal.stream(0, 10) == []


def test_an_imported_agent_has_ended(any_journal: Journal) -> None:
    """The last line ends it, because its client does not run here, and says where it came from."""
    import_all(any_journal, export(origin()))
    [agent] = any_journal.agents(ended_after=0)
    assert (agent.imported_from, agent.state, agent.end_reason) == ("laptop", AgentState.ENDED, "imported")
    assert agent.ended_at == START + 2 * SECOND
    assert "laptop" in (agent.evidence.why if agent.evidence else "")
    assert any_journal.waits() == []
    assert list(any_journal.verify()) == []
    store(any_journal, hook("UserPromptSubmit", START + 9 * SECOND, session_id="session-2", prompt="Here I am"))
    assert [each.state for each in any_journal.agents()] == [AgentState.WORKING]


def test_an_agent_that_had_ended_keeps_its_reason(any_journal: Journal) -> None:
    """From its own log."""
    source = origin()
    store(source, hook("SessionEnd", START + SECOND + 1, session_id="session-2", reason="logout"))
    [agent] = source.agents(ended_after=0)
    import_all(any_journal, list(log_lines(source, agent, None, "laptop", START + 2 * SECOND)))
    assert [each.end_reason for each in any_journal.agents(ended_after=0)] == ["logout"]


def test_an_agent_that_continues_here_is_not_ended_by_an_old_file(any_journal: Journal) -> None:
    """It has newer events than the file."""
    lines = export(origin())
    import_all(any_journal, lines[:4])
    store(any_journal, hook("UserPromptSubmit", START + 9 * SECOND, session_id="session-2", prompt="Still here"))
    import_all(any_journal, lines)
    [agent] = any_journal.agents()
    assert agent.ended_at is None


def test_time_travel_works_after_partial_imports(any_journal: Journal) -> None:
    """Imported in parts, and again with more: at every time the agent equals the original."""
    source = origin()
    lines = export(source)
    for line in lines[1:-2]:
        import_all(any_journal, [lines[0], line])
    import_all(any_journal, [lines[0], lines[-2], lines[-1]])
    store(source, hook("UserPromptSubmit", START + 2 * SECOND + 5, session_id="session-2", prompt="The second"))
    [agent] = source.agents()
    longer = list(log_lines(source, agent, None, "laptop", START + 4 * SECOND))
    with any_journal.transaction() as transaction:
        import_lines(transaction, read_header(longer[0]), longer[1:], 2, "import-2", START + 5 * SECOND)
    for time in (START + 1, START + 3, START + 5, START + SECOND, START + 2 * SECOND):
        assert agent_at(any_journal, agent, time) == agent_at(source, agent, time)
    assert [each.end_reason for each in any_journal.agents(ended_after=0)] == ["imported"]
    assert list(any_journal.verify()) == []


def test_importing_again_changes_nothing(any_journal: Journal) -> None:
    """And a longer log adds only what is new."""
    source = origin()
    import_all(any_journal, export_without_end(source))
    before = any_journal.counts()
    assert import_all(any_journal, export(source)) == ImportedLog("agent-1", 0, 7)
    assert any_journal.counts() == before
    store(source, hook("UserPromptSubmit", START + 4 * SECOND, session_id="session-2", prompt="The second"))
    assert import_all(any_journal, export_without_end(source)) == ImportedLog("agent-1", 1, 7)
    assert contents(any_journal) == contents(source)
    assert list(any_journal.verify()) == []


def test_a_pruned_log_starts_with_its_snapshot(any_journal: Journal) -> None:
    """The rest of the log is imported unchanged."""
    source = origin()
    source.prune(START + 5)
    lines = export(source)
    assert lines[1].startswith(b'{"snapshot":')
    import_all(any_journal, lines[:-1])
    assert contents(any_journal) == contents(source)
    assert list(any_journal.verify()) == []


def test_a_log_with_only_a_snapshot_is_imported(any_journal: Journal) -> None:
    """Time travel starts at the snapshot, with a new sequence number."""
    source = origin()
    source.prune(START + 2 * SECOND)
    [agent] = source.agents()
    import_all(any_journal, export(source))
    assert [each.end_reason for each in any_journal.agents(ended_after=0)] == ["imported"]
    store(any_journal, hook("UserPromptSubmit", START + 5 * SECOND, session_id="session-2", prompt="Here I am"))
    then = agent_at(any_journal, agent, START + 5 * SECOND)
    assert (then.state, list(any_journal.verify())) == (AgentState.WORKING, [])


def test_efforts_are_not_imported(any_journal: Journal) -> None:
    """Neither acts on an effort nor events that counted for one create an effort here."""
    source = origin()
    [agent] = source.agents()
    act = acts.EffortStarted(
        effort_id="e1", host="laptop", task_dir="/a", project_root="/a", skill="fix", ordinal=1, holder=agent.id
    )
    started = hook("EffortStarted", START + SECOND + 1, origin=Origin.OPERATOR)
    store(source, msgspec.structs.replace(started, client="headspace", payload=msgspec.json.encode(act)))
    lines = export(source)
    assert not any(b"EffortStarted" in line for line in lines)
    stored = source.events(limit=1)[0]
    assert stored.strategy is Strategy.EFFORT
    foreign = json.loads(lines[-2]) | {"id": "act", "name": "EffortStarted", "origin": "operator", "strategy": "effort"}
    foreign["payload"] = json.loads(stored.envelope.payload)
    counted = json.loads(lines[-2]) | {"id": "counted", "context": {"effort_id": "e1"}}
    store(any_journal, msgspec.structs.replace(started, id="own", payload=msgspec.json.encode(act)))
    import_all(any_journal, [*lines[:-1], json.dumps(foreign).encode(), json.dumps(counted).encode(), lines[-1]])
    assert len(any_journal.efforts()) == 1
    assert list(any_journal.verify()) == []


def test_one_session_can_be_exported() -> None:
    """Only its events, and those without a session."""
    names = [json.loads(line)["name"] for line in export(origin(), "session-2")[1:-1]]
    assert names == ["SessionStart", "Mystery", "Stop"]


def test_every_payload_is_imported_unchanged(any_journal: Journal) -> None:
    """Also invalid JSON, and JSON with line breaks."""
    source = origin()
    lines = export(source)
    line = json.loads(lines[2])
    texts = ['{"a":  1,\n "b": "é"}', "{broken", '{"session_id": "session-1", "x": 1.50}']
    doctored = [
        json.dumps({**line, "id": f"payload-{n}", "delivery_id": None, "payload": text}).encode()
        for n, text in enumerate(texts)
    ]
    import_all(any_journal, [lines[0], *doctored])
    stored = {event.envelope.id: event.envelope.payload.decode() for event in any_journal.events(limit=10)}
    assert [stored[f"payload-{n}"] for n in range(3)] == texts
    again = export(any_journal)
    assert [json.loads(each)["id"] for each in again[1:4]] == ["payload-0", "payload-1", "payload-2"]


@pytest.mark.parametrize(
    "line",
    [b"", b"{}", b"[1]", b'{"id": 1}', b'{"snapshot": {}}', b"\xff\xfe", b"[" * 100_000],
)
def test_invalid_lines_are_refused(line: bytes) -> None:
    """With the line number, and nothing is written."""
    journal = TemporaryJournal()
    lines = export(origin())
    with pytest.raises(BadRequest, match="Line 3"):
        import_all(journal, [*lines[:2], line])
    assert journal.counts().events == 0
    with pytest.raises(BadRequest):
        read_header(line)


def test_lines_of_another_agent_are_refused() -> None:
    """A file is the log of one agent."""
    lines = export(origin())
    other = lines[2].replace(b'"agent_id":"agent-1"', b'"agent_id":"agent-2"')
    with pytest.raises(BadRequest, match="not the agent in the header"):
        import_all(TemporaryJournal(), [lines[0], other])


def test_another_version_is_refused() -> None:
    """The error names the supported version."""
    header = export(origin())[0].replace(b'"version":1', b'"version":9')
    with pytest.raises(BadRequest) as refusal:
        read_header(header)
    assert "headspace-log 1" in refusal.value.hint
