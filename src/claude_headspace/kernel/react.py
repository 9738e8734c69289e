"""What others must be told about a change. Pure, and never called by a replay: a rebuild announces nothing again.

Effects are data. There is one kind so far, `Publish`; the journal stores it in the same transaction as the event, so
what the stream replays is what it said.
"""

import msgspec

from claude_headspace.kernel.agent import Agent, AgentState, Wait
from claude_headspace.kernel.evolve.change import Change, TurnPatch
from claude_headspace.kernel.views import (
    agent_view,
    dialects,
    evidence_view,
    iso,
    mission_view,
    notice_view,
    turn_view,
    verdict_view,
    view_changes,
    wait_view,
)

STREAM = {
    "agent_created": "An agent was seen for the first time; `agent` is its whole JSON.",
    "agent_updated": "Something about an agent changed, but not its state.",
    "state_changed": "An agent is in another state: the new one, the one before, the evidence, the turn behind it.",
    "agent_ended": "An agent's client is gone, and why.",
    "turn_created": "Somebody said something: text, actor, intent, command.",
    "turn_updated": "A turn is known better: its exact time, its intent or its command.",
    "wait_opened": "An agent needs a human, with the ways to answer.",
    "wait_answered": "Somebody answered through Headspace; the client has yet to take it up.",
    "wait_closed": "It does not any more, and why.",
    "notification": "Somebody is called, was called, or need not be any more: which need, through what, how far it is.",
    "verdict_given": "A rule spoke about a tool call: what it said, of what, and whether it was enforced.",
    "mission_changed": "A mission began, went on or ended: `mission` is its JSON as the agent has it.",
    "effort_changed": "An effort is another: `effort` is its whole JSON. Counts of calls alone are not told.",
    "errand_moved": "What only an agent's machine can do was asked of it, taken up, given up or done: `step`.",
    "gap": "What came between can no longer be replayed: read the board anew.",
}
STREAM_TYPES = tuple(STREAM)
"""Every named event of the stream."""


class Publish(msgspec.Struct, frozen=True):
    """Tell the stream."""

    type: str
    agent_id: str
    project_id: str
    data: dict[str, object]


def react(before: Agent | None, change: Change) -> list[Publish]:
    """The announcements that follow from a change, in the order they make sense."""
    agent = change.agent
    told = [_about_agent(before, change)] if before is not None else [_publish(agent, "agent_created", _created(agent))]
    told += [_publish(agent, "turn_created", msgspec.structs.asdict(turn_view(turn))) for turn in change.turns]
    told += [_publish(agent, "turn_updated", _updated(patch)) for patch in change.patches]
    told += _about_waits(before, change)
    told += _about_notices(before, agent)
    if agent.verdicts is not (before.verdicts if before is not None else ()):
        told.append(_publish(agent, "verdict_given", msgspec.structs.asdict(verdict_view(agent.verdicts[-1]))))
    if agent.mission is not (before.mission if before is not None else None):
        told.append(_publish(agent, "mission_changed", _mission(change)))
    if change.errand is not None:
        told.append(_publish(agent, "errand_moved", _errand(change)))
    if agent.state is AgentState.ENDED and change.state_changed:
        told.append(_publish(agent, "agent_ended", {"ended_at": iso(agent.ended_at or 0), "reason": agent.end_reason}))
    return [message for message in told if message is not None]


def _mission(change: Change) -> dict[str, object]:
    agent = change.agent
    return {"timestamp": iso(change.meta.at), "mode": agent.mode, "mission": mission_view(agent.mission)}


def _errand(change: Change) -> dict[str, object]:
    news = msgspec.structs.asdict(change.errand) if change.errand is not None else {}
    return {"timestamp": iso(change.meta.at), "host": change.agent.host, **news}


def _updated(patch: TurnPatch) -> dict[str, object]:
    return {
        "turn_id": patch.id,
        "command_id": patch.command_id,
        "intent": patch.intent,
        "timestamp": iso(patch.at),
        "timestamp_source": patch.timestamp_source,
    }


def _about_waits(before: Agent | None, change: Change) -> list[Publish]:
    """What opened and what closed; an open wait that is only known better is part of what changed of the agent."""
    known = {wait.id: wait for wait in before.waits} if before is not None else {}
    return [
        _publish(change.agent, kind, msgspec.structs.asdict(wait_view(wait)))
        for wait in change.waits.values()
        if (kind := _news_of_wait(known.get(wait.id), wait)) is not None
    ]


def _about_notices(before: Agent | None, agent: Agent) -> list[Publish]:
    """Calls that began, were settled, or are over."""
    known = before.notices if before is not None else ()
    if agent.notices is known:
        return []
    return [
        _publish(agent, "notification", msgspec.structs.asdict(notice_view(notice)))
        for notice in agent.notices
        if notice not in known
    ]


def _news_of_wait(before: Wait | None, wait: Wait) -> str | None:
    if wait.closed_at is not None:
        return "wait_closed"
    if before is None:
        return "wait_opened"
    return "wait_answered" if wait.answered is not None and before.answered is None else None


def _publish(agent: Agent, kind: str, data: dict[str, object]) -> Publish:
    return Publish(kind, agent.id, agent.project.id, {"agent_id": agent.id, "project_id": agent.project.id, **data})


def _created(agent: Agent) -> dict[str, object]:
    return {"timestamp": iso(agent.created_at), "agent": agent_view(agent)}


def _about_agent(before: Agent, change: Change) -> Publish | None:
    """What changed of the agent's JSON, and whether its state did."""
    agent = change.agent
    changes = view_changes(before, agent)
    if not change.state_changed:
        return (
            _publish(agent, "agent_updated", {"timestamp": iso(change.meta.at), "changes": changes})
            if changes
            else None
        )
    state, waiting_for = change.before
    return _publish(
        agent,
        "state_changed",
        {
            "name": agent.name,
            "state": agent.state,
            "waiting_for": agent.waiting_for,
            "from_state": state,
            "from_waiting_for": waiting_for,
            "dialects": dialects(agent),
            "evidence": evidence_view(agent),
            "turn_id": change.turns[-1].id if change.turns else None,
            "timestamp": iso(change.turns[-1].at if change.turns else change.meta.at),
            "changes": changes,
        },
    )
