"""One story of pruning on every journal: the old goes, what is left still follows from what is left."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from claude_headspace.engine.log_transfer import bring_in, log_lines, read_header
from claude_headspace.journal.prune import MAX_EVENTS_PER_STEP
from claude_headspace.journal.sql import SqlJournal
from claude_headspace.journal.transaction import SqlTransaction
from claude_headspace.kernel.effort import acts
from claude_headspace.kernel.envelope import SECOND, Context, Envelope, Origin
from claude_headspace.kernel.search_terms import read_query
from claude_headspace.ports import Journal, SearchFilter
from claude_headspace.testing import START, hook
from tests.journals import TemporaryJournal, opened, store

DAY = 86_400 * SECOND
LATER = START + 10 * DAY


def work(at: int, session: str, prompt: str, **more: Any) -> list[Envelope]:
    """A turn of a session."""
    common: dict[str, Any] = {"session_id": session, "cwd": f"/{session}", "prompt_id": f"{session}-{at}", **more}
    call: dict[str, Any] = {"tool_name": "Bash", "tool_use_id": f"t-{at}", "tool_input": {"command": f"make {prompt}"}}
    return [
        hook("UserPromptSubmit", at, prompt=prompt, **common),
        hook("PreToolUse", at + 1, **call, **common),
        hook("PostToolUse", at + 2, tool_response="ok", **call, **common),
        hook("Stop", at + 3, last_assistant_message=f"Did {prompt}. Shall I go on?", **common),
    ]


def grown(journal: Journal) -> None:
    """One agent that ended long ago, one that goes on, one that rests since, one that is new."""
    store(journal, hook("SessionStart", START, session_id="gone", cwd="/gone"), *work(START + 1, "gone", "oldest"))
    store(journal, hook("SessionEnd", START + 9, session_id="gone", cwd="/gone", reason="other"))
    for session in ("lasting", "resting"):
        pane = Context(tmux_pane=f"%{session}")
        store(journal, hook("SessionStart", START + 20, session_id=session, cwd=f"/{session}", context=pane))
        store(journal, *work(START + 21, session, "early"))
    store(journal, hook("UserPromptSubmit", START + 60, session_id="lasting", cwd="/lasting", prompt="Yes, unfinished"))
    store(journal, hook("Stop", LATER, session_id="lasting", cwd="/lasting", last_assistant_message="Finished at last"))
    store(journal, *work(LATER + 1, "lasting", "late"), *work(LATER + 9, "new", "fresh"))


def found(journal: Journal, text: str) -> int:
    """How many documents a query finds."""
    return len(journal.search(read_query(text), SearchFilter(), 100))


def test_the_old_goes_and_the_rest_is_whole(any_journal: Journal) -> None:
    """Agents that go on are as they were, verify and rebuild agree, and a second time there is nothing to do."""
    journal = any_journal
    grown(journal)
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


def test_what_is_gone_is_found_no_more(any_journal: Journal) -> None:
    """Search forgets with the log, and still knows the rest."""
    journal = any_journal
    grown(journal)
    assert found(journal, "oldest")
    journal.prune(LATER - DAY)
    assert [found(journal, word) for word in ("oldest", "early", "unfinished")] == [0, 0, 0]
    assert [bool(found(journal, word)) for word in ("finished at", "late", "fresh")] == [True, True, True]


def test_the_stream_says_where_it_begins(any_journal: Journal) -> None:
    """Older announcements are gone: a reader that wants them can be told so."""
    journal = any_journal
    grown(journal)
    oldest, newest = journal.stream_bounds()
    pruned = journal.prune(LATER - DAY)
    assert pruned.announcements > 0
    assert journal.stream_bounds()[0] > pruned.up_to > oldest
    assert journal.stream_bounds()[1] == newest


def test_life_goes_on_after_pruning(any_journal: Journal) -> None:
    """The next event finds its agent, changes rows from before, and everything still follows from the log."""
    journal = any_journal
    grown(journal)
    journal.prune(LATER - DAY)
    resting: dict[str, Any] = {"session_id": "resting", "cwd": "/resting"}
    store(journal, hook("UserPromptSubmit", LATER + 100, prompt="Go on", **resting))
    store(journal, *work(LATER + 200, "gone", "again"))
    names = {turn.text for turn in journal.turns(limit=100)}
    assert {"Go on", "again"} <= names
    assert list(journal.verify()) == []
    pruned = journal.prune(LATER + 150)
    assert pruned.events > 0
    assert list(journal.verify()) == []


def test_everything_may_go(any_journal: Journal) -> None:
    """A journal pruned up to now holds only who still lives, and takes new events."""
    journal = any_journal
    grown(journal)
    journal.prune(LATER + DAY)
    assert journal.events() == []
    assert len(journal.agents()) == 3
    assert list(journal.verify()) == []
    store(journal, *work(LATER + 2 * DAY, "lasting", "more"))
    assert list(journal.verify()) == []


# --- efforts ----------------------------------------------------------------------------------------------------------


def act(name: str, at: int, effort_id: str, **said: Any) -> Envelope:
    """Somebody does something to an effort."""
    payload = msgspec.json.encode(acts.ACTS[name](effort_id=effort_id, **said))
    told = hook(name, at, origin=Origin.OPERATOR)
    return msgspec.structs.replace(told, client="headspace", payload=payload)


def began(at: int, effort_id: str) -> Envelope:
    """An effort that begins in /lasting."""
    place = {"host": "laptop", "task_dir": "/lasting", "project_root": "/lasting"}
    return act("EffortStarted", at, effort_id, **place, skill="fix", ordinal=0)


def striven(journal: Journal) -> None:
    """An effort that was finished long ago, and one that goes on, each with an agent at work."""
    store(journal, began(START, "over"))
    store(journal, *work(START + 1, "lasting", "first"), act("EffortFinished", START + 9, "over", text="Done"))
    store(journal, began(START + 10, "going"), *work(START + 11, "lasting", "second"))
    store(journal, act("EffortLogged", START + 20, "going", text="Half of it"))
    store(journal, *work(LATER, "lasting", "third"))


def test_efforts_do_not_hold_the_log(any_journal: Journal) -> None:
    """What is old goes around them; one that was finished goes too, one that goes on is as it was, with its rows."""
    journal = any_journal
    striven(journal)
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


def test_an_effort_goes_on_after_pruning(any_journal: Journal) -> None:
    """It counts, it is finished and it goes; and the number of the next one is not given twice."""
    journal = any_journal
    striven(journal)
    journal.prune(LATER - DAY)
    store(journal, act("EffortLogged", LATER + 20, "going", text="All of it"), *work(LATER + 21, "lasting", "fourth"))
    store(journal, act("EffortFinished", LATER + 30, "going"))
    assert [message.text for message in journal.effort_messages("going")][:2] == ["Half of it", "All of it"]
    assert list(journal.verify()) == []
    assert journal.prune(LATER + 31).efforts == 1
    assert journal.efforts(only_active=False) == []
    assert list(journal.verify()) == []
    store(journal, began(LATER + DAY, "next"))
    assert [effort.ordinal for effort in journal.efforts()] == [3]
    assert list(journal.verify()) == []


# --- logs that were brought in ----------------------------------------------------------------------------------------


def test_an_old_log_behind_newer_events_goes(any_journal: Journal) -> None:
    """Every agent has its own cut: what was brought in counts by when it was received first."""
    journal, elsewhere = any_journal, TemporaryJournal()
    store(elsewhere, hook("SessionStart", session_id="old", cwd="/old"), *work(START + 1, "old", "brought"))
    [agent] = elsewhere.agents()
    agent_id = "agent-77"
    lines = [
        line.replace(b'"agent-1"', f'"{agent_id}"'.encode())
        for line in log_lines(elsewhere, agent, None, "laptop", START + SECOND)
    ]
    store(journal, *work(LATER, "new", "fresh"))
    bring_in(journal, read_header(lines[0]), lines[1:], 2, "import-1", LATER + SECOND)
    assert journal.prune(LATER - DAY).events == 5
    assert found(journal, "brought") == 0
    assert found(journal, "fresh") > 0
    assert list(journal.verify()) == []


def test_one_session_that_two_agents_had_stays_with_the_last(any_journal: Journal) -> None:
    """A snapshot counts where it stood among the events of others, not before all of them."""
    journal, elsewhere = any_journal, TemporaryJournal()
    store(elsewhere, hook("SessionStart", session_id="same", cwd="/same"), *work(START + 1, "same", "brought"))
    [agent] = elsewhere.agents()
    lines = [
        line.replace(b'"agent-1"', b'"agent-77"')
        for line in log_lines(elsewhere, agent, None, "laptop", START + SECOND)
    ]
    store(journal, *work(LATER, "same", "fresh"))
    bring_in(journal, read_header(lines[0]), lines[1:], 2, "import-1", LATER + SECOND)
    owner = journal.agent_by_session("same")
    journal.prune(LATER - DAY)
    assert list(journal.verify()) == []
    journal.rebuild()
    assert (journal.agent_by_session("same") or agent).id == (owner or agent).id == "agent-77"


# --- in steps ---------------------------------------------------------------------------------------------------------


class Watched(SqlJournal):
    """A journal that tells how many events there were before each transaction, and that all of them were sound."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.left: list[int] = []

    @contextmanager
    def transaction(self) -> Iterator[SqlTransaction]:
        """One batch."""
        self.left.append(self.counts().events)
        assert list(self.verify()) == []
        with super().transaction() as batch:
            yield batch


def test_a_long_agent_is_pruned_in_steps(tmp_path: Path) -> None:
    """No transaction takes more than a few events, and after each of them everything follows from the log."""
    address = f"sqlite:///{tmp_path / 'journal.db'}"
    filled = opened(SqlJournal(address))
    store(filled, *(each for turn in range(150) for each in work(START + 10 * turn, "lasting", f"step {turn}")))
    store(filled, *work(LATER, "lasting", "late"))
    filled.close()
    journal = Watched(address)
    assert journal.prune(LATER - DAY).events == 600
    steps = [before - after for before, after in pairwise([*journal.left, journal.counts().events])]
    assert max(steps) == MAX_EVENTS_PER_STEP < 600
    assert list(journal.verify()) == []
    journal.close()
