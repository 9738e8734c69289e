"""Following transcripts: complete lines, each once, only from known config dirs."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from claude_headspace.clients.claude_code.transcript_files import find_transcripts, is_transcript
from claude_headspace.inputs.watch.transcripts import ABSENT_FROM_REGISTRY, RECENTLY_WRITTEN
from claude_headspace.kernel.acts import AgentRegistered
from claude_headspace.kernel.envelope import SECOND, Observations
from claude_headspace.testing import hook
from tests.inputs.watched_config_dir import (
    HOST,
    WatchedConfigDir,
    call,
    closed,
    interrupt,
    prompt,
    reply,
    result,
    wall_clock,
)
from tests.journals import TemporaryJournal, forget_positions

Play = Callable[[WatchedConfigDir], Awaitable[None]]


def read(home: Path, play: Play, journal: TemporaryJournal | None = None, *, ahead: float = 0.0) -> WatchedConfigDir:
    """Run a test with running sources, then verify the projections against the log."""

    async def main() -> WatchedConfigDir:
        async with WatchedConfigDir(home, journal, ahead=ahead) as watched:
            await play(watched)
        return watched

    done = asyncio.run(main())
    assert list(done.journal.verify()) == []
    return done


def age_file(path: Path, seconds: float = 7_200) -> None:
    """Set the modification time of a file to the past."""
    modified = wall_clock() / SECOND - seconds
    os.utime(path, (modified, modified))


# --- following --------------------------------------------------------------------------------------------------------


def test_a_session_without_hooks_is_followed(tmp_path: Path) -> None:
    """Prompt, message and end of the turn come from the transcript alone, soon after they are written."""

    async def play(watched: WatchedConfigDir) -> None:
        session = watched.session("s1")
        session.write(prompt("Fix it"))
        await watched.until(lambda: watched.state("s1") == "working")
        session.write(reply("I fixed it."), closed())
        assert await watched.until(lambda: watched.state("s1") == "idle") < 5

    watched = read(tmp_path, play)
    assert watched.turn_texts("s1") == ["Fix it", "I fixed it."]
    agent = watched.agent("s1")
    assert agent is not None
    assert agent.evidence is not None
    assert (agent.evidence.source, agent.evidence.confidence) == ("transcript", "medium")
    assert (agent.cwd, agent.project.root, agent.tokens) == ("/home/dev/app", "/home/dev/app", 1_000)


def test_the_first_lines_wait_for_the_hook_of_a_registered_agent(tmp_path: Path) -> None:
    """A client may write its transcript before its first hook, which names the agent of `headspace run`."""

    async def play(watched: WatchedConfigDir) -> None:
        act = AgentRegistered(name="runner", cwd="/home/dev/app", pid=os.getpid())
        given = Observations(headspace_id="h1")
        await watched.engine.record(act, delivery_id="r1", observations=given, client="claude-code")
        watched.session("s1").write(prompt("Fix it"))
        await watched.settle()
        assert [agent.session for agent in watched.agents] == [None]
        start = hook("SessionStart", wall_clock(), observations=given, host=HOST, session_id="s1", source="startup")
        await watched.engine.submit(start)
        await watched.until(lambda: watched.turn_texts("s1") == ["Fix it"])

    assert [agent.name for agent in read(tmp_path, play).agents] == ["runner"]


def test_an_interrupt_is_detected_within_a_second(tmp_path: Path) -> None:
    """No hook reports it; its line is in the transcript."""

    async def play(watched: WatchedConfigDir) -> None:
        await watched.hook("UserPromptSubmit", "s1", prompt="Fix it", ago=1)
        session = watched.session("s1")
        session.write(prompt("Fix it", ago=1))
        await watched.until(lambda: watched.stored("transcript"))
        session.write(interrupt())
        assert await watched.until(lambda: watched.state("s1") == "idle") < 1

    read(tmp_path, play)


def test_a_line_that_is_written_while_others_are_submitted_is_read(tmp_path: Path) -> None:
    """The file is read again, although nothing else is written to it."""

    async def play(watched: WatchedConfigDir) -> None:
        session = watched.session("s1")
        session.write(prompt("Fix it"))
        await watched.until(lambda: watched.state("s1") == "working")
        watched.may_submit.clear()
        session.write(reply("I fixed it."))
        await watched.until(lambda: watched.submitting)
        session.write(closed())
        await watched.settle()
        watched.may_submit.set()
        await watched.until(lambda: watched.state("s1") == "idle")

    read(tmp_path, play)


def test_a_line_is_submitted_when_it_is_complete(tmp_path: Path) -> None:
    """A part of a line, even cut within an escape, waits for the rest."""

    async def play(watched: WatchedConfigDir) -> None:
        session = watched.session("s1")
        raw = session.encoded(prompt("Grüße an alle"))
        cut = raw.index(b"\\u00fc") + 3
        session.append(raw[:cut])
        await watched.settle()
        assert watched.agents == []
        session.append(raw[cut:])
        await watched.until(lambda: watched.turn_texts("s1") == ["Grüße an alle"])

    read(tmp_path, play)


def test_lines_are_submitted_in_the_order_of_their_times(tmp_path: Path) -> None:
    """The client may write several lines at once, out of order."""

    async def play(watched: WatchedConfigDir) -> None:
        watched.session("s1").write(closed(ago=1), reply("I fixed it.", ago=2), prompt("Fix it", ago=3))
        await watched.until(lambda: watched.state("s1") == "idle")

    assert read(tmp_path, play).turn_texts("s1") == ["Fix it", "I fixed it."]


def test_lines_without_facts_are_not_stored(tmp_path: Path) -> None:
    """Internal lines of the client, broken lines and lines without a session."""

    async def play(watched: WatchedConfigDir) -> None:
        session = watched.session("s1")
        session.write({"type": "file-history-snapshot"}, {"type": "mode", "mode": "normal"})
        session.append(b'\n{"type":"user"\n\xff\xfe\n[1,2]\n"text"\n' + b"x" * 100_000 + b"\n")
        session.write(prompt("Fix it"))
        await watched.until(lambda: watched.stored("transcript"))

    assert len(read(tmp_path, play).stored("transcript", "hook", "registry")) == 1


def test_a_time_in_the_future_becomes_the_current_time(tmp_path: Path) -> None:
    """Otherwise a wrong clock would make all later events look old."""

    async def play(watched: WatchedConfigDir) -> None:
        watched.session("s1").write(prompt("Fix it", ago=-86_400))
        await watched.until(lambda: watched.stored("transcript"))

    (event,) = read(tmp_path, play).stored("transcript")
    assert event.envelope.fired_at <= event.envelope.received_at


def test_many_sessions_are_followed_at_once(tmp_path: Path) -> None:
    """Each line is stored for the agent of its session."""
    names = [f"s{number}" for number in range(150)]

    async def play(watched: WatchedConfigDir) -> None:
        sessions = [watched.session(name, f"-project-{name}") for name in names]
        for session in sessions:
            session.write(prompt(f"Fix {session.session_id}"))
        await watched.until(lambda: len(watched.agents) == len(names))
        for session in sessions:
            session.write(reply("I fixed it."), closed())
        await watched.until(lambda: all(watched.state(name) == "idle" for name in names))

    watched = read(tmp_path, play)
    assert all(watched.turn_texts(name) == [f"Fix {name}", "I fixed it."] for name in names)


def test_a_file_larger_than_a_chunk_is_read_to_its_end(tmp_path: Path) -> None:
    """Chunk by chunk."""

    async def play(watched: WatchedConfigDir) -> None:
        session = watched.session("s1")
        session.write(prompt("Fix it", ago=60))
        session.write(
            *({"type": "attachment", "attachment": {"type": "date", "date": "x" * 900}} for _ in range(3_000))
        )
        session.write(reply("I fixed it.", ago=1), closed())
        await watched.until(lambda: watched.state("s1") == "idle")

    assert read(tmp_path, play).turn_texts("s1") == ["Fix it", "I fixed it."]


# --- each line once ---------------------------------------------------------------------------------------------------


def test_a_file_that_became_shorter_is_read_again(tmp_path: Path) -> None:
    """Known lines are recognised by their ids."""

    async def play(watched: WatchedConfigDir) -> None:
        session = watched.session("s1")
        first = session.encoded(prompt("One", ago=9))
        session.append(first + session.encoded(reply("I did one.", ago=8), closed(ago=7)))
        await watched.until(lambda: watched.state("s1") == "idle")
        session.path.write_bytes(first + session.encoded(interrupt(ago=6)))
        await watched.until(lambda: len(watched.stored("transcript")) == 4)

    assert read(tmp_path, play).turn_texts("s1") == ["One", "I did one."]


def test_a_replaced_file_is_read_again(tmp_path: Path) -> None:
    """A longer file with the same name adds only its new lines."""

    async def play(watched: WatchedConfigDir) -> None:
        session = watched.session("s1")
        first = session.encoded(prompt("One", ago=9))
        session.append(first)
        await watched.until(lambda: watched.turn_texts("s1") == ["One"])
        other = session.path.with_suffix(".new")
        other.write_bytes(
            session.encoded({"type": "mode", "mode": "x" * 5_000}) + first + session.encoded(reply("Two"))
        )
        other.replace(session.path)
        await watched.until(lambda: watched.turn_texts("s1") == ["One", "Two"])

    assert len(read(tmp_path, play).stored("transcript")) == 2


def test_nothing_is_stored_twice_after_a_restart(tmp_path: Path) -> None:
    """Positions are saved, and lines written while the daemon was down are read."""
    journal = TemporaryJournal()

    async def before(watched: WatchedConfigDir) -> None:
        watched.session("s1").write(prompt("One", ago=9), reply("I did one.", ago=8), closed(ago=7))
        await watched.until(lambda: watched.state("s1") == "idle")

    async def after(watched: WatchedConfigDir) -> None:
        await watched.until(lambda: watched.state("s1") == "working")
        await watched.settle()

    read(tmp_path, before, journal)
    WatchedConfigDir(tmp_path).session("s1").write(prompt("Two", ago=1))
    watched = read(tmp_path, after, journal)
    assert (watched.turn_texts("s1"), len(watched.stored("transcript"))) == (["One", "I did one.", "Two"], 4)


def test_a_crash_before_positions_are_saved_is_harmless(tmp_path: Path) -> None:
    """Lines that are read again are known."""
    journal = TemporaryJournal()

    async def before(watched: WatchedConfigDir) -> None:
        watched.session("s1").write(prompt("One", ago=9))
        await watched.until(lambda: watched.turn_texts("s1") == ["One"])

    async def after(watched: WatchedConfigDir) -> None:
        await watched.until(lambda: watched.turn_texts("s1") == ["One", "Two"])

    read(tmp_path, before, journal)
    forget_positions(journal)
    WatchedConfigDir(tmp_path).session("s1").write(reply("Two"))
    assert len(read(tmp_path, after, journal).stored("transcript")) == 2


def test_a_copy_of_a_line_in_another_file_is_the_same_line(tmp_path: Path) -> None:
    """A forked session starts with copies of the lines of its original session."""

    async def play(watched: WatchedConfigDir) -> None:
        session, fork = watched.session("s1"), watched.session("s2")
        line = prompt("One", ago=9)
        session.write(line)
        await watched.until(lambda: watched.turn_texts("s1") == ["One"])
        fork.write(line, prompt("Two"))
        await watched.until(lambda: watched.turn_texts("s2") == ["Two"])

    assert read(tmp_path, play).turn_texts("s1") == ["One"]


# --- hooks and transcript ---------------------------------------------------------------------------------------------


def test_with_hooks_only_new_lines_are_stored(tmp_path: Path) -> None:
    """Tool calls are known from hooks. Prompts and messages get their exact times and are not duplicated."""

    async def play(watched: WatchedConfigDir) -> None:
        await watched.hook("SessionStart", "s1", model="claude-x", ago=5)
        await watched.hook("UserPromptSubmit", "s1", prompt="Fix it", ago=4)
        await watched.hook("PreToolUse", "s1", tool_name="Bash", tool_use_id="t1", tool_input={"command": "ls"}, ago=3)
        await watched.hook("PostToolUse", "s1", tool_name="Bash", tool_use_id="t1", tool_input={"command": "ls"}, ago=2)
        await watched.hook("Stop", "s1", last_assistant_message="I fixed it.", ago=0.9)
        session = watched.session("s1")
        session.write(prompt("Fix it", ago=4), call("t1", ago=3), result("t1", ago=2), reply("I fixed it.", ago=1))
        session.write(closed(ago=0.8))
        await watched.until(lambda: len(watched.stored("transcript")) == 2)
        await watched.settle()

    watched = read(tmp_path, play)
    assert len(watched.stored("transcript")) == 2
    agent = watched.agent("s1")
    assert agent is not None
    turns = watched.journal.turns(agent_id=agent.id)
    assert [(turn.text, turn.timestamp_source) for turn in turns] == [("Fix it", "jsonl"), ("I fixed it.", "jsonl")]


def test_the_transcript_replaces_a_lost_hook(tmp_path: Path) -> None:
    """The end of the turn is also in the transcript."""

    async def play(watched: WatchedConfigDir) -> None:
        await watched.hook("UserPromptSubmit", "s1", prompt="Fix it", ago=4)
        watched.session("s1").write(prompt("Fix it", ago=4), reply("Shall I delete it?", ago=1), closed(ago=0.9))
        await watched.until(lambda: watched.state("s1") == "waiting")

    watched = read(tmp_path, play)
    assert [(wait.kind, wait.asked_in_text) for wait in watched.journal.waits()] == [("question", True)]


def test_context_usage_is_stored_although_hooks_report_the_rest(tmp_path: Path) -> None:
    """In steps of 1% of the context window."""

    async def play(watched: WatchedConfigDir) -> None:
        await watched.hook("UserPromptSubmit", "s1", prompt="Fix it", ago=9)
        session = watched.session("s1")
        session.write(prompt("Fix it", ago=9))
        for number, tokens in enumerate((10_000, 10_100, 10_200, 90_000)):
            name, ago = f"t{number}", 8 - number
            tool_call: Any = {"tool_name": "Bash", "tool_use_id": name, "tool_input": {"command": "ls"}}
            await watched.hook("PreToolUse", "s1", **tool_call, ago=ago)
            await watched.hook("PostToolUse", "s1", **tool_call, ago=ago - 0.1)
            session.write(call(name, ago=ago, tokens=tokens), result(name, ago=ago - 0.1))
        await watched.until(lambda: (agent := watched.agent("s1")) is not None and agent.context_percent == 45)

    assert len(read(tmp_path, play).stored("transcript")) == 3


def test_the_backlog_is_submitted_together_with_spooled_hooks(tmp_path: Path) -> None:
    """A long session whose hooks were spooled has the same turns as with a running daemon."""
    rounds, began = 30, wall_clock()

    def ago_of(number: int) -> float:
        """How long ago a round was. The test itself takes time, which must not move the times of its events."""
        return 900 - 20 * number + (wall_clock() - began) / SECOND

    async def play() -> WatchedConfigDir:
        watched = WatchedConfigDir(tmp_path)
        session = watched.session("s1")
        watched.engine.start()
        await watched.hook("SessionStart", "s1", ago=1_000)
        for number in range(rounds):
            ago = ago_of(number)
            session.write(
                prompt(f"Do {number}", ago), {**reply("Let me look.", ago - 2), "message": _message("Let me look.")}
            )
            session.write(reply(f"I did {number}.", ago - 8), closed(ago - 8.2))
        await watched.sources.read_backlog()
        for number in range(rounds):
            for name, body, later in (
                ("UserPromptSubmit", {"prompt": f"Do {number}"}, 0.05),
                ("Stop", {"last_assistant_message": f"I did {number}.", "background_tasks": []}, 8.1),
            ):
                await watched.sources.submit_backlog_until(wall_clock() - round((ago_of(number) - later) * SECOND))
                await watched.hook(name, "s1", ago=ago_of(number) - later, **body)
        watched.sources.start()
        await watched.sources.followers["claude-code"].caught_up()
        await watched.settle()
        await watched.sources.stop()
        await watched.engine.stop()
        return watched

    watched = asyncio.run(play())
    expected = [text for n in range(rounds) for text in (f"Do {n}", "Let me look.", f"I did {n}.")]
    assert watched.turn_texts("s1") == expected
    agent = watched.agent("s1")
    assert agent is not None
    outcomes = [command.outcome for command in watched.journal.commands(agent.id, 1_000)]
    assert (outcomes, agent.state) == (["completed"] * rounds, "idle")


def _message(text: str) -> dict[str, object]:
    return {
        "role": "assistant",
        "model": "claude-x",
        "stop_reason": "tool_use",
        "content": [{"type": "text", "text": text}],
    }


# --- history and open sessions ----------------------------------------------------------------------------------------


def test_sessions_that_ended_before_the_first_start_are_left_to_the_import(tmp_path: Path) -> None:
    """Old transcripts are skipped at first. If such a session is resumed, its new lines are read."""
    session = WatchedConfigDir(tmp_path).session("s1")
    session.write(prompt("Long ago", ago=7_200), reply("I did it.", ago=7_190))
    age_file(session.path)

    async def play(watched: WatchedConfigDir) -> None:
        await watched.settle()
        assert watched.agents == []
        session.write(prompt("And now"))
        await watched.until(lambda: watched.turn_texts("s1") == ["And now"])

    read(tmp_path, play)


def test_an_open_session_is_read_from_its_beginning(tmp_path: Path) -> None:
    """It is open if it is in the registry, or was written recently."""
    before = WatchedConfigDir(tmp_path)
    for name in ("open", "recent", "over"):
        before.session(name).write(prompt(f"{name} prompt", ago=7_200))
        if name != "recent":
            age_file(before.session(name).path)
    before.register("open", "idle")

    async def play(watched: WatchedConfigDir) -> None:
        await watched.until(lambda: len(watched.agents) == 2)
        await watched.settle()

    watched = read(tmp_path, play)
    assert {name: watched.turn_texts(name) for name in ("open", "recent", "over")} == {
        "open": ["open prompt"],
        "recent": ["recent prompt"],
        "over": [],
    }


@pytest.mark.parametrize("with_registry", [True, False])
def test_a_session_without_a_client_ends_with_its_last_line(tmp_path: Path, with_registry: bool) -> None:
    """A daemon that starts later finds no client: the agent ended with its last activity."""
    session = WatchedConfigDir(tmp_path).session("s1")
    session.write(prompt("Fix it", ago=60), reply("I fixed it.", ago=50), closed(ago=49))
    if with_registry:
        (tmp_path / ".claude" / "sessions").mkdir()
    max_silence = (ABSENT_FROM_REGISTRY if with_registry else RECENTLY_WRITTEN) / SECOND

    async def play(watched: WatchedConfigDir) -> None:
        watched.ahead = max_silence - 60
        await watched.sources.followers["claude-code"].check()
        assert watched.state("s1") == "idle"
        watched.ahead = max_silence
        await watched.sources.followers["claude-code"].check()
        await watched.until(lambda: watched.state("s1") == "ended")

    watched = read(tmp_path, play)
    agent = watched.agent("s1")
    assert agent is not None
    assert agent.ended_at == agent.last_active_at
    assert [command.outcome for command in watched.journal.commands(agent.id)] == ["completed"]


def test_a_directory_that_is_created_later_is_followed(tmp_path: Path) -> None:
    """The first session of a new user creates it."""

    async def play(watched: WatchedConfigDir) -> None:
        await watched.settle()
        assert watched.sources.followers["claude-code"].file_count == 0
        watched.session("s1").write(prompt("Fix it"))
        await watched.until(lambda: watched.state("s1") == "working")

    read(tmp_path, play)


# --- sub-agents -------------------------------------------------------------------------------------------------------


def test_the_transcript_of_a_subagent_is_followed(tmp_path: Path) -> None:
    """It starts and ends, and its messages are not turns of the agent."""

    async def play(watched: WatchedConfigDir) -> None:
        watched.session("s1").write(prompt("Fix it"))
        await watched.until(lambda: watched.state("s1") == "working")
        own: Any = {"isSidechain": True, "agentId": "a1"}
        subagent = watched.subagent("s1", "a1")
        subagent.write(prompt("Look around", **own), call("t1", **own))
        await watched.until(lambda: (agent := watched.agent("s1")) is not None and agent.running_subagents)
        subagent.write(reply("Sub report.", **own))
        await watched.until(lambda: (agent := watched.agent("s1")) is not None and not agent.running_subagents)

    assert read(tmp_path, play).turn_texts("s1") == ["Fix it"]


def test_the_description_of_a_subagent_is_read(tmp_path: Path) -> None:
    """Its type and description are in a file next to its transcript; hooks of older clients lack them."""

    async def play(watched: WatchedConfigDir) -> None:
        watched.session("s1").write(prompt("Fix it"))
        await watched.until(lambda: watched.state("s1") == "working")
        subagent = watched.subagent("s1", "a1")
        notes = {"agentType": "Explore", "description": "look around", "toolUseId": "t1", "spawnDepth": 1}
        subagent.path.with_suffix(".meta.json").write_text(json.dumps(notes))
        subagent.write(prompt("Look around", isSidechain=True, agentId="a1"))
        await watched.until(lambda: described(watched) == [("Explore", "look around")])

    def described(watched: WatchedConfigDir) -> list[tuple[str, str]]:
        agent = watched.agent("s1")
        return [(sub.type, sub.description) for sub in agent.running_subagents] if agent else []

    read(tmp_path, play)


def test_a_subagent_alone_creates_no_agent(tmp_path: Path) -> None:
    """Nor do costs or the end of a turn: they do not prove that a session exists."""

    async def play(watched: WatchedConfigDir) -> None:
        watched.subagent("s1", "a1").write(prompt("Look around", isSidechain=True, agentId="a1"))
        watched.session("s2").write(closed(), {"type": "cost-state", "totalCostUSD": 1.0})
        await watched.settle()

    assert read(tmp_path, play).agents == []


# --- what may be read -------------------------------------------------------------------------------------------------


def test_only_transcripts_are_read() -> None:
    """The client has other files in the same directories."""
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


def test_links_that_lead_outside_are_refused(tmp_path: Path) -> None:
    """A linked file or directory is not below the root."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    async def play(watched: WatchedConfigDir) -> None:
        outside = WatchedConfigDir(elsewhere).session("s1")
        outside.write(prompt("Secret"))
        folder = watched.config_dir / "projects" / "-home-dev-app"
        folder.mkdir(parents=True)
        (folder / "s1.jsonl").symlink_to(outside.path)
        (folder.parent / "-linked").symlink_to(outside.path.parent)
        watched.session("s2").write(prompt("Fix it"))
        await watched.until(lambda: watched.state("s2") == "working")
        await watched.settle()
        assert watched.sources.followers["claude-code"].refused

    assert [agent.session and agent.session.client_id for agent in read(tmp_path / "home", play).agents] == ["s2"]


def test_a_path_in_a_payload_is_not_trusted(tmp_path: Path) -> None:
    """A path that a hook names is read only below a known config dir. Health counts the others."""
    outside = WatchedConfigDir(tmp_path / "elsewhere").session("s1")
    outside.write(prompt("Secret"))

    async def play(watched: WatchedConfigDir) -> None:
        await watched.hook("SessionStart", "s1", transcript_path=str(outside.path))
        await watched.sources.followers["claude-code"].check()
        await watched.settle()
        assert "1 outside the known config dirs" in watched.sources.health()["transcripts"][2]

    assert read(tmp_path / "home", play).turn_texts("s1") == []


def test_a_pipe_does_not_block(tmp_path: Path) -> None:
    """Only regular files are read; the others do not stop the follower."""

    async def play(watched: WatchedConfigDir) -> None:
        folder = watched.config_dir / "projects" / "-home-dev-app"
        folder.mkdir(parents=True)
        os.mkfifo(folder / "pipe.jsonl")
        (folder / "folder.jsonl").mkdir()
        watched.session("s1").write(prompt("Fix it"))
        await watched.until(lambda: watched.state("s1") == "working")

    read(tmp_path, play)


def test_a_check_finds_unreported_changes(tmp_path: Path) -> None:
    """If watching fails, the reconciler's check of the files of running agents is enough."""

    async def play(watched: WatchedConfigDir) -> None:
        session = watched.session("s1")
        await watched.hook("SessionStart", "s1", transcript_path=str(session.path))
        await watched.sources.followers["claude-code"].watch.stop()
        session.write(prompt("Fix it"))
        await watched.settle()
        assert watched.turn_texts("s1") == []
        await watched.sources.followers["claude-code"].check()
        await watched.until(lambda: watched.turn_texts("s1") == ["Fix it"])

    read(tmp_path, play)


def test_transcripts_are_sorted_sessions_first_and_oldest_first(tmp_path: Path) -> None:
    """The order of an import."""
    watched = WatchedConfigDir(tmp_path)
    for name, age in (("new", 10), ("old", 1_000)):
        watched.session(name).write(prompt("Fix it"))
        age_file(watched.session(name).path, age)
    watched.subagent("old", "a1").write(prompt("Look"))
    found = [Path(path).stem for path, _ in find_transcripts([tmp_path / ".claude" / "projects"])]
    assert found == ["old", "new", "agent-a1"]
