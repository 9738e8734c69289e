"""One story of pruning on every journal: the old goes, what is left still follows from what is left."""

from typing import Any

from claude_headspace.kernel.envelope import SECOND, Context, Envelope
from claude_headspace.kernel.words import read_query
from claude_headspace.ports import Journal, Searched
from claude_headspace.testing import START, hook
from tests.journals import store

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
    return len(journal.search(read_query(text), Searched(), 100))


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
