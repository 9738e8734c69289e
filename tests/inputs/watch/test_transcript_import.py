"""Importing transcripts: without notifications, each line once, sessions as ended."""

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
from tests.inputs.watched_config_dir import WatchedConfigDir, call, closed, interrupt, prompt, reply, result
from tests.journals import TemporaryJournal, forget_positions

DAY = 86_400


class Archive(WatchedConfigDir):
    """A config dir whose transcripts are imported; nothing is followed."""

    @property
    def importer(self) -> TranscriptImport:
        """The import of this config dir."""
        sources = self.sources
        return TranscriptImport(
            lambda: (self.config_dir,),
            self.journal,
            self._import,
            sources.envelopes,
            sources.registries.by_client["claude-code"],
        )

    async def _import(self, envelope: Envelope, agent_id: str | None) -> tuple[Agent, bool]:
        outcome = await self.engine.submit(envelope, agent_id, announce=False)
        return outcome.agent, outcome.duplicate


def import_all(archive: Archive, *, before: Callable[[], Awaitable[object]] | None = None) -> list[ImportResult]:
    """Import all transcripts that are not completely imported."""

    async def main() -> list[ImportResult]:
        archive.engine.start()
        if before is not None:
            await before()
        done = [
            await archive.importer.import_file(file.path)
            for file in await archive.importer.list_files()
            if file.done < file.size
        ]
        await archive.engine.stop()
        archive.sources.ancestry.close()
        return done

    done = asyncio.run(main())
    assert list(archive.journal.verify()) == []
    return done


def turn(text: str, ago: float) -> list[dict[str, Any]]:
    """A turn with a tool call."""
    answer, ran = reply(f"I did {text}.", ago - 5), result(f"call-{text}", ago - 3)
    return [prompt(text, ago), call(f"call-{text}", ago - 2), ran, answer, closed(ago - 6)]


def test_old_sessions_are_imported_as_ended(tmp_path: Path) -> None:
    """With prompts, messages and outcomes, ended at their last activity. Nothing is published."""
    archive = Archive(tmp_path)
    archive.session("s1").write(*turn("one", 3 * DAY), *turn("two", 2 * DAY))
    archive.session("s2").write(prompt("three", DAY), interrupt(DAY - 10))
    done = import_all(archive)
    assert [(file.events, file.known, len(file.agents)) for file in done] == [(6, 0, 1), (2, 0, 1)]
    assert archive.turn_texts("s1") == ["one", "I did one.", "two", "I did two."]
    agent = archive.agent("s1")
    assert agent is not None
    assert (agent.state, agent.ended_at) == ("ended", agent.last_active_at)
    assert {each.state.value for each in archive.agents} == {"ended"}
    outcomes = [command.outcome for each in archive.agents for command in archive.journal.commands(each.id)]
    assert outcomes == ["completed", "completed", "interrupted"]
    assert archive.journal.stream(0, 100) == []


def test_a_followed_session_is_listed_as_such(tmp_path: Path) -> None:
    """So that nobody is asked to import it. Sessions from before the first start are not followed."""

    async def main() -> list[bool]:
        async with Archive(tmp_path) as archive:
            await archive.sources.followers["claude-code"].caught_up()
            archive.session("s2").write(prompt("two"))
            await archive.until(lambda: archive.turn_texts("s2") == ["two"])
            await archive.sources.followers["claude-code"].stop()
            return [file.followed for file in await archive.importer.list_files()]

    old = Archive(tmp_path).session("s1")
    old.write(*turn("one", 3 * DAY))
    os.utime(old.path, (1_767_261_600, 1_767_261_600))
    assert asyncio.run(main()) == [False, True]


def test_a_second_import_reads_only_new_lines(tmp_path: Path) -> None:
    """The position in each file is stored."""
    journal, archive = TemporaryJournal(), Archive(tmp_path)
    session = archive.session("s1")
    session.write(*turn("one", DAY))
    import_all(Archive(tmp_path, journal))
    assert import_all(Archive(tmp_path, journal)) == []
    session.write(*turn("two", 60))
    (done,) = import_all(Archive(tmp_path, journal))
    assert (done.events, done.known) == (3, 0)


def test_known_lines_are_not_duplicated(tmp_path: Path) -> None:
    """Reading a file again from its beginning stores nothing twice."""
    journal, archive = TemporaryJournal(), Archive(tmp_path)
    archive.session("s1").write(*turn("one", DAY))
    import_all(Archive(tmp_path, journal))
    forget_positions(journal)
    (done,) = import_all(Archive(tmp_path, journal))
    assert (done.events, done.known) == (0, 3)


def test_overlapping_sessions_in_one_directory_are_two_agents(tmp_path: Path) -> None:
    """Only hooks are correlated by directory."""
    archive = Archive(tmp_path)
    archive.session("s1").write(*turn("one", DAY), *turn("two", DAY - 3_600))
    archive.session("s2").write(*turn("three", DAY - 1_800))
    import_all(archive)
    assert len(archive.agents) == 2


def test_an_open_session_is_not_ended(tmp_path: Path) -> None:
    """A running client has it open."""
    archive = Archive(tmp_path)
    archive.session("s1").write(*turn("one", 60))
    archive.register("s1", "idle", pid=os.getpid())
    import_all(archive, before=archive.sources.registries.check)
    agent = archive.agent("s1")
    assert agent is not None
    assert (agent.state, agent.pid) == ("idle", os.getpid())


def test_hooks_of_a_resumed_session_find_the_imported_agent(tmp_path: Path) -> None:
    """A resumed session is the same agent, with its turns."""
    archive = Archive(tmp_path)
    archive.session("s1").write(*turn("one", DAY))
    import_all(archive)

    async def resume() -> Agent:
        again = Archive(tmp_path, archive.journal)
        again.engine.start()
        agent = await again.hook("SessionStart", "s1", source="resume")
        await again.engine.stop()
        again.sources.ancestry.close()
        return agent

    agent = asyncio.run(resume())
    assert (agent.state, archive.turn_texts("s1")) == ("idle", ["one", "I did one."])


def test_only_transcripts_below_known_config_dirs_are_imported(tmp_path: Path) -> None:
    """Any other path is refused with a reason."""
    archive = Archive(tmp_path)
    elsewhere = tmp_path / "other.jsonl"
    elsewhere.write_text("{}")
    with pytest.raises(BadRequest, match="not a transcript"):
        asyncio.run(archive.importer.import_file(str(elsewhere)))
    archive.sources.ancestry.close()


def test_transcripts_of_subagents_are_not_imported(tmp_path: Path) -> None:
    """Their work belongs to the turn of their agent."""
    archive = Archive(tmp_path)
    archive.subagent("s1", "a1").write(prompt("Look", DAY, isSidechain=True, agentId="a1"))
    assert import_all(archive) == []
