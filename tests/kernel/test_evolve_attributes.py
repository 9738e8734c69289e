"""Facts that change a single trait of the agent."""

from claude_headspace.kernel.acts import AgentRenamed
from claude_headspace.kernel.envelope import Origin
from tests.kernel.story import Story


def test_the_model_may_change() -> None:
    """The newest model is shown; one that is only about to change is not."""
    story = Story()
    story.starts(model="opus")
    story.hook("PreModelSwitch", to_model="sonnet")
    assert story.agent.model == "opus"
    story.hook("PostModelSwitch", to_model="sonnet")
    assert story.agent.model == "sonnet"


def test_the_directory_follows_the_agent() -> None:
    """A `cd` moves the agent, not its project."""
    story = Story()
    story.starts()
    story.hook("CwdChanged", cwd="/home/dev/app/sub", new_cwd="/home/dev/app/sub")
    assert (story.agent.cwd, story.agent.project.root) == ("/home/dev/app/sub", "/home/dev/app")


def test_the_todo_list_is_counted() -> None:
    """Added and completed entries count once each, also if only the completion was received."""
    story = Story()
    for task in ("1", "2", "2"):
        story.hook("TaskCreated", task_id=task, task_subject="Write it")
    story.hook("TaskCompleted", task_id="1")
    story.hook("TaskCompleted", task_id="3")
    assert (story.agent.todos, story.agent.todos_done) == (("1", "2", "3"), ("1", "3"))


def test_a_person_may_rename_an_agent() -> None:
    """An empty name is none."""
    story = Story()
    story.report(AgentRenamed(name="anna"), origin=Origin.OPERATOR)
    story.report(AgentRenamed(name=""), origin=Origin.OPERATOR)
    assert story.agent.name == "anna"


def test_an_unknown_hook_is_a_sign_of_life() -> None:
    """It changes only the last activity, and is recorded as an anomaly."""
    story = Story()
    story.starts()
    change = story.hook("BrainTransplant")
    assert (story.board, change.anomalies) == (("idle", None), ["unknown event BrainTransplant"])
    assert story.agent.last_active_at == change.meta.at
