"""Every database: old events are removed, and the remaining projections follow from the remaining log."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from claude_headspace.engine.log_transfer import import_lines, log_lines, read_header
from claude_headspace.journal.prune import MAX_EVENTS_PER_STEP
from claude_headspace.journal.sql import SqlJournal
from claude_headspace.journal.transaction import SqlTransaction
from claude_headspace.kernel.effort import acts
from claude_headspace.kernel.envelope import SECOND, Envelope, Observations, Origin
from claude_headspace.kernel.search_terms import parse_query
from claude_headspace.ports import Journal, SearchFilter
from claude_headspace.testing import START, hook
from tests.journals import TemporaryJournal, opened, store

DAY = 86_400 * SECOND
LATER = START + 10 * DAY


def turn(at: int, session: str, prompt: str, **more: Any) -> list[Envelope]:
    """The events of one turn of a session."""
    common: dict[str, Any] = {"session_id": session, "cwd": f"/{session}", "prompt_id": f"{session}-{at}", **more}
    call: dict[str, Any] = {"tool_name": "Bash", "tool_use_id": f"t-{at}", "tool_input": {"command": f"make {prompt}"}}
    return [
        hook("UserPromptSubmit", at, prompt=prompt, **common),
        hook("PreToolUse", at + 1, **call, **common),
        hook("PostToolUse", at + 2, tool_response="ok", **call, **common),
        hook("Stop", at + 3, last_assistant_message=f"Did {prompt}. Shall I go on?", **common),
    ]


def fill(journal: Journal) -> None:
    """One agent that ended long ago, one that continues, one that is idle since, and one that is new."""
    store(journal, hook("SessionStart", START, session_id="gone", cwd="/gone"), *turn(START + 1, "gone", "oldest"))
    store(journal, hook("SessionEnd", START + 9, session_id="gone", cwd="/gone", reason="other"))
    for session in ("lasting", "resting"):
        pane = Observations(tmux_pane=f"%{session}")
        store(journal, hook("SessionStart", START + 20, session_id=session, cwd=f"/{session}", observations=pane))
        store(journal, *turn(START + 21, session, "early"))
    store(journal, hook("UserPromptSubmit", START + 60, session_id="lasting", cwd="/lasting", prompt="Yes, unfinished"))
    store(journal, hook("Stop", LATER, session_id="lasting", cwd="/lasting", last_assistant_message="Finished at last"))
    store(journal, *turn(LATER + 1, "lasting", "late"), *turn(LATER + 9, "new", "fresh"))


def count_matches(journal: Journal, text: str) -> int:
    """How many documents match a query."""
    return len(journal.search(parse_query(text), SearchFilter(), 100))


def test_old_events_are_removed_and_the_rest_is_unchanged(any_journal: Journal) -> None:
    """Other agents stay as they were, `verify` finds no difference, and a second run removes nothing."""
    journal = any_journal
    fill(journal)
    before = {agent.id: agent for agent in journal.agents()}
    open_waits = journal.waits()
    planned = journal.prune(LATER - DAY, dry_run=True)
    assert list(journal.verify()) == []
    pruned = journal.prune(LATER - DAY)
    assert pruned == planned
    assert (pruned.agents, pruned.events) == (1, 17)
    assert {agent.id: agent for agent in journal.agents(ended_after=0)} == before
    assert journal.waits() == open_waits
    assert list(journal.verify()) == []
    journal.rebuild()
    assert list(journal.verify()) == []
    assert {agent.id: agent for agent in journal.agents(ended_after=0)} == before
    assert journal.prune(LATER - DAY).events == 0


def test_removed_events_are_not_found(any_journal: Journal) -> None:
    """Search finds only the rest."""
    journal = any_journal
    fill(journal)
    assert count_matches(journal, "oldest")
    journal.prune(LATER - DAY)
    assert [count_matches(journal, word) for word in ("oldest", "early", "unfinished")] == [0, 0, 0]
    assert [bool(count_matches(journal, word)) for word in ("finished at", "late", "fresh")] == [True, True, True]


def test_the_stream_starts_later(any_journal: Journal) -> None:
    """Its bounds show that older messages are gone."""
    journal = any_journal
    fill(journal)
    oldest, newest = journal.stream_bounds()
    pruned = journal.prune(LATER - DAY)
    assert pruned.announcements > 0
    assert journal.stream_bounds()[0] > pruned.up_to > oldest
    assert journal.stream_bounds()[1] == newest


def test_pruned_agents_continue(any_journal: Journal) -> None:
    """The next event finds its agent and changes older rows; `verify` finds no difference."""
    journal = any_journal
    fill(journal)
    journal.prune(LATER - DAY)
    resting: dict[str, Any] = {"session_id": "resting", "cwd": "/resting"}
    store(journal, hook("UserPromptSubmit", LATER + 100, prompt="Go on", **resting))
    store(journal, *turn(LATER + 200, "gone", "again"))
    names = {turn.text for turn in journal.turns(limit=100)}
    assert {"Go on", "again"} <= names
    assert list(journal.verify()) == []
    pruned = journal.prune(LATER + 150)
    assert pruned.events > 0
    assert list(journal.verify()) == []


def test_all_events_can_be_removed(any_journal: Journal) -> None:
    """Agents that have not ended stay, and accept new events."""
    journal = any_journal
    fill(journal)
    journal.prune(LATER + DAY)
    assert journal.events() == []
    assert len(journal.agents()) == 3
    assert list(journal.verify()) == []
    store(journal, *turn(LATER + 2 * DAY, "lasting", "more"))
    assert list(journal.verify()) == []


# --- efforts ----------------------------------------------------------------------------------------------------------


def act(name: str, at: int, effort_id: str, **said: Any) -> Envelope:
    """The envelope of an act on an effort."""
    payload = msgspec.json.encode(acts.ACTS[name](effort_id=effort_id, **said))
    envelope = hook(name, at, origin=Origin.OPERATOR)
    return msgspec.structs.replace(envelope, client="headspace", payload=payload)


def effort_started(at: int, effort_id: str) -> Envelope:
    """The envelope that starts an effort in /lasting."""
    place = {"host": "laptop", "task_dir": "/lasting", "project_root": "/lasting"}
    return act("EffortStarted", at, effort_id, **place, skill="fix", ordinal=0)


def fill_with_efforts(journal: Journal) -> None:
    """An effort that finished long ago, and one that continues, each with a working agent."""
    store(journal, effort_started(START, "over"))
    store(journal, *turn(START + 1, "lasting", "first"), act("EffortFinished", START + 9, "over", text="Done"))
    store(journal, effort_started(START + 10, "going"), *turn(START + 11, "lasting", "second"))
    store(journal, act("EffortLogged", START + 20, "going", text="Half of it"))
    store(journal, *turn(LATER, "lasting", "third"))


def test_efforts_do_not_prevent_pruning(any_journal: Journal) -> None:
    """A finished effort is removed; an active one keeps its rows."""
    journal = any_journal
    fill_with_efforts(journal)
    [going] = journal.efforts()
    windows, messages = journal.effort_windows("going"), journal.effort_messages("going")
    assert windows
    assert messages
    planned = journal.prune(LATER - DAY, dry_run=True)
    assert list(journal.verify()) == []
    assert journal.prune(LATER - DAY) == planned
    assert (planned.events, planned.agents, planned.efforts) == (12, 0, 1)
    assert journal.efforts(only_active=False) == [going]
    assert (journal.effort_windows("going"), journal.effort_messages("going")) == (windows, messages)
    assert (journal.effort("over"), journal.effort_windows("over"), journal.effort_messages("over")) == (None, [], [])
    for _ in range(2):
        assert list(journal.verify()) == []
        journal.rebuild()
    assert journal.efforts(only_active=False) == [going]


def test_an_effort_continues_after_pruning(any_journal: Journal) -> None:
    """It counts events, finishes and is removed; its number is not used again."""
    journal = any_journal
    fill_with_efforts(journal)
    journal.prune(LATER - DAY)
    store(journal, act("EffortLogged", LATER + 20, "going", text="All of it"), *turn(LATER + 21, "lasting", "fourth"))
    store(journal, act("EffortFinished", LATER + 30, "going"))
    assert [message.text for message in journal.effort_messages("going")][:2] == ["Half of it", "All of it"]
    assert list(journal.verify()) == []
    assert journal.prune(LATER + 31).efforts == 1
    assert journal.efforts(only_active=False) == []
    assert list(journal.verify()) == []
    store(journal, effort_started(LATER + DAY, "next"))
    assert [effort.ordinal for effort in journal.efforts()] == [3]
    assert list(journal.verify()) == []


# --- imported logs ----------------------------------------------------------------------------------------------------


def test_an_imported_old_log_is_removed(any_journal: Journal) -> None:
    """Each agent has its own cut, by the time at which events were first received."""
    journal, elsewhere = any_journal, TemporaryJournal()
    store(elsewhere, hook("SessionStart", session_id="old", cwd="/old"), *turn(START + 1, "old", "brought"))
    [agent] = elsewhere.agents()
    agent_id = "agent-77"
    lines = [
        line.replace(b'"agent-1"', f'"{agent_id}"'.encode())
        for line in log_lines(elsewhere, agent, None, "laptop", START + SECOND)
    ]
    store(journal, *turn(LATER, "new", "fresh"))
    with journal.transaction() as transaction:
        import_lines(transaction, read_header(lines[0]), lines[1:], 2, "import-1", LATER + SECOND)
    assert journal.prune(LATER - DAY).events == 5
    assert count_matches(journal, "brought") == 0
    assert count_matches(journal, "fresh") > 0
    assert list(journal.verify()) == []


def test_a_session_stays_with_its_last_agent(any_journal: Journal) -> None:
    """A snapshot applies at its place in the log, not before all events."""
    journal, elsewhere = any_journal, TemporaryJournal()
    store(elsewhere, hook("SessionStart", session_id="same", cwd="/same"), *turn(START + 1, "same", "brought"))
    [agent] = elsewhere.agents()
    lines = [
        line.replace(b'"agent-1"', b'"agent-77"')
        for line in log_lines(elsewhere, agent, None, "laptop", START + SECOND)
    ]
    store(journal, *turn(LATER, "same", "fresh"))
    with journal.transaction() as transaction:
        import_lines(transaction, read_header(lines[0]), lines[1:], 2, "import-1", LATER + SECOND)
    owner = journal.agent_by_session("same")
    journal.prune(LATER - DAY)
    assert list(journal.verify()) == []
    journal.rebuild()
    assert (journal.agent_by_session("same") or agent).id == (owner or agent).id == "agent-77"


# --- in steps ---------------------------------------------------------------------------------------------------------


class VerifyingJournal(SqlJournal):
    """A journal that verifies itself before each transaction and records the number of events."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.event_counts: list[int] = []

    @contextmanager
    def transaction(self) -> Iterator[SqlTransaction]:
        """One batch."""
        self.event_counts.append(self.counts().events)
        assert list(self.verify()) == []
        with super().transaction() as batch:
            yield batch


def test_a_long_log_is_pruned_in_steps(tmp_path: Path) -> None:
    """Each transaction removes few events and leaves a journal that passes `verify`."""
    address = f"sqlite:///{tmp_path / 'journal.db'}"
    filled = opened(SqlJournal(address))
    store(filled, *(each for n in range(150) for each in turn(START + 10 * n, "lasting", f"step {n}")))
    store(filled, *turn(LATER, "lasting", "late"))
    filled.close()
    journal = VerifyingJournal(address)
    assert journal.prune(LATER - DAY).events == 600
    steps = [before - after for before, after in pairwise([*journal.event_counts, journal.counts().events])]
    assert max(steps) == MAX_EVENTS_PER_STEP < 600
    assert list(journal.verify()) == []
    journal.close()
