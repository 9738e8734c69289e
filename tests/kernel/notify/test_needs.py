"""What wants a person, and what does not."""

import msgspec
import pytest

from claude_headspace.clients.tools import permission_verb
from claude_headspace.kernel.agent import Agent, Answered
from claude_headspace.kernel.notify.needs import Need, find_needs
from claude_headspace.kernel.notify.rules import DEFAULTS, Rule, Rules
from tests.kernel.notify.cases import RULES, asking, failed, finished, measured, seen
from tests.kernel.story import Story, time_at

replace = msgspec.structs.replace


def found(agent: Agent, at: float = 1_500, rules: Rules = RULES) -> list[Need]:
    """The needs of an agent."""
    return find_needs(agent, rules, time_at(at), permission_verb)


def kinds(agent: Agent, at: float = 1_500, rules: Rules = RULES) -> list[str]:
    """Of which kind they are."""
    return [need.kind for need in found(agent, at, rules)]


def test_a_wait_is_a_need_until_somebody_answered() -> None:
    """An answer through Headspace is enough, before the client takes it up."""
    agent = asking()
    (need,) = found(agent)
    assert (need.kind, need.id, need.since) == ("waiting", agent.waits[0].id, time_at(10))
    answered = replace(agent.waits[0], answered=Answered("allowed", "ann", "web", time_at(11)))
    assert kinds(replace(agent, waits=(answered,))) == []


def test_an_error_is_a_need_until_somebody_has_seen_it() -> None:
    """Its text says what stopped it."""
    agent = failed()
    (need,) = found(agent)
    assert need.kind == "error"
    assert "stopped: rate limit" in need.title
    assert kinds(seen(agent, 11)) == []


def test_long_work_that_is_done_is_a_need() -> None:
    """Short work is not, nor what somebody has seen."""
    assert kinds(finished(20)) == ["finished"]
    assert kinds(finished(9)) == []
    assert kinds(seen(finished(20), 1_201)) == []


def test_nothing_is_finished_while_background_work_runs() -> None:
    """A shell that still runs, or a sub-agent: only when they are over the work is done."""
    shell = {"id": "b1", "type": "shell", "status": "running", "description": "npm test"}
    assert kinds(finished(20, background_tasks=[shell])) == []
    sub = {"id": "a1", "type": "subagent", "status": "running", "description": "look"}
    assert kinds(finished(20, background_tasks=[sub])) == []


def test_work_that_comes_back_counts_from_where_a_person_began_it() -> None:
    """A short turn at the end of a long wait for a shell is long work."""
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


def test_who_left_has_seen_it_unless_nobody_ever_sat_there() -> None:
    """An interactive client that ended needs nobody; one without a terminal tells that it is done."""
    story = Story(finished(20))
    story.hook("SessionEnd", reason="prompt_input_exit", at=1_202)
    assert kinds(story.agent) == []
    assert kinds(replace(story.agent, mode="headless")) == ["finished"]


def test_the_child_of_an_agent_is_the_agents_affair() -> None:
    """Except when it waits for a person."""
    assert kinds(replace(finished(20), parent_id="p")) == []
    assert kinds(replace(failed(), parent_id="p")) == []
    assert kinds(replace(asking(), parent_id="p")) == ["waiting"]


@pytest.mark.parametrize(("percent", "need"), [(89.9, None), (90.0, "context-s1-90"), (97.0, "context-s1-95")])
def test_a_context_is_a_need_at_each_level_once(percent: float, need: str | None) -> None:
    """The highest level that was reached, per context window."""
    rules = Rules(kinds={**DEFAULTS, "context": Rule(levels=(90.0, 95.0))})
    assert [each.id for each in found(measured(context_percent=percent), 10, rules)] == ([need] if need else [])


def test_a_budget_is_a_need_when_it_is_used_up() -> None:
    """Without a budget nothing costs too much."""
    assert kinds(measured(cost_usd=99.0), 10) == []
    rules = Rules(kinds={**DEFAULTS, "cost": Rule(budget=5.0)})
    assert kinds(measured(cost_usd=4.99), 10, rules) == []
    (need,) = found(measured(cost_usd=5.2), 10, rules)
    assert need.title == "calm-otter has cost $5.20 (budget $5)"


def test_old_news_are_none() -> None:
    """Work that was done yesterday is not announced today; who still waits, is."""
    day = 24 * 3_600
    assert kinds(finished(20), day) == []
    assert kinds(asking(), day) == ["waiting"]
    assert kinds(asking(), 8 * day) == []


def test_what_is_off_needs_nobody() -> None:
    """One kind, all of them, and agents from somebody else's log."""
    assert kinds(asking(), rules=Rules(kinds={**DEFAULTS, "waiting": Rule(on=False)})) == []
    assert kinds(asking(), rules=Rules(on=False)) == []
    assert kinds(replace(asking(), imported_from="elsewhere")) == []


def test_the_text_says_who_where_and_what() -> None:
    """Name, project, branch and machine; the command, or the question with its options."""
    (need,) = found(replace(asking(), branch="main"))
    assert need.title == "name-of-agent-1 wants to run"
    assert need.text == "make deploy\nin app (main) on laptop"
    story = Story()
    story.hook("SessionStart", source="startup")
    options = [{"label": "Red"}, {"label": "Blue"}]
    asked = {"questions": [{"question": "Which colour?", "header": "Colour", "options": options}]}
    story.hook("PreToolUse", tool_name="AskUserQuestion", tool_use_id="q1", tool_input=asked)
    (need,) = found(story.agent, 10)
    assert need.title == "calm-otter asks"
    assert need.text == "Which colour?\n  1. Red\n  2. Blue\nin app on laptop"
