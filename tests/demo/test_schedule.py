"""The schedule of the demo: the same for a seed, and with an open dialog of each kind at any time."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from claude_headspace.clients import claude_code
from claude_headspace.clients.claude_code.hooks.events import REGISTERED
from claude_headspace.clients.simulation import Reply, ScheduledEvent
from claude_headspace.demo.scenarios import SCENARIOS
from claude_headspace.demo.schedule import Schedule, SimulatedAgent

HOUR = 3600.0
DIALOGS = {"permission", "question", "plan"}


class Played(NamedTuple):
    """An event that was started, and its agent."""

    agent: SimulatedAgent
    event: ScheduledEvent


def new_schedule(seed: int) -> Schedule:
    """The schedule of all agents."""
    return Schedule([SimulatedAgent(each, seed, number, "/projects") for number, each in enumerate(SCENARIOS)])


def play(schedule: Schedule, until: float) -> Iterator[Played]:
    """The events until then, without answers through Headspace."""
    while schedule.next_at < until:
        if (agent := schedule.start_next()) is not None:
            event = agent.event
            yield Played(agent, event)
            if not event.dialog:
                agent.finish(event, Reply(event.at))


def waiting_agent(schedule: Schedule, dialog: str) -> SimulatedAgent:
    """Play until the start of the demo, and return an agent with an open dialog."""
    for _played in play(schedule, 0):
        pass
    return next(agent for agent in schedule.waiting if agent.event.dialog == dialog)


def output(**fields: object) -> dict[str, object]:
    """The output of a hook."""
    return {"hookSpecificOutput": fields}


def test_a_seed_gives_the_same_events() -> None:
    """Every hook, line and time is the same; another seed changes the times and keeps the texts."""
    one, again, other = (list(play(new_schedule(seed), 600)) for seed in (1, 1, 2))
    assert [played.event for played in one] == [played.event for played in again]
    assert [played.event.at for played in one] != [played.event.at for played in other]
    prompts = [
        [event.payload.get("prompt") for agent, event in day if agent.scenario.profile.name == "calm-otter"]
        for day in (one, other)
    ]
    assert prompts[0][:8] == prompts[1][:8]


def test_events_are_ordered_by_time() -> None:
    """The events of all agents together."""
    times = [played.event.at for played in play(new_schedule(3), HOUR)]
    assert times == sorted(times)


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_a_dialog_of_each_kind_is_always_open(seed: int) -> None:
    """From the start on, for two hours: a permission, a question and a plan."""
    schedule = new_schedule(seed)
    for played in play(schedule, 2 * HOUR):
        if played.event.at > 0:
            assert {agent.event.dialog for agent in schedule.waiting} == DIALOGS, played.event.at


def test_agents_take_turns_waiting() -> None:
    """In an hour, at least two agents open each kind of dialog."""
    opened = Counter(
        (event.dialog, agent.scenario.profile.name) for agent, event in play(new_schedule(1), HOUR) if event.dialog
    )
    for dialog in DIALOGS:
        assert len([name for kind, name in opened if kind == dialog]) >= 2


def test_the_scenarios_cover_what_agents_do() -> None:
    """Sub-agents, errors, compaction, background shells, to-do lists, an end, an interrupt; only registered hooks."""
    day = [event for agent, event in play(new_schedule(1), HOUR) if agent.scenario.client == claude_code.NAME]
    hooks = {event.hook for event in day} - {""}
    assert hooks - {"StatusLine"} <= REGISTERED.keys()
    assert hooks >= {
        "SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse",
        "PostToolUseFailure", "SubagentStart", "SubagentStop", "TaskCreated", "TaskCompleted", "Stop", "StopFailure",
        "PreCompact", "PostCompact", "StatusLine",
    }  # fmt: skip
    texts = [str(line.get("message", "")) for event in day for line in event.lines]
    assert any("[Request interrupted by user for tool use]" in text for text in texts)
    assert any(event.payload.get("tool_response", {}).get("backgroundTaskId") for event in day)


def test_the_first_answer_counts() -> None:
    """After an answer through Headspace, later answers are ignored."""
    schedule = new_schedule(1)
    agent = waiting_agent(schedule, "question")
    event = agent.event
    answers = {event.payload["tool_input"]["questions"][0]["question"]: "Both"}
    agent.finish(event, Reply(1.0, output(decision={"behavior": "allow", "updatedInput": {"answers": answers}})))
    assert agent not in schedule.waiting
    agent.finish(event, Reply(2.0))
    later = [played.event for played in play(schedule, 1200) if played.agent is agent]
    texts = " ".join(str(line.get("message", "")) for event in later for line in event.lines)
    assert later[0].payload["tool_response"]["answers"] == answers
    assert "Both it is." in texts


def test_a_denied_permission_ends_the_turn() -> None:
    """The agent stops there, and continues with the next prompt after a pause."""
    schedule = new_schedule(1)
    agent = waiting_agent(schedule, "permission")
    agent.finish(agent.event, Reply(1.0, output(decision={"behavior": "deny", "message": "Not now."})))
    hooks = [played.event.hook for played in play(schedule, 600) if played.agent is agent and played.event.hook]
    assert hooks[:3] == ["PostToolBatch", "Stop", "StatusLine"]
    assert hooks[3] == "UserPromptSubmit"


def test_a_call_that_the_guard_denies_does_not_run() -> None:
    """A call that is denied before it runs has no result."""
    agent = new_schedule(1).agents[0]
    while agent.event.at < -agent.scenario.elapsed or agent.event.hook != "PreToolUse":
        agent.finish(agent.event, Reply(max(agent.event.at, agent.event.answered_at)))
    denied = output(permissionDecision="deny", permissionDecisionReason="The rule says no.")
    agent.finish(agent.event, Reply(agent.event.at, denied))
    assert agent.event.hook == "PostToolBatch"
    assert agent.event.payload["tool_calls"][0]["tool_response"] == "The rule says no."
