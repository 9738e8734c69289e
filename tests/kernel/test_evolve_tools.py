"""Tool calls, their dialogs and sub-agents: what each thread has open, and what closes it."""

import pytest

from claude_headspace.kernel.facts import ToolFinished
from tests.kernel.story import Payload, Story, answered, bash, batch, in_subagent, plan, question, running


@pytest.fixture
def story() -> Story:
    """A client that works on a prompt."""
    started = Story()
    started.starts()
    started.prompted()
    return started


def resolutions(story: Story) -> list[tuple[str, str | None]]:
    """All waits, and how they ended."""
    return [(wait.kind, wait.resolution) for wait in story.waits.values()]


# --- calls ------------------------------------------------------------------------------------------------------------


def test_a_call_is_open_until_it_ends(story: Story) -> None:
    """A running tool is shown until it has ended."""
    story.calls("t1", "pytest -q")
    assert [(call.tool, call.summary) for call in story.agent.calls] == [("Bash", "pytest -q")]
    story.called("t1", "pytest -q")
    assert (story.open_calls, story.board) == ([], ("working", None))


@pytest.mark.parametrize(
    ("name", "more"),
    [("PostToolUse", {}), ("PostToolUseFailure", {"error": "Exit code 3"}), ("PermissionDenied", {"reason": "unsafe"})],
)
def test_a_call_ends_with_any_result(story: Story, name: str, more: Payload) -> None:
    """Finished, failed or refused: the agent continues. A failed tool is not an error of the agent."""
    story.calls("t1")
    story.hook(name, **bash("t1"), **more)
    assert (story.open_calls, story.board) == ([], ("working", None))


def test_parallel_calls_end_one_by_one(story: Story) -> None:
    """Each end closes its own call."""
    for call in ("t1", "t2", "t3"):
        story.calls(call, call)
    story.called("t2", "t2")
    assert story.open_calls == ["t1", "t3"]


def test_the_end_of_a_step_ends_all_its_calls(story: Story) -> None:
    """PostToolBatch closes calls that had no end, listed or not."""
    story.calls("t1", "one")
    story.calls("t2", "two")
    story.hook("PostToolBatch", **batch("t1"))
    assert story.open_calls == []


def test_a_start_after_its_end_opens_nothing(story: Story) -> None:
    """Hooks arrive in any order."""
    story.called("t1", at=5)
    story.calls("t1", at=4)
    assert story.open_calls == []


def test_a_duplicated_call_is_one(story: Story) -> None:
    """Hooks registered in two places fire twice."""
    story.calls("t1", at=4)
    story.calls("t1", at=4.002)
    story.called("t1", at=5)
    story.called("t1", at=5.002)
    assert story.open_calls == []
    assert len(story.agent.finished_calls) == 1


def test_calls_without_ids_are_matched_by_tool_and_input(story: Story) -> None:
    """Also if the client repeats the same call."""
    for _ in range(2):
        story.hook("PreToolUse", tool_name="Bash", tool_input={"command": "ls"})
        assert len(story.open_calls) == 1
        story.hook("PostToolUse", tool_name="Bash", tool_input={"command": "ls"})
        assert story.open_calls == []


def test_an_end_without_tool_and_id_ends_the_oldest_call(story: Story) -> None:
    """Even an almost empty payload closes a question."""
    story.hook("PreToolUse", tool_name="AskUserQuestion")
    assert story.open_waits == ["question"]
    story.hook("PostToolUse")
    assert story.board == ("working", None)


# --- waits of calls ---------------------------------------------------------------------------------------------------


def test_a_question_waits_with_its_options_until_answered(story: Story) -> None:
    """AskUserQuestion opens one wait, which its dialog joins and its end closes."""
    story.hook("PreToolUse", at=4, **question("q1"))
    assert (story.board, story.command.state) == (("waiting", "question"), "AWAITING_INPUT")
    story.hook("PermissionRequest", at=4.05, **question(None))
    [wait] = story.agent.waits
    assert [option.label for option in wait.questions[0].options] == ["Red", "Blue"]
    story.hook("PostToolUse", at=9, **answered("q1"))
    assert (story.board, story.command.state) == (("working", None), "PROCESSING")
    assert resolutions(story) == [("question", "answered")]


def test_a_plan_waits_until_approved(story: Story) -> None:
    """ExitPlanMode opens one wait; approval empties its input."""
    story.hook("PreToolUse", at=4, **plan("q1"))
    story.hook("PermissionRequest", at=4.05, **plan(None))
    assert (story.board, story.open_waits) == (("waiting", "plan"), ["plan"])
    story.hook("PostToolUse", at=9, **(plan("q1") | {"tool_input": {}}))
    assert (story.board, resolutions(story)) == (("working", None), [("plan", "the tool ran")])


def test_an_approved_plan_is_an_answer(story: Story) -> None:
    """“AWAITING_INPUT | USER | ANSWER | PROCESSING”: the approval is a turn of the user, once."""
    story.hook("PreToolUse", at=4, **plan("q1"))
    story.hook("PostToolUse", at=9, **plan("q1"))
    story.report(ToolFinished("q1", ""), at=9)
    assert story.turns[-2:] == [("AGENT", "QUESTION", "1. Do it"), ("USER", "ANSWER", "Plan approved")]
    assert story.command.state == "PROCESSING"


@pytest.mark.parametrize("is_late", [False, True])
def test_a_call_after_a_plan_closes_its_dialog(story: Story, is_late: bool) -> None:
    """However soon it starts, and in either order of arrival."""
    events = [("PreToolUse", 4.0, plan("q1")), ("PreToolUse", 4.2, bash("t1"))]
    for name, at, payload in reversed(events) if is_late else events:
        story.hook(name, at=at, **payload)
    assert story.board == ("working", None)


def test_a_call_in_parallel_to_a_question_does_not_answer_it(story: Story) -> None:
    """Both start together."""
    story.hook("PreToolUse", at=4, **question("q1"))
    story.calls("t1", at=4.02)
    assert story.board == ("waiting", "question")


def test_a_permission_belongs_to_its_call(story: Story) -> None:
    """The dialog names no call. It is matched by tool and input, and the end of the call closes it."""
    story.calls("t1", "ls", at=4)
    story.calls("t2", "rm x", at=4.01)
    story.asks_permission("rm x", at=4.05)
    [wait] = story.agent.waits
    assert (wait.kind, wait.call_id, wait.summary) == ("permission", "t2", "rm x")
    story.called("t1", "ls", at=5)
    assert story.open_waits == ["permission"]
    story.called("t2", "rm x", at=6)
    assert story.board == ("working", None)


def test_identical_calls_are_asked_for_oldest_first(story: Story) -> None:
    """Two dialogs for the same input belong to two calls."""
    story.calls("t1", "rm x", at=4)
    story.calls("t2", "rm x", at=4.01)
    story.asks_permission("rm x", at=4.05)
    story.asks_permission("rm x", at=4.06)
    assert [wait.call_id for wait in story.agent.waits] == ["t1", "t2"]


def test_a_duplicated_dialog_is_one(story: Story) -> None:
    """Hooks registered in two places fire twice, before or after the call is known."""
    story.asks_permission("rm x", at=4.05)
    story.asks_permission("rm x", at=4.06)
    story.calls("t1", "rm x", at=4)
    story.asks_permission("rm x", at=4.07)
    assert [wait.call_id for wait in story.agent.waits] == ["t1"]


def test_a_dialog_can_arrive_before_its_call(story: Story) -> None:
    """It is not joined with another command."""
    story.calls("t1", "ls", at=4)
    story.asks_permission("rm x", at=4.05)
    assert [wait.call_id for wait in story.agent.waits] == [None]
    story.calls("t2", "rm x", at=4.01)
    assert [wait.call_id for wait in story.agent.waits] == ["t2"]
    story.called("t1", "ls", at=5)
    assert story.board == ("waiting", "permission")


def test_a_dialog_after_the_end_of_its_call_opens_nothing(story: Story) -> None:
    """The call has already been answered."""
    story.called("t1", "rm x", at=8)
    story.asks_permission("rm x", at=4)
    story.hook("PostToolUse", at=9, **answered("q1"))
    story.hook("PermissionRequest", at=5, **question(None))
    assert story.board == ("working", None)


def test_a_rejection_with_feedback_ends_with_the_step(story: Story) -> None:
    """“No, do this instead” fires only PostToolBatch: the wait closes and the turn continues."""
    story.calls("t1")
    story.asks_permission()
    story.hook("PostToolBatch", **batch("t1"))
    assert (story.board, story.open_calls) == (("working", None), [])
    assert resolutions(story) == [("permission", "the step ended")]


def test_a_parallel_command_does_not_answer_a_question(story: Story) -> None:
    """The end of a parallel tool closes only its own call."""
    story.calls("t1", at=4)
    story.hook("PreToolUse", at=4.01, **question("q1"))
    story.hook("PermissionRequest", at=4.05, **question(None))
    story.called("t1", at=5)
    assert story.board == ("waiting", "question")


def test_a_later_step_closes_a_stale_wait(story: Story) -> None:
    """The end of a dialog was lost: the next step proves it, as an inference."""
    story.calls("t1", "rm x", at=4)
    story.asks_permission("rm x", at=4.05)
    story.calls("t2", "ls", at=9)
    assert story.board == ("working", None)
    assert resolutions(story) == [("permission", "the agent continued")]
    assert story.evidence.confidence == "medium"


def test_a_call_of_the_same_step_closes_nothing(story: Story) -> None:
    """Calls of one step start together; that does not prove progress."""
    story.hook("PreToolUse", at=4, **question("q1"))
    story.calls("t1", at=4.2)
    assert story.board == ("waiting", "question")


def test_a_late_dialog_of_an_earlier_step_does_not_open(story: Story) -> None:
    """A dialog from before the newest step has ended, in either order."""
    story.calls("t2", "ls", at=9)
    story.asks_permission("rm x", at=4)
    story.hook("PreToolUse", at=4.5, **question("q1"))
    assert story.board == ("working", None)


def test_the_newest_of_several_waits_is_shown(story: Story) -> None:
    """Each wait stays until it is closed."""
    story.hook("PreToolUse", at=4, **question("q1"))
    story.hook("PermissionRequest", at=9, tool_name="Bash", tool_input={"command": "rm x"}, **in_subagent())
    assert (story.board, story.open_waits) == (("waiting", "permission"), ["question", "permission"])
    story.hook("PostToolUse", at=10, **bash("t1", "rm x"), **in_subagent())
    assert story.board == ("waiting", "question")


def test_the_same_plan_can_be_asked_again(story: Story) -> None:
    """A dialog with the same input is another dialog, even if the earlier end arrives late."""
    story.hook("PreToolUse", at=4, **plan("q1"))
    story.hook("PermissionRequest", at=4.05, **plan(None))
    story.hook("PermissionRequest", at=12.05, **plan(None))
    story.hook("PreToolUse", at=12, **plan("q2"))
    story.hook("PostToolUse", at=9, **(plan("q1") | {"tool_input": {}}))
    assert (story.open_waits, story.open_calls) == (["plan"], ["q2"])


# --- sub-agents -------------------------------------------------------------------------------------------------------


def test_a_subagent_has_its_own_calls(story: Story) -> None:
    """Its calls are not its parent's, and end with it."""
    story.hook("SubagentStart", **in_subagent())
    story.calls("t1", "ls", **in_subagent())
    assert [(call.id, call.subagent_id) for call in story.agent.calls] == [("t1", "sub-1")]
    story.hook("SubagentStop", **in_subagent())
    assert (story.open_calls, story.agent.running_subagents) == ([], ())


def test_a_step_of_the_main_thread_leaves_a_subagents_calls_open(story: Story) -> None:
    """Threads do not end each other's calls."""
    story.calls("t1", "ls", **in_subagent())
    story.hook("PostToolBatch", **batch())
    assert story.open_calls == ["t1"]
    story.hook("PostToolBatch", **batch(), **in_subagent())
    assert story.open_calls == []


def test_a_subagent_can_ask_after_the_turn_stopped(story: Story) -> None:
    """Its permission makes the agent wait, and the answer lets it continue."""
    story.hook("SubagentStart", **in_subagent())
    story.stops("I have sent somebody.", background_tasks=running("sub-1"))
    story.calls("t1", "rm x", **in_subagent())
    story.asks_permission("rm x", **in_subagent())
    assert (story.board, story.command.state) == (("waiting", "permission"), "AWAITING_INPUT")
    story.called("t1", "rm x", **in_subagent())
    assert (story.board, story.command.state) == (("working", None), "PROCESSING")


def test_a_stop_does_not_close_a_subagents_dialog(story: Story) -> None:
    """On 2.1.325 a sub-agent's permission may be open while the turn stops."""
    story.asks_permission("rm x", **in_subagent())
    story.stops("I have sent somebody.", background_tasks=running("sub-1"))
    assert story.board == ("waiting", "permission")


def test_a_subagents_dialog_ends_with_it(story: Story) -> None:
    """An ended sub-agent needs no person."""
    story.asks_permission("rm x", **in_subagent())
    story.hook("SubagentStop", **in_subagent())
    assert story.board == ("working", None)


def test_a_late_start_does_not_revive_a_subagent(story: Story) -> None:
    """Start and stop may arrive in any order."""
    story.hook("SubagentStop", at=5, **in_subagent())
    story.hook("SubagentStart", at=4, **in_subagent())
    story.calls("t1", at=4.5, **in_subagent())
    assert (story.agent.running_subagents, story.open_calls) == ((), [])


def test_a_subagent_can_start_again(story: Story) -> None:
    """The client can continue a sub-agent under its old id."""
    story.hook("SubagentStop", at=5, **in_subagent())
    story.hook("SubagentStart", at=6, **in_subagent())
    assert [sub.id for sub in story.agent.running_subagents] == ["sub-1"]


def test_a_stop_without_a_type_is_no_subagent(story: Story) -> None:
    """Compaction and prompt suggestions fire such stops."""
    story.hook("SubagentStart", **in_subagent())
    story.hook("SubagentStop", agent_id="other", agent_type="")
    assert [sub.id for sub in story.agent.subagents] == ["sub-1"]


def test_a_subagents_directory_is_its_own(story: Story) -> None:
    """Its directory and mode do not change its parent's."""
    story.calls("t1", cwd="/elsewhere", permission_mode="bypassPermissions", **in_subagent())
    assert (story.agent.cwd, story.agent.permission_mode) == ("/home/dev/app", None)


def test_the_size_of_an_agent_is_bounded(story: Story) -> None:
    """After the first hundred items of a kind it does not grow."""
    sizes = []
    for number in range(300):
        story.calls(f"t{number}", str(number), at=5)
        story.hook("SubagentStart", at=5, **in_subagent(f"sub-{number}"))
        story.called(f"u{number}", at=5, tool_response={"backgroundTaskId": f"b{number}"})
        agent = story.agent
        sizes.append((len(agent.calls), len(agent.finished_calls), len(agent.subagents), len(agent.background)))
    assert sizes[100] == sizes[-1]
    assert max(sizes[-1]) < 100
