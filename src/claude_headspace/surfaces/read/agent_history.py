"""An agent at a past time: its events replayed up to that time.

Events count by when they were received, in log order; events of an imported log by when its origin received them. A
time in whole seconds includes the rest of that second.
"""

from claude_headspace.clients.decode import decode
from claude_headspace.engine.log_transfer import events_of
from claude_headspace.errors import BadRequest
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.replay import replay_event
from claude_headspace.ports import Reader
from claude_headspace.surfaces.text.timestamps import local_time


def agent_at(reader: Reader, agent: Agent, time: Micros) -> Agent:
    """The agent as it was known at a time. Refused if the time is before its first event or was pruned."""
    until = time + SECOND - 1 if time % SECOND == 0 else time
    snapshot = reader.snapshot(agent.id)
    if snapshot is not None and snapshot.at > until:
        raise BadRequest(
            "pruned",
            f"Events of {agent.name} before {local_time(snapshot.at)} were pruned.",
            "Choose a later time. The setting `retention_days` controls how long events are kept.",
            status=404,
        )
    past = snapshot.agent if snapshot else None
    for stored in events_of(reader, agent.id, snapshot.seq if snapshot else 0):
        if stored.envelope.received_at > until:
            continue
        replayed = replay_event(
            past, agent.id, stored.envelope, decode(stored.envelope), stored.strategy, stored.anomaly
        )
        past = replayed.change.agent if replayed else past
    if past is None:
        raise BadRequest(
            "unknown_then",
            f"{agent.name} did not exist yet at {local_time(time)}.",
            f"`headspace replay {agent.name}` lists the times of its events.",
            status=404,
        )
    return past
