"""Missions: the mission of an agent, and the results of its workers.

A mission ends when the worker reports, when a person finishes it, or when its agent ends. An ended mission stays ended:
a revived agent can report again, but the end does not change. A worker that was killed has not succeeded, even if its
last turn was completed: what it still wanted to do is unknown.
"""

from claude_headspace.kernel import acts, facts
from claude_headspace.kernel.agent import Agent, Outcome
from claude_headspace.kernel.envelope import Micros
from claude_headspace.kernel.evolve.change import Change, add_turn, open_command_of, replace
from claude_headspace.kernel.evolve.sessions import end_agent
from claude_headspace.kernel.evolve.turns import record_work
from claude_headspace.kernel.facts import Event, Meta
from claude_headspace.kernel.mission.model import (
    BACKGROUND,
    INTERACTIVE,
    MAX_ANSWER_CHARS,
    MAX_GOAL_CHARS,
    MAX_REPORT_CHARS,
    MAX_WORKER_REPORTS,
    Mission,
    MissionOutcome,
    WorkerReport,
)
from claude_headspace.kernel.state_machine import Actor, Intent
from claude_headspace.kernel.text import short

OUTCOMES = {Outcome.COMPLETED: MissionOutcome.SUCCEEDED, None: MissionOutcome.ABANDONED}
"""The outcome of a mission whose agent ended, by the outcome of its last command; otherwise it failed."""


def apply_assignment(change: Change, event: Event) -> None:
    """Apply the mode and the mission that were assigned when the event arrived."""
    agent, decisions = change.agent, event.decisions
    if decisions.mode and (decisions.mode != INTERACTIVE or agent.mode != "headless"):
        agent.mode = decisions.mode
    known, named = agent.mission, decisions.mission_id
    if named and (known is None or (known.ended_at is not None and known.id != named)):
        agent.mission = Mission(id=named, started_at=event.meta.at, conversation_id=agent.parent_id)


def turn_continued(change: Change, meta: Meta, fact: facts.TurnContinued) -> None:
    """The reply to the Stop hook kept the turn from ending. Its final text is still the answer of the mission."""
    change.why = "continues: Headspace sent it a notice at the end of its turn"
    if (command := open_command_of(change.agent)) is not None:
        add_turn(change, command, Actor.AGENT, Intent.PROGRESS, fact.message)
    if change.agent.mission is not None and fact.message:
        change.agent.mission = replace(change.agent.mission, answer=fact.message[:MAX_ANSWER_CHARS])
    record_work(change, meta)


def update_mission(change: Change, mission: Mission) -> None:
    """Update the mission with the goal and answer from new turns, and end it if the agent ended."""
    agent = change.agent
    if mission.ended_at is not None:
        return
    for turn in change.turns:
        if turn.actor is Actor.USER and turn.intent is Intent.COMMAND and not mission.goal:
            mission = replace(mission, goal=turn.text[:MAX_GOAL_CHARS])
        elif turn.actor is Actor.AGENT and turn.intent is not Intent.PROGRESS:
            mission = replace(mission, answer=turn.text[:MAX_ANSWER_CHARS])
    if agent.ended_at is not None:
        outcome = OUTCOMES.get(agent.command.outcome if agent.command else None, MissionOutcome.FAILED)
        if outcome is MissionOutcome.SUCCEEDED and agent.has_crashed:
            outcome = MissionOutcome.FAILED
        mission = _ended(mission, outcome, f"its client ended ({agent.end_reason})", agent.ended_at)
    agent.mission = mission


def _ended(mission: Mission, outcome: MissionOutcome, words: str, at: Micros) -> Mission:
    if mission.ended_at is not None:
        return mission
    return replace(mission, outcome=outcome, reason=words, ended_at=max(at, mission.started_at))


def mission_reported(change: Change, meta: Meta, fact: acts.MissionReported) -> None:
    """The worker reports its result: the mission ends, even if the client continues to run."""
    mission = _mission_of(change)
    if mission is not None:
        outcome = MissionOutcome.FAILED if fact.outcome == MissionOutcome.FAILED else MissionOutcome.SUCCEEDED
        mission = replace(mission, report=fact.text[:MAX_REPORT_CHARS])
        change.agent.mission = _ended(mission, outcome, "", meta.at)


def mission_finished(change: Change, meta: Meta, fact: acts.MissionFinished) -> None:
    """A person ends the mission. An agent that never started ends with it."""
    mission = _mission_of(change)
    if mission is None:
        return
    outcome = next((each for each in MissionOutcome if each == fact.outcome), MissionOutcome.ABANDONED)
    change.agent.mission = _ended(mission, outcome, fact.text[:MAX_REPORT_CHARS], meta.at)
    if change.agent.session is None and change.agent.ended_at is None:
        end_agent(change, meta.at, "its mission ended")


def _mission_of(change: Change) -> Mission | None:
    if change.agent.mission is None:
        change.anomalies.append("it has no mission")
    return change.agent.mission


def worker_ended(change: Change, meta: Meta, fact: acts.WorkerEnded) -> None:
    """A worker of this conversation ended. The conversation receives the result with its next prompt."""
    agent, mission_id = change.agent, short(fact.mission_id)
    if agent.mode == BACKGROUND or any(each.mission_id == mission_id for each in agent.worker_reports):
        return
    news = WorkerReport(mission_id=mission_id, goal=fact.goal[:MAX_GOAL_CHARS], text=fact.text, at=meta.at)
    agent.worker_reports = (*agent.worker_reports, news)[-MAX_WORKER_REPORTS:]


def conversation_prompted(change: Change, _meta: Meta, _fact: acts.ConversationPrompted) -> None:
    """A prompt about the results is being typed. Each result starts at most one such prompt."""
    change.agent.worker_reports = tuple(replace(each, woken=True) for each in change.agent.worker_reports)


def unreported_workers(agent: Agent) -> tuple[WorkerReport, ...]:
    """The results for which no prompt was typed yet."""
    return tuple(each for each in agent.worker_reports if not each.woken)
