"""Dialogs that no call explains: notifications and MCP elicitations."""

import pytest

from claude_headspace.kernel import acts, facts
from claude_headspace.kernel.envelope import Origin
from claude_headspace.kernel.wait.grants import Grant, GrantOption
from claude_headspace.kernel.wait.request import Ask
from tests.kernel.story import Payload, Story, answered, in_subagent, question, time_at

PERMISSION: Payload = {"notification_type": "permission_prompt", "message": "Claude needs your permission"}
DIALOG: Payload = {"notification_type": "agent_needs_input", "message": "Auto mode needs your choice"}
ELICITATION: Payload = {"mcp_server_name": "tickets", "elicitation_id": "el-1", "message": "Which board?"}


@pytest.fixture
def story() -> Story:
    """A client that works on a prompt."""
    started = Story()
    started.starts()
    started.prompted()
    return started


def test_work_after_an_answer_closes_the_wait() -> None:
    """Even before the registry shows the dialog; a `busy` from before the answer proves nothing."""
    story = Story()
    story.starts(at=1)
    story.prompted(at=2)
    story.calls("t1", at=3)
    story.asks_permission(at=3.1)
    [wait] = story.agent.waits
    story.report(
        acts.WaitAnswered(wait_id=wait.id, words="allowed", by="ann", via="cli"), origin=Origin.OPERATOR, at=3.2
    )
    story.report(facts.ClientReported("busy"), origin=Origin.REGISTRY, at=3.15)
    assert story.open_waits == ["permission"]
    story.report(facts.ClientReported("busy"), origin=Origin.REGISTRY, at=3.3)
    assert (story.board, story.waits[wait.id].resolution) == (("working", None), "allowed by ann")


def test_a_notification_never_opens_a_second_wait(story: Story) -> None:
    """The reminder six seconds after a dialog adds nothing."""
    story.calls("t1", "rm x", at=4)
    story.asks_permission("rm x", at=4.05)
    story.hook("Notification", at=10, **PERMISSION)
    assert story.open_waits == ["permission"]


def test_a_notification_alone_opens_a_wait(story: Story) -> None:
    """Some dialogs fire no other hook; the next end of a tool closes them."""
    story.calls("t1", at=4)
    story.hook("Notification", at=10, **DIALOG)
    assert story.open_waits == ["dialog"]
    story.called("t1", at=12)
    assert story.board == ("working", None)


def test_a_notification_can_be_the_first_event() -> None:
    """A daemon that started late sees the wait."""
    story = Story()
    story.hook("Notification", **PERMISSION)
    assert story.board == ("waiting", "permission")


def test_a_dialog_is_joined_with_an_earlier_notification(story: Story) -> None:
    """In the wrong order the two are still one wait, with the call."""
    story.hook("Notification", at=10, **PERMISSION)
    story.hook("PermissionRequest", at=4.05, **question(None))
    story.hook("PreToolUse", at=4, **question("q1"))
    assert [(wait.kind, wait.call_id) for wait in story.agent.waits] == [("question", "q1")]
    story.hook("PostToolUse", at=12, **answered("q1"))
    assert story.board == ("working", None)


def test_a_dialog_is_joined_with_an_earlier_registry_entry(story: Story) -> None:
    """On a busy machine the hook of a dialog starts after the registry shows it: still one wait, with its details."""
    story.calls("t1", "rm x", at=4)
    ask = Ask("permission", "permission prompt")
    story.report(facts.ClientReported("waiting", ask), origin=Origin.REGISTRY, at=4.4)
    story.asks_permission("rm x", at=4.5)
    assert [(wait.kind, wait.call_id, wait.summary) for wait in story.agent.waits] == [("permission", "t1", "rm x")]


def test_a_question_is_joined_with_an_earlier_notification(story: Story) -> None:
    """The call that asks is enough to identify it."""
    story.hook("Notification", at=10, **PERMISSION)
    story.hook("PreToolUse", at=4, **question("q1"))
    assert [(wait.kind, wait.call_id) for wait in story.agent.waits] == [("question", "q1")]


def test_a_notification_is_joined_with_a_subagents_dialog(story: Story) -> None:
    """A notification does not name its thread."""
    story.hook("Notification", at=10, **PERMISSION)
    story.asks_permission("rm x", at=4, **in_subagent())
    assert [(wait.kind, wait.subagent_id) for wait in story.agent.waits] == [("permission", "sub-1")]


@pytest.mark.parametrize("notified_first", [True, False])
def test_a_notification_of_an_ended_dialog_opens_nothing(story: Story, notified_first: bool) -> None:
    """The dialog, its end and the notification can arrive in any order."""
    if notified_first:
        story.hook("Notification", at=10, **PERMISSION)
    story.called("t1", "rm x", at=12, **in_subagent())
    if not notified_first:
        story.hook("Notification", at=10, **PERMISSION)
    story.asks_permission("rm x", at=4, **in_subagent())
    assert story.open_waits == []


def test_a_notification_is_not_joined_with_an_old_dialog(story: Story) -> None:
    """A notification follows its dialog by six seconds."""
    story.hook("Notification", at=30, **PERMISSION)
    story.asks_permission("rm x", at=4)
    assert len(story.open_waits) == 2
    story.called("t1", "rm x", at=6)
    assert story.open_waits == ["permission"]


def test_an_elicitation_waits_for_its_answer(story: Story) -> None:
    """An MCP server asks and is answered; another one after it is asked again under the same name."""
    for _ in range(2):
        story.hook("Elicitation", **ELICITATION)
        assert (story.board, story.command.state) == (("waiting", "elicitation"), "AWAITING_INPUT")
        story.hook("ElicitationResult", action="accept", **ELICITATION)
        assert story.board == ("working", None)
    assert [wait.resolution for wait in story.waits.values()] == ["accept", "accept"]


def test_an_elicitation_is_one_wait(story: Story) -> None:
    """Duplicated hooks and a notification open no second wait."""
    story.hook("Notification", at=4, notification_type="elicitation_dialog", message="Asked")
    story.hook("Elicitation", at=4.1, **ELICITATION)
    story.hook("Elicitation", at=4.102, **ELICITATION)
    assert [(wait.kind, wait.text) for wait in story.agent.waits] == [("elicitation", "Which board?")]


def test_an_elicitation_after_its_answer_opens_nothing(story: Story) -> None:
    """Question and answer may arrive in any order."""
    story.hook("ElicitationResult", at=6, action="decline", **ELICITATION)
    story.hook("Elicitation", at=4, **ELICITATION)
    assert story.board == ("working", None)


def test_other_notifications_open_nothing(story: Story) -> None:
    """Success messages and unknown kinds need no person."""
    for kind in ("auth_success", "agent_completed", "something_new"):
        story.hook("Notification", notification_type=kind, message="")
        assert story.board == ("working", None)


# --- answers through us ---


@pytest.fixture
def held(story: Story) -> Story:
    """A client that asks for a permission and can be answered through Headspace."""
    story.calls("t1", "rm x", at=4)
    story.asks_permission("rm x", at=4.05)
    story.report(acts.WaitHeld(wait_id=wait_of(story), until=time_at(100)), origin=Origin.OPERATOR, at=5)
    return story


def wait_of(story: Story) -> str:
    """The wait that is open."""
    (wait,) = story.agent.waits
    return wait.id


def answers(story: Story, words: str = "allowed", by: str = "ann") -> None:
    """A person answers through Headspace."""
    story.report(acts.WaitAnswered(wait_id=wait_of(story), words=words, by=by, via="cli"), origin=Origin.OPERATOR, at=6)


def test_an_answer_does_not_close_the_wait_before_the_client_continues(held: Story) -> None:
    """The dialog may be answered in the terminal at the same time."""
    wait_id = wait_of(held)
    answers(held)
    assert (held.open_waits, held.waits[wait_id].answered is None) == (["permission"], False)
    held.called("t1", "rm x", at=7)
    assert held.board == ("working", None)
    assert (held.waits[wait_id].resolution, held.waits[wait_id].held_until) == ("allowed by ann", 0)


def test_the_first_answer_counts(held: Story) -> None:
    """A second one changes nothing."""
    answers(held, by="ann")
    answers(held, "denied", by="bob")
    (wait,) = held.agent.waits
    assert wait.answered is not None
    assert (wait.answered.by, wait.answered.words) == ("ann", "allowed")


def test_a_rejection_in_the_terminal_overrides_an_answer(held: Story) -> None:
    """Both answered at the same time, and the client applied the terminal's."""
    wait_id = wait_of(held)
    answers(held)
    held.report(facts.ToolRejected("t1"), at=6.1)
    assert held.waits[wait_id].resolution == "rejected"


def test_an_applied_answer_closes_the_wait(held: Story) -> None:
    """Answered before any other source saw the dialog; without an answer the wait stays."""
    wait_id = wait_of(held)
    held.report(acts.WaitTaken(wait_id=wait_id), origin=Origin.OPERATOR, at=5.5)
    assert held.open_waits == ["permission"]
    answers(held)
    held.report(acts.WaitTaken(wait_id=wait_id), origin=Origin.OPERATOR, at=7)
    assert (held.open_waits, held.waits[wait_id].resolution) == ([], "allowed by ann")
    assert (held.evidence.confidence, held.evidence.why) == ("medium", "the client received the answer")


@pytest.mark.parametrize(("at", "waits"), [(6.5, []), (7.5, ["permission"])])
def test_waiting_from_before_an_applied_answer_opens_nothing(held: Story, at: float, waits: list[str]) -> None:
    """The registry is read late: it showed the dialog that has been answered. A newer one is another dialog."""
    answers(held)
    held.report(acts.WaitTaken(wait_id=wait_of(held)), origin=Origin.OPERATOR, at=7)
    held.report(facts.ClientReported("waiting", Ask("permission")), origin=Origin.REGISTRY, at=at)
    assert held.open_waits == waits


def test_grants_are_recorded_once_the_client_applied_the_answer(held: Story) -> None:
    """With what, by whom, through what and when."""
    grant = GrantOption(kind="rule", words="Allow Bash(rm x)", destination="this session")
    act = acts.WaitAnswered(wait_id=wait_of(held), words="allowed with 1 grant", by="ann", via="cli", grants=(grant,))
    held.report(act, origin=Origin.OPERATOR, at=6)
    assert not held.agent.grants
    held.called("t1", "rm x", at=7)
    given = Grant("rule", "Allow Bash(rm x)", "this session", "ann", "cli", time_at(6))
    assert held.agent.grants == (given,)


def test_nothing_is_granted_by_an_answer_that_the_client_did_not_apply(held: Story) -> None:
    """The dialog was rejected in the terminal at the same time."""
    grants = (GrantOption(kind="mode", words="Switch this session to acceptEdits", destination="this session"),)
    act = acts.WaitAnswered(wait_id=wait_of(held), words="allowed", by="ann", via="cli", grants=grants)
    held.report(act, origin=Origin.OPERATOR, at=6)
    held.report(facts.ToolRejected("t1"), at=6.1)
    assert held.agent.grants == ()


def test_a_released_wait_stays_open_for_the_terminal(held: Story) -> None:
    """The hook is gone: the answer was not delivered, and only the terminal can answer."""
    answers(held)
    held.report(acts.WaitReleased(wait_id=wait_of(held)), origin=Origin.OPERATOR, at=7)
    (wait,) = held.agent.waits
    assert (wait.answered, wait.held_until) == (None, 0)
    assert held.board == ("waiting", "permission")


@pytest.mark.parametrize(
    "fact",
    [
        acts.WaitHeld(wait_id="gone", until=1),
        acts.WaitAnswered(wait_id="gone", words="allowed", by="ann", via="cli"),
        acts.WaitTaken(wait_id="gone"),
        acts.WaitReleased(wait_id="gone"),
    ],
)
def test_facts_about_a_closed_wait_change_nothing(held: Story, fact: facts.Fact) -> None:
    """It was answered elsewhere."""
    before = held.agent.waits
    held.report(fact, origin=Origin.OPERATOR, at=8)
    assert held.agent.waits == before
