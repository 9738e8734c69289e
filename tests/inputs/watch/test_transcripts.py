"""Transcripts are followed line by line: what is written, when it is whole, once, and nothing from anywhere else."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from claude_headspace.clients.claude_code.locations import find_transcripts, is_transcript
from claude_headspace.inputs.watch.transcripts import ABSENT_FROM_REGISTRY, RECENTLY_WRITTEN
from claude_headspace.kernel.envelope import SECOND
from tests.inputs.files import Reading, call, closed, interrupt, prompt, reply, result, wall_clock
from tests.journals import TemporaryJournal, forget_positions

Play = Callable[[Reading], Awaitable[None]]


def read(home: Path, play: Play, journal: TemporaryJournal | None = None, *, ahead: float = 0.0) -> Reading:
    """Play with a running reader, and check that everything that is shown follows from the log."""

    async def main() -> Reading:
        async with Reading(home, journal, ahead=ahead) as reading:
            await play(reading)
        return reading

    done = asyncio.run(main())
    assert list(done.journal.verify()) == []
    return done


def made_old(path: Path, seconds: float = 7_200) -> None:
    """Let a file have been written long ago."""
    then = wall_clock() / SECOND - seconds
    os.utime(path, (then, then))


# --- following --------------------------------------------------------------------------------------------------------


def test_a_session_without_hooks_is_seen(tmp_path: Path) -> None:
    """Prompt, words and end of the turn are told by the transcript alone, soon after they reach the disk."""

    async def play(reading: Reading) -> None:
        session = reading.session("s1")
        session.says(prompt("Fix it"))
        await reading.until(lambda: reading.state("s1") == "working")
        session.says(reply("I fixed it."), closed())
        assert await reading.until(lambda: reading.state("s1") == "idle") < 5

    reading = read(tmp_path, play)
    assert reading.said("s1") == ["Fix it", "I fixed it."]
    agent = reading.agent("s1")
    assert agent is not None
    assert agent.evidence is not None
    assert (agent.evidence.source, agent.evidence.confidence) == ("transcript", "medium")
    assert (agent.cwd, agent.project.root, agent.tokens) == ("/home/dev/app", "/home/dev/app", 1_000)


def test_an_interrupt_is_seen_within_a_second(tmp_path: Path) -> None:
    """Once its line is on the disk. No hook tells it."""

    async def play(reading: Reading) -> None:
        await reading.hook("UserPromptSubmit", "s1", prompt="Fix it", ago=1)
        session = reading.session("s1")
        session.says(prompt("Fix it", ago=1))
        await reading.until(lambda: reading.stored("transcript"))
        session.says(interrupt())
        assert await reading.until(lambda: reading.state("s1") == "idle") < 1

    read(tmp_path, play)


def test_a_line_is_told_when_it_is_whole(tmp_path: Path) -> None:
    """Half of it, even in the middle of a character, waits for the rest."""

    async def play(reading: Reading) -> None:
        session = reading.session("s1")
        raw = session.encoded(prompt("Grüße an alle"))
        cut = raw.index(b"\\u00fc") + 3
        session.appends(raw[:cut])
        await reading.settled()
        assert reading.agents == []
        session.appends(raw[cut:])
        await reading.until(lambda: reading.said("s1") == ["Grüße an alle"])

    read(tmp_path, play)


def test_lines_are_told_in_the_order_of_their_times(tmp_path: Path) -> None:
    """The client writes several at once, not always in order."""

    async def play(reading: Reading) -> None:
        reading.session("s1").says(closed(ago=1), reply("I fixed it.", ago=2), prompt("Fix it", ago=3))
        await reading.until(lambda: reading.state("s1") == "idle")

    assert read(tmp_path, play).said("s1") == ["Fix it", "I fixed it."]


def test_what_says_nothing_is_not_kept(tmp_path: Path) -> None:
    """The client's own notes, broken lines and lines without a session leave no trace."""

    async def play(reading: Reading) -> None:
        session = reading.session("s1")
        session.says({"type": "file-history-snapshot"}, {"type": "mode", "mode": "normal"})
        session.appends(b'\n{"type":"user"\n\xff\xfe\n[1,2]\n"text"\n' + b"x" * 100_000 + b"\n")
        session.says(prompt("Fix it"))
        await reading.until(lambda: reading.stored("transcript"))

    assert len(read(tmp_path, play).stored("transcript", "hook", "registry")) == 1


def test_a_line_from_the_future_is_from_now(tmp_path: Path) -> None:
    """A wrong clock must not outlive everything that comes after it."""

    async def play(reading: Reading) -> None:
        reading.session("s1").says(prompt("Fix it", ago=-86_400))
        await reading.until(lambda: reading.stored("transcript"))

    (event,) = read(tmp_path, play).stored("transcript")
    assert event.envelope.fired_at <= event.envelope.received_at


def test_many_sessions_are_followed_at_once(tmp_path: Path) -> None:
    """Each line goes to its own agent."""
    names = [f"s{number}" for number in range(150)]

    async def play(reading: Reading) -> None:
        sessions = [reading.session(name, f"-project-{name}") for name in names]
        for session in sessions:
            session.says(prompt(f"Fix {session.session_id}"))
        await reading.until(lambda: len(reading.agents) == len(names))
        for session in sessions:
            session.says(reply("I fixed it."), closed())
        await reading.until(lambda: all(reading.state(name) == "idle" for name in names))

    reading = read(tmp_path, play)
    assert all(reading.said(name) == [f"Fix {name}", "I fixed it."] for name in names)


def test_a_file_larger_than_a_piece_is_read_to_its_end(tmp_path: Path) -> None:
    """In pieces, one after the other."""

    async def play(reading: Reading) -> None:
        session = reading.session("s1")
        session.says(prompt("Fix it", ago=60))
        session.says(*({"type": "attachment", "attachment": {"type": "date", "date": "x" * 900}} for _ in range(3_000)))
        session.says(reply("I fixed it.", ago=1), closed())
        await reading.until(lambda: reading.state("s1") == "idle")

    assert read(tmp_path, play).said("s1") == ["Fix it", "I fixed it."]


# --- once -------------------------------------------------------------------------------------------------------------


def test_a_file_that_became_shorter_is_read_anew(tmp_path: Path) -> None:
    """What is known already is recognised by its id."""

    async def play(reading: Reading) -> None:
        session = reading.session("s1")
        first = session.encoded(prompt("One", ago=9))
        session.appends(first + session.encoded(reply("I did one.", ago=8), closed(ago=7)))
        await reading.until(lambda: reading.state("s1") == "idle")
        session.path.write_bytes(first + session.encoded(interrupt(ago=6)))
        await reading.until(lambda: len(reading.stored("transcript")) == 4)

    assert read(tmp_path, play).said("s1") == ["One", "I did one."]


def test_a_file_that_was_replaced_is_read_anew(tmp_path: Path) -> None:
    """Another file of the same name, longer than the one before, has nothing but its new lines to tell."""

    async def play(reading: Reading) -> None:
        session = reading.session("s1")
        first = session.encoded(prompt("One", ago=9))
        session.appends(first)
        await reading.until(lambda: reading.said("s1") == ["One"])
        other = session.path.with_suffix(".new")
        other.write_bytes(
            session.encoded({"type": "mode", "mode": "x" * 5_000}) + first + session.encoded(reply("Two"))
        )
        other.replace(session.path)
        await reading.until(lambda: reading.said("s1") == ["One", "Two"])

    assert len(read(tmp_path, play).stored("transcript")) == 2


def test_nothing_is_told_twice_after_a_restart(tmp_path: Path) -> None:
    """How far each file was read is remembered, and what was written meanwhile is told."""
    journal = TemporaryJournal()

    async def before(reading: Reading) -> None:
        reading.session("s1").says(prompt("One", ago=9), reply("I did one.", ago=8), closed(ago=7))
        await reading.until(lambda: reading.state("s1") == "idle")

    async def after(reading: Reading) -> None:
        await reading.until(lambda: reading.state("s1") == "working")
        await reading.settled()

    read(tmp_path, before, journal)
    Reading(tmp_path).session("s1").says(prompt("Two", ago=1))
    reading = read(tmp_path, after, journal)
    assert (reading.said("s1"), len(reading.stored("transcript"))) == (["One", "I did one.", "Two"], 4)


def test_a_crash_before_the_position_was_kept_does_no_harm(tmp_path: Path) -> None:
    """Lines that are read again are known already."""
    journal = TemporaryJournal()

    async def before(reading: Reading) -> None:
        reading.session("s1").says(prompt("One", ago=9))
        await reading.until(lambda: reading.said("s1") == ["One"])

    async def after(reading: Reading) -> None:
        await reading.until(lambda: reading.said("s1") == ["One", "Two"])

    read(tmp_path, before, journal)
    forget_positions(journal)
    Reading(tmp_path).session("s1").says(reply("Two"))
    assert len(read(tmp_path, after, journal).stored("transcript")) == 2


def test_a_copy_of_a_line_in_another_file_is_the_same_line(tmp_path: Path) -> None:
    """A forked session begins with the lines of the one before: they were said once."""

    async def play(reading: Reading) -> None:
        session, fork = reading.session("s1"), reading.session("s2")
        said = prompt("One", ago=9)
        session.says(said)
        await reading.until(lambda: reading.said("s1") == ["One"])
        fork.says(said, prompt("Two"))
        await reading.until(lambda: reading.said("s2") == ["Two"])

    assert read(tmp_path, play).said("s1") == ["One"]


# --- hooks and transcript ---------------------------------------------------------------------------------------------


def test_where_hooks_speak_only_news_is_kept(tmp_path: Path) -> None:
    """The course of calls is known; prompts and words get their exact times, and are not doubled."""

    async def play(reading: Reading) -> None:
        await reading.hook("SessionStart", "s1", model="claude-x", ago=5)
        await reading.hook("UserPromptSubmit", "s1", prompt="Fix it", ago=4)
        await reading.hook("PreToolUse", "s1", tool_name="Bash", tool_use_id="t1", tool_input={"command": "ls"}, ago=3)
        await reading.hook("PostToolUse", "s1", tool_name="Bash", tool_use_id="t1", tool_input={"command": "ls"}, ago=2)
        await reading.hook("Stop", "s1", last_assistant_message="I fixed it.", ago=0.9)
        session = reading.session("s1")
        session.says(prompt("Fix it", ago=4), call("t1", ago=3), result("t1", ago=2), reply("I fixed it.", ago=1))
        session.says(closed(ago=0.8))
        await reading.until(lambda: len(reading.stored("transcript")) == 2)
        await reading.settled()

    reading = read(tmp_path, play)
    assert len(reading.stored("transcript")) == 2
    agent = reading.agent("s1")
    assert agent is not None
    turns = reading.journal.turns(agent_id=agent.id)
    assert [(turn.text, turn.timestamp_source) for turn in turns] == [("Fix it", "jsonl"), ("I fixed it.", "jsonl")]


def test_a_hook_that_was_lost_is_made_good(tmp_path: Path) -> None:
    """The end of the turn is in the transcript."""

    async def play(reading: Reading) -> None:
        await reading.hook("UserPromptSubmit", "s1", prompt="Fix it", ago=4)
        reading.session("s1").says(prompt("Fix it", ago=4), reply("Shall I delete it?", ago=1), closed(ago=0.9))
        await reading.until(lambda: reading.state("s1") == "waiting")

    reading = read(tmp_path, play)
    assert [(wait.kind, wait.asked_in_text) for wait in reading.journal.waits()] == [("question", True)]


def test_a_context_that_fills_is_told_although_hooks_tell_the_rest(tmp_path: Path) -> None:
    """By a hundredth of the window at a time."""

    async def play(reading: Reading) -> None:
        await reading.hook("UserPromptSubmit", "s1", prompt="Fix it", ago=9)
        session = reading.session("s1")
        session.says(prompt("Fix it", ago=9))
        for number, tokens in enumerate((10_000, 10_100, 10_200, 90_000)):
            name, ago = f"t{number}", 8 - number
            told: Any = {"tool_name": "Bash", "tool_use_id": name, "tool_input": {"command": "ls"}}
            await reading.hook("PreToolUse", "s1", **told, ago=ago)
            await reading.hook("PostToolUse", "s1", **told, ago=ago - 0.1)
            session.says(call(name, ago=ago, tokens=tokens), result(name, ago=ago - 0.1))
        await reading.until(lambda: (agent := reading.agent("s1")) is not None and agent.context_percent == 45)

    assert len(read(tmp_path, play).stored("transcript")) == 3


def test_what_was_written_while_nobody_was_there_is_told_with_the_hooks_of_that_time(tmp_path: Path) -> None:
    """A long session, whose hooks waited in the spool, comes to the same turns as with the daemon up."""
    rounds = 30

    async def play() -> Reading:
        reading = Reading(tmp_path)
        session = reading.session("s1")
        reading.engine.start()
        await reading.hook("SessionStart", "s1", ago=1_000)
        for number in range(rounds):
            ago = 900 - 20 * number
            session.says(
                prompt(f"Do {number}", ago), {**reply("Let me look.", ago - 2), "message": _words("Let me look.")}
            )
            session.says(reply(f"I did {number}.", ago - 8), closed(ago - 8.2))
        await reading.sources.read_backlog()
        for number in range(rounds):
            ago = 900 - 20 * number
            for name, body, later in (
                ("UserPromptSubmit", {"prompt": f"Do {number}"}, 0.05),
                ("Stop", {"last_assistant_message": f"I did {number}.", "background_tasks": []}, 8.1),
            ):
                await reading.sources.transcripts.submit_backlog_until(wall_clock() - round((ago - later) * SECOND))
                await reading.hook(name, "s1", ago=ago - later, **body)
        reading.sources.start()
        await reading.sources.transcripts.caught_up()
        await reading.settled()
        await reading.sources.stop()
        await reading.engine.stop()
        return reading

    reading = asyncio.run(play())
    expected = [text for n in range(rounds) for text in (f"Do {n}", "Let me look.", f"I did {n}.")]
    assert reading.said("s1") == expected
    agent = reading.agent("s1")
    assert agent is not None
    outcomes = [command.outcome for command in reading.journal.commands(agent.id, 1_000)]
    assert (outcomes, agent.state) == (["completed"] * rounds, "idle")


def _words(text: str) -> dict[str, object]:
    return {
        "role": "assistant",
        "model": "claude-x",
        "stop_reason": "tool_use",
        "content": [{"type": "text", "text": text}],
    }


# --- history and open sessions ----------------------------------------------------------------------------------------


def test_what_is_over_when_headspace_comes_is_left_to_the_import(tmp_path: Path) -> None:
    """At the first look old transcripts are history; when such a session is taken up again, the new lines are told."""
    session = Reading(tmp_path).session("s1")
    session.says(prompt("Long ago", ago=7_200), reply("I did it.", ago=7_190))
    made_old(session.path)

    async def play(reading: Reading) -> None:
        await reading.settled()
        assert reading.agents == []
        session.says(prompt("And now"))
        await reading.until(lambda: reading.said("s1") == ["And now"])

    read(tmp_path, play)


def test_a_session_that_is_still_open_is_read_from_its_beginning(tmp_path: Path) -> None:
    """By the registry, or because it was written to a moment ago."""
    before = Reading(tmp_path)
    for name in ("open", "recent", "over"):
        before.session(name).says(prompt(f"{name} prompt", ago=7_200))
        if name != "recent":
            made_old(before.session(name).path)
    before.registers("open", "idle")

    async def play(reading: Reading) -> None:
        await reading.until(lambda: len(reading.agents) == 2)
        await reading.settled()

    reading = read(tmp_path, play)
    assert {name: reading.said(name) for name in ("open", "recent", "over")} == {
        "open": ["open prompt"],
        "recent": ["recent prompt"],
        "over": [],
    }


@pytest.mark.parametrize("with_registry", [True, False])
def test_a_session_that_nobody_has_open_ends_with_its_last_line(tmp_path: Path, with_registry: bool) -> None:
    """A daemon that comes later finds no client: the agent is gone since it last did something."""
    session = Reading(tmp_path).session("s1")
    session.says(prompt("Fix it", ago=60), reply("I fixed it.", ago=50), closed(ago=49))
    if with_registry:
        (tmp_path / ".claude" / "sessions").mkdir()
    patience = (ABSENT_FROM_REGISTRY if with_registry else RECENTLY_WRITTEN) / SECOND

    async def play(reading: Reading) -> None:
        reading.ahead = patience - 60
        await reading.sources.transcripts.check()
        assert reading.state("s1") == "idle"
        reading.ahead = patience
        await reading.sources.transcripts.check()
        await reading.until(lambda: reading.state("s1") == "ended")

    reading = read(tmp_path, play)
    agent = reading.agent("s1")
    assert agent is not None
    assert agent.ended_at == agent.last_active_at
    assert [command.outcome for command in reading.journal.commands(agent.id)] == ["completed"]


def test_a_directory_that_appears_later_is_followed_too(tmp_path: Path) -> None:
    """The first session of a new user makes it; until then no file is known."""

    async def play(reading: Reading) -> None:
        await reading.settled()
        assert reading.sources.transcripts.file_count == 0
        reading.session("s1").says(prompt("Fix it"))
        await reading.until(lambda: reading.state("s1") == "working")

    read(tmp_path, play)


# --- sub-agents -------------------------------------------------------------------------------------------------------


def test_a_subagent_has_a_transcript_of_its_own(tmp_path: Path) -> None:
    """It is seen at work and at its end, and its words are not the agent's."""

    async def play(reading: Reading) -> None:
        reading.session("s1").says(prompt("Fix it"))
        await reading.until(lambda: reading.state("s1") == "working")
        own: Any = {"isSidechain": True, "agentId": "a1"}
        subagent = reading.subagent("s1", "a1")
        subagent.says(prompt("Look around", **own), call("t1", **own))
        await reading.until(lambda: (agent := reading.agent("s1")) is not None and agent.running_subagents)
        subagent.says(reply("Sub report.", **own))
        await reading.until(lambda: (agent := reading.agent("s1")) is not None and not agent.running_subagents)

    assert read(tmp_path, play).said("s1") == ["Fix it"]


def test_a_subagent_is_described_beside_its_transcript(tmp_path: Path) -> None:
    """What kind it is and what for is a file of its own, which no hook of an older client tells."""

    async def play(reading: Reading) -> None:
        reading.session("s1").says(prompt("Fix it"))
        await reading.until(lambda: reading.state("s1") == "working")
        subagent = reading.subagent("s1", "a1")
        notes = {"agentType": "Explore", "description": "look around", "toolUseId": "t1", "spawnDepth": 1}
        subagent.path.with_suffix(".meta.json").write_text(json.dumps(notes))
        subagent.says(prompt("Look around", isSidechain=True, agentId="a1"))
        await reading.until(lambda: described(reading) == [("Explore", "look around")])

    def described(reading: Reading) -> list[tuple[str, str]]:
        agent = reading.agent("s1")
        return [(sub.type, sub.description) for sub in agent.running_subagents] if agent else []

    read(tmp_path, play)


def test_a_subagent_alone_makes_no_agent(tmp_path: Path) -> None:
    """Nor does a cost, or the end of a turn: they tell of a session, not that there is one."""

    async def play(reading: Reading) -> None:
        reading.subagent("s1", "a1").says(prompt("Look around", isSidechain=True, agentId="a1"))
        reading.session("s2").says(closed(), {"type": "cost-state", "totalCostUSD": 1.0})
        await reading.settled()

    assert read(tmp_path, play).agents == []


# --- closed doors -----------------------------------------------------------------------------------------------------


def test_only_transcripts_are_read() -> None:
    """Beside them lie other files of the client."""
    root = Path("/home/dev/.claude/projects")
    for path in ("-app/s1.jsonl", "-app/s1/subagents/agent-a1.jsonl"):
        assert is_transcript(f"{root}/{path}", root)
    for path in (
        "s1.jsonl",
        "-app/s1.json",
        "-app/s1/tool-results/x.jsonl",
        "-app/a/b/agent-a1.jsonl",
        "-app/s\udcff.jsonl",
    ):
        assert not is_transcript(f"{root}/{path}", root)
    assert not is_transcript("/home/dev/other/-app/s1.jsonl", root)


def test_links_that_lead_elsewhere_are_refused(tmp_path: Path) -> None:
    """A file or folder that only looks as if it were below the root is not opened."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    async def play(reading: Reading) -> None:
        outside = Reading(elsewhere).session("s1")
        outside.says(prompt("Secret"))
        folder = reading.config_dir / "projects" / "-home-dev-app"
        folder.mkdir(parents=True)
        (folder / "s1.jsonl").symlink_to(outside.path)
        (folder.parent / "-linked").symlink_to(outside.path.parent)
        reading.session("s2").says(prompt("Fix it"))
        await reading.until(lambda: reading.state("s2") == "working")
        await reading.settled()
        assert reading.sources.transcripts.refused

    assert [agent.session and agent.session.client_id for agent in read(tmp_path / "home", play).agents] == ["s2"]


def test_a_path_in_a_payload_opens_nothing(tmp_path: Path) -> None:
    """What a hook names is read only below a known config dir, and health tells of the others."""
    outside = Reading(tmp_path / "elsewhere").session("s1")
    outside.says(prompt("Secret"))

    async def play(reading: Reading) -> None:
        await reading.hook("SessionStart", "s1", transcript_path=str(outside.path))
        await reading.sources.transcripts.check()
        await reading.settled()
        assert "1 outside the known config dirs" in reading.sources.health()["transcripts"][2]

    assert read(tmp_path / "home", play).said("s1") == []


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """Only regular files are read; the others do not keep anybody from being heard."""

    async def play(reading: Reading) -> None:
        folder = reading.config_dir / "projects" / "-home-dev-app"
        folder.mkdir(parents=True)
        os.mkfifo(folder / "pipe.jsonl")
        (folder / "folder.jsonl").mkdir()
        reading.session("s1").says(prompt("Fix it"))
        await reading.until(lambda: reading.state("s1") == "working")

    read(tmp_path, play)


def test_a_look_finds_what_was_not_watched(tmp_path: Path) -> None:
    """Where no change is told, the reconciler's look at living agents' files is enough."""

    async def play(reading: Reading) -> None:
        session = reading.session("s1")
        await reading.hook("SessionStart", "s1", transcript_path=str(session.path))
        await reading.sources.transcripts.watch.stop()
        session.says(prompt("Fix it"))
        await reading.settled()
        assert reading.said("s1") == []
        await reading.sources.transcripts.check()
        await reading.until(lambda: reading.said("s1") == ["Fix it"])

    read(tmp_path, play)


def test_transcripts_are_found_sessions_first_and_the_oldest_first(tmp_path: Path) -> None:
    """The order in which history is told."""
    reading = Reading(tmp_path)
    for name, age in (("new", 10), ("old", 1_000)):
        reading.session(name).says(prompt("Fix it"))
        made_old(reading.session(name).path, age)
    reading.subagent("old", "a1").says(prompt("Look"))
    found = [Path(path).stem for path, _ in find_transcripts([tmp_path / ".claude" / "projects"])]
    assert found == ["old", "new", "agent-a1"]
