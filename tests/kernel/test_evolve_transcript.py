"""Facts of transcripts are applied to their command, and override only what they report more precisely."""

import pytest

from claude_headspace.kernel import facts
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import Origin
from claude_headspace.kernel.facts import (
    AgentWrote,
    ClientReported,
    PromptQueued,
    PromptUnqueued,
    ToolRejected,
    TurnClosed,
    TurnInterrupted,
    UsageMeasured,
    UserWrote,
)
from tests.kernel.story import Story, in_subagent, running, time_at


@pytest.fixture
def story() -> Story:
    """A client that works on a prompt."""
    started = Story()
    started.starts(at=1)
    started.prompted("Fix it", "p1", at=2)
    return started


def outcomes(story: Story) -> list[tuple[str, str | None]]:
    """All commands in the order of their start: text and outcome."""
    found = sorted(story.commands.values(), key=lambda command: command.started_at)
    return [(command.text, command.outcome.value if command.outcome else None) for command in found]


# --- the end of a turn ------------------------------------------------------------------------------------------------


def test_a_turn_without_a_stop_ends_with_its_final_text(story: Story) -> None:
    """Even if other hooks delay its line: the text is still one turn."""
    story.report(AgentWrote("I fixed it.", final=True), at=5)
    assert story.board == ("working", None)
    story.report(TurnClosed(), at=15)
    assert (story.board, outcomes(story)) == (("idle", None), [("Fix it", "completed")])
    assert story.turns[1:] == [("AGENT", "COMPLETION", "I fixed it.")]
    assert story.agent.final_text == ""


def test_a_turn_that_ends_with_a_question_waits(story: Story) -> None:
    """Even without a Stop."""
    story.report(AgentWrote("Shall I delete it?", final=True), at=5)
    story.report(TurnClosed(), at=5.1)
    assert story.board == ("waiting", "question")


def test_a_reported_end_is_not_repeated(story: Story) -> None:
    """The line follows every Stop, every error and, on newer clients, a dismissed dialog."""
    story.stops("I fixed it.", "p1", at=5)
    assert story.report(TurnClosed(), at=5.1).commands == {}
    story.prompted("Two", "p2", at=6)
    story.report(TurnInterrupted(), at=7)
    assert story.report(TurnClosed(), at=7.01).commands == {}
    assert outcomes(story) == [("Fix it", "completed"), ("Two", "interrupted")]


def test_a_turn_closed_while_a_subagent_runs_continues(story: Story) -> None:
    """The client continues it by itself."""
    story.hook("SubagentStart", at=3, **in_subagent())
    story.report(AgentWrote("I have sent somebody.", final=True), at=5)
    story.report(TurnClosed(pending=1), at=5.1)
    assert (story.board, outcomes(story)) == (("working", None), [("Fix it", None)])
    story.hook("SubagentStop", at=6, **in_subagent())
    story.report(AgentWrote("It is done.", final=True), at=7)
    story.report(TurnClosed(), at=7.1)
    assert (story.board, outcomes(story)) == (("idle", None), [("Fix it", "completed")])


def test_a_background_shell_continues_after_the_turn(story: Story) -> None:
    """The line counts only sub-agents."""
    story.stops("It runs.", "p1", at=4, background_tasks=running(shell_id="b1"))
    story.prompted("Two", "p2", at=5)
    story.report(TurnClosed(), at=6)
    assert [task.id for task in story.agent.running_background] == ["b1"]


@pytest.mark.parametrize("words", ["I fixed it.", "Shall I delete it?"])
def test_a_final_text_corrects_an_observed_interrupt(story: Story, words: str) -> None:
    """Idle was observed first and no Stop arrived: the final text proves completion."""
    story.report(ClientReported("idle"), origin=Origin.REGISTRY, at=5.1)
    assert outcomes(story) == [("Fix it", "interrupted")]
    story.report(AgentWrote(words, final=True), at=5)
    story.report(TurnClosed(), at=5.05)
    assert outcomes(story) == [("Fix it", "completed")]
    assert story.board == (("waiting", "question") if words.endswith("?") else ("idle", None))


def test_a_late_close_completes_the_command(story: Story) -> None:
    """The next prompt arrived before the line was read."""
    story.prompted("Two", "p2", at=9)
    assert outcomes(story)[0] == ("Fix it", "superseded")
    story.report(TurnClosed(), at=5)
    assert (outcomes(story), story.board) == ([("Fix it", "completed"), ("Two", None)], ("working", None))


def test_a_late_interrupt_corrects_the_outcome(story: Story) -> None:
    """The command seemed replaced by the next prompt."""
    story.prompted("Two", "p2", at=9)
    story.report(TurnInterrupted(), at=5)
    assert (outcomes(story), story.board) == ([("Fix it", "interrupted"), ("Two", None)], ("working", None))


# --- words ------------------------------------------------------------------------------------------------------------


def test_a_message_belongs_to_the_command_of_its_time(story: Story) -> None:
    """Even if the next command has started."""
    story.stops("I fixed it.", "p1", at=5)
    story.prompted("Two", "p2", at=6)
    story.report(AgentWrote("Let me look."), at=3)
    first = next(command for command in story.commands.values() if command.text == "Fix it")
    assert [turn.command_id for turn in story.turn_rows.values() if turn.text == "Let me look."] == [first.id]


def test_the_last_block_of_a_reply_is_the_final_text(story: Story) -> None:
    """All blocks of a reply declare that it ends the turn."""
    story.stops("I renamed it.", "p1", at=5)
    story.report(AgentWrote("I fixed it.", final=True), at=4.8)
    story.report(AgentWrote("I renamed it.", final=True), at=4.9)
    assert [turn[1] for turn in story.turns if turn[0] == "AGENT"] == ["COMPLETION", "PROGRESS"]


@pytest.mark.parametrize("order", [(4.8, 4.9), (4.855, 4.855)], ids=["own times", "one time"])
def test_only_the_last_text_of_a_message_decides(story: Story, order: tuple[float, float]) -> None:
    """The line of the first text arrives after the Stop: the question stays, and is asked once.

    “Agent turn completes: create AGENT turn, detect intent (COMPLETION/END_OF_TASK/QUESTION), transition state.”
    """
    story.stops("Which database do you want?", "p1", at=5)
    assert story.board == ("waiting", "question")
    story.report(AgentWrote("I looked at the project.", final=True), at=order[0])
    story.report(AgentWrote("Which database do you want?", final=True), at=order[1])
    story.report(TurnClosed(), at=5.1)
    assert (story.board, len(story.waits)) == (("waiting", "question"), 1)
    assert story.turns[1:] == [
        ("AGENT", "QUESTION", "Which database do you want?"),
        ("AGENT", "PROGRESS", "I looked at the project."),
    ]


def test_the_last_text_of_a_message_decides_without_a_stop(story: Story) -> None:
    """All lines of a message declare that it ends the turn; the last of them counts."""
    story.report(AgentWrote("Shall I look at the project?", final=True), at=4.8)
    story.report(AgentWrote("I added the database.", final=True), at=4.9)
    story.report(TurnClosed(), at=5)
    assert story.board == ("idle", None)


def test_the_same_text_later_is_another_message(story: Story) -> None:
    """Each “Done.” has its own time."""
    story.stops("Done.", "p1", at=5)
    story.prompted("Two", "p2", at=60)
    story.stops("Done.", "p2", at=65)
    story.report(AgentWrote("Done.", final=True), at=64.9)
    at = [turn.at for turn in story.turn_rows.values() if turn.text == "Done."]
    assert at == [time_at(5), time_at(64.9)]


def test_a_line_with_the_id_of_the_next_turn_is_matched_by_time(story: Story) -> None:
    """A busy client writes it that late; the same text at another time is another prompt."""
    story.hook("StopFailure", error="unknown", prompt_id="p1", at=3)
    story.prompted("Two", "p2", at=4)
    story.report(UserWrote("Fix it"), prompt_id="p2", at=1.8)
    assert [turn[2] for turn in story.turns] == ["Fix it", "Two"]
    assert next(iter(story.turn_rows.values())).timestamp_source == "jsonl"


def test_a_late_prompt_is_added_at_its_time(story: Story) -> None:
    """Without hooks, idle was observed before the transcript of a quick turn was read."""
    story.report(TurnInterrupted(), at=3)
    story.report(ClientReported("idle"), origin=Origin.REGISTRY, at=9)
    story.report(UserWrote("Two"), at=7, prompt_id="p2")
    story.report(AgentWrote("I did two.", final=True), at=8)
    story.report(TurnClosed(), at=8.1)
    assert (story.board, outcomes(story)) == (("idle", None), [("Fix it", "interrupted"), ("Two", "completed")])
    assert story.command.text == "Two"


# --- queued prompts ---------------------------------------------------------------------------------------------------


def test_a_prompt_can_be_queued_for_minutes(story: Story) -> None:
    """Its start is known from the transcript, or from a hook when its turn starts."""
    story.report(PromptQueued("Two"), at=3)
    assert story.turns[1:] == [("USER", "ANSWER", "Two")]
    story.stops("I fixed it.", "p1", at=300)
    story.prompted("Two", "p2", at=300.1)
    story.report(UserWrote("Two", queued=True), at=300.2, prompt_id="p2")
    assert [turn for turn in story.turns if turn[2] == "Two"] == [("USER", "COMMAND", "Two")]
    assert (story.command.trigger, outcomes(story)) == ("queued_prompt", [("Fix it", "completed"), ("Two", None)])
    assert next(turn.at for turn in story.turn_rows.values() if turn.text == "Two") == time_at(3)


def test_a_queued_prompt_was_typed_before_its_hook(story: Story) -> None:
    """A busy client writes the line after the hooks."""
    story.prompted("Two", "p1", at=3)
    story.report(AgentWrote("I fixed it.", final=True), at=3.2)
    story.report(PromptQueued("Two"), at=3.4)
    assert next(turn.at for turn in story.turn_rows.values() if turn.text == "Two") == time_at(3)


def test_a_queued_prompt_leaves_no_idle_time(story: Story) -> None:
    """An older client fires the prompt's hook only after the Stop."""
    story.report(PromptQueued("Two"), at=3)
    story.stops("I fixed it.", "p1", at=9)
    assert (story.board, story.command.text) == (("working", None), "Two")
    story.prompted("Two", "p2", at=9.2)
    story.stops("And two.", "p2", at=12)
    assert (story.board, outcomes(story)) == (("idle", None), [("Fix it", "completed"), ("Two", "completed")])


def test_a_queued_turn_that_starts_late_gets_its_end(story: Story) -> None:
    """The client seemed idle before it, and no event showed its start."""
    story.prompted("Two", "p1", at=3)
    story.stops("I fixed it.", "p1", at=9)
    story.report(ClientReported("idle"), origin=Origin.REGISTRY, at=10)
    story.stops("And two.", "p2", at=12)
    assert (story.board, outcomes(story)) == (("idle", None), [("Fix it", "completed"), ("Two", "completed")])


def test_an_included_prompt_starts_no_turn(story: Story) -> None:
    """Nor does a removed one."""
    for text in ("Two", ""):
        story.report(PromptQueued("Two"))
        story.report(PromptUnqueued(text))
        assert story.agent.queued_prompts == ()


def test_late_queued_prompts_belong_to_their_command(story: Story) -> None:
    """An older client fires no hook, and the line may be read late."""
    story.stops("I fixed it.", "p1", at=9)
    story.report(PromptQueued("Two"), at=5)
    assert ("USER", "ANSWER", "Two") in story.turns
    assert (story.board, story.agent.queued_prompts) == (("idle", None), ())


def test_a_prompt_queued_while_idle_is_a_plain_prompt() -> None:
    """A headless client queues its first prompt; the prompt's own line follows."""
    story = Story()
    story.report(PromptQueued("Fix it"))
    assert (story.commands, story.turns) == ({}, [])


# --- the human --------------------------------------------------------------------------------------------------------


def test_a_rejected_call_is_no_sign_of_work(story: Story) -> None:
    """Its line is written after the registry showed idle."""
    story.calls("t1", at=3)
    story.asks_permission(at=3.1)
    story.report(ClientReported("idle"), origin=Origin.REGISTRY, at=5)
    story.report(ToolRejected("t1"), at=5.01)
    story.report(TurnInterrupted(), at=5.02)
    assert (story.board, len(story.commands)) == (("idle", None), 1)


def test_a_rejection_without_feedback_ends_the_turn(story: Story) -> None:
    """Immediately, although the line that closes the turn follows."""
    story.calls("t1", at=3)
    story.asks_permission(at=3.1)
    story.report(ToolRejected("t1"), at=5)
    assert (story.board, outcomes(story)) == (("idle", None), [("Fix it", "interrupted")])
    assert story.evidence.why == "Bash was rejected by the user"
    assert [wait.resolution for wait in story.waits.values()] == ["rejected"]


def test_a_rejection_ends_no_subagent(story: Story) -> None:
    """Only the call is rejected: sub-agent and turn continue."""
    story.hook("SubagentStart", **in_subagent(), at=3)
    story.calls("t1", at=4, **in_subagent())
    story.asks_permission(at=4.1, **in_subagent())
    story.report(ToolRejected("t1"), at=5, subagent_id="sub-1")
    assert (story.board, story.open_waits) == (("working", None), [])


def test_feedback_is_an_answer(story: Story) -> None:
    """The turn continues and the dialog is closed."""
    story.calls("t1", at=3)
    story.asks_permission(at=3.1)
    story.report(ToolRejected("t1", "use another name"), at=5)
    assert (story.board, story.open_calls) == (("working", None), [])
    assert story.turns[-1] == ("USER", "ANSWER", "use another name")


def test_a_prompt_proves_that_dialogs_were_dismissed(story: Story) -> None:
    """An open dialog prevents typing: another turn is another command."""
    story.calls("t1", at=3, prompt_id="p1")
    story.asks_permission(at=3.1, prompt_id="p1")
    story.prompted("Two", "p2", at=9)
    assert outcomes(story) == [("Fix it", "superseded"), ("Two", None)]
    assert [wait.resolution for wait in story.waits.values()] == ["dismissed"]


def test_a_shell_command_of_the_user_has_its_trigger() -> None:
    """No hook reports it; the Stop of its turn can arrive first."""
    story = Story()
    story.starts(at=1)
    story.stops("It prints hello.", None, at=5)
    story.report(UserWrote("! echo hello"), at=4)
    assert (story.command.trigger, story.command.text) == ("shell_command", "! echo hello")
    assert story.changes[-1].anomalies == []


# --- usage ------------------------------------------------------------------------------------------------------------


def measured(*given: UsageMeasured, model: str | None = None) -> Agent:
    """An agent after these measurements, a second apart."""
    story = Story()
    story.starts(**({"model": model} if model else {}))
    for fact in given:
        story.report(fact)
    return story.agent


@pytest.mark.parametrize(
    ("model", "tokens", "percent"),
    [
        ("claude-opus-4-8", 50_000, 25.0),
        ("claude-opus-4-8[1m]", 50_000, 5.0),
        ("claude-opus-5-5", 50_000, 5.0),
        ("claude-x", 250_000, 25.0),
    ],
)
def test_the_window_size_follows_from_the_model(model: str, tokens: int, percent: float) -> None:
    """And from the usage: more than the usual size requires a large window."""
    agent = measured(UsageMeasured(model=model.removesuffix("[1m]"), tokens=tokens), model=model)
    assert (agent.context_percent, agent.tokens, agent.model) == (percent, tokens, model)


def test_a_reported_window_size_counts() -> None:
    """From then on."""
    agent = measured(UsageMeasured(tokens=1, window=500_000), UsageMeasured(tokens=100_000))
    assert (agent.context_window, agent.context_percent) == (500_000, 20.0)


def test_an_older_measurement_changes_nothing() -> None:
    """The newest reply has the context size."""
    story = Story()
    story.report(UsageMeasured(tokens=2), at=5)
    story.report(UsageMeasured(tokens=1), at=4)
    assert story.agent.tokens == 2


def test_a_cost_can_be_reported_alone() -> None:
    """It is reported at the end, without a measurement."""
    agent = measured(UsageMeasured(tokens=7), UsageMeasured(cost_usd=0.5))
    assert (agent.tokens, agent.cost_usd) == (7, 0.5)


def test_a_subagents_context_is_its_own() -> None:
    """It does not fill its parent's."""
    story = Story()
    story.report(UsageMeasured(model="m", tokens=7), subagent_id="sub-1")
    assert (story.agent.tokens, story.agent.model) == (None, None)


# --- there and gone ---------------------------------------------------------------------------------------------------


def test_a_session_is_known_from_its_transcript_alone() -> None:
    """With its directory, and the process from the registry."""
    story = Story()
    story.report(UserWrote("Fix it"), session_id="s1", cwd="/home/dev/app/src")
    assert story.agent.session is not None
    assert (story.agent.session.client_id, story.agent.cwd) == ("s1", "/home/dev/app/src")


def test_several_facts_are_applied_in_order(story: Story) -> None:
    """A line can contain a message, a call and a measurement."""
    story.report(facts.Several((AgentWrote("Let me look."), facts.ToolStarted("t1", "Bash", "", "ls"))), at=3)
    assert (story.turns[-1][2], story.open_calls) == ("Let me look.", ["t1"])


def test_only_a_prompt_revives_an_ended_agent(story: Story) -> None:
    """Other lines that the client writes while it ends do not."""
    story.hook("SessionEnd", at=5, reason="other")
    story.report(AgentWrote("Too late."), at=5.1)
    story.report(TurnInterrupted(), at=5.2)
    story.report(UsageMeasured(cost_usd=1.0), at=5.3)
    assert (story.board, story.agent.cost_usd) == (("ended", None), 1.0)
    story.report(UserWrote("Again"), at=4.9)
    assert story.board == ("ended", None)
    story.report(UserWrote("Again"), at=60)
    assert story.board == ("working", None)
