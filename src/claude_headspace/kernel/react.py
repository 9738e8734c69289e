"""The messages that a change publishes on the stream. Never called by a replay: a rebuild publishes nothing again.

Messages are data (`Publish`). The journal stores them in the same transaction as the event, so the stream can repeat
exactly what it sent.
"""

import msgspec

from claude_headspace.kernel.agent import Agent, AgentState, Wait
from claude_headspace.kernel.evolve.change import Change, TurnPatch
from claude_headspace.kernel.notify.notification import Notification
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
    "agent_created": "A new agent; `agent` is its complete JSON.",
    "agent_updated": "Something about an agent changed, but not its state.",
    "state_changed": "The state of an agent changed: the new and the previous state, the evidence, the turn.",
    "agent_ended": "An agent ended, and why.",
    "turn_created": "A new turn: text, actor, intent, command.",
    "turn_updated": "A turn was corrected: its exact time, intent or command.",
    "wait_opened": "An agent needs a person, with the possible answers.",
    "wait_answered": "A person answered through Headspace; the client has not applied the answer yet.",
    "wait_closed": "A wait closed, and why.",
    "notification": "A notification is being sent, was sent, failed or was withdrawn: need, channel, status.",
    "verdict_given": "A policy rule applied to a tool call: ruling, call, and whether it was enforced.",
    "mission_changed": "A mission started, changed or ended; `mission` is its JSON.",
    "effort_changed": "An effort changed; `effort` is its complete JSON. Changed counts of calls alone are not sent.",
    "errand_moved": "A remote action was requested, accepted, given up or done: `step`.",
    "gap": "Missed messages cannot be repeated: load the board again.",
}
STREAM_TYPES = tuple(STREAM)
"""All message types of the stream."""


class Publish(msgspec.Struct, frozen=True):
    """A message of the stream."""

    type: str
    agent_id: str
    project_id: str
    data: dict[str, object]


def react(before: Agent | None, change: Change) -> list[Publish]:
    """The messages of a change, in the order in which they are sent."""
    agent = change.agent
    told = [_about_agent(before, change)] if before is not None else [_publish(agent, "agent_created", _created(agent))]
    told += [_publish(agent, "turn_created", msgspec.structs.asdict(turn_view(turn))) for turn in change.turns]
    told += [_publish(agent, "turn_updated", _updated(patch)) for patch in change.patches]
    if change.waits:
        told += _about_waits(before, change)
    if agent.notices is not (known := before.notices if before is not None else ()):
        told += [_publish(agent, "notification", _notice(each)) for each in agent.notices if each not in known]
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
    """Waits that opened, were answered or closed. Other changes of an open wait are part of the agent's changes."""
    known = {wait.id: wait for wait in before.waits} if before is not None else {}
    return [
        _publish(change.agent, kind, msgspec.structs.asdict(wait_view(wait)))
        for wait in change.waits.values()
        if (kind := _news_of_wait(known.get(wait.id), wait)) is not None
    ]


def _notice(notice: Notification) -> dict[str, object]:
    return msgspec.structs.asdict(notice_view(notice))


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
    """The changed fields of the agent's view, and its state if that changed."""
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
