"""What a transcript tells goes to the command that it belongs to, and overturns only what it knows better."""

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
from tests.kernel.story import Story, in_subagent, moment, running


@pytest.fixture
def story() -> Story:
    """A client that works on a prompt."""
    told = Story()
    told.starts(at=1)
    told.prompted("Fix it", "p1", at=2)
    return told


def outcomes(story: Story) -> list[tuple[str, str | None]]:
    """All commands in the order they began: text and outcome."""
    found = sorted(story.commands.values(), key=lambda command: command.started_at)
    return [(command.text, command.outcome.value if command.outcome else None) for command in found]


# --- the end of a turn ------------------------------------------------------------------------------------------------


def test_a_turn_whose_stop_was_lost_ends_with_its_last_words(story: Story) -> None:
    """Slow hooks of others may delay its line for long: the words are still one turn."""
    story.tell(AgentWrote("I fixed it.", final=True), at=5)
    assert story.board == ("working", None)
    story.tell(TurnClosed(), at=15)
    assert (story.board, outcomes(story)) == (("idle", None), [("Fix it", "completed")])
    assert story.turns[1:] == [("AGENT", "COMPLETION", "I fixed it.")]
    assert story.agent.final_text == ""


def test_a_turn_that_ends_with_a_question_waits(story: Story) -> None:
    """Although no Stop told it."""
    story.tell(AgentWrote("Shall I delete it?", final=True), at=5)
    story.tell(TurnClosed(), at=5.1)
    assert story.board == ("waiting", "question")


def test_what_was_told_is_not_closed_again(story: Story) -> None:
    """The line follows every Stop, every error and, on newer clients, a dismissed dialog."""
    story.stops("I fixed it.", "p1", at=5)
    assert story.tell(TurnClosed(), at=5.1).commands == {}
    story.prompted("Two", "p2", at=6)
    story.tell(TurnInterrupted(), at=7)
    assert story.tell(TurnClosed(), at=7.01).commands == {}
    assert outcomes(story) == [("Fix it", "completed"), ("Two", "interrupted")]


def test_a_turn_closed_while_a_subagent_runs_goes_on(story: Story) -> None:
    """The client will take it up again by itself."""
    story.hook("SubagentStart", at=3, **in_subagent())
    story.tell(AgentWrote("I have sent somebody.", final=True), at=5)
    story.tell(TurnClosed(pending=1), at=5.1)
    assert (story.board, outcomes(story)) == (("working", None), [("Fix it", None)])
    story.hook("SubagentStop", at=6, **in_subagent())
    story.tell(AgentWrote("It is done.", final=True), at=7)
    story.tell(TurnClosed(), at=7.1)
    assert (story.board, outcomes(story)) == (("idle", None), [("Fix it", "completed")])


def test_a_shell_in_the_background_outlives_the_turn(story: Story) -> None:
    """That no sub-agent is pending says nothing of shells."""
    story.stops("It runs.", "p1", at=4, background_tasks=running(shell_id="b1"))
    story.prompted("Two", "p2", at=5)
    story.tell(TurnClosed(), at=6)
    assert [task.id for task in story.agent.running_background] == ["b1"]


@pytest.mark.parametrize("words", ["I fixed it.", "Shall I delete it?"])
def test_what_the_registry_took_for_an_interrupt_was_an_end(story: Story, words: str) -> None:
    """Idle was seen first, and no Stop was heard: the last words show what it was."""
    story.tell(ClientReported("idle"), origin=Origin.REGISTRY, at=5.1)
    assert outcomes(story) == [("Fix it", "interrupted")]
    story.tell(AgentWrote(words, final=True), at=5)
    story.tell(TurnClosed(), at=5.05)
    assert outcomes(story) == [("Fix it", "completed")]
    assert story.board == (("waiting", "question") if words.endswith("?") else ("idle", None))


def test_a_turn_closed_late_was_completed(story: Story) -> None:
    """The next prompt was heard before the end of the turn was read."""
    story.prompted("Two", "p2", at=9)
    assert outcomes(story)[0] == ("Fix it", "superseded")
    story.tell(TurnClosed(), at=5)
    assert (outcomes(story), story.board) == ([("Fix it", "completed"), ("Two", None)], ("working", None))


def test_an_interrupt_told_late_was_one(story: Story) -> None:
    """What seemed to be replaced by the next prompt had been interrupted before."""
    story.prompted("Two", "p2", at=9)
    story.tell(TurnInterrupted(), at=5)
    assert (outcomes(story), story.board) == ([("Fix it", "interrupted"), ("Two", None)], ("working", None))


# --- words ------------------------------------------------------------------------------------------------------------


def test_words_go_to_the_command_that_ran_then(story: Story) -> None:
    """Also when the next one has begun."""
    story.stops("I fixed it.", "p1", at=5)
    story.prompted("Two", "p2", at=6)
    story.tell(AgentWrote("Let me look."), at=3)
    first = next(command for command in story.commands.values() if command.text == "Fix it")
    assert [turn.command_id for turn in story.turn_rows.values() if turn.text == "Let me look."] == [first.id]


def test_of_several_last_blocks_only_the_last_is_the_last_word(story: Story) -> None:
    """All blocks of a reply say that it ends the turn."""
    story.stops("I renamed it.", "p1", at=5)
    story.tell(AgentWrote("I fixed it.", final=True), at=4.8)
    story.tell(AgentWrote("I renamed it.", final=True), at=4.9)
    assert [turn[1] for turn in story.turns if turn[0] == "AGENT"] == ["COMPLETION", "PROGRESS"]


def test_the_same_words_later_are_not_taken_for_the_earlier_ones(story: Story) -> None:
    """Each “Done.” has its own time."""
    story.stops("Done.", "p1", at=5)
    story.prompted("Two", "p2", at=60)
    story.stops("Done.", "p2", at=65)
    story.tell(AgentWrote("Done.", final=True), at=64.9)
    at = [turn.at for turn in story.turn_rows.values() if turn.text == "Done."]
    assert at == [moment(5), moment(64.9)]


def test_a_line_with_the_id_of_the_next_turn_is_known_by_its_moment(story: Story) -> None:
    """A busy client writes it that late; the same words at another time are another prompt."""
    story.hook("StopFailure", error="unknown", prompt_id="p1", at=3)
    story.prompted("Two", "p2", at=4)
    story.tell(UserWrote("Fix it"), prompt_id="p2", at=1.8)
    assert [turn[2] for turn in story.turns] == ["Fix it", "Two"]
    assert next(iter(story.turn_rows.values())).timestamp_source == "jsonl"


def test_a_prompt_that_is_known_only_late_stands_where_it_belongs(story: Story) -> None:
    """The registry was seen idle before the transcript of a quick turn was read, and there are no hooks."""
    story.tell(TurnInterrupted(), at=3)
    story.tell(ClientReported("idle"), origin=Origin.REGISTRY, at=9)
    story.tell(UserWrote("Two"), at=7, prompt_id="p2")
    story.tell(AgentWrote("I did two.", final=True), at=8)
    story.tell(TurnClosed(), at=8.1)
    assert (story.board, outcomes(story)) == (("idle", None), [("Fix it", "interrupted"), ("Two", "completed")])
    assert story.command.text == "Two"


# --- queued prompts ---------------------------------------------------------------------------------------------------


def test_a_queued_prompt_waits_as_long_as_it_takes(story: Story) -> None:
    """Typed, and minutes later taken up: by the transcript alone, or announced by a hook when its turn begins."""
    story.tell(PromptQueued("Two"), at=3)
    assert story.turns[1:] == [("USER", "ANSWER", "Two")]
    story.stops("I fixed it.", "p1", at=300)
    story.prompted("Two", "p2", at=300.1)
    story.tell(UserWrote("Two", queued=True), at=300.2, prompt_id="p2")
    assert [turn for turn in story.turns if turn[2] == "Two"] == [("USER", "COMMAND", "Two")]
    assert (story.command.trigger, outcomes(story)) == ("queued_prompt", [("Fix it", "completed"), ("Two", None)])
    assert next(turn.at for turn in story.turn_rows.values() if turn.text == "Two") == moment(3)


def test_a_queued_prompt_was_typed_when_its_hook_fired_at_the_latest(story: Story) -> None:
    """A busy client writes the line when the hooks are over: the answer that ended in between still comes after."""
    story.prompted("Two", "p1", at=3)
    story.tell(AgentWrote("I fixed it.", final=True), at=3.2)
    story.tell(PromptQueued("Two"), at=3.4)
    assert next(turn.at for turn in story.turn_rows.values() if turn.text == "Two") == moment(3)


def test_a_turn_behind_which_a_prompt_waits_is_followed_at_once(story: Story) -> None:
    """An older client announces the prompt only after the Stop: in between nobody is told that the agent rests."""
    story.tell(PromptQueued("Two"), at=3)
    story.stops("I fixed it.", "p1", at=9)
    assert (story.board, story.command.text) == (("working", None), "Two")
    story.prompted("Two", "p2", at=9.2)
    story.stops("And two.", "p2", at=12)
    assert (story.board, outcomes(story)) == (("idle", None), [("Fix it", "completed"), ("Two", "completed")])


def test_a_queued_prompt_that_is_taken_up_very_late_has_its_end(story: Story) -> None:
    """The client seemed to rest before it; nothing announces the turn, and its end belongs to it all the same."""
    story.prompted("Two", "p1", at=3)
    story.stops("I fixed it.", "p1", at=9)
    story.tell(ClientReported("idle"), origin=Origin.REGISTRY, at=10)
    story.stops("And two.", "p2", at=12)
    assert (story.board, outcomes(story)) == (("idle", None), [("Fix it", "completed"), ("Two", "completed")])


def test_a_queued_prompt_that_was_taken_in_is_no_turn_of_its_own(story: Story) -> None:
    """Nor is one that was withdrawn."""
    for text in ("Two", ""):
        story.tell(PromptQueued("Two"))
        story.tell(PromptUnqueued(text))
        assert story.agent.queued_prompts == ()


def test_queued_prompts_of_the_past_are_said_in_their_command(story: Story) -> None:
    """An older client announces them to nobody, and the line may be read late."""
    story.stops("I fixed it.", "p1", at=9)
    story.tell(PromptQueued("Two"), at=5)
    assert ("USER", "ANSWER", "Two") in story.turns
    assert (story.board, story.agent.queued_prompts) == (("idle", None), ())


def test_what_is_queued_while_nothing_runs_is_a_plain_prompt() -> None:
    """A headless client queues its first prompt: the prompt's own line follows."""
    story = Story()
    story.tell(PromptQueued("Fix it"))
    assert (story.commands, story.turns) == ({}, [])


# --- the human --------------------------------------------------------------------------------------------------------


def test_a_rejected_call_is_over_and_no_sign_of_work(story: Story) -> None:
    """Its line is written after the registry has said idle: that brings nothing back."""
    story.calls("t1", at=3)
    story.asks_permission(at=3.1)
    story.tell(ClientReported("idle"), origin=Origin.REGISTRY, at=5)
    story.tell(ToolRejected("t1"), at=5.01)
    story.tell(TurnInterrupted(), at=5.02)
    assert (story.board, len(story.commands)) == (("idle", None), 1)


def test_a_rejection_without_a_word_ends_the_turn(story: Story) -> None:
    """The line that says so follows it: between the two the agent is not shown at work."""
    story.calls("t1", at=3)
    story.asks_permission(at=3.1)
    story.tell(ToolRejected("t1"), at=5)
    assert (story.board, outcomes(story)) == (("idle", None), [("Fix it", "interrupted")])
    assert story.evidence.why == "Bash was rejected by the user"
    assert [wait.resolution for wait in story.waits.values()] == ["rejected"]


def test_a_rejection_stops_no_subagent(story: Story) -> None:
    """Only that call is denied: the sub-agent goes on, and so does the turn."""
    story.hook("SubagentStart", **in_subagent(), at=3)
    story.calls("t1", at=4, **in_subagent())
    story.asks_permission(at=4.1, **in_subagent())
    story.tell(ToolRejected("t1"), at=5, subagent_id="sub-1")
    assert (story.board, story.open_waits) == (("working", None), [])


def test_a_word_of_advice_is_an_answer(story: Story) -> None:
    """The turn goes on with it, and the dialog is over."""
    story.calls("t1", at=3)
    story.asks_permission(at=3.1)
    story.tell(ToolRejected("t1", "use another name"), at=5)
    assert (story.board, story.open_calls) == (("working", None), [])
    assert story.turns[-1] == ("USER", "ANSWER", "use another name")


def test_a_prompt_shows_that_dialogs_were_dismissed(story: Story) -> None:
    """Nothing can be typed while one is open: another turn is another command."""
    story.calls("t1", at=3, prompt_id="p1")
    story.asks_permission(at=3.1, prompt_id="p1")
    story.prompted("Two", "p2", at=9)
    assert outcomes(story) == [("Fix it", "superseded"), ("Two", None)]
    assert [wait.resolution for wait in story.waits.values()] == ["dismissed"]


def test_a_shell_command_of_the_human_is_known_by_its_trigger() -> None:
    """No hook tells it; the Stop of its turn may be heard first."""
    story = Story()
    story.starts(at=1)
    story.stops("It prints hello.", None, at=5)
    story.tell(UserWrote("! echo hello"), at=4)
    assert (story.command.trigger, story.command.text) == ("shell_command", "! echo hello")
    assert story.changes[-1].anomalies == []


# --- usage ------------------------------------------------------------------------------------------------------------


def measured(*told: UsageMeasured, model: str | None = None) -> Agent:
    """An agent after these measures, a second apart."""
    story = Story()
    story.starts(**({"model": model} if model else {}))
    for fact in told:
        story.tell(fact)
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
def test_the_window_follows_from_the_model(model: str, tokens: int, percent: float) -> None:
    """And from what is in it: more than the usual window fits only into a large one."""
    agent = measured(UsageMeasured(model=model.removesuffix("[1m]"), tokens=tokens), model=model)
    assert (agent.context_percent, agent.tokens, agent.model) == (percent, tokens, model)


def test_a_window_that_was_told_is_believed() -> None:
    """For good."""
    agent = measured(UsageMeasured(tokens=1, window=500_000), UsageMeasured(tokens=100_000))
    assert (agent.context_window, agent.context_percent) == (500_000, 20.0)


def test_an_older_measure_changes_nothing() -> None:
    """The newest reply tells how full the context is."""
    story = Story()
    story.tell(UsageMeasured(tokens=2), at=5)
    story.tell(UsageMeasured(tokens=1), at=4)
    assert story.agent.tokens == 2


def test_a_cost_is_kept_beside_it() -> None:
    """It is told at the end, without a measure."""
    agent = measured(UsageMeasured(tokens=7), UsageMeasured(cost_usd=0.5))
    assert (agent.tokens, agent.cost_usd) == (7, 0.5)


def test_a_subagents_context_is_its_own() -> None:
    """It does not fill its parent's."""
    story = Story()
    story.tell(UsageMeasured(model="m", tokens=7), subagent_id="sub-1")
    assert (story.agent.tokens, story.agent.model) == (None, None)


# --- there and gone ---------------------------------------------------------------------------------------------------


def test_a_session_is_known_from_its_transcript_alone() -> None:
    """With its directory, and the process that the registry knows."""
    story = Story()
    story.tell(UserWrote("Fix it"), session_id="s1", cwd="/home/dev/app/src")
    assert story.agent.session is not None
    assert (story.agent.session.client_id, story.agent.cwd) == ("s1", "/home/dev/app/src")


def test_several_things_told_at_once_are_told_in_order(story: Story) -> None:
    """A line may hold words, a call and a measure."""
    story.tell(facts.Several((AgentWrote("Let me look."), facts.ToolStarted("t1", "Bash", "", "ls"))), at=3)
    assert (story.turns[-1][2], story.open_calls) == ("Let me look.", ["t1"])


def test_only_a_prompt_brings_an_ended_agent_back(story: Story) -> None:
    """What the client still writes while it ends does not."""
    story.hook("SessionEnd", at=5, reason="other")
    story.tell(AgentWrote("Too late."), at=5.1)
    story.tell(TurnInterrupted(), at=5.2)
    story.tell(UsageMeasured(cost_usd=1.0), at=5.3)
    assert (story.board, story.agent.cost_usd) == (("ended", None), 1.0)
    story.tell(UserWrote("Again"), at=4.9)
    assert story.board == ("ended", None)
    story.tell(UserWrote("Again"), at=60)
    assert story.board == ("working", None)
