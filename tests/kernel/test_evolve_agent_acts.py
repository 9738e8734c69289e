"""What people do through Headspace: register, look, type, close."""

from claude_headspace.kernel import acts, facts
from claude_headspace.kernel.agent import Agent, AgentState, Worktree
from claude_headspace.kernel.envelope import Observations, Origin
from claude_headspace.kernel.evolve import evolve
from claude_headspace.kernel.evolve.change import Change
from claude_headspace.kernel.facts import Event, Meta
from claude_headspace.kernel.react import react
from claude_headspace.kernel.views.agent import agent_view
from claude_headspace.kernel.views.dialects import dialects
from tests.kernel.story import Story, new_agent, question, time_at


def act(agent: Agent, fact: facts.Fact, at: float, cwd: str | None = None) -> Change:
    """The agent after an act."""
    meta = Meta(
        event_id=f"act-{at}",
        name=type(fact).__name__,
        origin=Origin.OPERATOR,
        at=time_at(at),
        received_at=time_at(at),
        host="host",
        cwd=cwd,
    )
    return evolve(agent, Event(meta, fact, Observations()))


def test_a_registered_agent_is_starting() -> None:
    """It has the registered attributes, and waits for its first hook."""
    fact = facts.AgentRegistered(headspace_id="h", role="reviewer", mode="mission", tmux_session="s", tmux_pane="%1")
    agent = act(new_agent(), fact, 1, "/code").agent
    assert agent.state is AgentState.STARTING
    assert (agent.headspace_id, agent.role, agent.mode, agent.tmux_pane) == ("h", "reviewer", "mission", "%1")
    assert agent.cwd == "/code"


def test_looking_changes_attention_to_checked() -> None:
    """The fleet state is attention until a person looks; the next wait is unseen again."""
    story = Story()
    story.prompted()
    story.hook("PreToolUse", at=4, **question("q1"))
    assert (story.agent.is_unseen, dialects(story.agent).fleet) == (True, "attention")
    seen = act(story.agent, acts.AgentSeen(), 5).agent
    assert (seen.is_unseen, dialects(seen).fleet, dialects(seen).plate) == (False, "checked", "awaiting_input")
    assert act(seen, acts.AgentSeen(), 3).agent.seen_at == time_at(5)


def test_the_worktree_follows_the_directory_of_the_client() -> None:
    """What is known about it stays until the client works elsewhere."""
    inside = Observations(project_root="/w/login", repository_root="/shop")
    story = Story()
    story.hook("SessionStart", at=1, source="startup", observations=inside)
    assert story.agent.worktree == Worktree(root="/w/login")
    observed = acts.WorktreeObserved(root="/w/login", base="main", ahead=2, uncommitted=1)
    agent = act(story.agent, observed, 2).agent
    assert agent.worktree == Worktree(root="/w/login", base="main", ahead=2, uncommitted=1)
    assert (agent.state, agent.last_active_at) == (story.agent.state, story.agent.last_active_at)
    late = acts.WorktreeObserved(root="/w/other", base="main", ahead=9)
    assert act(agent, late, 3).agent.worktree == agent.worktree
    view = agent_view(agent).worktree
    assert view is not None
    assert (view.root, view.ahead, view.behind, view.removed) == ("/w/login", 2, 0, False)


def test_an_agent_is_registered_in_its_worktree() -> None:
    """It is shown before the first hook."""
    assert act(new_agent(), facts.AgentRegistered(worktree_root="/w/login"), 1).agent.root == "/w/login"


def test_typed_text_changes_nothing() -> None:
    """Only the client's own prompt is a turn, so one message is never two turns."""
    story = Story()
    story.prompted()
    change = act(story.agent, acts.TextTyped(text="Hello."), 5)
    assert (change.turns, change.commands, change.agent.state) == ([], {}, story.agent.state)


def test_a_remote_action_is_published_and_changes_nothing() -> None:
    """The host that does it must receive it, even if the agent has ended; it is refused there."""
    story = Story()
    story.prompted()
    ended = act(story.agent, acts.AgentClosed(reason="closed"), 5).agent
    for agent in (story.agent, ended):
        change = act(agent, facts.RemoteActionStep("e1", "asked"), 9)
        assert (change.turns, change.commands, change.waits, change.agent.state) == ([], {}, {}, agent.state)
        (message,) = [each for each in react(agent, change) if each.type == "errand_moved"]
        assert (message.data["id"], message.data["step"], message.data["host"]) == ("e1", "asked", agent.host)


def test_closing_ends_only_the_client_that_was_started() -> None:
    """Another client of the agent continues; a client that never reported ends."""
    assert act(new_agent(), acts.AgentClosed(reason="exited with 0", pid=7), 5).agent.end_reason == "exited with 0"
    assert act(new_agent(pid=8), acts.AgentClosed(reason="exited with 0", pid=7), 5).agent.ended_at is None
    assert act(new_agent(pid=7), acts.AgentClosed(reason="exited with 0", pid=7), 5).agent.state is AgentState.ENDED


# --- resume -----------------------------------------------------------------------------------------------------------

RESUMED = facts.AgentResumed(headspace_id="h", tmux_session="second", tmux_pane="%8", wrapper_pid=40)


def ended_story() -> Story:
    """An agent that answered a prompt and ended."""
    story = Story()
    story.starts()
    story.prompted()
    story.hook("Stop", at=5)
    story.hook("SessionEnd", at=6, reason="other")
    return story


def test_a_resumed_agent_is_idle_before_its_client_reports() -> None:
    """It is back in its session, in the terminal that it was resumed in."""
    ended = ended_story().agent
    agent = act(ended, RESUMED, 20).agent
    assert (ended.state, agent.state, agent.end_reason) == (AgentState.ENDED, AgentState.IDLE, None)
    assert (agent.tmux_session, agent.tmux_pane, agent.pid) == ("second", "%8", None)
    assert ended.session is not None
    assert agent.session is not None
    assert (agent.session.client_id, agent.session.ordinal) == (ended.session.client_id, 2)


def test_the_next_prompt_of_a_resumed_agent_opens_no_further_session() -> None:
    """The client reports the resumed session with the prompt."""
    story = Story(act(ended_story().agent, RESUMED, 20).agent)
    story.hook("SessionStart", at=60, source="resume")
    story.prompted(at=61)
    assert story.agent.session is not None
    assert (story.agent.session.ordinal, story.board) == (2, ("working", None))


def test_an_agent_that_runs_is_not_resumed() -> None:
    """A second `resume` changes nothing, and neither does one without a session."""
    back = act(ended_story().agent, RESUMED, 20).agent
    assert act(back, facts.AgentResumed(tmux_pane="%9"), 21).agent.tmux_pane == "%8"
    closed = act(new_agent(), acts.AgentClosed(reason="closed"), 5).agent
    assert act(closed, RESUMED, 20).agent.state is AgentState.ENDED


def test_a_resumed_client_that_never_reported_ends_with_its_wrapper() -> None:
    """By its own report, or by its process. A client that has reported continues."""
    back = act(ended_story().agent, RESUMED, 20).agent
    assert act(back, acts.AgentClosed(reason="exited with 0", pid=41), 25).agent.end_reason == "exited with 0"
    assert act(back, facts.WrapperVanished(40), 25).agent.state is AgentState.ENDED
    story = Story(back)
    story.prompted(at=22)
    assert act(story.agent, facts.WrapperVanished(40), 25).agent.state is AgentState.WORKING


# --- supervision ------------------------------------------------------------------------------------------------------

WRAPPER = facts.AgentRegistered(headspace_id="h", wrapper_pid=40, supervised=True)


def supervised() -> Story:
    """A client that `headspace run --supervise` started."""
    story = Story(act(new_agent(), WRAPPER, 0.5).agent)
    story.starts()
    story.prompted()
    return story


def test_a_restart_does_not_end_the_agent() -> None:
    """Until the first event of the new client the agent is starting, whatever the old client reports."""
    story = supervised()
    story.apply(Event(_meta("RestartBegun", 10), acts.RestartBegun(reason="full"), Observations()))
    assert (story.board, story.evidence.why) == (("starting", None), "its client is restarting: full")
    story.hook("SessionEnd", at=11, reason="other")
    story.report(facts.ClientVanished(4711), origin=Origin.PROCESS, at=12)
    assert (story.board, story.agent.ended_at) == (("starting", None), None)
    story.hook("SessionStart", at=13, session_id="session-2", source="startup")
    assert story.board == ("idle", None)
    supervision = story.agent.supervision
    assert supervision is not None
    assert (supervision.restarts, supervision.reason, supervision.under_way) == (1, "full", False)


def test_the_old_clients_compaction_does_not_end_a_restart() -> None:
    """The old client may finish what it started."""
    story = supervised()
    story.apply(Event(_meta("RestartBegun", 10), acts.RestartBegun(reason="full"), Observations()))
    story.hook("SessionStart", at=11, source="compact")
    assert story.agent.is_restarting


def test_the_end_of_supervision_has_a_reason() -> None:
    """The client continues."""
    story = supervised()
    story.apply(Event(_meta("SupervisionEnded", 10), acts.SupervisionEnded(reason="too often"), Observations()))
    assert story.agent.supervision is not None
    assert (story.agent.supervision.ended, story.board[0]) == ("too often", "working")


def test_a_registered_agent_ends_with_its_wrapper() -> None:
    """No other source would report it; a client that reported continues."""
    gone = facts.WrapperVanished(40)
    placeholder = act(new_agent(), WRAPPER, 1).agent
    assert act(placeholder, gone, 5).agent.end_reason == "the process that started it ended"
    assert act(placeholder, facts.WrapperVanished(41), 5).agent.ended_at is None
    story = supervised()
    alone = act(story.agent, gone, 10).agent
    assert (alone.ended_at, alone.wrapper_pid) == (None, None)
    assert alone.supervision is not None
    assert alone.supervision.ended == "the supervising process ended"


def test_an_unfinished_restart_ends_the_agent() -> None:
    """The supervisor was killed between two clients."""
    story = supervised()
    story.apply(Event(_meta("RestartBegun", 10), acts.RestartBegun(reason="full"), Observations()))
    story.hook("SessionEnd", at=11, reason="other")
    assert act(story.agent, facts.WrapperVanished(40), 12).agent.state is AgentState.ENDED


def _meta(name: str, at: float) -> Meta:
    return Meta(event_id=f"act-{at}", name=name, origin=Origin.OPERATOR, at=time_at(at), received_at=time_at(at))


def test_an_end_after_a_request_to_stop_is_no_crash() -> None:
    """The end reason is `stopped` for a minute after the request. Without one, a client with an error has crashed."""
    story = Story()
    story.prompted()
    gone = acts.AgentClosed(reason="exited with 137", pid=story.agent.pid)
    crashed = act(story.agent, gone, 20).agent
    assert (crashed.end_reason, crashed.has_crashed) == ("exited with 137", True)
    asked = act(story.agent, acts.StopRequested(by="me"), 19).agent
    assert asked.state is story.agent.state
    stopped = act(asked, gone, 20).agent
    assert (stopped.end_reason, stopped.has_crashed) == ("stopped", False)
    assert act(asked, gone, 100).agent.has_crashed


def test_an_ended_agent_is_archived_and_comes_back() -> None:
    """Undoing it, or a client that runs again, puts it back on the board."""
    story = Story()
    story.prompted()
    assert not act(story.agent, acts.AgentArchived(), 19).agent.is_archived
    ended = act(story.agent, acts.AgentClosed(pid=story.agent.pid), 20).agent
    archived = act(ended, acts.AgentArchived(), 21).agent
    assert (archived.is_archived, agent_view(archived).archived) == (True, True)
    assert not act(archived, acts.AgentArchived(undone=True), 22).agent.is_archived
    story.agent = archived
    story.hook("SessionStart", at=30, source="resume")
    assert (story.agent.ended_at, story.agent.is_archived) == (None, False)
