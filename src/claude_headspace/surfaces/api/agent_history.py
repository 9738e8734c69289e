"""An agent as it was: its log replayed up to a moment.

What counts is what was known by then: the events that were received until then, in the order of the log. Those of a log
that was brought in were received where it is from. A moment given in whole seconds counts to the end of its second.
"""

from claude_headspace.clients.decode import decode
from claude_headspace.engine.log_transfer import events_of
from claude_headspace.errors import BadRequest
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.replay import retell
from claude_headspace.ports import Reader
from claude_headspace.surfaces.text.timestamps import local_time


def agent_at(reader: Reader, agent: Agent, moment: Micros) -> Agent:
    """The agent at a moment; before it was known, that is said."""
    until = moment + SECOND - 1 if moment % SECOND == 0 else moment
    snapshot = reader.snapshot(agent.id)
    if snapshot is not None and snapshot.at > until:
        raise BadRequest(
            "pruned",
            f"What {agent.name} did before {local_time(snapshot.at)} is no longer kept.",
            "Choose a later time; `retention_days` says how long events are kept.",
            status=404,
        )
    then = snapshot.agent if snapshot else None
    for stored in events_of(reader, agent.id, snapshot.seq if snapshot else 0):
        if stored.envelope.received_at > until:
            continue
        retold = retell(then, agent.id, stored.envelope, decode(stored.envelope), stored.strategy, stored.anomaly)
        then = retold.change.agent if retold else then
    if then is None:
        raise BadRequest(
            "unknown_then",
            f"{agent.name} was not known at {local_time(moment)}.",
            f"`headspace replay {agent.name}` lists its moments.",
            status=404,
        )
    return then
