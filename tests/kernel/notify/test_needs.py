"""Which states of an agent are needs."""

import msgspec
import pytest

from claude_headspace.clients.tools import permission_verb
from claude_headspace.kernel.agent import Agent, Answered
from claude_headspace.kernel.notify.messages import EXCERPT, HIDDEN
from claude_headspace.kernel.notify.needs import Need, find_needs
from claude_headspace.kernel.notify.rules import DEFAULTS, Rule, Rules
from claude_headspace.kernel.usage import Usage
from tests.kernel.notify.cases import RULES, agent_with, failed_agent, finished_agent, seen_agent, waiting_agent
from tests.kernel.story import Story, time_at

replace = msgspec.structs.replace


def needs(agent: Agent, at: float = 1_500, rules: Rules = RULES) -> list[Need]:
    """The needs of an agent."""
    return find_needs(agent, rules, time_at(at), permission_verb)


def kinds(agent: Agent, at: float = 1_500, rules: Rules = RULES) -> list[str]:
    """The kinds of an agent's needs."""
    return [need.kind for need in needs(agent, at, rules)]


def test_a_wait_is_a_need_until_it_is_answered() -> None:
    """An answer through Headspace closes it before the client has processed it."""
    agent = waiting_agent()
    (need,) = needs(agent)
    assert (need.kind, need.id, need.since) == ("waiting", agent.waits[0].id, time_at(10))
    answered = replace(agent.waits[0], answered=Answered("allowed", "ann", "web", time_at(11)))
    assert kinds(replace(agent, waits=(answered,))) == []


def test_an_error_is_a_need_until_it_is_seen() -> None:
    """The title contains the error."""
    agent = failed_agent()
    (need,) = needs(agent)
    assert need.kind == "error"
    assert "stopped: rate limit" in need.title
    assert kinds(seen_agent(agent, 11)) == []


def test_finished_long_work_is_a_need() -> None:
    """Short work is not, and seen work is not."""
    assert kinds(finished_agent(20)) == ["finished"]
    assert kinds(finished_agent(9)) == []
    assert kinds(seen_agent(finished_agent(20), 1_201)) == []


def test_nothing_is_finished_while_background_work_runs() -> None:
    """Neither a shell nor a sub-agent may be running."""
    shell = {"id": "b1", "type": "shell", "status": "running", "description": "npm test"}
    assert kinds(finished_agent(20, background_tasks=[shell])) == []
    sub = {"id": "a1", "type": "subagent", "status": "running", "description": "look"}
    assert kinds(finished_agent(20, background_tasks=[sub])) == []


def test_work_triggered_by_a_background_task_counts_from_the_original_command() -> None:
    """A short turn after a long-running shell is long work."""
    story = Story()
    story.hook("SessionStart", source="startup", at=-1)
    story.hook("UserPromptSubmit", prompt="Run the tests", prompt_id="p1", at=0)
    shell = {"id": "b1", "type": "shell", "status": "running", "description": "make test"}
    story.hook("Stop", last_assistant_message="They run.", prompt_id="p1", background_tasks=[shell], at=30)
    assert kinds(story.agent, 40) == []
    back = "<task-notification>\n<task-id>b1</task-id>\n<status>completed</status>\n</task-notification>"
    story.hook("UserPromptSubmit", prompt=back, prompt_id="p2", at=1_200)
    story.hook("Stop", last_assistant_message="All is green.", prompt_id="p2", background_tasks=[], at=1_205)
    assert kinds(story.agent, 1_210) == ["finished"]


def test_finished_work_of_an_ended_client_is_a_need_only_if_it_was_headless() -> None:
    """The user of an interactive client has seen the result."""
    story = Story(finished_agent(20))
    story.hook("SessionEnd", reason="prompt_input_exit", at=1_202)
    assert kinds(story.agent) == []
    assert kinds(replace(story.agent, mode="headless")) == ["finished"]


def test_a_child_agent_has_needs_only_while_it_waits() -> None:
    """Errors and finished work belong to its parent."""
    assert kinds(replace(finished_agent(20), parent_id="p")) == []
    assert kinds(replace(failed_agent(), parent_id="p")) == []
    assert kinds(replace(waiting_agent(), parent_id="p")) == ["waiting"]


@pytest.mark.parametrize(("percent", "need"), [(89.9, None), (90.0, "context-s1-90"), (97.0, "context-s1-95")])
def test_a_context_is_a_need_at_each_level_once(percent: float, need: str | None) -> None:
    """The need is for the highest level reached, per context window."""
    rules = Rules(kinds={**DEFAULTS, "context": Rule(levels=(90.0, 95.0))})
    assert [each.id for each in needs(agent_with(context_percent=percent), 10, rules)] == ([need] if need else [])


def test_a_session_that_reaches_its_budget_is_a_need() -> None:
    """Without a budget there is no need."""
    assert kinds(agent_with(cost_usd=99.0), 10) == []
    rules = Rules(kinds={**DEFAULTS, "cost": Rule(budget=5.0)})
    assert kinds(agent_with(cost_usd=4.99), 10, rules) == []
    (need,) = needs(agent_with(cost_usd=5.2), 10, rules)
    assert need.title == "calm-otter has cost $5.20 (budget $5)"


def test_an_agent_that_reaches_its_budget_is_a_need() -> None:
    """All its sessions count, and the budget of a session is another one."""
    rules = Rules(kinds={**DEFAULTS, "cost": Rule(agent_budget=5.0, budget=3.0)})
    assert kinds(agent_with(cost_usd=1.0, usage=Usage(cost_usd=4.9)), 10, rules) == []
    (need,) = needs(agent_with(cost_usd=1.0, usage=Usage(cost_usd=5.2)), 10, rules)
    assert need.title == "calm-otter has cost $5.20 in all its sessions (budget $5)"
    assert len(needs(agent_with(cost_usd=4.0, usage=Usage(cost_usd=5.2)), 10, rules)) == 2


def test_needs_expire() -> None:
    """Finished work within a day, waits within a week."""
    day = 24 * 3_600
    assert kinds(finished_agent(20), day) == []
    assert kinds(waiting_agent(), day) == ["waiting"]
    assert kinds(waiting_agent(), 8 * day) == []


def test_disabled_kinds_have_no_needs() -> None:
    """One kind, all kinds, and imported agents."""
    assert kinds(waiting_agent(), rules=Rules(kinds={**DEFAULTS, "waiting": Rule(on=False)})) == []
    assert kinds(waiting_agent(), rules=Rules(on=False)) == []
    assert kinds(replace(waiting_agent(), imported_from="elsewhere")) == []


def test_the_text_contains_agent_location_and_question() -> None:
    """Name, project, branch and host; the command, or the question with its options."""
    (need,) = needs(replace(waiting_agent(), branch="main"))
    assert need.title == "name-of-agent-1 wants to run"
    assert need.text == f"make deploy\n{EXCERPT}\nin app (main) on laptop"
    story = Story()
    story.hook("SessionStart", source="startup")
    options = [{"label": "Red"}, {"label": "Blue"}]
    asked = {"questions": [{"question": "Which colour?", "header": "Colour", "options": options}]}
    story.hook("PreToolUse", tool_name="AskUserQuestion", tool_use_id="q1", tool_input=asked)
    (need,) = needs(story.agent, 10)
    assert need.title == "calm-otter asks"
    assert need.text == "Which colour?\n  1. Red\n  2. Blue\nin app on laptop"


def test_a_long_plan_is_an_excerpt_and_a_short_one_is_not() -> None:
    """The text says so, so that nobody approves what they have not seen."""

    def text(plan: str) -> str:
        story = Story()
        story.hook("SessionStart", source="startup")
        story.hook("PreToolUse", tool_name="ExitPlanMode", tool_use_id="p1", tool_input={"plan": plan})
        (need,) = needs(story.agent, 10)
        return need.text

    assert EXCERPT in text("1. Do it. " * 100)
    assert EXCERPT not in text("1. Do it.")


def test_hidden_characters_are_visible_marks() -> None:
    """In the request and in the location. The text says that there are some."""
    story = Story()
    story.hook("SessionStart", source="startup")
    story.hook("PermissionRequest", tool_name="Bash", tool_input={"command": "rm \u202e x"})
    (need,) = needs(replace(story.agent, branch="ma\u200bin"), 10)
    assert need.text == f"rm ⟦U+202E⟧ x\n{HIDDEN}\n{EXCERPT}\nin app (ma⟦U+200B⟧in) on laptop"
