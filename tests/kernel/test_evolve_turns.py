"""Prompts and ends of turns: commands start, continue and end, and every message becomes one turn."""

import pytest

from claude_headspace.kernel.envelope import Origin
from claude_headspace.kernel.facts import AgentWrote, TurnInterrupted, UserWrote
from tests.kernel.story import (
    Payload,
    Story,
    answered,
    batch,
    in_subagent,
    question,
    running,
    task_notification,
    time_at,
)


@pytest.fixture
def story() -> Story:
    """A client that has started."""
    started = Story()
    started.starts()
    return started


def outcomes(story: Story) -> list[tuple[str, str, str | None]]:
    """All commands: what started them, their text, how they ended."""
    return [
        (command.trigger.value, command.text, command.outcome.value if command.outcome else None)
        for command in story.commands.values()
    ]


# --- a prompt ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prompt_id", ["p1", None])
def test_a_prompt_makes_one_command_and_one_turn(story: Story, prompt_id: str | None) -> None:
    """The agent works on one command with one turn."""
    story.prompted("Fix it", prompt_id)
    assert story.board == ("working", None)
    assert (story.command.text, story.command.state) == ("Fix it", "PROCESSING")
    assert story.turns == [("USER", "COMMAND", "Fix it")]


@pytest.mark.parametrize("prompt_id", ["p1", None])
def test_a_tool_can_arrive_before_its_prompt(story: Story, prompt_id: str | None) -> None:
    """The tool starts the command, and the prompt adds its text."""
    story.calls("t1", at=3, prompt_id=prompt_id)
    story.prompted("Fix it", prompt_id, at=2.9)
    assert outcomes(story) == [("prompt", "Fix it", None)]
    assert story.turns == [("USER", "COMMAND", "Fix it")]
    assert story.command.started_at == time_at(2.9)
    assert story.open_calls == ["t1"]


def test_a_question_can_arrive_before_its_prompt(story: Story) -> None:
    """The prompt does not answer it."""
    story.hook("PreToolUse", at=3, prompt_id="p1", **question("q1"))
    story.prompted("Fix it", at=2.9)
    assert story.board == ("waiting", "question")
    assert ("USER", "COMMAND", "Fix it") in story.turns


def test_a_prompt_after_a_question_in_text_is_an_answer(story: Story) -> None:
    """A turn that ended with a question waits, and the next prompt answers it within the same command."""
    story.prompted()
    story.stops("Shall I delete the old files?")
    assert (story.board, story.command.state) == (("waiting", "question"), "AWAITING_INPUT")
    story.prompted("Yes", "p2")
    assert (story.board, story.command.state) == (("working", None), "PROCESSING")
    story.stops("I deleted them.", "p2")
    assert outcomes(story) == [("prompt", "Fix the parser", "completed")]
    assert story.turns == [
        ("USER", "COMMAND", "Fix the parser"),
        ("AGENT", "QUESTION", "Shall I delete the old files?"),
        ("USER", "ANSWER", "Yes"),
        ("AGENT", "COMPLETION", "I deleted them."),
    ]


def test_an_answer_may_arrive_after_its_tool(story: Story) -> None:
    """The hook of the tool overtakes the hook of the prompt that answers a question in text."""
    story.prompted(at=2)
    story.stops("Shall I delete the old files?", at=3)
    story.calls("t1", at=5.2, prompt_id="p2")
    story.prompted("Yes", "p2", at=5)
    assert (story.open_calls, len(story.commands), story.turns[-1]) == (["t1"], 1, ("USER", "ANSWER", "Yes"))


def test_a_prompt_after_the_end_begins_the_next_command(story: Story) -> None:
    """Commands follow each other."""
    story.prompted("One", "p1")
    story.stops("I renamed it.", "p1")
    assert (story.command.state, story.board) == ("COMPLETE", ("idle", None))
    story.prompted("Two", "p2")
    assert outcomes(story) == [("prompt", "One", "completed"), ("prompt", "Two", None)]


def test_a_prompt_supersedes_a_turn_without_end(story: Story) -> None:
    """After an unreported Esc, the next prompt ends the previous command with its open calls."""
    story.prompted("One", "p1")
    story.calls("t1", prompt_id="p1")
    story.prompted("Two", "p2")
    assert outcomes(story) == [("prompt", "One", "superseded"), ("prompt", "Two", None)]
    assert story.open_calls == []


@pytest.mark.parametrize("prompt_id", ["p1", None])
def test_a_duplicated_prompt_is_one(story: Story, prompt_id: str | None) -> None:
    """Hooks registered in two places fire twice within a second."""
    story.prompted("Fix it", prompt_id, at=3)
    change = story.prompted("Fix it", prompt_id, at=3.002)
    assert story.turns == [("USER", "COMMAND", "Fix it")]
    assert change.anomalies == ["duplicate prompt"]


def test_the_same_text_later_is_another_prompt(story: Story) -> None:
    """“continue” twice is two prompts."""
    story.prompted("continue", "p1")
    story.stops("I went on.", "p1")
    story.prompted("continue", "p2")
    assert [text for _, _, text in story.turns] == ["continue", "I went on.", "continue"]


def test_a_late_prompt_adds_its_text(story: Story) -> None:
    """A prompt that arrives after the end of its turn opens nothing."""
    story.calls("t1", at=3, prompt_id="p1")
    story.stops("I fixed it.", at=5)
    change = story.prompted("Fix it", at=2.9)
    assert story.board == ("idle", None)
    assert outcomes(story) == [("prompt", "Fix it", "completed")]
    assert change.anomalies == ["late prompt"]


def test_a_late_prompt_without_other_events_is_kept(story: Story) -> None:
    """As an ended command."""
    story.prompted("Two", "p2", at=9)
    story.prompted("One", "p1", at=3)
    assert story.board == ("working", None)
    assert (story.command.text, ("USER", "COMMAND", "One") in story.turns) == ("Two", True)


def test_a_text_with_a_nul_can_be_stored(story: Story) -> None:
    """Some databases do not accept NUL."""
    story.prompted("a\0b")
    assert story.turns == [("USER", "COMMAND", "a\ufffdb")]


# --- prompts while the agent works ------------------------------------------------------------------------------------


def test_a_prompt_typed_while_a_tool_runs_joins_the_turn(story: Story) -> None:
    """2.1.325 reports it immediately with the id of the running turn; one Stop ends both."""
    story.prompted("One", "p1")
    story.calls("t1", prompt_id="p1")
    story.prompted("Two", "p1")
    assert story.open_calls == ["t1"]
    story.called("t1", prompt_id="p1")
    story.stops("I did both.", "p1")
    assert story.board == ("idle", None)
    assert outcomes(story) == [("prompt", "One", "completed")]
    assert story.turns[:2] == [("USER", "COMMAND", "One"), ("USER", "ANSWER", "Two")]


def test_a_prompt_typed_during_the_final_text_is_another_turn(story: Story) -> None:
    """2.1.325 reports it early and never its turn; its Stop has a new id."""
    story.prompted("One", "p1")
    story.prompted("Two", "p1")
    story.stops("I did one.", "p1")
    assert story.board == ("working", None)
    assert (story.evidence.why, story.evidence.confidence) == ("a queued prompt runs next", "medium")
    assert outcomes(story) == [("prompt", "One", "completed"), ("queued_prompt", "Two", None)]
    story.stops("I did two.", "p2")
    assert story.board == ("idle", None)
    assert outcomes(story) == [("prompt", "One", "completed"), ("queued_prompt", "Two", "completed")]
    assert story.turns == [
        ("USER", "COMMAND", "One"),
        ("USER", "COMMAND", "Two"),
        ("AGENT", "COMPLETION", "I did one."),
        ("AGENT", "COMPLETION", "I did two."),
    ]


def test_a_queued_turn_is_detected_without_the_previous_end(story: Story) -> None:
    """A tool with an unknown id, while a prompt is queued, belongs to that prompt."""
    story.prompted("One", "p1")
    story.prompted("Two", "p1")
    story.calls("t1", prompt_id="p2")
    assert outcomes(story) == [("prompt", "One", "completed"), ("queued_prompt", "Two", None)]
    assert story.command.prompt_id == "p2"


def test_several_queued_prompts_run_together(story: Story) -> None:
    """The client gives all that is queued to the next turn."""
    story.prompted("One", "p1")
    story.prompted("Two", "p1")
    story.prompted("Three", "p1")
    story.stops("I did one.", "p1")
    story.stops("I did the rest.", "p2")
    assert story.board == ("idle", None)
    assert outcomes(story) == [("prompt", "One", "completed"), ("queued_prompt", "Two", "completed")]
    assert len({turn.command_id for turn in story.turn_rows.values() if turn.text in ("Two", "Three")}) == 1


def test_a_queued_prompt_answers_the_question_before_it(story: Story) -> None:
    """A turn that ends with a question does not wait when the next prompt is already typed."""
    story.prompted("One", "p1")
    story.prompted("Two", "p1")
    story.stops("Shall I delete the old files?", "p1")
    assert story.board == ("working", None)


def test_an_older_client_reports_a_queued_prompt_after_the_stop(story: Story) -> None:
    """2.1.197 gives it its own id: a plain prompt."""
    story.prompted("One", "p1")
    story.stops("I did one.", "p1")
    story.prompted("Two", "p2", at=story.now + 0.05)
    story.stops("I did two.", "p2")
    assert outcomes(story) == [("prompt", "One", "completed"), ("prompt", "Two", "completed")]


def test_an_older_client_does_not_report_an_included_prompt(story: Story) -> None:
    """2.1.197 fires no hook; the transcript adds it to the running command."""
    story.prompted("One", "p1")
    story.calls("t1", prompt_id="p1")
    story.report(UserWrote("Two"))
    story.stops("I did both.", "p1")
    assert story.board == ("idle", None)
    assert outcomes(story) == [("prompt", "One", "completed")]
    assert ("USER", "ANSWER", "Two") in story.turns


def test_a_prompt_typed_after_an_approval_is_queued(story: Story) -> None:
    """A prompt of the same turn proves that the dialog is closed and the tool runs."""
    story.prompted("One", "p1")
    story.calls("t1", prompt_id="p1")
    story.asks_permission(prompt_id="p1")
    story.prompted("Two", "p1")
    assert (story.board, story.open_calls) == (("working", None), ["t1"])


# --- turns that nobody typed ------------------------------------------------------------------------------------------


def test_a_background_result_is_no_turn(story: Story) -> None:
    """A task notification starts a command without a prompt."""
    story.prompted()
    story.stops("It runs.", background_tasks=running(shell_id="b1"))
    story.prompted(task_notification("b1"), "p2")
    assert story.board == ("working", None)
    assert (story.command.trigger, story.command.text) == ("task_notification", "")
    assert all("task-notification" not in text for _, _, text in story.turns)
    assert story.agent.running_background == ()


def test_a_task_notification_continues_a_paused_command(story: Story) -> None:
    """While sub-agents run the command stays open, and their results belong to it."""
    story.prompted()
    story.hook("SubagentStart", **in_subagent())
    story.stops("I have sent somebody.", background_tasks=running("sub-1"))
    story.hook("SubagentStop", **in_subagent())
    story.prompted(task_notification("sub-1"), "p2")
    story.prompted("and be quick", "p2")
    story.called("t9", prompt_id="p2")
    story.stops("All of it is done now.", "p2")
    assert story.board == ("idle", None)
    assert outcomes(story) == [("prompt", "Fix the parser", "completed")]


@pytest.mark.parametrize("prompt_id", ["p9", None])
def test_a_shell_command_has_no_prompt_hook(story: Story, prompt_id: str | None) -> None:
    """Its Stop makes an unannounced command."""
    story.prompted("One", "p1")
    story.stops("I did one.", "p1")
    story.stops("It printed 42.", prompt_id)
    assert story.board == ("idle", None)
    assert outcomes(story) == [("prompt", "One", "completed"), ("unannounced", "", "completed")]


# --- ends -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "board", "outcome"),
    [
        ("All tests pass now.", ("idle", None), "completed"),
        ("Shall I delete the old files?", ("waiting", "question"), None),
        ("", ("idle", None), "completed"),
    ],
)
def test_the_final_text_completes_the_turn(
    story: Story, message: str, board: tuple[str, str | None], outcome: str | None
) -> None:
    """A statement or no text completes the command, a question waits for an answer."""
    story.prompted()
    story.stops(message)
    assert (story.board, outcomes(story)) == (board, [("prompt", "Fix the parser", outcome)])


def test_a_stop_while_a_subagent_runs_is_a_pause(story: Story) -> None:
    """The agent is working, its text is progress, and the end of the sub-agent does not make it idle."""
    story.prompted()
    story.hook("SubagentStart", **in_subagent())
    story.stops("I have sent somebody.", background_tasks=running("sub-1"))
    assert (story.board, story.command.state) == (("working", None), "PROCESSING")
    assert story.turns[-1] == ("AGENT", "PROGRESS", "I have sent somebody.")
    story.hook("SubagentStop", **in_subagent())
    assert story.board == ("working", None)


def test_a_stop_with_a_background_shell_is_idle(story: Story) -> None:
    """The turn has ended, and the running shell is listed."""
    story.prompted()
    story.stops("It runs.", background_tasks=running(shell_id="b1"))
    assert story.board == ("idle", None)
    assert [task.id for task in story.agent.running_background] == ["b1"]


def test_without_a_list_only_background_subagents_outlive_a_stop(story: Story) -> None:
    """A client that lists nothing has waited for its foreground sub-agents."""
    story.prompted()
    story.hook("SubagentStart", **in_subagent())
    story.stops(background_tasks=None)
    assert story.board == ("idle", None)


@pytest.mark.parametrize("message", ["All tests pass now.", "Shall I delete the old files?"])
def test_a_duplicated_stop_is_one(story: Story, message: str) -> None:
    """It opens no second wait and adds no turn."""
    story.prompted()
    story.stops(message, at=5)
    board, turns = story.board, story.turns
    change = story.stops(message, at=5.003)
    assert (story.board, story.turns, len(story.waits) <= 1) == (board, turns, True)
    assert change.anomalies == ["duplicate end"]


@pytest.mark.parametrize("text", ["", "continue"])
@pytest.mark.parametrize("message", ["", "Done."])
def test_turns_in_quick_succession_without_ids_are_separate(story: Story, text: str, message: str) -> None:
    """“Given an agent is in processing state, when /hook/stop is called, then the agent transitions to idle state.”"""
    for number in range(3):
        at = 5 + number / 5
        assert story.prompted(text, None, at=at).anomalies == []
        assert story.board == ("working", None)
        assert story.stops(message, None, at=at + 0.1).anomalies == []
        assert story.board == ("idle", None)
    assert outcomes(story) == [("prompt", text, "completed")] * 3
    assert [said for _, _, said in story.turns] == [said for said in (text, message) if said] * 3


def test_the_same_question_again_waits_again(story: Story) -> None:
    """An answer without an id starts another turn, although it belongs to the same command."""
    story.prompted("Fix it", None, at=5)
    story.stops("Shall I?", None, at=5.1)
    story.prompted("Why not", None, at=5.2)
    boards = [story.board]
    story.stops("Shall I?", None, at=5.3)
    assert [*boards, story.board] == [("working", None), ("waiting", "question")]


def test_a_stop_with_an_error_is_no_duplicate_of_one_without(story: Story) -> None:
    """“"stop" => if error { Error } else { Idle }”, in quick succession, with or without a prompt in between."""
    story.prompted("One", None, at=5)
    story.stops("", None, at=5.1)
    story.hook("StopFailure", error="overloaded", at=5.2)
    assert story.board == ("error", None)
    assert story.hook("StopFailure", error="overloaded", at=5.21).anomalies == ["duplicate end"]
    story.prompted("Two", None, at=5.3)
    story.hook("StopFailure", error="overloaded", at=5.4)
    assert story.board == ("error", None)


def test_a_delayed_duplicate_does_not_end_the_next_turn(story: Story) -> None:
    """The second delivery of a Stop arrives after the next prompt, but fired before it."""
    story.prompted("One", None, at=5)
    story.stops("Done.", None, at=5.1)
    story.prompted("Two", None, at=5.3)
    assert story.stops("Done.", None, at=5.11).anomalies == ["duplicate end"]
    assert story.prompted("One", None, at=5.01).anomalies == ["duplicate prompt"]
    assert story.board == ("working", None)


def test_a_duplicated_stop_does_not_end_the_queued_turn(story: Story) -> None:
    """It belongs to the previous turn."""
    story.prompted("One", "p1")
    story.prompted("Two", "p1")
    story.stops("I did one.", "p1", at=5)
    story.stops("I did one.", "p1", at=5.003)
    assert (story.board, story.command.trigger) == (("working", None), "queued_prompt")


def test_a_blocked_stop_is_followed_by_another(story: Story) -> None:
    """If a Stop hook blocks the end, the second final text counts too, and may be a question."""
    story.prompted()
    story.stops("I fixed it.")
    story.stops("Shall I run the tests?", stop_hook_active=True)
    assert story.board == ("waiting", "question")
    assert len(story.commands) == 1


def test_a_late_stop_ends_only_its_own_command(story: Story) -> None:
    """It does not end newer work."""
    story.prompted("One", "p1", at=2)
    story.prompted("Two", "p2", at=6)
    change = story.stops("I did one.", "p1", at=5)
    assert story.board == ("working", None)
    assert outcomes(story) == [("prompt", "One", "completed"), ("prompt", "Two", None)]
    assert change.anomalies == ["late stop"]


def test_a_late_stop_closes_earlier_calls(story: Story) -> None:
    """A call that started before an end has ended, in either order."""
    story.calls("t1", at=3, prompt_id="p1")
    story.prompted("Two", "p2", at=6)
    story.calls("t2", at=7, prompt_id="p2")
    story.stops("I did one.", "p1", at=5)
    assert story.open_calls == ["t2"]


def test_an_api_error_is_shown_until_the_agent_works_again(story: Story) -> None:
    """StopFailure comes instead of Stop: the command failed, and the next prompt clears the error."""
    story.prompted()
    story.hook("StopFailure", prompt_id="p1", error="rate_limit", last_assistant_message="API Error: 429")
    assert (story.board, story.agent.error) == (("error", None), "rate_limit")
    assert outcomes(story) == [("prompt", "Fix the parser", "failed")]
    assert story.turns[-1] == ("AGENT", "END_OF_TASK", "API Error: 429")
    story.prompted("Again", "p2")
    assert (story.board, story.agent.error) == (("working", None), None)


def test_a_duplicated_or_late_api_error_changes_nothing(story: Story) -> None:
    """Neither the command nor the state."""
    failure: Payload = {"prompt_id": "p1", "error": "rate_limit", "last_assistant_message": "API Error"}
    story.prompted()
    story.hook("StopFailure", at=5, **failure)
    story.hook("StopFailure", at=5.002, **failure)
    assert len(story.commands) == 1
    story.prompted("Again", "p2", at=8)
    story.hook("StopFailure", at=7, **failure)
    assert story.board == ("working", None)


def test_the_idle_reminder_changes_nothing(story: Story) -> None:
    """A minute after the end the client notifies that it is idle."""
    story.prompted()
    story.stops()
    before = story.agent
    change = story.hook("Notification", at=70, notification_type="idle_prompt", message="Claude is waiting")
    assert (story.board, change.state_changed, story.agent.state_since) == (("idle", None), False, before.state_since)
    assert story.agent.waits == ()


def test_the_idle_reminder_ends_a_turn_without_end(story: Story) -> None:
    """A client that is idle for a minute is not working; an inference."""
    story.prompted()
    story.calls("t1")
    story.hook("Notification", at=70, notification_type="idle_prompt", message="Claude is waiting")
    assert (story.board, story.open_calls) == (("idle", None), [])
    assert story.evidence.confidence == "medium"


@pytest.mark.parametrize("message", ["All tests pass now.", "Shall I go on?"])
@pytest.mark.parametrize("next_prompt", ["", "p2"])
def test_a_call_that_ends_after_its_turn_is_no_new_work(story: Story, message: str, next_prompt: str) -> None:
    """The state and the commands stay as the end of the turn left them, also if another turn ended since."""
    story.prompted("Test it")
    story.calls("t1", prompt_id="p1")
    story.calls("t2", prompt_id="p1")
    story.called("t1", prompt_id="p1")
    story.stops(message)
    if next_prompt:
        story.prompted("And this", next_prompt)
        story.stops(message, next_prompt)
    before = (story.board, outcomes(story), story.open_waits)
    story.called("t2", prompt_id="p1")
    story.hook("PostToolBatch", prompt_id="p1", **batch("t1", "t2"))
    assert (story.board, outcomes(story), story.open_waits) == before
    assert story.board in {("idle", None), ("waiting", "question")}


def test_a_turn_that_continues_after_its_end_is_work(story: Story) -> None:
    """Another program's hook can keep a turn from ending: a call that starts then, and its end, belong to it."""
    story.prompted("Test it")
    story.stops()
    story.calls("t1", prompt_id="p1")
    assert story.board == ("working", None)
    story.called("t1", prompt_id="p1")
    assert story.board == ("working", None)


# --- utterances -------------------------------------------------------------------------------------------------------


def test_hook_and_transcript_are_one_turn(story: Story) -> None:
    """The transcript corrects the time of the Stop's text, and its source."""
    story.prompted()
    story.stops("All tests pass now.", at=10)
    change = story.report(AgentWrote("All tests pass now."), at=9.5)
    [patch] = change.patches
    assert (patch.at, patch.timestamp_source) == (time_at(9.5), "jsonl")
    assert change.turns == []
    assert len(story.turns) == 2


def test_the_transcript_can_be_first(story: Story) -> None:
    """Its progress gets the intent that only the Stop shows."""
    story.prompted()
    story.report(AgentWrote("All tests pass now."), at=9.5)
    assert story.turns[-1] == ("AGENT", "PROGRESS", "All tests pass now.")
    story.stops("All tests pass now.", at=10)
    assert story.turns[1:] == [("AGENT", "COMPLETION", "All tests pass now.")]
    assert [turn.timestamp_source for turn in story.turn_rows.values()] == ["server", "jsonl"]


def test_text_between_tools_is_progress(story: Story) -> None:
    """With the transcript's time."""
    story.prompted()
    story.report(AgentWrote("Let me look."), at=4)
    story.report(AgentWrote("Let me look."), at=4)
    assert story.turns[1:] == [("AGENT", "PROGRESS", "Let me look.")]
    assert story.board == ("working", None)


def test_a_prompt_of_hook_and_transcript_is_one(story: Story) -> None:
    """The transcript corrects the prompt's time, and the same line again changes nothing."""
    story.prompted("Fix it", at=3)
    change = story.report(UserWrote("Fix it"), at=2.8)
    assert [patch.timestamp_source for patch in change.patches] == ["jsonl"]
    again = story.report(UserWrote("Fix it"), at=2.8)
    assert (again.patches, story.turns) == ([], [("USER", "COMMAND", "Fix it")])


def test_a_prompt_from_the_transcript_starts_a_command(story: Story) -> None:
    """Its hook was missed; the confidence is medium."""
    story.report(UserWrote("Fix it"), prompt_id="p1")
    assert story.board == ("working", None)
    assert story.evidence.confidence == "medium"
    story.prompted("Fix it", at=story.now + 0.2)
    assert story.turns == [("USER", "COMMAND", "Fix it")]


def test_text_of_a_subagent_is_not_the_agents(story: Story) -> None:
    """It adds no turn."""
    story.prompted()
    story.report(AgentWrote("Sub report."), subagent_id="sub-1")
    story.report(UserWrote("look around"), subagent_id="sub-1")
    assert len(story.turns) == 1


# --- confidence -------------------------------------------------------------------------------------------------------


def test_hooks_have_high_confidence(story: Story) -> None:
    """Also if another source reported the state first."""
    story.report(UserWrote("Fix it"), at=3, prompt_id="p1")
    story.calls("t1", at=4, prompt_id="p1")
    assert (story.evidence.source, story.evidence.confidence) == ("hook", "high")
    assert story.agent.state_since == time_at(3)


@pytest.mark.parametrize(
    ("origin", "confidence"),
    [
        (Origin.TRANSCRIPT, "medium"),
        (Origin.REGISTRY, "medium"),
        (Origin.PROCESS, "medium"),
        (Origin.STATUS_LINE, "medium"),
        (Origin.TIMER, "low"),
        (Origin.OPERATOR, "high"),
    ],
)
def test_other_sources_have_less_confidence(story: Story, origin: Origin, confidence: str) -> None:
    """What was read from files or inferred never has high confidence."""
    story.prompted()
    story.report(TurnInterrupted(), origin=origin)
    assert (story.evidence.source, story.evidence.confidence) == (origin.value, confidence)


def test_an_answered_question_is_recorded_once(story: Story) -> None:
    """Question and answer are turns of the command; a duplicated end adds nothing."""
    story.prompted()
    story.hook("PreToolUse", at=4, prompt_id="p1", **question("q1"))
    story.hook("PermissionRequest", at=4.05, prompt_id="p1", **question(None))
    story.hook("PostToolUse", at=9, prompt_id="p1", **answered("q1"))
    story.hook("PostToolUse", at=9.002, prompt_id="p1", **answered("q1"))
    story.hook("PostToolBatch", at=9.01, prompt_id="p1", **batch("q1"))
    assert story.turns[1:] == [("AGENT", "QUESTION", "Which colour?"), ("USER", "ANSWER", "Which colour? Red")]
