"""The messages that a change publishes on the stream. Never called by a replay: a rebuild publishes nothing again.

Messages are data (`Publish`). The journal stores them in the same transaction as the event, so the stream can repeat
exactly what it sent.
"""

import msgspec

from claude_headspace.kernel.agent import Agent, AgentState, Wait
from claude_headspace.kernel.evolve.change import Change, TurnPatch
from claude_headspace.kernel.text import iso
from claude_headspace.kernel.views.agent import (
    agent_view,
    evidence_view,
    mission_view,
    notice_view,
    verdict_view,
    view_changes,
)
from claude_headspace.kernel.views.dialects import dialects
from claude_headspace.kernel.views.work import turn_view
from claude_headspace.kernel.wait.views import wait_view

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
    "guards_changed": "Why guards are off: `problems`, empty if they are on. No `id`; a new reader gets the latest.",
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
    agent, timestamp = change.agent, iso(change.meta.at)
    about_agent = _about_agent(before, change, timestamp)
    messages = [about_agent] if about_agent is not None else []
    messages += [_publish(agent, "turn_created", **msgspec.structs.asdict(turn_view(turn))) for turn in change.turns]
    messages += [_turn_updated(agent, patch) for patch in change.patches]
    if change.waits:
        messages += _about_waits(before, change)
    if agent.notices is not (known := before.notices if before is not None else ()):
        new = [each for each in agent.notices if each not in known]
        messages += [_publish(agent, "notification", **msgspec.structs.asdict(notice_view(each))) for each in new]
    if agent.verdicts is not (before.verdicts if before is not None else ()):
        messages.append(_publish(agent, "verdict_given", **msgspec.structs.asdict(verdict_view(agent.verdicts[-1]))))
    if agent.mission is not (before.mission if before is not None else None):
        mission = mission_view(agent.mission)
        messages.append(_publish(agent, "mission_changed", timestamp=timestamp, mode=agent.mode, mission=mission))
    if change.remote_action is not None:
        messages.append(
            _publish(
                agent,
                "errand_moved",
                timestamp=timestamp,
                host=agent.host,
                **msgspec.structs.asdict(change.remote_action),
            )
        )
    if agent.state is AgentState.ENDED and change.state_changed:
        messages.append(_publish(agent, "agent_ended", ended_at=iso(agent.ended_at or 0), reason=agent.end_reason))
    return messages


def _publish(agent: Agent, kind: str, /, **data: object) -> Publish:
    return Publish(kind, agent.id, agent.project.id, {"agent_id": agent.id, "project_id": agent.project.id, **data})


def _about_agent(before: Agent | None, change: Change, timestamp: str) -> Publish | None:
    """A new agent, or the changed fields of its view, with its state if that changed."""
    agent, turn = change.agent, change.turns[-1] if change.turns else None
    if before is None:
        return _publish(agent, "agent_created", timestamp=iso(agent.created_at), agent=agent_view(agent))
    changes = view_changes(before, agent)
    if not change.state_changed:
        return _publish(agent, "agent_updated", timestamp=timestamp, changes=changes) if changes else None
    from_state, from_waiting_for = change.before
    return _publish(
        agent,
        "state_changed",
        name=agent.name,
        state=agent.state,
        waiting_for=agent.waiting_for,
        from_state=from_state,
        from_waiting_for=from_waiting_for,
        dialects=dialects(agent),
        evidence=evidence_view(agent),
        turn_id=turn.id if turn else None,
        timestamp=iso(turn.at) if turn else timestamp,
        changes=changes,
    )


def _turn_updated(agent: Agent, patch: TurnPatch) -> Publish:
    return _publish(
        agent,
        "turn_updated",
        turn_id=patch.id,
        command_id=patch.command_id,
        intent=patch.intent,
        timestamp=iso(patch.at),
        timestamp_source=patch.timestamp_source,
    )


def _about_waits(before: Agent | None, change: Change) -> list[Publish]:
    """Waits that opened, were answered or closed. Other changes of an open wait are part of the agent's changes."""
    known = {wait.id: wait for wait in before.waits} if before is not None else {}
    return [
        _publish(change.agent, kind, **msgspec.structs.asdict(wait_view(wait)))
        for wait in change.waits.values()
        if (kind := _message_of_wait(known.get(wait.id), wait)) is not None
    ]


def _message_of_wait(before: Wait | None, wait: Wait) -> str | None:
    if wait.closed_at is not None:
        return "wait_closed"
    if before is None:
        return "wait_opened"
    return "wait_answered" if wait.answered is not None and before.answered is None else None
