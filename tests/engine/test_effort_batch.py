"""Efforts in the engine: resolved, counted, advised, handed over, and equal after a replay."""

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


def test_hooks_without_an_effort_are_unaffected() -> None:
    """Hooks of an agent without an effort have no effort, no advice and no row."""

    async def story(work: EffortEngine) -> None:
        outcome = await work.start_tool()
        assert (outcome.effort, outcome.advice) == (None, None)
        assert work.journal.events()[-1].envelope.decisions.effort_id is None

    assert run_story(story).journal.efforts(only_active=False) == []


def test_calls_are_counted_and_refused_until_the_agent_logs() -> None:
    """The tenth call is refused. After a log entry the count starts again."""

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


def test_a_refusal_is_stored_with_its_rule() -> None:
    """The reply to the client is stored with the event."""

    async def story(work: EffortEngine) -> None:
        await work.start(metadata={"heartbeat_limit": 1})
        await work.start_tool()

    context = run_story(story).journal.events()[-1].envelope.decisions
    assert context.effort_id == "e1"
    assert context.advice is not None
    assert context.advice.rule == "heartbeat"


def test_parallel_sub_agents_do_not_count_for_their_parent() -> None:
    """Each sub-agent has its own counter."""

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


def test_a_log_entry_of_a_sub_agent_resets_its_own_counter() -> None:
    """The counters of other threads stay."""

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


def test_the_window_of_a_sub_agent_ends_alone() -> None:
    """Files that it loaded stay in the effort. A stop without a start changes nothing."""

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


def test_a_reporting_hook_is_counted_and_delivers_nothing() -> None:
    """A hook that expects no reply gets none: injections stay queued, and no refusal is recorded."""

    async def story(work: EffortEngine) -> None:
        await work.start(metadata={"heartbeat_limit": 1})
        await work.act("InjectionQueued", effort_id="e1", text="Look")
        result = await work.start_tool(expects_reply=False)
        await work.hook("PostToolUse", expects_reply=False, tool_name="Bash")
        assert (heartbeat(result), result.advice) == (1, None)
        assert [each.delivery for each in (await work.effort()).injections] == [Delivery.QUEUED]

    run_story(story)


def test_an_injection_is_delivered_once_and_confirmed_by_the_transcript() -> None:
    """It is queued, delivered with the next hook, and confirmed when the transcript shows it."""

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


def test_a_new_session_continues_the_effort() -> None:
    """After a handover the next session belongs to the same effort, is linked to the last one, and gets the text."""

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
    """The window has the usage from the transcript. A handover is requested once."""

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
    """Interleaved calls of a hundred panes each count for their own effort."""

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


def test_a_child_agent_has_no_effort() -> None:
    """A client that an agent started is neither counted nor advised."""

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


def test_the_coordinator_gets_messages_about_teammates() -> None:
    """TeammateIdle and TaskCompleted become messages of the managing effort, in the same batch."""

    async def story(work: EffortEngine) -> None:
        await work.start("chief", owner="lead")
        await work.start("crew", owner="hand", manager="lead")
        await work.hook("TeammateIdle", fleet_id="hand", teammate_name="bo", team_name="blue")
        await work.hook("TaskCompleted", fleet_id="hand", teammate_name="bo", task_id="4", task_subject="Parser")
        result = [each.text for each in (await work.effort("chief")).injections]
        assert result == ["bo (blue) has nothing to do.", "bo completed: Parser"]
        assert [each.kind for each in work.journal.effort_messages("crew")] == ["signal", "signal"]

    run_story(story)


def test_dialogs_failures_and_instruction_files_are_recorded() -> None:
    """The effort records questions, failed calls, and the instruction files of the paths that were used."""

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
    """Files of the second effort have other names than those of the first."""

    async def story(work: EffortEngine) -> None:
        first, second = await work.start("e1", title="Checkout"), await work.start("e2", keywords=("pay",))
        other = await work.start("e3", task_dir="/elsewhere")
        assert [each.ordinal for each in (first, second, other)] == [1, 2, 1]
        assert nouns.artifact_paths(second)["log"] == f"{ROOT}/2_FIX_LOG.md"
        [task, _] = work.journal.tasks()
        assert (task.title, task.keywords, task.effort_count) == ("Checkout", ("pay",), 2)

    run_story(story)


def test_a_finished_effort_does_not_change() -> None:
    """Its windows are closed, hooks do not belong to it, and acts are refused with a hint."""

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


def test_an_internal_error_changes_no_effort() -> None:
    """The client gets an empty reply, no effort changes, and the event has an anomaly."""

    async def story(work: EffortEngine) -> None:
        await work.start()
        work.journal.fails = True
        outcome = await work.start_tool()
        assert (outcome.advice, outcome.effort) == (None, None)
        assert (await work.effort()).windows == ()
        assert work.journal.events()[-1].anomaly == "the effort was not served: ZeroDivisionError"

    run_story(story)


def test_an_effort_continues_with_the_next_client() -> None:
    """While its client runs, another client does not get it. After the client ended, the next one does."""

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
    """Other fields stay. Null removes a field."""

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
def test_any_history_is_processed_and_replayed(seed: int) -> None:
    """Hooks and acts of several sessions and panes in any order raise nothing, and a replay gives the same efforts."""
    chance = random.Random(seed)

    async def story(work: EffortEngine) -> None:
        await work.start("e1")
        await work.start("e2", owner="pane", manager="e1")
        for _ in range(150):
            if chance.random() < 0.2:
                name, said = chance.choice(DEEDS)
                await work.act(name, effort_id=chance.choice(("e1", "e2")), **said)
                continue
            name, result = chance.choice(EVENTS)
            session, fleet = chance.choice(("session-1", "session-2")), chance.choice((None, None, "pane"))
            pid, asked = chance.choice((7, 8)), chance.random() < 0.7
            await work.hook(name, expects_reply=asked, fleet_id=fleet, pid=pid, **{"session_id": session, **result})

    work = run_story(story)
    odd = [stored.anomaly for stored in work.journal.events(limit=1_000) if stored.anomaly]
    assert [anomaly for anomaly in odd if "not served" in anomaly or "not understood" in anomaly] == []
    for effort in work.journal.efforts():
        assert len({window.id for window in effort.windows}) == len(effort.windows)
        assert all(window.ended_at is None for window in effort.windows)


# --- windows that are spent -------------------------------------------------------------------------------------------


def spent(effort: Effort) -> list[str | None]:
    """The reason why each open window should be replaced."""
    return [window.restart_reason for window in effort.windows]


@pytest.mark.parametrize(("trigger", "why"), [("auto", "its context is being compacted"), ("manual", None)])
def test_an_automatic_compaction_spends_a_window(trigger: str, why: str | None) -> None:
    """A manual compaction does not. The next window starts unspent."""

    async def story(work: EffortEngine) -> None:
        await work.start()
        await work.hook("SessionStart", source="startup")
        await work.hook("PreCompact", trigger=trigger)
        assert spent(await work.effort()) == [why]
        await work.hook("SessionStart", source="compact")
        assert spent(await work.effort()) == [None]

    run_story(story)


def test_a_requested_handover_spends_a_window() -> None:
    """After the call that stored it has ended. A handover that was not requested spends nothing."""

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


def test_a_finished_session_is_spent() -> None:
    """`session.finish` spends the window immediately."""

    async def story(work: EffortEngine) -> None:
        await work.start()
        await work.hook("SessionStart", source="startup")
        await work.act("Dehydrated", effort_id="e1", text="All of it.", finish=True)
        assert spent(await work.effort()) == ["its session was finished"]

    run_story(story)


def test_instruction_files_are_delivered_once() -> None:
    """With a call in their directory; not to sub-agents, and not with a refused call."""

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


def test_instruction_files_that_the_client_loaded_are_not_delivered() -> None:
    """The transcript shows which ones it added."""

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


def test_the_manager_of_a_team_gets_messages_without_an_effort() -> None:
    """Also about teammates without an effort."""

    async def story(work: EffortEngine) -> None:
        await work.start("e1", owner="lead", metadata={"manages": ["blue"]})
        hand: dict[str, Any] = {"session_id": "hand", "fleet_id": "hand", "teammate_name": "bo"}
        result = await work.hook("TeammateIdle", team_name="blue", **hand)
        assert (result.effort, result.coordinator) == (None, "lead")
        await work.hook("TeammateIdle", team_name="red", **hand)
        own = await work.hook("TaskCompleted", fleet_id="lead", task_subject="Parser", team_name="blue")
        assert own.coordinator == "lead"
        texts = [each.text for each in (await work.effort()).injections]
        assert texts == ["bo (blue) has nothing to do.", "A teammate (blue) completed: Parser"]

    run_story(story)
