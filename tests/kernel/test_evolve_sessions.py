"""Sessions: start, context windows, and the end of an agent."""

from collections.abc import Callable

import pytest

from claude_headspace.kernel.envelope import Observations, Origin
from claude_headspace.kernel.facts import ClientReported, ClientVanished, TurnClosed, UserWrote
from tests.kernel.story import Story, in_subagent, new_agent, running, time_at


@pytest.fixture
def story() -> Story:
    """A client that has started."""
    started = Story()
    started.starts(model="claude-opus-5-5")
    return started


def windows(story: Story) -> list[tuple[int, str, str, str | None]]:
    """All sessions: ordinal, the client's id, how they started, how they ended."""
    return [
        (session.ordinal, session.client_id, session.source, session.end_reason) for session in story.sessions.values()
    ]


# --- starts -----------------------------------------------------------------------------------------------------------


def test_an_agent_without_events_is_starting() -> None:
    """A registered agent has no session yet."""
    assert Story().board == ("starting", None)


def test_a_started_client_is_idle(story: Story) -> None:
    """It waits for a prompt; no person is needed."""
    assert story.board == ("idle", None)
    assert (windows(story), story.agent.model) == ([(1, "session-1", "startup", None)], "claude-opus-5-5")


def test_a_duplicated_start_is_one_session(story: Story) -> None:
    """A hook that is registered twice opens one session."""
    story.starts(at=1.002)
    story.hook("SessionStart", at=5, source="resume")
    story.hook("SessionStart", at=5.002, source="resume")
    assert len(windows(story)) == 2


def test_a_session_has_the_commit_of_its_start(story: Story) -> None:
    """A later report of the same session does not replace it."""
    story.hook("SessionStart", at=5, source="resume", observations=Observations(commit="a" * 40))
    story.hook("SessionStart", at=5.002, source="resume", observations=Observations(commit="b" * 40))
    assert [session.commit for session in story.sessions.values()] == [None, "a" * 40]


def test_any_event_can_open_a_session() -> None:
    """A daemon that started late; the late start adds the source."""
    story = Story()
    story.calls("t1", at=5)
    assert windows(story) == [(1, "session-1", "unknown", None)]
    story.starts(at=2)
    assert windows(story) == [(1, "session-1", "startup", None)]


def test_any_event_can_add_the_transcript_path(story: Story) -> None:
    """The first path counts."""
    story.hook("Notification", notification_type="idle_prompt", transcript_path="/t/session-1.jsonl")
    story.hook("Notification", notification_type="idle_prompt", transcript_path="/t/other.jsonl")
    assert [session.transcript_path for session in story.sessions.values()] == ["/t/session-1.jsonl"]
    assert story.agent.session in story.sessions.values()


def test_compaction_opens_the_next_session_and_keeps_the_work(story: Story) -> None:
    """An automatic compaction in the middle of a turn changes neither state nor command."""
    story.prompted()
    story.hook("PreCompact", trigger="auto")
    story.hook("SubagentStop", agent_id="a1", agent_type="")
    story.hook("SessionStart", source="compact", model="claude-opus-5-5")
    story.hook("PostCompact", trigger="auto")
    assert (story.board, story.command.state) == (("working", None), "PROCESSING")
    assert windows(story) == [(1, "session-1", "startup", "compact"), (2, "session-1", "compact", None)]


def test_a_manual_compaction_is_work(story: Story) -> None:
    """`/compact` shows the agent working until it ends, without a command."""
    story.hook("PreCompact", trigger="manual")
    assert story.board == ("working", None)
    story.hook("SessionStart", source="compact")
    story.hook("PostCompact", trigger="manual")
    assert (story.board, story.agent.command) == (("idle", None), None)


@pytest.mark.parametrize("seen_at", [11, 20], ids=["at once", "late"])
def test_busy_during_a_compaction_ends_with_it(seen_at: float) -> None:
    """Whether the registry was read before or after its end."""
    story = Story()
    story.starts(at=1)
    received: list[tuple[float, Callable[[], object]]] = [
        (10, lambda: story.hook("PreCompact", trigger="manual", at=10)),
        (seen_at, lambda: story.report(ClientReported("busy"), origin=Origin.REGISTRY, at=10.1)),
        (12, lambda: story.hook("SessionStart", source="compact", at=12)),
        (12.1, lambda: story.hook("PostCompact", trigger="manual", at=12.1)),
    ]
    for _, tell in sorted(received, key=lambda each: each[0]):
        tell()
    assert story.board == ("idle", None)


def test_an_automatic_compaction_does_not_end_the_turn(story: Story) -> None:
    """A late prompt still starts its turn."""
    story.hook("PreCompact", trigger="manual", at=2)
    story.hook("SessionStart", source="compact", at=21)
    story.hook("PostCompact", trigger="auto", at=21.1)
    story.prompted(at=19)
    assert story.board == ("working", None)


def test_the_next_turn_ends_a_compaction_without_end(story: Story) -> None:
    """If the end was lost, newer work and its end prove it."""
    story.hook("PreCompact", trigger="manual")
    story.prompted()
    story.stops()
    assert story.board == ("idle", None)


def test_clear_keeps_the_agent_and_ends_the_work(story: Story) -> None:
    """`/clear` gives the same agent a new session; earlier waits are closed."""
    story.prompted()
    story.stops("Shall I delete the old files?")
    story.hook("SessionEnd", reason="clear")
    story.hook("SessionStart", source="clear", session_id="session-2")
    assert (story.board, story.command.outcome) == (("idle", None), "interrupted")
    assert windows(story) == [(1, "session-1", "startup", "clear"), (2, "session-2", "clear", None)]
    [first, second] = story.sessions.values()
    assert (second.prev_session_id, story.agent.model) == (first.id, "claude-opus-5-5")


def test_resume_inside_changes_the_session(story: Story) -> None:
    """`/resume` changes the session of the same agent, also to an earlier one."""
    story.hook("SessionEnd", reason="resume")
    story.hook("SessionStart", source="resume", session_id="session-2")
    story.hook("SessionEnd", reason="resume", session_id="session-2")
    story.hook("SessionStart", source="resume")
    assert [window[:2] for window in windows(story)] == [(1, "session-1"), (2, "session-2"), (3, "session-1")]
    assert story.board == ("idle", None)


def test_a_missed_session_start_is_detected(story: Story) -> None:
    """The first event of another session opens it, new or earlier."""
    story.calls("t1", session_id="session-2")
    story.hook("SessionEnd", reason="resume", session_id="session-2")
    story.calls("t2")
    assert [window[1] for window in windows(story)] == ["session-1", "session-2", "session-1"]


def test_a_late_start_opens_nothing(story: Story) -> None:
    """The start of an earlier session changes neither session nor model."""
    story.hook("SessionStart", at=9, source="clear", session_id="session-2", model="new")
    change = story.hook("SessionStart", at=5, source="resume", session_id="session-0", model="old")
    assert change.anomalies == ["late start of an earlier session"]
    assert (story.agent.session and story.agent.session.client_id, story.agent.model) == ("session-2", "new")


def test_a_late_event_of_an_earlier_session_changes_no_session(story: Story) -> None:
    """It fired before `/clear`."""
    story.hook("SessionStart", at=9, source="clear", session_id="session-2")
    story.calls("t1", at=5)
    assert [window[1] for window in windows(story)] == ["session-1", "session-2"]
    assert (story.board, story.open_calls) == (("idle", None), [])


def test_a_restarted_client_has_nothing_open(story: Story) -> None:
    """After a kill and `--continue`."""
    story.prompted()
    story.calls("t1")
    story.asks_permission()
    story.hook("SubagentStart", **in_subagent())
    story.hook("SessionStart", source="resume")
    assert (story.board, story.open_calls, story.open_waits) == (("idle", None), [], [])
    assert (story.agent.running_subagents, story.command.outcome) == ((), "interrupted")


# --- ends -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", ["prompt_input_exit", "logout", "other", "something_new"])
def test_an_exit_ends_the_agent(story: Story, reason: str) -> None:
    """Nothing of it stays open."""
    story.prompted()
    story.calls("t1")
    story.asks_permission()
    story.asks_permission("rm x", **in_subagent())
    story.hook("SessionEnd", reason=reason)
    agent = story.agent
    assert story.board == ("ended", None)
    assert (agent.end_reason, agent.ended_at, agent.pid) == (reason, time_at(story.now), None)
    assert (agent.calls, agent.waits, agent.running_subagents) == ((), (), ())
    assert all(wait.closed_at is not None for wait in story.waits.values())
    assert story.command.outcome == "interrupted"


def test_an_exit_after_a_finished_turn_leaves_its_outcome(story: Story) -> None:
    """A completed command stays completed."""
    story.prompted()
    story.stops()
    story.hook("SessionEnd", reason="other")
    assert (story.board, story.command.outcome) == (("ended", None), "completed")


def test_a_hook_after_the_end_revives_the_agent(story: Story) -> None:
    """One event is enough."""
    story.hook("SessionEnd", reason="other")
    change = story.prompted()
    assert (story.board, change.state_changed) == (("working", None), True)
    assert (story.agent.ended_at, story.agent.end_reason, story.agent.pid) == (None, None, 4711)


@pytest.mark.parametrize("name", ["UserPromptSubmit", "PreToolUse", "SubagentStart", "Notification", "SessionStart"])
def test_a_late_hook_does_not_revive_the_agent(story: Story, name: str) -> None:
    """It fired before the end."""
    story.hook("SessionEnd", at=9, reason="other")
    story.hook(
        name,
        at=5,
        prompt="Fix it",
        tool_name="Bash",
        tool_use_id="t1",
        notification_type="permission_prompt",
        **(in_subagent() if name == "SubagentStart" else {}),
    )
    agent = story.agent
    assert story.board == ("ended", None)
    assert (agent.pid, agent.calls, agent.waits, agent.running_subagents) == (None, (), (), ())


def test_a_late_end_does_not_end_a_live_agent(story: Story) -> None:
    """A newer hook shows that it continued."""
    story.hook("SessionStart", at=9, source="resume")
    story.hook("SessionEnd", at=5, reason="other")
    assert story.board == ("idle", None)


def test_an_end_ends_all_subagents(story: Story) -> None:
    """Even one that a transcript showed running later: its client is gone."""
    story.hook("SubagentStart", at=3, **in_subagent())
    story.stops("I have sent somebody.", at=5, background_tasks=running("sub-1"))
    story.report(UserWrote("Something new"), at=48)
    story.report(TurnClosed(pending=1), at=49)
    story.hook("SessionEnd", at=20, reason="prompt_input_exit")
    assert (story.board, story.agent.running_subagents) == (("ended", None), ())


def test_a_duplicated_end_changes_nothing(story: Story) -> None:
    """Reason and time stay."""
    story.hook("SessionEnd", at=5, reason="other")
    change = story.hook("SessionEnd", at=5.002, reason="other")
    assert (change.state_changed, len(story.sessions)) == (False, 1)


def test_the_end_of_another_session_changes_nothing(story: Story) -> None:
    """An agent does not end with a session that it left."""
    story.starts(session_id="session-2")
    change = story.hook("SessionEnd", reason="other")
    assert story.board == ("idle", None)
    assert change.anomalies == ["end of another session than the one in use"]


def test_an_end_can_arrive_before_the_start_of_its_session(story: Story) -> None:
    """The agent has ended in either order."""
    story.hook("SessionStart", source="resume", session_id="session-2", at=5)
    story.hook("SessionEnd", reason="other", at=9)
    story.hook("SessionStart", source="resume", at=8)
    assert story.board == ("ended", None)


def test_a_vanished_client_ends_the_agent(story: Story) -> None:
    """A killed client fires no hook; its process is gone."""
    story.prompted()
    story.calls("t1")
    story.report(ClientVanished(4711))
    assert (story.board, story.agent.end_reason, story.open_calls) == (("ended", None), "vanished", [])


def test_another_process_that_vanished_is_not_the_client(story: Story) -> None:
    """The agent has another pid."""
    story.report(ClientVanished(1))
    assert story.board == ("idle", None)


# --- surroundings -----------------------------------------------------------------------------------------------------


def test_process_and_terminal_follow_the_newest_hook(story: Story) -> None:
    """Process, pane, directory and branch; the tmux session stays the first one."""
    context = Observations(client_pid=9, client_started_at=5, tmux_session="one", tmux_pane="%2", branch="main")
    story.hook("Stop", cwd="/home/dev/app/sub", observations=context, permission_mode="plan")
    story.hook("Stop", at=1.5, cwd="/old", observations=Observations(client_pid=8, tmux_session="two", branch="old"))
    story.hook("Stop", observations=Observations(tmux_session="two"))
    agent = story.agent
    assert (agent.pid, agent.pid_started_at, agent.tmux_session, agent.tmux_pane) == (9, 5, "one", "%2")
    assert (agent.cwd, agent.branch, agent.permission_mode) == ("/home/dev/app", "main", "plan")


def test_a_pane_and_its_tmux_session_belong_together(story: Story) -> None:
    """A resumed client is in another session. Without a name, the session of another pane is unknown."""
    story.hook("Stop", observations=Observations(client_pid=9, tmux_session="first", tmux_pane="%1"))
    story.hook("SessionEnd", reason="other")
    story.hook("SessionStart", source="resume", observations=Observations(tmux_session="second", tmux_pane="%8"))
    assert (story.agent.tmux_session, story.agent.tmux_pane) == ("second", "%8")
    story.hook("Stop", observations=Observations(tmux_pane="%8"))
    assert (story.agent.tmux_session, story.agent.tmux_pane) == ("second", "%8")
    story.hook("Stop", observations=Observations(tmux_pane="%9"))
    assert (story.agent.tmux_session, story.agent.tmux_pane) == (None, "%9")


def test_a_client_that_is_resumed_outside_of_tmux_has_no_pane(story: Story) -> None:
    """The pane of its earlier client may belong to another agent now. A hook of the same client without a pane proves
    nothing.
    """
    in_pane = Observations(client_pid=9, tmux_session="first", tmux_pane="%1")
    story.hook("SessionStart", source="startup", observations=in_pane)
    story.hook("SessionStart", source="resume", observations=Observations(client_pid=9))
    assert (story.agent.tmux_session, story.agent.tmux_pane) == ("first", "%1")
    story.hook("SessionEnd", reason="other")
    story.hook("SessionStart", source="resume", observations=Observations(client_pid=10))
    assert (story.agent.tmux_session, story.agent.tmux_pane) == (None, None)


def test_a_child_does_not_take_its_parents_terminal() -> None:
    """A client started by an agent inherits pane and id from it: they are not its own."""
    story = Story(new_agent(parent_id="agent-0"))
    story.starts(observations=Observations(client_pid=9, tmux_session="one", tmux_pane="%1", headspace_id="wrapper-1"))
    agent = story.agent
    assert (agent.pid, agent.tmux_session, agent.tmux_pane, agent.headspace_id) == (9, None, None, None)


def test_late_hooks_are_no_activity(story: Story) -> None:
    """The last activity is the newest hook."""
    story.prompted(at=9)
    story.calls("t1", at=5)
    assert story.agent.last_active_at == time_at(9)


def test_a_stop_after_the_end_revives_the_agent_as_idle(story: Story) -> None:
    """The state follows from what is open."""
    story.hook("SessionEnd", at=5, reason="other")
    story.stops("Done with it.", at=6, background_tasks=running(shell_id="b1"))
    assert story.board == ("idle", None)
