"""Efforts in the engine: found, counted, advised, handed over; and the log tells all of it again."""

import asyncio
import random
from typing import Any

import pytest

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.effort import model as nouns
from claude_headspace.kernel.effort.model import Delivery, Effort, Lifecycle
from claude_headspace.kernel.envelope import SECOND, Observations, Origin
from claude_headspace.testing import START, hook
from tests.effort_engine import ROOT, EffortEngine, heartbeat, run_story


def test_nothing_of_this_is_felt_without_an_effort() -> None:
    """Hooks of somebody who never began one have no effort, no advice, and no row."""

    async def story(work: EffortEngine) -> None:
        outcome = await work.start_tool()
        assert (outcome.effort, outcome.advice) == (None, None)
        assert work.journal.events()[-1].envelope.decisions.effort_id is None

    assert run_story(story).journal.efforts(only_active=False) == []


def test_calls_are_counted_refused_and_begin_anew_with_a_log() -> None:
    """The tenth call is refused; after a log entry the next is the first."""

    async def story(work: EffortEngine) -> None:
        await work.start()
        outcomes = [await work.start_tool() for _ in range(10)]
        assert [heartbeat(each) for each in outcomes] == list(range(1, 11))
        assert [bool(each.advice and each.advice.denies) for each in outcomes] == [False] * 9 + [True]
        await work.act("EffortLogged", effort_id="e1", text="did it")
        again = await work.start_tool()
        assert heartbeat(again) == 1
        assert again.advice is None

    run_story(story)


def test_a_refusal_stands_in_the_log_with_its_rule() -> None:
    """What the client was answered is a fact."""

    async def story(work: EffortEngine) -> None:
        await work.start(metadata={"heartbeat_limit": 1})
        await work.start_tool()

    context = run_story(story).journal.events()[-1].envelope.decisions
    assert context.effort_id == "e1"
    assert context.advice is not None
    assert context.advice.rule == "heartbeat"


def test_five_parallel_sub_agents_do_not_trip_their_parent() -> None:
    """Each has a counter of its own; the parent's stays."""

    async def story(work: EffortEngine) -> None:
        await work.start()
        await work.hook("SessionStart", source="startup")
        await work.start_tool()
        subs: list[dict[str, Any]] = [{"agent_id": f"sub{n}", "agent_type": "Explore"} for n in range(5)]
        await asyncio.gather(*(work.hook("SubagentStart", **sub) for sub in subs))
        outcomes = await asyncio.gather(*(work.start_tool(**sub) for sub in subs for _ in range(8)))
        assert not any(each.advice and each.advice.denies for each in outcomes)
        assert heartbeat(await work.start_tool()) == 2
        counters = {window.subagent_id: window.heartbeat for window in (await work.effort()).windows}
        assert counters == {None: 2} | {f"sub{n}": 8 for n in range(5)}

    run_story(story)


def test_the_log_of_a_sub_agent_is_its_own() -> None:
    """It resets the counter of the thread that wrote it."""

    async def story(work: EffortEngine) -> None:
        sub: dict[str, Any] = {"agent_id": "sub", "agent_type": "Explore"}
        await work.start()
        for _ in range(3):
            await work.start_tool()
            await work.start_tool(**sub)
        await work.start_tool(tool_input={"command": "headspace effort log 'found it'"}, **sub)
        await work.act("EffortLogged", effort_id="e1", text="found it", holder="agent-1")
        assert {w.subagent_id: w.heartbeat for w in (await work.effort()).windows} == {None: 3, "sub": 0}
        await work.act("EffortLogged", effort_id="e1", text="and I", holder="agent-1")
        assert {w.subagent_id: w.heartbeat for w in (await work.effort()).windows} == {None: 0, "sub": 0}

    run_story(story)


def test_a_sub_agents_session_ends_without_its_parents_and_leaves_its_files() -> None:
    """What it loaded is the effort's; a stop that no start announced harms nothing."""

    async def story(work: EffortEngine) -> None:
        sub: dict[str, Any] = {"agent_id": "sub", "agent_type": "Explore"}
        await work.start()
        await work.hook("SessionStart", source="startup")
        await work.hook("SubagentStart", **sub)
        await work.hook("PostToolUse", tool_name="Read", tool_input={"file_path": "/a.py"}, **sub)
        await work.hook("SubagentStop", **sub)
        await work.hook("SubagentStop", agent_id="never", agent_type="Explore")
        await work.hook("SubagentStop", agent_id="compaction", agent_type="")
        effort = await work.effort()
        assert effort.loaded_files == ("/a.py",)
        assert [(w.subagent_id, w.ended_at) for w in effort.windows] == [(None, None)]
        main, child = work.journal.effort_windows("e1")
        assert (child.subagent_id, child.prev_session_id, child.end_reason) == ("sub", main.id, "the sub-agent ended")

    run_story(story)


def test_what_is_only_told_counts_and_delivers_nothing() -> None:
    """A hook that waits for nobody gets no answer: injections stay queued, and no refusal is noted."""

    async def story(work: EffortEngine) -> None:
        await work.start(metadata={"heartbeat_limit": 1})
        await work.act("InjectionQueued", effort_id="e1", text="Look")
        told = await work.start_tool(expects_reply=False)
        await work.hook("PostToolUse", expects_reply=False, tool_name="Bash")
        assert (heartbeat(told), told.advice) == (1, None)
        assert [each.delivery for each in (await work.effort()).injections] == [Delivery.QUEUED]

    run_story(story)


def test_an_injection_is_delivered_once_and_confirmed_by_the_transcript() -> None:
    """Queued, delivered with the next step, confirmed when the transcript shows it."""

    async def story(work: EffortEngine) -> None:
        await work.start()
        await work.act("InjectionQueued", effort_id="e1", text="The API changed.")
        await work.start_tool()
        first = await work.hook("PostToolUse", tool_name="Bash")
        second = await work.hook("PostToolUse", tool_name="Bash")
        assert first.advice is not None
        [sent] = first.advice.injections
        assert second.advice is None
        line: dict[str, Any] = {
            "type": "attachment",
            "attachment": {
                "type": "hook_additional_context",
                "content": [f"[Headspace message {sent}]\nThe API changed."],
            },
            "sessionId": "session-1",
            "uuid": "u1",
        }
        await work.engine.submit(hook("TranscriptLine", START + 99 * SECOND, origin=Origin.TRANSCRIPT, **line))
        assert [each.delivery for each in (await work.effort()).injections] == [Delivery.CONFIRMED]

    run_story(story)


def test_a_new_session_goes_on_where_the_last_one_stopped() -> None:
    """Overflow → handover → another session of the same effort, linked to the one before, with the payload."""

    async def story(work: EffortEngine) -> None:
        await work.start()
        first = await work.hook("SessionStart", source="startup")
        await work.act("Dehydrated", effort_id="e1", text="Half done.", files=("/a.py",), holder="agent-1")
        second = await work.hook("SessionStart", source="clear", session_id="session-2")
        assert first.effort is not None
        assert second.effort is not None
        assert first.effort.window is not None
        assert second.effort.window is not None
        assert second.effort.window.prev_session_id == first.effort.window.id
        assert second.advice is not None
        assert "Half done." in "".join(second.advice.context)
        assert second.advice.preload == ("/a.py",)
        before, after = work.journal.effort_windows("e1")
        assert (before.handover, before.end_reason) == ("Half done.", "another session began")
        assert (after.ended_at, after.heartbeat) == (None, 0)

    run_story(story)


def test_context_usage_is_measured_and_warned_about_once() -> None:
    """What the transcript says of the context is on the window, and the handover is asked for once."""

    async def story(work: EffortEngine) -> None:
        await work.start()
        await work.hook("SessionStart", source="startup", model="claude-x")
        await work.fill_context()
        first, second = await work.start_tool(), await work.start_tool()
        assert first.effort is not None
        assert first.effort.window is not None
        assert first.effort.window.context_usage == pytest.approx(0.95, abs=0.01)
        assert first.advice is not None
        assert (first.advice.overflow, second.advice) == (True, None)

    run_story(story)


def test_identities_of_a_fleet_never_mix() -> None:
    """Calls of a hundred panes, interleaved: each counts on its own effort alone."""

    async def story(work: EffortEngine) -> None:
        panes = [f"main:{n}" for n in range(20)]
        for pane in panes:
            await work.start(f"e-{pane}", owner=pane)
        calls = [(pane, number) for number in range(5) for pane in panes]
        outcomes = await asyncio.gather(
            *(
                work.start_tool(fleet_id=pane, pid=100 + at % 20, session_id=f"s-{pane}")
                for at, (pane, _) in enumerate(calls)
            )
        )
        for (pane, number), outcome in zip(calls, outcomes, strict=True):
            assert outcome.effort is not None
            assert (outcome.effort.effort.id, heartbeat(outcome)) == (f"e-{pane}", number + 1)

    run_story(story)


def test_a_child_of_an_agent_has_no_effort_by_itself() -> None:
    """A client that an agent started runs an errand: it is neither counted nor told anything."""

    async def story(work: EffortEngine) -> None:
        await work.start()
        await work.hook("SessionStart", source="startup")
        context = Observations(project_root=ROOT, client_pid=9, ancestor_pids=(7,))
        child = await work.engine.submit(
            hook("PreToolUse", START + 60 * SECOND, observations=context, session_id="child", tool_name="Bash"),
            expects_reply=True,
        )
        assert child.agent.parent_id == "agent-1"
        assert child.effort is None

    run_story(story)


def test_a_coordinator_is_told_what_teammates_do() -> None:
    """TeammateIdle and TaskCompleted become messages of the managing effort, in the same batch."""

    async def story(work: EffortEngine) -> None:
        await work.start("chief", owner="lead")
        await work.start("crew", owner="hand", manager="lead")
        await work.hook("TeammateIdle", fleet_id="hand", teammate_name="bo", team_name="blue")
        await work.hook("TaskCompleted", fleet_id="hand", teammate_name="bo", task_id="4", task_subject="Parser")
        told = [each.text for each in (await work.effort("chief")).injections]
        assert told == ["bo (blue) has nothing to do.", "bo completed: Parser"]
        assert [each.kind for each in work.journal.effort_messages("crew")] == ["signal", "signal"]

    run_story(story)


def test_dialogues_failures_and_directives_are_kept() -> None:
    """What was asked, what failed, and which instruction files belong to the paths touched."""

    async def story(work: EffortEngine) -> None:
        await work.start()
        questions = [{"question": "Which?", "options": []}]
        await work.hook("PostToolUse", tool_name="AskUserQuestion", tool_input={"questions": questions})
        await work.hook("PostToolUseFailure", tool_name="Bash", error="exit 1")
        await work.hook("PostToolUse", tool_name="Edit", tool_input={"file_path": "/x"}, directives=("/AGENTS.md",))
        assert [each.kind for each in work.journal.effort_messages("e1")] == ["dialogue", "failure"]
        assert (await work.effort()).directives == ("/AGENTS.md",)

    run_story(story)


def test_efforts_of_a_task_are_numbered() -> None:
    """Papers of the second effort have another name than those of the first."""

    async def story(work: EffortEngine) -> None:
        first, second = await work.start("e1", title="Checkout"), await work.start("e2", keywords=("pay",))
        other = await work.start("e3", task_dir="/elsewhere")
        assert [each.ordinal for each in (first, second, other)] == [1, 2, 1]
        assert nouns.artifact_paths(second)["log"] == f"{ROOT}/2_FIX_LOG.md"
        [task, _] = work.journal.tasks()
        assert (task.title, task.keywords, task.effort_count) == ("Checkout", ("pay",), 2)

    run_story(story)


def test_a_finished_effort_takes_nothing_more() -> None:
    """Its windows are closed, hooks pass it by, and acts are refused with a word on what to do."""

    async def story(work: EffortEngine) -> None:
        await work.start()
        await work.start_tool()
        done = await work.act("EffortFinished", effort_id="e1", text="bye")
        assert (done.lifecycle, done.windows) == (Lifecycle.FINISHED, ())
        assert (await work.start_tool()).effort is None
        with pytest.raises(BadRequest, match="finished"):
            await work.act("EffortLogged", effort_id="e1", text="late")
        with pytest.raises(BadRequest, match="no effort"):
            await work.act("PhaseSet", effort_id="never", phase="x")

    run_story(story)


def test_a_mistake_of_ours_changes_nothing_and_is_seen() -> None:
    """Where the effort cannot be served the client is answered nothing, no effort changes, and the event is marked."""

    async def story(work: EffortEngine) -> None:
        await work.start()
        work.journal.fails = True
        outcome = await work.start_tool()
        assert (outcome.advice, outcome.effort) == (None, None)
        assert (await work.effort()).windows == ()
        assert work.journal.events()[-1].anomaly == "the effort was not served: ZeroDivisionError"

    run_story(story)


def test_an_effort_waits_for_the_next_client_when_the_first_is_gone() -> None:
    """Held by a living client it is not taken; when that ended the next one goes on with it."""

    async def story(work: EffortEngine) -> None:
        await work.start()
        await work.hook("SessionStart", source="startup")
        second = await work.hook("SessionStart", source="startup", session_id="session-2", pid=8)
        assert second.effort is None
        await work.hook("SessionEnd", reason="other")
        third = await work.hook("SessionStart", source="startup", session_id="session-3", pid=9)
        assert third.effort is not None
        assert third.effort.effort.holder == third.agent.id

    run_story(story)


def test_metadata_is_changed_field_by_field() -> None:
    """Others stay; null takes one away."""

    async def story(work: EffortEngine) -> None:
        await work.start(metadata={"a": 1, "b": 2})
        changed = await work.act("MetadataSet", effort_id="e1", metadata={"b": None, "c": 3})
        assert changed.metadata == {"a": 1, "c": 3}

    run_story(story)


EVENTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("SessionStart", {"source": "startup"}),
    ("SessionStart", {"source": "compact"}),
    ("SessionEnd", {"reason": "clear"}),
    ("SessionEnd", {"reason": "other"}),
    ("UserPromptSubmit", {"prompt": "Go"}),
    ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "make"}}),
    ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "headspace effort log x"}}),
    ("PostToolUse", {"tool_name": "Read", "tool_input": {"file_path": "/a"}}),
    ("PostToolUseFailure", {"tool_name": "Bash", "error": "exit 1"}),
    ("SubagentStart", {"agent_id": "sub", "agent_type": "x"}),
    ("SubagentStop", {"agent_id": "sub", "agent_type": "x"}),
    ("SubagentStop", {"agent_id": "odd", "agent_type": ""}),
    ("PreToolUse", {"tool_name": 7, "tool_input": [], "agent_id": "sub"}),
    ("PreCompact", {"trigger": "auto"}),
    ("TeammateIdle", {"teammate_name": 3}),
    ("Mystery", {}),
)
DEEDS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("EffortLogged", {"text": "x"}),
    ("EffortLogged", {"text": "y", "holder": "agent-1"}),
    ("PhaseSet", {"phase": "p"}),
    ("InjectionQueued", {"text": "z"}),
    ("SessionOpened", {"holder": "agent-1"}),
    ("Dehydrated", {"text": "d"}),
    ("MetadataSet", {"metadata": {"guards": [{"field": "phase", "gte": 1}, 5], "gates": {"session": True}}}),
    ("FilesLoaded", {"session_id": "nobody", "files": ("/b",)}),
)


@pytest.mark.parametrize("seed", range(6))
def test_any_history_is_taken_in_and_told_again_by_the_log(seed: int) -> None:
    """Hooks and acts in any order, of several sessions and panes: nothing fails, and a replay gives the same."""
    chance = random.Random(seed)

    async def story(work: EffortEngine) -> None:
        await work.start("e1")
        await work.start("e2", owner="pane", manager="e1")
        for _ in range(150):
            if chance.random() < 0.2:
                name, said = chance.choice(DEEDS)
                await work.act(name, effort_id=chance.choice(("e1", "e2")), **said)
                continue
            name, told = chance.choice(EVENTS)
            session, fleet = chance.choice(("session-1", "session-2")), chance.choice((None, None, "pane"))
            pid, asked = chance.choice((7, 8)), chance.random() < 0.7
            await work.hook(name, expects_reply=asked, fleet_id=fleet, pid=pid, **{"session_id": session, **told})

    work = run_story(story)
    odd = [stored.anomaly for stored in work.journal.events(limit=1_000) if stored.anomaly]
    assert [anomaly for anomaly in odd if "not served" in anomaly or "not understood" in anomaly] == []
    for effort in work.journal.efforts():
        assert len({window.id for window in effort.windows}) == len(effort.windows)
        assert all(window.ended_at is None for window in effort.windows)


# --- windows that are spent -------------------------------------------------------------------------------------------


def spent(effort: Effort) -> list[str | None]:
    """Why each open window should be followed by another one."""
    return [window.restart_reason for window in effort.windows]


@pytest.mark.parametrize(("trigger", "why"), [("auto", "its context is being compacted"), ("manual", None)])
def test_a_window_is_spent_when_the_client_compacts_it_by_itself(trigger: str, why: str | None) -> None:
    """Who compacts by hand wants to go on; the next window is a fresh one."""

    async def story(work: EffortEngine) -> None:
        await work.start()
        await work.hook("SessionStart", source="startup")
        await work.hook("PreCompact", trigger=trigger)
        assert spent(await work.effort()) == [why]
        await work.hook("SessionStart", source="compact")
        assert spent(await work.effort()) == [None]

    run_story(story)


def test_a_window_is_spent_when_it_handed_over_and_the_call_that_did_so_is_over() -> None:
    """Only one that was asked to; a handover at any other time is a note for later."""

    async def story(work: EffortEngine) -> None:
        await work.start(metadata={"overflow_at": 1})
        await work.hook("SessionStart", source="startup")
        await work.act("Dehydrated", effort_id="e1", text="Early.")
        await work.hook("PostToolUse", tool_name="Bash")
        assert spent(await work.effort()) == [None]
        await work.fill_context()
        assert (await work.start_tool()).advice is not None
        await work.act("Dehydrated", effort_id="e1", text="Next: the lexer.")
        assert spent(await work.effort()) == [None]
        await work.hook("PostToolUse", tool_name="Bash")
        assert spent(await work.effort()) == ["its context was full, and it handed over"]

    run_story(story)


def test_a_finished_session_is_spent_at_once() -> None:
    """That is what `session.finish` says."""

    async def story(work: EffortEngine) -> None:
        await work.start()
        await work.hook("SessionStart", source="startup")
        await work.act("Dehydrated", effort_id="e1", text="All of it.", finish=True)
        assert spent(await work.effort()) == ["its session was finished"]

    run_story(story)


def test_what_is_to_be_read_comes_along_with_a_call_once() -> None:
    """Instructions of a directory that the agent came to; not to sub-agents, not with a call that is refused."""

    async def story(work: EffortEngine) -> None:
        await work.start()
        await work.hook("SessionStart", source="startup")
        found = (f"{ROOT}/lib/AGENTS.md", f"{ROOT}/lib/CLAUDE.md")
        await work.hook("PostToolUse", tool_name="Read", tool_input={"file_path": f"{ROOT}/lib/x"}, directives=found)
        sub = await work.start_tool(agent_id="s1", agent_type="x")
        assert sub.advice is None
        await work.act("MetadataSet", effort_id="e1", metadata={"heartbeat_limit": 1})
        refused = await work.start_tool()
        assert refused.advice is not None
        assert (refused.advice.denies, refused.advice.preload) == (True, ())
        await work.act("EffortLogged", effort_id="e1", text="Read it.")
        await work.act("MetadataSet", effort_id="e1", metadata={"heartbeat_limit": 9})
        first, second = await work.start_tool(), await work.start_tool()
        assert first.advice is not None
        assert first.advice.preload == found[:1]
        assert second.advice is None

    run_story(story)


def test_what_the_client_reads_by_itself_is_not_offered_again() -> None:
    """The transcript shows that it added the instructions of a directory."""

    async def story(work: EffortEngine) -> None:
        await work.start()
        await work.hook("SessionStart", source="startup")
        found = f"{ROOT}/lib/AGENTS.md"
        touched = {"file_path": f"{ROOT}/lib/x"}
        await work.hook("PostToolUse", tool_name="Read", tool_input=touched, directives=(found,))
        line: dict[str, Any] = {
            "type": "attachment",
            "sessionId": "session-1",
            "uuid": "u2",
            "timestamp": "2026-09-21T14:13:30.000Z",
            "attachment": {"type": "hook_additional_context", "content": [f"Contents of {found}:\n\nBe kind."]},
        }
        await work.engine.submit(hook("TranscriptLine", START + 50 * SECOND, origin=Origin.TRANSCRIPT, **line))
        assert (await work.start_tool()).advice is None
        assert (await work.effort()).windows[0].loaded_files == (f"{ROOT}/lib/x", found)

    run_story(story)


def test_who_manages_a_team_is_told_though_no_effort_names_it() -> None:
    """Also of teammates that make no effort of their own."""

    async def story(work: EffortEngine) -> None:
        await work.start("e1", owner="lead", metadata={"manages": ["blue"]})
        hand: dict[str, Any] = {"session_id": "hand", "fleet_id": "hand", "teammate_name": "bo"}
        told = await work.hook("TeammateIdle", team_name="blue", **hand)
        assert (told.effort, told.coordinator) == (None, "lead")
        await work.hook("TeammateIdle", team_name="red", **hand)
        own = await work.hook("TaskCompleted", fleet_id="lead", task_subject="Parser", team_name="blue")
        assert own.coordinator == "lead"
        texts = [each.text for each in (await work.effort()).injections]
        assert texts == ["bo (blue) has nothing to do.", "A teammate (blue) completed: Parser"]

    run_story(story)
