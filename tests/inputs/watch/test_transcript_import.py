"""The past is brought in: quietly, once, and as what it is: over."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from claude_headspace.errors import BadRequest
from claude_headspace.inputs.watch.transcript_import import ImportResult, TranscriptImport
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import Envelope
from tests.inputs.files import HOST, Reading, call, closed, interrupt, prompt, reply, result
from tests.journals import TemporaryJournal, forget_positions

DAY = 86_400


class Past(Reading):
    """A config dir whose transcripts are brought in; nothing is followed."""

    @property
    def history(self) -> TranscriptImport:
        """What brings them in."""
        sources = self.sources
        return TranscriptImport(
            HOST,
            self.clock,
            lambda: (self.config_dir,),
            self.journal,
            self._bring_in,
            sources.envelopes,
            sources.registry.find_client,
        )

    async def _bring_in(self, envelope: Envelope, agent_id: str | None) -> tuple[Agent, bool]:
        outcome = await self.engine.submit(envelope, agent_id, announce=False)
        return outcome.agent, outcome.duplicate


def bring_in(past: Past, *, before: Callable[[], Awaitable[object]] | None = None) -> list[ImportResult]:
    """Bring everything in that is there."""

    async def main() -> list[ImportResult]:
        past.engine.start()
        if before is not None:
            await before()
        done = [
            await past.history.import_file(file.path) for file in await past.history.files() if file.done < file.size
        ]
        await past.engine.stop()
        past.sources.ancestry.close()
        return done

    done = asyncio.run(main())
    assert list(past.journal.verify()) == []
    return done


def turn(text: str, ago: float) -> list[dict[str, Any]]:
    """A turn with a call in it."""
    words, ran = reply(f"I did {text}.", ago - 5), result(f"call-{text}", ago - 3)
    return [prompt(text, ago), call(f"call-{text}", ago - 2), ran, words, closed(ago - 6)]


def test_old_sessions_come_in_as_ended(tmp_path: Path) -> None:
    """With their prompts, words and outcomes, ended when they last did something; nobody is told."""
    past = Past(tmp_path)
    past.session("s1").says(*turn("one", 3 * DAY), *turn("two", 2 * DAY))
    past.session("s2").says(prompt("three", DAY), interrupt(DAY - 10))
    done = bring_in(past)
    assert [(file.events, file.known, len(file.agents)) for file in done] == [(6, 0, 1), (2, 0, 1)]
    assert past.said("s1") == ["one", "I did one.", "two", "I did two."]
    agent = past.agent("s1")
    assert agent is not None
    assert (agent.state, agent.ended_at) == ("ended", agent.last_active_at)
    assert {each.state.value for each in past.agents} == {"ended"}
    outcomes = [command.outcome for each in past.agents for command in past.journal.commands(each.id)]
    assert outcomes == ["completed", "completed", "interrupted"]
    assert past.journal.stream(0, 100) == []


def test_a_second_time_nothing_is_left_to_do(tmp_path: Path) -> None:
    """And what was written since is brought in alone."""
    journal, past = TemporaryJournal(), Past(tmp_path)
    session = past.session("s1")
    session.says(*turn("one", DAY))
    bring_in(Past(tmp_path, journal))
    assert bring_in(Past(tmp_path, journal)) == []
    session.says(*turn("two", 60))
    (done,) = bring_in(Past(tmp_path, journal))
    assert (done.events, done.known) == (3, 0)


def test_what_is_known_is_not_doubled(tmp_path: Path) -> None:
    """A file that was half brought in, or followed before, is read again without harm."""
    journal, past = TemporaryJournal(), Past(tmp_path)
    past.session("s1").says(*turn("one", DAY))
    bring_in(Past(tmp_path, journal))
    forget_positions(journal)
    (done,) = bring_in(Past(tmp_path, journal))
    assert (done.events, done.known) == (0, 3)


def test_sessions_that_overlap_in_one_directory_stay_apart(tmp_path: Path) -> None:
    """Two clients that were there at once are two agents; the directory decides only for hooks."""
    past = Past(tmp_path)
    past.session("s1").says(*turn("one", DAY), *turn("two", DAY - 3_600))
    past.session("s2").says(*turn("three", DAY - 1_800))
    bring_in(past)
    assert len(past.agents) == 2


def test_a_session_that_is_open_goes_on(tmp_path: Path) -> None:
    """A client has it open: it is no history yet."""
    past = Past(tmp_path)
    past.session("s1").says(*turn("one", 60))
    past.registers("s1", "idle", pid=os.getpid())
    bring_in(past, before=past.sources.registry.check)
    agent = past.agent("s1")
    assert agent is not None
    assert (agent.state, agent.pid) == ("idle", os.getpid())


def test_what_hooks_tell_later_finds_the_agent(tmp_path: Path) -> None:
    """A session of the past that is resumed is the same agent, with all that it did."""
    past = Past(tmp_path)
    past.session("s1").says(*turn("one", DAY))
    bring_in(past)

    async def resume() -> Agent:
        again = Past(tmp_path, past.journal)
        again.engine.start()
        agent = await again.hook("SessionStart", "s1", source="resume")
        await again.engine.stop()
        again.sources.ancestry.close()
        return agent

    agent = asyncio.run(resume())
    assert (agent.state, past.said("s1")) == ("idle", ["one", "I did one."])


def test_only_transcripts_below_known_config_dirs_are_brought_in(tmp_path: Path) -> None:
    """What is named is checked, and said clearly."""
    past = Past(tmp_path)
    elsewhere = tmp_path / "other.jsonl"
    elsewhere.write_text("{}")
    with pytest.raises(BadRequest, match="no transcript"):
        asyncio.run(past.history.import_file(str(elsewhere)))
    past.sources.ancestry.close()


def test_subagents_are_no_sessions(tmp_path: Path) -> None:
    """What they did belongs to their agent's turn."""
    past = Past(tmp_path)
    past.subagent("s1", "a1").says(prompt("Look", DAY, isSidechain=True, agentId="a1"))
    assert bring_in(past) == []
