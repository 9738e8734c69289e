"""Observations: each source overrides only what it can observe."""

import pytest

from claude_headspace.kernel.envelope import Observations, Origin
from claude_headspace.kernel.evolve.change import Change
from claude_headspace.kernel.facts import ClientReported, ClientVanished, Event, Meta
from claude_headspace.kernel.views.agent import agent_view
from claude_headspace.kernel.wait.request import Ask
from tests.kernel.story import Story, in_subagent, plan, question, running, time_at


@pytest.fixture
def story() -> Story:
    """A client that works on a prompt."""
    started = Story()
    started.starts()
    started.prompted()
    return started


def reports(story: Story, status: str, kind: str = "", at: float | None = None) -> Change:
    """The client's registry entry changes."""
    return story.report(ClientReported(status, Ask(kind) if kind else None), origin=Origin.REGISTRY, at=at)


@pytest.mark.parametrize("status", ["idle", "shell"])
def test_idle_ends_work_and_dialogs(story: Story, status: str) -> None:
    """Esc fires no hook: the registry shows it, with medium confidence."""
    story.calls("t1")
    story.asks_permission()
    reports(story, status)
    assert (story.board, story.open_calls, story.open_waits) == (("idle", None), [], [])
    assert (story.command.outcome, story.evidence.confidence) == ("interrupted", "medium")


def test_idle_keeps_an_error(story: Story) -> None:
    """It follows every StopFailure by some milliseconds."""
    story.hook("StopFailure", error="rate_limit", last_assistant_message="API Error")
    reports(story, "idle")
    assert story.board == ("error", None)


def test_idle_keeps_a_question_in_text(story: Story) -> None:
    """It follows every Stop by some milliseconds."""
    story.stops("Shall I delete the old files?")
    reports(story, "idle")
    assert story.board == ("waiting", "question")


@pytest.mark.parametrize(
    ("name", "message", "board", "outcome"),
    [
        ("Stop", "All tests pass now.", ("idle", None), "completed"),
        ("Stop", "Shall I delete the old files?", ("waiting", "question"), "completed"),
        ("StopFailure", "API Error", ("error", None), "failed"),
    ],
)
def test_idle_may_be_observed_before_the_stop_arrives(
    story: Story, name: str, message: str, board: tuple[str, str | None], outcome: str
) -> None:
    """The apparent interrupt was the end of the turn."""
    reports(story, "idle", at=5.05)
    assert story.command.outcome == "interrupted"
    story.hook(name, at=5, prompt_id="p1", last_assistant_message=message, background_tasks=[])
    assert (story.board, story.command.outcome, len(story.commands)) == (board, outcome, 1)


def test_idle_ends_subagents_in_the_background_too(story: Story) -> None:
    """With a running sub-agent the registry stays busy."""
    story.hook("SubagentStart", **in_subagent())
    story.stops("I have sent somebody.", background_tasks=running("sub-1"))
    reports(story, "idle")
    assert (story.board, story.agent.running_subagents) == (("idle", None), ())


def test_a_late_idle_does_not_end_newer_work(story: Story) -> None:
    """The newest evidence wins by its own time."""
    story.calls("t1", at=9)
    reports(story, "idle", at=5)
    assert (story.board, story.open_calls) == (("working", None), ["t1"])


def test_late_hooks_do_not_override_a_newer_idle() -> None:
    """Hooks that fired before the registry showed idle open nothing."""
    story = Story()
    story.starts(at=1)
    reports(story, "idle", at=9)
    story.prompted(at=5)
    story.calls("t1", at=6)
    assert (story.board, story.open_calls) == (("idle", None), [])


def test_busy_after_a_dialog_closes_it(story: Story) -> None:
    """No other source shows the time of the approval."""
    story.calls("t1", at=4)
    story.asks_permission(at=4.05)
    reports(story, "busy", at=7)
    assert (story.board, story.open_calls) == (("working", None), ["t1"])


def test_a_plan_is_approved_although_busy_closed_its_dialog(story: Story) -> None:
    """The registry can show the approval before the call ends: the turn of the user is added all the same."""
    story.hook("PreToolUse", at=4, **plan("q1"))
    reports(story, "busy", at=7)
    assert story.board == ("working", None)
    story.hook("PostToolUse", at=7.2, **plan("q1"))
    assert story.turns[-2:] == [("AGENT", "QUESTION", "1. Do it"), ("USER", "ANSWER", "Plan approved")]


def test_busy_closes_a_subagents_dialog_too(story: Story) -> None:
    """While any dialog is open the registry shows waiting."""
    story.asks_permission("rm x", at=4, **in_subagent())
    reports(story, "busy", at=7)
    assert story.board == ("working", None)


def test_busy_before_the_registry_lag_proves_nothing(story: Story) -> None:
    """The registry shows a dialog up to 0.3 s after its hook."""
    story.asks_permission(at=4)
    reports(story, "busy", at=4.1)
    assert story.board == ("waiting", "permission")


def test_a_late_dialog_from_before_busy_does_not_open(story: Story) -> None:
    """In the wrong order, the approved dialog stays closed."""
    reports(story, "busy", at=7)
    story.asks_permission(at=4)
    story.hook("PreToolUse", at=4, **question("q1"))
    assert story.board == ("working", None)


def test_a_dialog_names_the_call_during_which_it_opened(story: Story) -> None:
    """The registry only says that a dialog is open. Without a call, the board says no more than that."""
    story.calls("t1", at=4)
    report = ClientReported("waiting", Ask("dialog", "dialog open"))
    story.report(report, origin=Origin.REGISTRY, at=5)
    [wait] = agent_view(story.agent).waits
    assert (wait.kind, wait.text) == ("dialog", "Bash: ls")
    alone = Story()
    alone.starts()
    alone.prompted()
    alone.report(report, origin=Origin.REGISTRY, at=5)
    assert [each.text for each in agent_view(alone.agent).waits] == [""]


def test_busy_is_work_without_a_command() -> None:
    """The prompt that comes right after starts the command."""
    story = Story()
    story.starts()
    reports(story, "busy", at=4)
    assert (story.board, story.commands) == (("working", None), {})
    story.prompted("Fix it", at=4.1)
    assert (story.command.text, len(story.commands)) == ("Fix it", 1)


@pytest.mark.parametrize("prompted_at", [4.9, 5.1, 7])
@pytest.mark.parametrize("prompt_id", ["p2", None])
def test_a_prompt_shortly_after_busy_answers_the_question(
    story: Story, prompted_at: float, prompt_id: str | None
) -> None:
    """The registry shows busy before the hook of the prompt that answers a question in text has arrived."""
    story.stops("Shall I delete the old files?", at=3)
    reports(story, "busy", at=5)
    assert story.board == ("working", None)
    story.prompted("Yes, delete them", prompt_id, at=prompted_at)
    assert (len(story.commands), story.command.outcome, story.board) == (1, None, ("working", None))
    assert story.turns[-1] == ("USER", "ANSWER", "Yes, delete them")
    story.stops("Deleted.", prompt_id, at=9)
    assert (len(story.commands), story.command.outcome, story.board) == (1, "completed", ("idle", None))


def test_a_prompt_long_after_busy_is_a_command(story: Story) -> None:
    """The client was busy with something else, such as `/compact`."""
    story.stops("Shall I delete the old files?", at=3)
    reports(story, "busy", at=5)
    story.prompted("Fix the lexer", "p2", at=30)
    assert (len(story.commands), story.turns[-1]) == (2, ("USER", "COMMAND", "Fix the lexer"))


def test_only_the_first_prompt_after_busy_is_the_answer(story: Story) -> None:
    """The next one starts its own command."""
    story.stops("Shall I delete the old files?", at=3)
    reports(story, "busy", at=5)
    story.prompted("Yes, delete them", "p2", at=5.1)
    story.stops("Deleted.", "p2", at=6)
    story.prompted("Fix the lexer", "p3", at=7)
    assert (len(story.commands), story.turns[-1]) == (2, ("USER", "COMMAND", "Fix the lexer"))


def test_waiting_opens_an_unreported_dialog(story: Story) -> None:
    """The registry shows every dialog; the later hook is joined with it."""
    reports(story, "waiting", "permission", at=4.1)
    assert story.board == ("waiting", "permission")
    story.asks_permission("rm x", at=4.05)
    assert [(wait.kind, wait.summary) for wait in story.agent.waits] == [("permission", "rm x")]


def test_waiting_never_opens_a_second_wait(story: Story) -> None:
    """An open wait explains it."""
    story.asks_permission(at=4)
    reports(story, "waiting", "permission", at=4.1)
    assert story.open_waits == ["permission"]


def test_a_dialog_that_the_user_opened_is_no_wait(story: Story) -> None:
    """Menus at the idle prompt need no person."""
    story.stops()
    reports(story, "waiting", "dialog")
    assert story.board == ("idle", None)


def test_the_registry_does_not_revive_an_agent(story: Story) -> None:
    """Only hooks, prompts and new clients do."""
    story.hook("SessionEnd", reason="other")
    reports(story, "busy")
    assert story.board == ("ended", None)


@pytest.mark.parametrize(("began", "state"), [(9.5, "idle"), (11, "idle"), (1, "ended")])
def test_a_client_that_continues_a_session_revives_its_agent(story: Story, began: float, state: str) -> None:
    """Its entry was written after the end. The system may report the start of a process a moment too early."""
    story.stops(at=9)
    story.report(ClientVanished(None), origin=Origin.PROCESS, at=10)
    at = time_at(12)
    meta = Meta(event_id="e", name="RegistryEntry", origin=Origin.REGISTRY, at=at, received_at=at)
    context = Observations(client_pid=9, client_started_at=time_at(began), tmux_pane="%4")
    story.apply(Event(meta, ClientReported(""), context))
    assert (story.agent.state, story.agent.tmux_pane) == (state, "%4" if state == "idle" else "%1")


def test_an_unknown_status_changes_nothing(story: Story) -> None:
    """The registry's format is not documented."""
    reports(story, "dreaming")
    assert story.board == ("working", None)


def test_an_ended_client_can_be_headless(story: Story) -> None:
    """A client that a program started may end before the registry is read."""
    story.hook("SessionEnd", reason="other", at=5)
    story.report(ClientReported("", headless=True), at=4)
    assert (story.agent.mode, story.board) == ("headless", ("ended", None))


def test_only_the_clients_own_host_reports_its_end(story: Story) -> None:
    """Another host has other processes."""
    story.report(ClientVanished(None), origin=Origin.PROCESS, host="desktop")
    assert story.board == ("working", None)
    story.report(ClientVanished(None), origin=Origin.PROCESS, host="laptop")
    assert story.board == ("ended", None)
